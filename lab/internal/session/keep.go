package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// unfitError marks a run that the journal refuses, however often it is tried; any other error comes from
// the disk.
type unfitError struct{ error }

func (u unfitError) Unwrap() error { return u.error }

// destination is where runs are written: the journal, or a place of the same layout outside data/ if they
// are made for trial.
func (s *Session) destination() journal.Root {
	if s.Trial {
		return s.j.Root.Tried()
	}
	return s.j.Root
}

// A bundle is all that a run leaves. While the run is under way its bundle lies in one file, which each
// block replaces, so that complete blocks survive if the lab is killed.
type bundle struct {
	Host     json.RawMessage // the profile of its host
	Run      json.RawMessage // its results file
	Profiles []byte          `json:",omitempty"` // the archive of its raw profiles
}

// bundle gives what a run leaves if it goes no further.
func (s *Session) bundle(r *run.Run) (b bundle, err error) {
	raw, err := r.Raw() // which names them in the file
	if err == nil && len(raw) > 0 {
		b.Profiles, err = results.PackRaw(raw)
	}
	whole, about := *r.File, *r.File.Provenance
	whole.Provenance, about.Ended = &about, cmp.Or(about.Ended, results.Interrupted)
	var failed [2]error
	b.Run, failed[0] = results.Encode(&whole)
	b.Host, failed[1] = results.Encode(s.profile)
	return b, errors.Join(err, failed[0], failed[1])
}

// A file is one that a run leaves.
type file struct {
	path string
	data []byte
}

// files are those of a bundle below a root. The last is the results file, which names the others.
func (b bundle) files(root journal.Root, f *results.File) []file {
	all := []file{{root.Host(f.Hosts.Server), b.Host}, {root.Result(f.Experiment, f.Run), b.Run}}
	if b.Profiles != nil {
		all = slices.Insert(all, 1, file{root.Packed(f.Experiment + "/" + f.Run + "/c"), b.Profiles})
	}
	return all
}

// pendingPath is the file of a run under way.
func pendingPath(root journal.Root, f *results.File) string {
	return filepath.Join(root.Pending(), f.Experiment+"."+f.Run+".json")
}

// setAside writes a run so far. It is on the disk at once: otherwise the kernel would write it at some time
// during the next block.
func (s *Session) setAside(r *run.Run) error {
	if s.Trial {
		return nil
	}
	b, err := s.bundle(r)
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := results.Replace(s.j.Root.Pending(), pendingPath(s.j.Root, r.File), text); err != nil {
		return results.Unwritable(s.j.Root.Pending(), err)
	}
	return nil
}

// forget removes the pending copy of a run.
func (s *Session) forget(f *results.File) error {
	if err := os.Remove(pendingPath(s.j.Root, f)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// keep writes a run that is over.
func (s *Session) keep(r *run.Run) error {
	b, err := s.bundle(r)
	if err != nil {
		return err
	}
	if s.Trial {
		for _, one := range b.files(s.destination(), r.File) {
			err = cmp.Or(err, results.Replace(s.j.Root.Scratch(), one.path, one.data))
		}
		return err
	}
	if err := b.add(s.j, r.File); errors.As(err, new(unfitError)) {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	} else if err != nil {
		return err
	}
	return s.forget(r.File)
}

// add adds a bundle to the journal's data: all of its files or none. Package derive makes what is derived
// from them. A lab may be killed in the middle of it; then the run is still pending, and is added again.
func (b bundle) add(j *archive.Journal, f *results.File) (err error) {
	h := new(host.Profile)
	if err := cmp.Or(results.Decode(b.Run, new(results.File)), results.Decode(b.Host, h)); err != nil {
		return unfitError{err}
	}
	all := b.files(j.Root, f)
	rest, last := all[:len(all)-1], all[len(all)-1]
	if known := j.Hosts[h.ID] != nil; known {
		rest = rest[1:]
	} else {
		j.Hosts[h.ID] = h
		defer func() {
			if err != nil {
				delete(j.Hosts, h.ID)
			}
		}()
	}
	defer func() {
		for _, one := range rest {
			if err != nil {
				_ = os.Remove(one.path)
			}
		}
	}()
	for _, one := range rest {
		if err := results.Replace(j.Root.Scratch(), one.path, one.data); err != nil {
			return err
		}
	}
	if err := j.Add(f); err != nil {
		return unfitError{err}
	}
	if err := results.WriteNew(j.Root.Scratch(), last.path, last.data); err != nil {
		j.Remove(f)
		return err
	}
	return nil
}

// adopt adds to the journal the runs that were cut short. It says each in a line, also one that the journal
// refuses, which is moved aside.
func adopt(j *archive.Journal, say func(format string, args ...any)) error {
	half, _ := filepath.Glob(filepath.Join(j.Root.Pending(), "staged-*")) // of a lab that was killed while it wrote
	for _, path := range half {
		_ = os.Remove(path)
	}
	paths, err := filepath.Glob(filepath.Join(j.Root.Pending(), "*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, err := adoptOne(j, path)
		switch {
		case errors.As(err, new(unfitError)):
			to := filepath.Join(j.Root.Refused(), filepath.Base(path))
			if err := errors.Join(os.MkdirAll(j.Root.Refused(), 0o755), os.Rename(path, to)); err != nil {
				return err
			}
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			say("a run of %s that was cut short cannot be kept: %v; it lies in %s", name, err, j.Root.Rel(to))
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", j.Root.Rel(path), err)
		case f != nil:
			sayKept(f, say)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func sayKept(f *results.File, say func(format string, args ...any)) {
	say("kept %s of a run of %s that was cut short", words.Count(f.Provenance.Blocks, "block"), f.Experiment)
}

// adoptOne adds a pending run to the journal; it returns nil if the journal has it already.
func adoptOne(j *archive.Journal, path string) (*results.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var b bundle
	f := new(results.File)
	if err := strict.DecodeJSON(text, &b); err != nil {
		return nil, unfitError{err}
	}
	if err := results.Decode(b.Run, f); err != nil {
		return nil, unfitError{err}
	}
	if path != pendingPath(j.Root, f) {
		return nil, unfitError{fmt.Errorf("it is no run of its name, but run %s of %q", f.Run, f.Experiment)}
	}
	if slices.ContainsFunc(j.Runs, func(r *results.File) bool { return r.Experiment == f.Experiment && r.Run == f.Run }) {
		return nil, nil
	}
	return f, b.add(j, f)
}

// roomBytes is more than the largest run takes, with its profiles.
const roomBytes = 8 << 20

// checkRoom checks before a run whether it could be kept, by writing a file where it would be kept.
func (s *Session) checkRoom(x *experiment.Experiment) error {
	into := s.destination()
	dirs := []string{filepath.Dir(into.Result(x.Name, "")), filepath.Dir(into.Host(s.profile.ID))}
	if x.Profile != nil {
		dirs = append(dirs, filepath.Dir(into.Packed(x.Name+"/run/c")))
	}
	if err := results.Room(s.j.Root.Scratch(), roomBytes, dirs...); err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}

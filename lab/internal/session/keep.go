package session

import (
	"bytes"
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

// keep writes a run that is over, and forgets its pending copy.
func (s *Session) keep(r *run.Run) error {
	raw, err := r.Raw()
	if err != nil {
		return err
	}
	if s.Trial {
		all, err := files(s.destination(), s.profile, r.File, raw)
		for _, one := range all {
			if err == nil {
				err = results.Replace(s.j.Root.Scratch(), one.path, one.data)
			}
		}
		return err
	}
	err = add(s.j, s.profile, r.File, raw)
	if errors.As(err, new(unfitError)) {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	return cmp.Or(err, forget(s.j.Root, r.File))
}

// add adds a run to the journal's data: the profile of its host if it is new, its raw profiles and its
// results file. It adds all of them or none. Package derive makes what is derived from them.
//
// A lab may be killed in the middle of it. Then the run is still pending and is added again: files that
// are there already are taken as they are.
func add(j *archive.Journal, h *host.Profile, f *results.File, raw map[string][]byte) (err error) {
	known := j.Hosts[h.ID] != nil
	all, err := files(j.Root, h, f, raw)
	if err != nil {
		return err
	}
	if known {
		all = all[1:]
	}
	rest, last := all[:len(all)-1], all[len(all)-1]
	if err := results.Decode(last.data, new(results.File)); err != nil {
		return unfitError{err}
	}
	written := 0
	defer func() {
		if err == nil {
			return
		}
		for _, one := range rest[:written] {
			err = errors.Join(err, os.Remove(one.path))
		}
		if !known {
			delete(j.Hosts, h.ID)
		}
	}()
	for _, one := range rest {
		if there, err := os.ReadFile(one.path); err != nil || !bytes.Equal(there, one.data) {
			if err := results.WriteNew(j.Root.Scratch(), one.path, one.data); err != nil {
				return err
			}
		}
		written++
	}
	if !known {
		j.Hosts[h.ID] = h
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

// A file is one that a run leaves.
type file struct {
	path string
	data []byte
}

// files are those of a run that are not derived: first the profile of its host, then the archive of its
// raw profiles, and last its results, which name the others.
func files(root journal.Root, h *host.Profile, f *results.File, raw map[string][]byte) (all []file, err error) {
	text, err := results.Encode(h)
	all = append(all, file{root.Host(h.ID), text})
	for name := range raw {
		packed, failed := results.PackRaw(raw)
		all, err = append(all, file{root.Packed(name), packed}), errors.Join(err, failed)
		break // all are of one run
	}
	text, failed := results.Encode(f)
	return append(all, file{root.Result(f.Experiment, f.Run), text}), errors.Join(err, failed)
}

// A pending is a run in progress with its complete blocks, so that they survive if the lab is killed. It
// lies in one file, which each block replaces.
type pending struct {
	Host json.RawMessage   // the profile of its host
	Run  json.RawMessage   // its results so far
	Raw  map[string][]byte // its raw profiles, by the names that it gives them
}

// pendingPath is the file of a pending run.
func pendingPath(root journal.Root, f *results.File) string {
	return filepath.Join(root.Pending(), f.Experiment+"."+f.Run+".json")
}

// setAside writes a run so far. It is on the disk at once: otherwise the kernel would write it at some time
// during the next block.
func (s *Session) setAside(r *run.Run) error {
	if s.Trial {
		return nil
	}
	var p pending
	var errs [3]error
	p.Host, errs[0] = results.Encode(s.profile)
	p.Run, errs[1] = results.Encode(r.File)
	p.Raw, errs[2] = r.Raw()
	text, err := json.Marshal(p)
	if err := errors.Join(append(errs[:], err)...); err != nil {
		return err
	}
	if err := results.Replace(s.j.Root.Pending(), pendingPath(s.j.Root, r.File), text); err != nil {
		return results.Unwritable(s.j.Root.Pending(), err)
	}
	return nil
}

// forget removes the pending copy of a run.
func forget(root journal.Root, f *results.File) error {
	if err := os.Remove(pendingPath(root, f)); !errors.Is(err, os.ErrNotExist) {
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
	var p pending
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, unfitError{strict.Mistyped(err, text)}
	}
	f, h := new(results.File), new(host.Profile)
	if err := cmp.Or(results.Decode(p.Run, f), results.Decode(p.Host, h)); err != nil {
		return nil, unfitError{err}
	}
	if path != pendingPath(j.Root, f) || f.Hosts.Server != h.ID {
		return nil, unfitError{fmt.Errorf("it is no run of its name: run %s of %q on %q", f.Run, f.Experiment, f.Hosts.Server)}
	}
	if slices.ContainsFunc(j.Runs, func(r *results.File) bool { return r.Experiment == f.Experiment && r.Run == f.Run }) {
		return nil, nil
	}
	f.Provenance.Ended = cmp.Or(f.Provenance.Ended, results.Interrupted)
	if known := j.Hosts[h.ID]; known != nil {
		h = known
	}
	return f, add(j, h, f, p.Raw)
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

package session

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// unfitError marks a run that the journal refuses, however often it is tried; any other error
// comes from the disk.
type unfitError struct{ error }

func (u unfitError) Unwrap() error { return u.error }

// keep adds a run to the journal's data: the profiles of its hosts if they are new, its
// design, its raw profiles and its results file. It adds all of them or none. Package
// derive makes what is derived from them.
//
// A lab may be killed in the middle of it. Then the run is still pending, and is kept
// again: files that are there already are taken as they are.
func keep(j *archive.Journal, h *host.Profile, design []byte, made *run.Made, clients ...*host.Profile) (err error) {
	f, scratch := made.File, j.Root.Scratch()
	data, err := results.Encode(f)
	if err != nil {
		return err
	}
	if err := results.Decode(data, results.SchemaURL, new(results.File)); err != nil {
		return unfitError{err}
	}
	var written []string
	defer func() {
		for _, path := range written {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	add := func(path string, data []byte) error {
		if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, data) {
			if err := results.WriteNew(scratch, path, data); err != nil {
				return err
			}
		}
		written = append(written, path)
		return nil
	}
	for _, h := range append([]*host.Profile{h}, clients...) {
		// Of hosts that share a machine, the run names the first only.
		if j.Hosts[h.ID] != nil || h.ID != f.Hosts.Server && !slices.Contains(f.Hosts.Clients, h.ID) {
			continue
		}
		profile, err := results.Encode(h)
		if err != nil {
			return err
		}
		if err := add(j.Root.Host(h.ID), profile); err != nil {
			return err
		}
		j.Hosts[h.ID] = h
		defer func() {
			if err != nil {
				delete(j.Hosts, h.ID)
			}
		}()
	}
	// The results file comes last, since it names the others.
	if !slices.ContainsFunc(j.Runs, func(r *results.File) bool {
		return r.Provenance != nil && r.Provenance.ExperimentSHA256 == f.Provenance.ExperimentSHA256
	}) {
		if err := add(j.Root.Design(f.Provenance.ExperimentSHA256), design); err != nil {
			return err
		}
	}
	named := map[string]bool{}
	for _, c := range f.Conditions {
		for _, p := range c.Profiles {
			named[p.File] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made.Raw)) {
		if !named[name] {
			continue
		}
		if err := add(j.Root.Profile(name), made.Raw[name]); err != nil {
			return err
		}
	}
	if err := j.Add(f); err != nil {
		return unfitError{err}
	}
	if err := results.WriteNew(scratch, j.Root.Result(f.Experiment, f.Run), data); err != nil {
		j.Remove(f)
		return err
	}
	written = nil
	return nil
}

// destination is where runs are written: the journal, or a place of the same layout outside
// data/ if they are made for trial. A run for trial never locks its claims, since the
// journal does not know of it.
func (s *Session) destination() journal.Root {
	if s.Trial {
		return s.j.Root.Tried()
	}
	return s.j.Root
}

// keep writes a run that was made.
func (s *Session) keep(x *experiment.Experiment, made *run.Made) error {
	if s.Trial {
		return keepTrial(s.destination(), s.profile, x, made, s.clients...)
	}
	err := keep(s.j, s.profile, x.Text, made, s.clients...)
	if errors.As(err, new(unfitError)) {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	return err
}

// keepTrial writes a run with its verdicts and its CSV, and what it names.
func keepTrial(into journal.Root, h *host.Profile, x *experiment.Experiment, made *run.Made, clients ...*host.Profile) error {
	f := made.File
	says := verdict.Decide(x, h, []verdict.Run{{File: f, Then: x}})
	pages.Fill(says, x)
	files := map[string][]byte{into.Design(x.SHA256): x.Text}
	for path, v := range map[string]any{
		into.Host(h.ID): h, into.Result(f.Experiment, f.Run): f,
		into.Verdict(f.Experiment, f.Run): says,
	} {
		data, err := results.Encode(v)
		if err != nil {
			return err
		}
		files[path] = data
	}
	for _, c := range clients {
		data, err := results.Encode(c)
		if err != nil {
			return err
		}
		files[into.Host(c.ID)] = data
	}
	sheet, err := f.Sheet()
	if err != nil {
		return err
	}
	files[into.Sheet(f.Experiment, f.Run)] = sheet
	for name, raw := range made.Raw {
		files[into.Profile(name)] = raw
	}
	for path, data := range files {
		if err := results.Replace(string(into), path, data); err != nil {
			return err
		}
	}
	return nil
}

// roomBytes is more than the largest run takes, with its profiles and all derived files.
const roomBytes = 8 << 20

// checkRoom checks before a run whether it could be kept, by writing a file where it would
// be kept.
func checkRoom(scratch string, root journal.Root, x *experiment.Experiment, h *host.Profile) error {
	dirs := []string{
		filepath.Dir(root.Result(x.Name, "")), filepath.Dir(root.Host(h.ID)),
		filepath.Dir(root.Verdict(x.Name, "")), filepath.Dir(root.Sheet(x.Name, "")), filepath.Dir(root.Run(x.Name, "")),
		filepath.Dir(root.Design("")),
	}
	if x.Profile != nil {
		dirs = append(dirs, filepath.Dir(root.Profile(x.Name+"/run")), filepath.Dir(root.Flame(x.Name, "", "")))
	}
	if err := results.Room(scratch, roomBytes, dirs...); err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}

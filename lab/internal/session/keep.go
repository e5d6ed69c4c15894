package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// keep adds a run to the journal's data: the profile of its host if it is new,
// its raw profiles and its results file. It adds all of them or none. Package
// derive makes what is derived from them.
//
// A lab may be killed in the middle of it. Then the run is still pending, and is kept
// again: files that are there already are taken as they are.
func keep(j *archive.Journal, h *host.Profile, made *run.Made) (err error) {
	f, scratch := made.File, j.Root.Scratch()
	if j.Hosts[h.ID] != nil {
		h = nil
	}
	all, err := files(j.Root, made, h)
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	if err := results.Decode(last.data, new(results.File)); err != nil {
		return unfitError{err}
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		for _, path := range written {
			err = errors.Join(err, os.Remove(path))
		}
		if h != nil {
			delete(j.Hosts, h.ID)
		}
	}()
	for _, one := range all[:len(all)-1] {
		if there, err := os.ReadFile(one.path); err != nil || !bytes.Equal(there, one.data) {
			if err := results.WriteNew(scratch, one.path, one.data); err != nil {
				return err
			}
		}
		written = append(written, one.path)
	}
	if h != nil {
		j.Hosts[h.ID] = h
	}
	if err := j.Add(f); err != nil {
		return unfitError{err}
	}
	if err := results.WriteNew(scratch, last.path, last.data); err != nil {
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

// files are those of a run that are not derived: the profile of its host unless it
// are nil, the raw profiles that it names, and last its results, which name the others.
func files(root journal.Root, made *run.Made, h *host.Profile) (all []file, err error) {
	f := made.File
	encode := func(path string, v any) {
		data, failed := results.Encode(v)
		all, err = append(all, file{path, data}), errors.Join(err, failed)
	}
	if h != nil {
		encode(root.Host(h.ID), h)
	}
	for name := range made.Raw {
		packed, failed := results.PackRaw(made.Raw)
		all, err = append(all, file{root.Packed(name), packed}), errors.Join(err, failed)
		break // all are of one run
	}
	encode(root.Result(f.Experiment, f.Run), f)
	return all, err
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
		return keepTrial(s.destination(), s.profile, x, made)
	}
	err := keep(s.j, s.profile, made)
	if errors.As(err, new(unfitError)) {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	return err
}

// keepTrial writes a run with its verdicts and its CSV, and what it names.
func keepTrial(into journal.Root, h *host.Profile, x *experiment.Experiment, made *run.Made) error {
	f := made.File
	all, err := files(into, made, h)
	if err != nil {
		return err
	}
	says := verdict.Decide(x, h, []verdict.Run{{File: f, Then: x}})
	pages.Fill(says, x)
	verdicts, err := results.Encode(says)
	if err != nil {
		return err
	}
	sheet, err := f.Sheet()
	if err != nil {
		return err
	}
	all = append(all, file{into.Verdict(f.Experiment, f.Run), verdicts}, file{into.Sheet(f.Experiment, f.Run), sheet})
	return replace(into, all)
}

// replace writes files of a root, whatever is there.
func replace(root journal.Root, all []file) error {
	for _, one := range all {
		if err := results.Replace(string(root), one.path, one.data); err != nil {
			return err
		}
	}
	return nil
}

// roomBytes is more than the largest run takes, with its profiles.
const roomBytes = 8 << 20

// checkRoom checks before a run whether it could be kept, by writing a file where it would
// be kept.
func checkRoom(scratch string, root journal.Root, x *experiment.Experiment, h *host.Profile) error {
	dirs := []string{
		filepath.Dir(root.Result(x.Name, "")), filepath.Dir(root.Host(h.ID)),
	}
	if x.Profile != nil {
		dirs = append(dirs, filepath.Dir(root.Packed(x.Name+"/run/c")))
	}
	if err := results.Room(scratch, roomBytes, dirs...); err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}

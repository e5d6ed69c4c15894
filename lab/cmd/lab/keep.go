package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// unfit marks a run that the journal refuses, however often it is tried; any other error
// comes from the disk.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

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
		return unfit{err}
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
		return unfit{err}
	}
	if err := results.WriteNew(scratch, j.Root.Result(f.Experiment, f.Run), data); err != nil {
		j.Remove(f)
		return err
	}
	written = nil
	return nil
}

// unkept is the error for a run that was just made and could not be kept.
func unkept(err error) error {
	if errors.As(err, new(unfit)) {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	return err
}

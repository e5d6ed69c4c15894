package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// Pending is where the complete blocks of runs lie that are not over. Each version
// of such a run is a directory, <experiment>/<version>, with the files under the
// names that they will have from the repository's top.
func (r Root) Pending() string { return filepath.Join(r.Scratch(), "pending") }

// Refused is where runs lie that were pending and could not be added.
func (r Root) Refused() string { return filepath.Join(r.Pending(), "refused") }

// arriving are the files that pending runs will have here. A lab that was killed
// while it added one has left some of them, and they are nobody's fault.
func (r Root) arriving() (map[string]bool, error) {
	out := map[string]bool{}
	versions, err := filepath.Glob(filepath.Join(r.Pending(), "*", "*", "data"))
	if err != nil {
		return nil, err
	}
	for _, data := range versions {
		version := filepath.Dir(data)
		if filepath.Dir(version) == r.Refused() {
			continue
		}
		err := filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil // it was added meanwhile
			}
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(version, p)
			out[r.path(rel)] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Add takes a run in that was made since the journal was read, or says what Open
// would find wrong with it. The profile of its host has to be in Hosts, and its
// design and its raw profiles in their places.
func (j *Journal) Add(f *results.File) error {
	if slices.ContainsFunc(j.Runs, func(r *results.File) bool { return r.Experiment == f.Experiment && r.Run == f.Run }) {
		return fmt.Errorf("/run: %s is there already", j.Root.Rel(j.Root.Result(f.Experiment, f.Run)))
	}
	if err := j.consistent(j.Root.Result(f.Experiment, f.Run), f); err != nil {
		return err
	}
	if _, err := j.design(f); err != nil {
		return err
	}
	if err := j.rawProfiles(f); err != nil {
		return err
	}
	j.Runs = append(j.Runs, f)
	if moved := j.moved(); len(moved) > 0 {
		j.Remove(f)
		return fmt.Errorf("%s: %w", moved[0].Path, moved[0].Err)
	}
	return nil
}

// Remove takes a run out again whose files could not be written.
func (j *Journal) Remove(f *results.File) {
	j.Runs = slices.DeleteFunc(j.Runs, func(r *results.File) bool { return r == f })
}

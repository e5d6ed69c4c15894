package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A run in progress is kept under .tools/scratch/pending/<experiment>/ with all of its
// complete blocks, so that they survive if the lab is killed. After each block a new
// version is written beside the last one, and is renamed to <run>.<blocks> when it is
// complete; only then is the last version removed.

// halfWritten is the name of a version that is not complete yet.
const halfWritten = "new"

// version is where a run of so many blocks is kept, as the root of a journal of its own.
func version(root journal.Root, f *results.File) journal.Root {
	return journal.Root(filepath.Join(root.Pending(), f.Experiment, fmt.Sprintf("%s.%04d", f.Run, f.Provenance.Blocks)))
}

// setAside writes the run so far.
func setAside(root journal.Root, h *host.Profile, made *run.Made) error {
	f := made.File
	own := filepath.Join(root.Pending(), f.Experiment)
	beside := journal.Root(filepath.Join(own, halfWritten))
	if err := os.RemoveAll(string(beside)); err != nil {
		return err
	}
	all, err := files(beside, made, h)
	if err != nil {
		return err
	}
	// Written to the disk at once: otherwise the kernel would write it at some time
	// during the next block.
	err = replace(beside, all)
	named := string(version(root, f))
	if err == nil {
		err = os.Rename(string(beside), named)
	}
	if err != nil {
		return results.Unwritable(root.Pending(), err)
	}
	return forget(root, f, named)
}

// forget removes all versions of a run but one, or all if that name is empty.
func forget(root journal.Root, f *results.File, but string) error {
	own := filepath.Join(root.Pending(), f.Experiment)
	versions, err := filepath.Glob(filepath.Join(own, f.Run+".*"))
	if err != nil {
		return err
	}
	for _, v := range versions {
		if v != but {
			err = errors.Join(err, os.RemoveAll(v))
		}
	}
	_ = os.Remove(own) // if it is empty
	return err
}

// Adopt adds to the journal the runs that were cut short, of one experiment or, if name
// is empty, of all. It reports each in a line, also one that the journal refuses, which
// is moved aside. It returns those that it added.
func Adopt(j *archive.Journal, name string, say func(format string, args ...any)) ([]*results.File, error) {
	var added []*results.File
	dirs, err := os.ReadDir(j.Root.Pending())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		own := filepath.Join(j.Root.Pending(), dir.Name())
		if !dir.IsDir() || own == j.Root.Refused() || name != "" && name != dir.Name() {
			continue
		}
		newest, err := versions(own)
		if err != nil {
			return added, err
		}
		for _, v := range newest {
			f, err := adoptOne(j, dir.Name(), journal.Root(filepath.Join(own, v)))
			if errors.As(err, new(unfitError)) {
				err = refuse(j.Root, dir.Name(), v, err, say)
				f = nil
			}
			if err != nil {
				return added, fmt.Errorf("%s: %w", j.Root.Rel(filepath.Join(own, v)), err)
			}
			if f != nil {
				added = append(added, f)
				say("kept %s of a run of %s that was cut short", words.Count(f.Provenance.Blocks, "block"), f.Experiment)
			}
		}
		// The rest is older or incomplete.
		if err := os.RemoveAll(own); err != nil {
			return added, err
		}
	}
	return added, nil
}

// versions lists the newest version of each run in a directory.
func versions(own string) ([]string, error) {
	entries, err := os.ReadDir(own)
	if err != nil {
		return nil, err
	}
	newest := map[string]string{}
	for _, e := range entries {
		if run, _, ok := strings.Cut(e.Name(), "."); ok {
			newest[run] = max(newest[run], e.Name())
		}
	}
	return slices.Sorted(maps.Values(newest)), nil
}

// adoptOne adds a version of a run to the journal; it returns nil if the journal has it
// already.
func adoptOne(j *archive.Journal, name string, from journal.Root) (*results.File, error) {
	id, _, _ := strings.Cut(filepath.Base(string(from)), ".")
	if slices.ContainsFunc(j.Runs, func(r *results.File) bool { return r.Experiment == name && r.Run == id }) {
		return nil, nil
	}
	f, err := results.Read(from.Result(name, id))
	if err != nil {
		return nil, unfitError{err}
	}
	p := f.Provenance
	if f.Experiment != name || f.Run != id || p == nil {
		return nil, unfitError{fmt.Errorf("it is no run of its name: experiment %q, run %q", f.Experiment, f.Run)}
	}
	p.Ended = cmp.Or(p.Ended, results.Interrupted)
	h, ok := j.Hosts[f.Hosts.Server]
	if !ok {
		if h, err = results.ReadHost(from.Host(f.Hosts.Server)); err != nil {
			return nil, unfitError{err}
		}
		if h.ID != f.Hosts.Server {
			return nil, unfitError{fmt.Errorf("the profile of its host is of %q", h.ID)}
		}
	}
	made := &run.Made{File: f, Raw: map[string][]byte{}}
	for _, c := range f.Conditions {
		for _, named := range c.Profiles {
			if made.Raw[named.File], err = results.ReadRaw(from.Packed(named.File), named.File); err != nil {
				return nil, unfitError{err}
			}
		}
	}
	return f, keep(j, h, made)
}

// refuse moves aside a version that the journal refuses.
func refuse(root journal.Root, name, version string, why error, say func(format string, args ...any)) error {
	to := filepath.Join(root.Refused(), name+"."+version)
	if err := os.MkdirAll(root.Refused(), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(root.Pending(), name, version), to); err != nil {
		return err
	}
	message := strings.ReplaceAll(why.Error(), filepath.Join(root.Pending(), name, version)+string(filepath.Separator), "")
	say("a run of %s that was cut short cannot be kept: %s; it lies in %s", name, message, root.Rel(to))
	return nil
}

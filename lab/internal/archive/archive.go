// Package archive reads the journal: experiments, hosts, runs with their
// raw profiles, and texts.
//
// Each file is compared with the other files that it names, and one pass reports the
// faults of all data files. A Journal without faults is consistent.
//
// It writes nothing.
package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Journal is all data, read and checked.
type Journal struct {
	Root        journal.Root
	Experiments []*experiment.Experiment
	Hosts       map[string]*host.Profile
	Runs        []*results.File // sorted by experiment, then run
	Audits      []*audit.File   // sorted by entry; nil while anything has a fault

	then map[string]*experiment.Experiment // with the claims of runs, by experiment and SHA-256
}

// A Fault is one thing wrong with one file.
type Fault struct {
	Path string // from the repository's root
	Err  error
}

// Open reads the whole journal. It collects faults in data files, so that one pass
// reports all of them. A faulty experiment ends it at once, because every run is checked
// against an experiment.
func Open(root journal.Root) (*Journal, []Fault, error) {
	j := &Journal{Root: root, Hosts: map[string]*host.Profile{}, then: map[string]*experiment.Experiment{}}
	var err error
	if j.Experiments, err = experiment.LoadDir(root.Experiments()); err != nil {
		return nil, nil, err
	}
	hosts, err := root.Files("hosts", ".json")
	if err != nil {
		return nil, nil, err
	}
	runs, err := root.Files("results", ".json")
	if err != nil {
		return nil, nil, err
	}
	texts, unread, err := audit.LoadDir(root.Texts())
	if err != nil {
		return nil, nil, err
	}

	var faults []Fault
	fault := func(path string, err error) {
		if err != nil { // readers put the path before their message
			faults = append(faults, Fault{root.Rel(path), errors.New(strings.TrimPrefix(err.Error(), path+": "))})
		}
	}
	for _, p := range hosts {
		fault(p, j.readHost(p))
	}
	files, errs := results.ReadAll(runs)
	before := len(faults)
	for i, p := range runs {
		err := errs[i]
		if err == nil {
			err = j.accept(p, files[i])
		}
		fault(p, err)
	}
	if len(faults) == before {
		faults = append(faults, j.moved()...)
	}
	for _, p := range slices.Sorted(maps.Keys(unread)) {
		fault(p, unread[p])
	}
	// A text refers to experiments and hosts: if anything has a fault, that would only report it again.
	if len(faults) > 0 {
		return j, faults, nil
	}
	j.Audits, err = audit.Of(texts, j.Experiments, j.Hosts)
	if found := (*audit.Fault)(nil); errors.As(err, &found) {
		fault(root.Text(found.Text), found.Err)
	}
	return j, faults, nil
}

// readHost adds the profile of a host.
func (j *Journal) readHost(path string) error {
	h, err := results.ReadHost(path)
	if err != nil {
		return err
	}
	if want := j.Root.Host(h.ID); path != want {
		return fmt.Errorf("/id: %q, whose file is %s", h.ID, j.Root.Rel(want))
	}
	j.Hosts[h.ID] = h
	return nil
}

// accept adds a run whose file lies at a path, or says what is wrong with it that a schema cannot: names refer
// to existing things, the parts of the file agree, and its raw profiles are there, as they were.
func (j *Journal) accept(path string, f *results.File) error {
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return fmt.Errorf("/experiment: %w", err)
	}
	// The whole path is compared: a run in a subdirectory would have its verdict
	// file written over another's.
	if want := j.Root.Result(f.Experiment, f.Run); path != want {
		return fmt.Errorf("/run: %q of %q, whose file is %s", f.Run, f.Experiment, j.Root.Rel(want))
	}
	for i, id := range []string{f.Hosts.Server, f.Hosts.Client} {
		if j.Hosts[id] == nil {
			return fmt.Errorf("/hosts/%s: no profile %s", []string{"server", "client"}[i], j.Root.Rel(j.Root.Host(id)))
		}
	}
	if f.Provenance.ExperimentSHA256 != x.SHA256 && f.Provenance.Locks == nil {
		return errors.New("/provenance/locks: missing, though the experiment's file was changed since")
	}
	if err := check.File(f, j.Then(x, f)); err != nil {
		return err
	}
	for i, c := range f.Conditions {
		for k, named := range c.Profiles {
			packed := j.Root.Packed(named.File)
			data, err := results.ReadRaw(packed, named.File)
			if errors.Is(err, os.ErrNotExist) {
				err = errors.New("missing")
			} else if got := fmt.Sprintf("%x", sha256.Sum256(data)); err == nil && got != named.SHA256 {
				err = fmt.Errorf("its SHA-256 is %s, not %s as the run has it", got, named.SHA256)
			}
			if err != nil {
				return fmt.Errorf("/conditions/%d/profiles/%d: %s: %w", i, k, filepath.ToSlash(j.Root.Rel(packed)), err)
			}
		}
	}
	j.Runs = append(j.Runs, f)
	return nil
}

// Experiment finds an experiment by name.
func (j *Journal) Experiment(name string) (*experiment.Experiment, error) {
	names := strict.Map(j.Experiments, func(x *experiment.Experiment) string { return x.Name })
	if i := slices.Index(names, name); i >= 0 {
		return j.Experiments[i], nil
	}
	if few := 14; len(names) > few && len(strict.Near(name, names)) == 0 {
		return nil, fmt.Errorf("no experiment %q; lab/experiments has a file for each", name)
	}
	return nil, fmt.Errorf("no experiment %q; %s", name, strict.Instead(name, names))
}

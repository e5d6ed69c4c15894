// Package archive reads the journal: experiments, hosts, runs with their
// raw profiles, and texts.
//
// Each file is compared with the other files that it names, and one pass reports the
// faults of all data files. A Journal without faults is consistent.
//
// It writes nothing. Files are read once: a run made since then is added by Add.
package archive

import (
	"errors"
	"fmt"
	"maps"
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
	j, faults, err := Designs(root)
	if err != nil {
		return nil, nil, err
	}
	runs, err := root.Files("results", ".json")
	if err != nil {
		return nil, nil, err
	}
	if unread := j.load(runs, &faults); len(unread) == 0 {
		faults = append(faults, j.moved()...)
	}
	if err := j.audit(&faults); err != nil {
		return nil, nil, err
	}
	return j, faults, nil
}

// audit reads the texts and judges their figures. A text refers to experiments and
// hosts: if anything has a fault, that would only report it again.
func (j *Journal) audit(faults *[]Fault) error {
	texts, unread, err := audit.LoadDir(j.Root.Texts())
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(unread)) {
		*faults = append(*faults, faultOf(j.Root, p, unread[p]))
	}
	if len(*faults) > 0 {
		return nil
	}
	j.Audits, err = audit.Of(texts, j.Experiments, j.Hosts)
	if found := (*audit.Fault)(nil); errors.As(err, &found) {
		*faults = append(*faults, faultOf(j.Root, j.Root.Text(found.Text), found.Err))
	}
	return nil
}

// Designs reads the experiments and the hosts, and no run.
func Designs(root journal.Root) (*Journal, []Fault, error) {
	j := &Journal{Root: root, then: map[string]*experiment.Experiment{}}
	var faults []Fault
	fault := func(path string, err error) { faults = append(faults, faultOf(root, path, err)) }
	var err error
	if j.Experiments, err = experiment.LoadDir(root.Experiments()); err != nil {
		return nil, nil, err
	}
	hosts, err := root.Files("hosts", ".json")
	if err != nil {
		return nil, nil, err
	}
	j.Hosts = map[string]*host.Profile{}
	for _, p := range hosts {
		h, err := results.ReadHost(p)
		if err == nil && h.ID != base(p) {
			err = fmt.Errorf("/id: %q differs from the file's name", h.ID)
		} else if err == nil && p != root.Host(h.ID) {
			err = fmt.Errorf("/id: %q, but the file lies in %s", h.ID, root.Rel(filepath.Dir(p)))
		}
		if err != nil {
			fault(p, err)
			continue
		}
		j.Hosts[h.ID] = h
	}
	return j, faults, nil
}

// Load reads the runs of one experiment in place of those that the journal has.
func (j *Journal) Load(x *experiment.Experiment) (faults []Fault, err error) {
	j.Runs = nil
	runs, err := j.Root.Files("results/"+x.Name, ".json")
	if err == nil {
		j.load(runs, &faults)
	}
	return faults, err
}

// LoadTexts reads the texts, and judges their figures.
func (j *Journal) LoadTexts() (faults []Fault, err error) {
	err = j.audit(&faults)
	return faults, err
}

// load adds the runs of results files, and lists the files that have a fault.
func (j *Journal) load(paths []string, faults *[]Fault) (unread []string) {
	files, errs := results.ReadAll(paths)
	for i, p := range paths {
		f, err := files[i], errs[i]
		if err == nil {
			err = j.accept(p, f)
		}
		if err != nil {
			*faults, unread = append(*faults, faultOf(j.Root, p, err)), append(unread, p)
		}
	}
	return unread
}

// accept adds a run whose file lies, or will lie, at a path, or says what is wrong with it.
func (j *Journal) accept(path string, f *results.File) error {
	err := j.consistent(path, f)
	if err == nil {
		err = j.rawProfiles(f)
	}
	if err == nil {
		j.Runs = append(j.Runs, f)
	}
	return err
}

// faultOf is a fault of a file. Readers put the path before their message; it is removed
// here because Fault has it.
func faultOf(root journal.Root, path string, err error) Fault {
	return Fault{root.Rel(path), errors.New(strings.TrimPrefix(err.Error(), path+": "))}
}

// Experiment finds an experiment by name.
func (j *Journal) Experiment(name string) (*experiment.Experiment, error) {
	var names []string
	for _, x := range j.Experiments {
		if x.Name == name {
			return x, nil
		}
		names = append(names, x.Name)
	}
	if few := 14; len(names) > few && len(strict.Near(name, names)) == 0 {
		return nil, fmt.Errorf("no experiment %q; lab list names them", name)
	}
	return nil, fmt.Errorf("no experiment %q; %s", name, strict.Instead(name, names))
}

// consistent checks what a schema cannot: that names refer to existing things,
// and that the parts of the file agree.
func (j *Journal) consistent(path string, f *results.File) error {
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return fmt.Errorf("/experiment: %w", err)
	}
	// The whole path is compared: a run in a subdirectory would have its verdict
	// file written over another's.
	if dir := filepath.Dir(path); dir != filepath.Dir(j.Root.Result(f.Experiment, base(path))) {
		return fmt.Errorf("/experiment: %q, but the file lies in %s", f.Experiment, j.Root.Rel(dir))
	}
	if f.Run != base(path) {
		return fmt.Errorf("/run: %q differs from the file's name", f.Run)
	}
	for i, id := range []string{f.Hosts.Server, f.Hosts.Client} {
		if j.Hosts[id] == nil {
			return fmt.Errorf("/hosts/%s: no profile %s", []string{"server", "client"}[i], j.Root.Rel(j.Root.Host(id)))
		}
	}
	if f.Provenance.ExperimentSHA256 != x.SHA256 && f.Provenance.Locks == nil {
		return errors.New("/provenance/locks: missing, though the experiment's file was changed since")
	}
	return check.File(f, j.Then(x, f))
}

// Add adds a run that was made since the journal was read, or returns what Open
// would find wrong with it. Its host's profile must be in Hosts, and its
// raw profiles must be in place.
func (j *Journal) Add(f *results.File) error {
	if slices.ContainsFunc(j.Runs, func(r *results.File) bool { return r.Experiment == f.Experiment && r.Run == f.Run }) {
		return fmt.Errorf("/run: %s is there already", j.Root.Rel(j.Root.Result(f.Experiment, f.Run)))
	}
	err := j.accept(j.Root.Result(f.Experiment, f.Run), f)
	if moved := j.moved(); err == nil && len(moved) > 0 {
		err = fmt.Errorf("%s: %w", moved[0].Path, moved[0].Err)
	}
	if err != nil {
		j.Remove(f)
	}
	return err
}

// Remove removes a run whose files could not be written.
func (j *Journal) Remove(f *results.File) {
	j.Runs = slices.DeleteFunc(j.Runs, func(r *results.File) bool { return r == f })
}

func base(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

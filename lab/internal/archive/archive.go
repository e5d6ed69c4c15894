// Package archive reads the journal: experiments, hosts, runs with their designs and
// raw profiles, and texts.
//
// Its stance: nothing is believed because it lies there. Each file is held against
// the others that it names, and one pass names the faults of all data files. Whoever
// has a Journal without faults may rely on what is in it.
//
// Its limits: it writes nothing. All runs are held in memory, and what was read is
// not read again: a run that was made since is taken in by Add.
package archive

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Journal is everything the data says, read and checked.
type Journal struct {
	Root        journal.Root
	Experiments []*experiment.Experiment
	Hosts       map[string]*host.Profile
	Runs        []*results.File // by experiment, then run
	Audits      []*audit.File   // by entry; none while anything else is faulty

	raw     map[string]rawFile                // by name from data/profiles; those that the runs name
	designs map[string]*experiment.Experiment // by experiment and SHA-256; those that the runs name
}

// A Fault is one thing wrong with one file.
type Fault struct {
	Path string // from the root
	Err  error
}

// Open reads the whole journal. Faults in data files are collected, so that
// one pass names them all; only a broken experiment ends it at once, because
// every run is read against one.
func Open(root journal.Root) (*Journal, []Fault, error) {
	j := &Journal{Root: root, Hosts: map[string]*host.Profile{}, raw: map[string]rawFile{}, designs: map[string]*experiment.Experiment{}}
	var faults []Fault
	fault := func(path string, err error) {
		// Readers put the path before their message; it is said once.
		msg := strings.TrimPrefix(err.Error(), path+": ")
		faults = append(faults, Fault{root.Rel(path), errors.New(msg)})
	}
	xs, err := experiment.LoadDir(root.Experiments())
	if err != nil {
		return nil, nil, err
	}
	j.Experiments = xs

	hosts, err := root.Files("hosts", ".json")
	if err != nil {
		return nil, nil, err
	}
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

	runs, err := root.Files("results", ".json")
	if err != nil {
		return nil, nil, err
	}
	unreadRuns := map[string]bool{} // by where their profiles would lie
	for _, p := range runs {
		f, err := results.Read(p)
		if err == nil {
			err = j.consistent(p, f)
		}
		if err == nil {
			err = j.rawProfiles(f)
		}
		if err != nil {
			fault(p, err)
			unreadRuns[root.Profile(filepath.Base(filepath.Dir(p))+"/"+base(p))] = true
			continue
		}
		j.Runs = append(j.Runs, f)
	}
	strays, err := j.strays(unreadRuns)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range strays {
		fault(p, errors.New("no run names it; remove it, or add the run"))
	}

	if len(unreadRuns) == 0 { // a run that was not read may be what names a design
		if strays, err = j.strayDesigns(); err != nil {
			return nil, nil, err
		}
		for _, p := range strays {
			fault(p, errors.New("no run was made with it; remove it, or add the run"))
		}
		faults = append(faults, j.moved()...)
	}

	texts, unread, err := audit.LoadDir(root.Texts())
	if err != nil {
		return nil, nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(unread)) {
		fault(p, unread[p])
	}
	// A text leans on runs: where one of them is faulty, what the text says of
	// it would only be faulty a second time.
	if len(faults) > 0 {
		return j, faults, nil
	}
	j.Audits, err = audit.Of(texts, j.Runs)
	if found := (*audit.Fault)(nil); errors.As(err, &found) {
		path := root.Text(found.Text)
		if r := found.Run; r != nil {
			path = root.Result(r.Experiment, r.Run)
		}
		fault(path, found.Err)
	}
	return j, faults, nil
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
	return nil, fmt.Errorf("no experiment %q; there are %s", name, strings.Join(names, ", "))
}

// consistent checks what a schema cannot: that names lead somewhere and that
// the parts of the file agree.
func (j *Journal) consistent(path string, f *results.File) error {
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return fmt.Errorf("/experiment: %w", err)
	}
	// The whole directory: the verdict of a run further down would be written
	// over that of another.
	if dir := filepath.Dir(path); dir != filepath.Dir(j.Root.Result(f.Experiment, base(path))) {
		return fmt.Errorf("/experiment: %q, but the file lies in %s", f.Experiment, j.Root.Rel(dir))
	}
	if f.Run != base(path) {
		return fmt.Errorf("/run: %q differs from the file's name", f.Run)
	}
	for role, id := range map[string]string{"server": f.Hosts.Server, "client": f.Hosts.Client} {
		if j.Hosts[id] == nil {
			return fmt.Errorf("/hosts/%s: no profile %s", role, j.Root.Rel(j.Root.Host(id)))
		}
	}
	// What was measured is of the design that it was made with, which may be an
	// earlier one. What a text printed is held against the experiment as it is.
	then, err := j.design(f)
	if err != nil {
		return err
	}
	if then != nil {
		x = then
	}
	return f.Check(x)
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

func base(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

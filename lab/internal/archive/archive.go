// Package archive reads the journal: experiments, hosts, runs with their raw profiles, and texts. It compares each file
// with the others that it names, and one pass reports the faults of all data files. It writes nothing.
package archive

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Journal is all data, read and checked.
type Journal struct {
	Root        journal.Root
	Experiments []*experiment.Experiment
	Hosts       map[string]*host.Profile
	Runs        []*results.File // sorted by experiment, then run
	Audits      []*audit.File   // sorted by entry; nil while anything has a fault
}

// A Fault is one thing wrong with one file.
type Fault struct {
	Path string // from the repository's root
	Err  error
}

// Open reads the whole journal. It collects faults in data files, so that one pass reports all of them. A faulty
// experiment ends it at once, because every run is checked against an experiment.
func Open(root journal.Root) (*Journal, []Fault, error) {
	xs, err := experiment.LoadDir(root.Experiments())
	if err != nil {
		return nil, nil, err
	}
	j := &Journal{Root: root, Experiments: xs, Hosts: map[string]*host.Profile{}}
	var faults []Fault
	fault := func(path string, err error) {
		if err != nil { // readers put the path before their message
			faults = append(faults, Fault{root.Rel(path), errors.New(strings.TrimPrefix(err.Error(), path+": "))})
		}
	}
	for _, kind := range []struct {
		dir, ext string
		read     func(path string) error
	}{{"hosts", ".json", j.readHost}, {"results", ".json", j.readRun}, {"texts", ".toml", j.readText}} {
		paths, err := root.Files(kind.dir, kind.ext)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range paths {
			fault(p, kind.read(p))
		}
	}
	if len(faults) == 0 {
		faults = j.moved()
	}
	// A text refers to others: if one has a fault, that would only report it again.
	if len(faults) == 0 {
		entry, err := audit.Of(j.Audits)
		fault(root.Text(entry), err)
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

// readRun adds a run, or says what is wrong with it: names refer to existing things, the parts of the file agree,
// and its raw profiles are there, as they were.
func (j *Journal) readRun(path string) error {
	f, err := results.Read(path)
	if err != nil {
		return err
	}
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return fmt.Errorf("/experiment: %w", err)
	}
	// The whole path is compared: what is derived of a run in a subdirectory would be written over another's.
	if want := j.Root.Result(f.Experiment, f.Run); path != want {
		return fmt.Errorf("/run: %q of %q, whose file is %s", f.Run, f.Experiment, j.Root.Rel(want))
	}
	for side, id := range map[string]string{"server": f.Hosts.Server, "client": f.Hosts.Client} {
		if j.Hosts[id] == nil {
			return fmt.Errorf("/hosts/%s: no profile %s", side, j.Root.Rel(j.Root.Host(id)))
		}
	}
	if err := f.Check(Then(x, f)); err != nil {
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

// readText adds a text, whose tables name experiments and hosts.
func (j *Journal) readText(path string) error {
	data, err := strict.ReadUpTo(path, strict.MostWritten)
	if err != nil {
		return err
	}
	text, err := audit.Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
	if err != nil {
		return err
	}
	for _, t := range text.Tables {
		if _, err := j.Experiment(t.Experiment); err != nil {
			return fmt.Errorf("tables %q: %w", t.ID, err)
		}
		if j.Hosts[t.Host] == nil {
			known := slices.Sorted(maps.Keys(j.Hosts))
			return fmt.Errorf("tables %q: no host %q in data/hosts; %s", t.ID, t.Host, strict.Instead(t.Host, known))
		}
	}
	j.Audits = append(j.Audits, text)
	return nil
}

// Experiment finds an experiment by name.
func (j *Journal) Experiment(name string) (*experiment.Experiment, error) {
	names := strict.Map(j.Experiments, func(x *experiment.Experiment) string { return x.Name })
	if i := slices.Index(names, name); i >= 0 {
		return j.Experiments[i], nil
	}
	return nil, fmt.Errorf("no experiment %q; %s", name, strict.Instead(name, names))
}

// Select lists some runs of an experiment, oldest first.
func (j *Journal) Select(x *experiment.Experiment, some func(*results.File) bool) (out []verdict.Run) {
	for _, r := range j.Runs {
		if r.Experiment == x.Name && some(r) {
			out = append(out, verdict.Run{File: r, Then: Then(x, r)})
		}
	}
	slices.SortFunc(out, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return out
}

func all(*results.File) bool { return true }

// Record lists the runs that a run's verdicts may rest on, oldest first and the run itself last: earlier runs of
// the same experiment on the same host. The run need not be in the journal yet.
func (j *Journal) Record(x *experiment.Experiment, f *results.File) []verdict.Run {
	before := j.Select(x, func(r *results.File) bool { return r.Hosts.Server == f.Hosts.Server && byStart(r, f) < 0 })
	return append(before, verdict.Run{File: f, Then: Then(x, f)})
}

// Question gathers what the journal's runs asked under an experiment's name, on all hosts.
func (j *Journal) Question(x *experiment.Experiment) *verdict.Question {
	return verdict.Asked(j.Select(x, all))
}

// byStart orders runs by start, then by name.
func byStart(a, b *results.File) int {
	return cmp.Or(a.Provenance.StartedAt.Compare(b.Provenance.StartedAt), cmp.Compare(a.Run, b.Run))
}

// Then is the experiment with the claims that a run was made with, by the run's own locks if the file was changed
// since. Prove holds the run's digest of the file against git.
func Then(x *experiment.Experiment, f *results.File) *experiment.Experiment {
	if p := f.Provenance; p.ExperimentSHA256 != x.SHA256 {
		return x.Then(p.Locks)
	}
	return x
}

// moved reports, by experiment file, claims that differ from those their runs were made with and are not withdrawn.
func (j *Journal) moved() (faults []Fault) {
	for _, x := range j.Experiments {
		was := map[string]int{} // number of runs with a claim that the experiment no longer has unchanged, by claim
		for _, r := range j.Select(x, all) {
			for _, c := range r.Then.Claims {
				if !x.Holds(r.Then, c) {
					was[c.ID]++
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(was)) {
			path, runs := j.Root.Rel(j.Root.Experiment(x.Name)), words.Count(was[id], "run")
			if _, stands := x.Claim(id); stands {
				faults = append(faults, Fault{path, fmt.Errorf("claim %q was changed after %s had been made with it; give the "+
					"changed claim a new id, and name %q under [[withdrawn]] with the reason", id, runs, id)})
			} else if !slices.ContainsFunc(x.Withdrawn, func(w experiment.Withdrawal) bool { return w.ID == id }) {
				faults = append(faults, Fault{path, fmt.Errorf("claim %q is gone, but %s decided it; name it under [[withdrawn]] "+
					"with the reason", id, runs)})
			}
		}
	}
	return faults
}

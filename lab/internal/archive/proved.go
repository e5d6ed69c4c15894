package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// clocksDiffer is how far the clock of the machine that made a commit may be
// ahead of the one that made a run.
const clocksDiffer = time.Hour

// A Proof says how far git's history shows that experiments were written down
// before they were run.
type Proof struct {
	Unchecked string  // why nothing was checked; empty if it was
	Runs      int     // the measured runs
	Open      []Fault // the runs that say themselves that no commit has what they were made with
}

// Prove looks up, for each measured run, the commit that it names. That commit
// must be in HEAD's history and not younger than the run. It must have the
// experiment's file with the digest that the run recorded. A commit is named by a
// digest of all that it holds, so the file was committed before the results were.
//
// A run that says that files differed from its commit proves nothing, and is
// listed as open. Faults are runs that claim more than git shows.
//
// Open compares the claims of each kept design with those of today.
func (j *Journal) Prove() (Proof, []Fault, error) {
	var p Proof
	h, err := openHistory(j.Root)
	if none := noHistory(""); errors.As(err, &none) {
		p.Unchecked = string(none)
		return p, nil, nil
	}
	if err != nil {
		return p, nil, err
	}
	then := &past{history: h, designs: map[string]string{}}
	if then.commits, err = h.commits(); err != nil {
		return p, nil, err
	}
	if err := then.look(j.Runs); err != nil {
		return p, nil, err
	}
	var faults []Fault
	for _, f := range j.Runs {
		p.Runs++
		at := j.Root.Rel(j.Root.Result(f.Experiment, f.Run))
		if open := then.open(f); open != "" {
			p.Open = append(p.Open, Fault{at, errors.New(open)})
		} else if err := then.shows(f); err != nil {
			faults = append(faults, Fault{at, err})
		}
	}
	return p, faults, nil
}

// past is what the commits that runs name had.
type past struct {
	history
	commits map[string]time.Time // of HEAD's history
	designs map[string]string    // SHA-256 of experiments' files, by commit:path
}

func design(f *results.File) string {
	return f.Provenance.Commit + ":lab/experiments/" + f.Experiment + ".toml"
}

// look reads the commits' files that are compared with the runs.
func (p *past) look(runs []*results.File) error {
	names := map[string]bool{}
	for _, f := range runs {
		if _, ok := p.commits[f.Provenance.Commit]; ok {
			names[design(f)] = true
		}
	}
	err := p.read(slices.Sorted(maps.Keys(names)), func(name string, data []byte) error {
		if data != nil {
			p.designs[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		return nil
	})
	return err
}

// open says why a run proves nothing by its own account; empty if it does not
// say so.
func (p *past) open(f *results.File) string {
	v := f.Provenance
	switch {
	case v.Commit == host.UnknownCommit:
		return "made outside a git checkout, so no commit shows what it was made with"
	case v.Dirty && p.designs[design(f)] == v.ExperimentSHA256:
		return "its experiment was committed before, but other files of the lab differed from the commit"
	case v.Dirty:
		return "made with files of the lab that no commit has, its experiment among them"
	}
	return ""
}

// shows compares a run with the commit that it names.
func (p *past) shows(f *results.File) error {
	v := f.Provenance
	const written = "commit an experiment before it is run, and never edit what a run recorded"
	made, ok := p.commits[v.Commit]
	if !ok {
		return fmt.Errorf("/provenance/commit: %.12s is not in the history of this checkout; git merge it, since a rebase "+
			"or a squash loses it, or leave the run out", v.Commit)
	}
	if made.After(v.StartedAt.Add(clocksDiffer)) {
		return fmt.Errorf("/provenance/started_at: %s is before %s, when its commit %.12s was made; %s",
			v.StartedAt.UTC().Format(time.RFC3339), made.Format(time.RFC3339), v.Commit, written)
	}
	_, path, _ := strings.Cut(design(f), ":")
	switch is := p.designs[design(f)]; {
	case is == "":
		return fmt.Errorf("/provenance/experiment_sha256: commit %.12s has no %s; %s", v.Commit, path, written)
	case is != v.ExperimentSHA256:
		return fmt.Errorf("/provenance/experiment_sha256: %.12s, but %s at commit %.12s has %.12s; %s", v.ExperimentSHA256,
			path, v.Commit, is, written)
	}
	return nil
}

package archive

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Then is the experiment with the claims that a run was made with, by the run's own locks
// if the file was changed since. Prove holds the run's digest of the file against git.
func (j *Journal) Then(x *experiment.Experiment, f *results.File) *experiment.Experiment {
	p := f.Provenance
	if p.ExperimentSHA256 == x.SHA256 || p.Locks == nil {
		return x
	}
	key := x.Name + " " + p.ExperimentSHA256
	if j.then[key] == nil {
		j.then[key] = x.Then(p.Locks)
	}
	return j.then[key]
}

// moved reports, by experiment file, claims that differ from those their runs
// were made with and are not withdrawn.
func (j *Journal) moved() []Fault {
	var faults []Fault
	for _, x := range j.Experiments {
		was := map[string]int{} // number of runs with a claim that the experiment no longer has unchanged, by claim
		var order []string
		for _, f := range j.Runs {
			if f.Experiment != x.Name {
				continue
			}
			then := j.Then(x, f)
			for _, c := range then.Claims {
				if x.Holds(then, c) {
					continue
				}
				if was[c.ID]++; was[c.ID] == 1 {
					order = append(order, c.ID)
				}
			}
		}
		fault := func(format string, args ...any) {
			path := filepath.Join(j.Root.Experiments(), x.Name+".toml")
			faults = append(faults, Fault{j.Root.Rel(path), fmt.Errorf(format, args...)})
		}
		for _, id := range order {
			_, stands := x.Claim(id)
			withdrawn := slices.ContainsFunc(x.Withdrawn, func(w experiment.Withdrawal) bool { return w.ID == id })
			switch {
			case stands:
				fault("claim %q was changed after %s had been made with it; give the changed claim a new id, and name %q under "+
					"[[withdrawn]] with the reason", id, words.Count(was[id], "run"), id)
			case !withdrawn:
				fault("claim %q is gone, but %s decided it; name it under [[withdrawn]] with the reason", id,
					words.Count(was[id], "run"))
			}
		}
	}
	return faults
}

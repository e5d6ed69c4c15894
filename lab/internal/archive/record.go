package archive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Record lists the runs that a run's verdicts may rest on, oldest first and the
// run itself last: earlier runs of the same experiment on the same hosts. The
// run need not be in the journal yet.
func (j *Journal) Record(x *experiment.Experiment, f *results.File) []verdict.Run {
	before := j.runs(x, func(r *results.File) bool { return r.Hosts.Server == f.Hosts.Server && byStart(r, f) < 0 })
	return append(before, verdict.Run{File: f, Then: j.Then(x, f)})
}

// Question gathers what the journal's runs asked under an experiment's name, on all
// hosts.
func (j *Journal) Question(x *experiment.Experiment) *verdict.Question {
	return verdict.Asked(j.runs(x, func(*results.File) bool { return true }))
}

// runs lists some runs of an experiment, oldest first.
func (j *Journal) runs(x *experiment.Experiment, some func(*results.File) bool) (out []verdict.Run) {
	for _, r := range j.Runs {
		if r.Experiment == x.Name && some(r) {
			out = append(out, verdict.Run{File: r, Then: j.Then(x, r)})
		}
	}
	slices.SortFunc(out, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return out
}

// byStart orders runs by start, then by name.
func byStart(a, b *results.File) int {
	return cmp.Or(a.Provenance.StartedAt.Compare(b.Provenance.StartedAt), cmp.Compare(a.Run, b.Run))
}

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
func (j *Journal) moved() (faults []Fault) {
	for _, x := range j.Experiments {
		was := map[string]int{} // number of runs with a claim that the experiment no longer has unchanged, by claim
		for _, r := range j.runs(x, func(*results.File) bool { return true }) {
			for _, c := range r.Then.Claims {
				if !x.Holds(r.Then, c) {
					was[c.ID]++
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(was)) {
			runs := words.Count(was[id], "run")
			var err error
			if _, stands := x.Claim(id); stands {
				err = fmt.Errorf("claim %q was changed after %s had been made with it; give the changed claim a new id, and name %q "+
					"under [[withdrawn]] with the reason", id, runs, id)
			} else if !slices.ContainsFunc(x.Withdrawn, func(w experiment.Withdrawal) bool { return w.ID == id }) {
				err = fmt.Errorf("claim %q is gone, but %s decided it; name it under [[withdrawn]] with the reason", id, runs)
			}
			if err != nil {
				faults = append(faults, Fault{j.Root.Rel(j.Root.Experiment(x.Name)), err})
			}
		}
	}
	return faults
}

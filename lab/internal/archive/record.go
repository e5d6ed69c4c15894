package archive

import (
	"cmp"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
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

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
	var out []verdict.Run
	for _, r := range j.Runs {
		if r.Experiment == f.Experiment && r.Hosts.Same(f.Hosts) && byStart(r, f) < 0 {
			out = append(out, verdict.Run{File: r, Then: j.Then(x, r)})
		}
	}
	slices.SortFunc(out, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return append(out, verdict.Run{File: f, Then: j.Then(x, f)})
}

// Question gathers what the journal's runs asked under an experiment's name, on all
// hosts.
func (j *Journal) Question(x *experiment.Experiment) *verdict.Question {
	var runs []verdict.Run
	for _, r := range j.Runs {
		if r.Experiment == x.Name {
			runs = append(runs, verdict.Run{File: r, Then: j.Then(x, r)})
		}
	}
	slices.SortFunc(runs, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return verdict.Asked(runs)
}

// byStart orders runs by start, then by name.
func byStart(a, b *results.File) int {
	return cmp.Or(a.Provenance.StartedAt.Compare(b.Provenance.StartedAt), cmp.Compare(a.Run, b.Run))
}

package run

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Without is an experiment without the servers that this machine lacks, and
// what it leaves out by that. Where servers are not what is compared, or fewer
// than two of them are there, nothing is left out: the whole design is then not
// applicable.
func Without(root string, x *experiment.Experiment) (*experiment.Experiment, []results.LeftOut) {
	if !slices.ContainsFunc(x.Factors, func(f experiment.Factor) bool { return f.Name == setting.Server }) {
		return x, nil
	}
	less := x
	var left []results.LeftOut
	for _, absent := range Missing(root, x) {
		out := results.LeftOut{Levels: setting.Levels{setting.Server: setting.String(absent.Server)}, Why: absent.Why()}
		less, left = less.Without(out.Levels), append(left, out)
	}
	if len(less.Conditions()) < 2 || len(less.Loaded()) < 2 {
		return x, nil
	}
	return less, left
}

// without is the plan for what this machine, and its fleet, has.
func (p Plan) without() (Plan, []results.LeftOut) {
	x, left := Without(string(p.Root), p.Experiment)
	p.Experiment = x
	if p.Clients == nil {
		return p, left
	}
	less := x
	for _, levels := range x.Beyond(p.clients()) {
		less = less.Without(levels)
		left = append(left, results.LeftOut{Levels: levels, Why: fmt.Sprintf("the fleet has %d clients", p.clients())})
	}
	if len(less.Conditions()) >= 2 {
		p.Experiment = less
	}
	return p, left
}

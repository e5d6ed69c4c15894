package run

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// without is the plan for what this machine, and its fleet, has.
func (p Plan) without() (Plan, []results.LeftOut) {
	x, lacks := p.Experiment.Present(string(p.Root))
	left := strict.Called(lacks, func(l experiment.Lack) results.LeftOut {
		return results.LeftOut{Levels: setting.Levels{setting.Server: setting.String(l.Server)}, Why: l.Why()}
	})
	p.Experiment = x
	if p.Clients == nil {
		return p, left
	}
	// The servers have all of their host's cores, since nobody loads them from there.
	p.Split = cores.Split{Server: slices.Clone(p.Clients.Hellos()[0].CPUs)}
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

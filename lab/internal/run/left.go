package run

import (
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// without is the plan for what this machine has.
func (p Plan) without() (Plan, []results.LeftOut) {
	x, lacks := p.Experiment.Present(string(p.Root))
	p.Experiment = x
	return p, strict.Called(lacks, func(l experiment.Lack) results.LeftOut {
		return results.LeftOut{Levels: setting.Levels{setting.Server: setting.String(l.Server)}, Why: l.Why()}
	})
}

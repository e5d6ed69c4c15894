package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// gaugeFor is how long a server is loaded alone while it is gauged. What failed twice is not tried
// again: each try takes time from the blocks.
const (
	gaugeFor = 2 * time.Second
	gaugings = 2
)

// receiveShare is the metric that a gauge gives.
const receiveShare = "client_receive_share"

// gauge has the engine gauge once a run how much of each server's CPU time goes into handing packets
// to the client. What cannot be gauged is left out, and the run says why.
func (g *group) gauge(subjects []measure.Subject) measure.Extra {
	r := g.run
	warn := func(why string) {
		line := "the client's part in the servers' CPU time was not gauged: " + why
		if !slices.Contains(r.File.Warnings, line) {
			r.File.Warnings = append(r.File.Warnings, line)
		}
	}
	unusable := kernel.Usable()
	if unusable != "" {
		warn(unusable)
	}
	return measure.Extra{Window: gaugeFor,
		Due: func(i int) bool {
			c := r.File.Conditions[g.conds[i]]
			return unusable == "" && c.ControlOf == "" && !r.gauged(c.ID) && r.failedGauges[g.loads[i].calls()] < gaugings
		},
		Do: func(ctx context.Context, i int) error {
			stacks, err := kernel.Record(ctx, subjects[i].CPU().PIDs, gaugeFor/2)
			if err == nil {
				g.gauged[i], err = kernel.ReceiveShare(stacks)
			}
			if err == nil {
				return nil
			}
			if r.failedGauges[g.loads[i].calls()]++; r.failedGauges[g.loads[i].calls()] == gaugings && ctx.Err() == nil {
				warn(fmt.Sprintf("%s: %v", g.loads[i].calls(), err))
			}
			return nil
		}}
}

// gauged reports whether an earlier block of the run has gauged the condition.
func (r *Run) gauged(condition string) bool {
	return slices.ContainsFunc(r.File.Trials, func(t results.Trial) bool {
		_, ok := t.Metrics[receiveShare]
		return ok && t.Condition == condition
	})
}

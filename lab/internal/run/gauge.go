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

// gaugeFor is how long a server is loaded alone while it is gauged, and gaugings in how many blocks of a run
// that is tried: each try takes time from the blocks.
const (
	gaugeFor = 2 * time.Second
	gaugings = 2
)

// receiveShare is the metric that a gauge gives.
const receiveShare = "client_receive_share"

// gauge has the engine gauge once a run how much of each server's CPU time goes into handing packets
// to the client. What cannot be gauged is left out, and the run says why.
func (g *group) gauge(subjects []measure.Subject) measure.Extra {
	f := g.run.File
	return measure.Extra{Window: gaugeFor,
		Due: func(i int) bool {
			c := f.Conditions[g.conds[i]]
			return c.ControlOf == "" && f.Provenance.Blocks < gaugings && !slices.ContainsFunc(f.Trials, func(t results.Trial) bool {
				return t.Condition == c.ID && t.Metrics[receiveShare] > 0
			})
		},
		Do: func(ctx context.Context, i int) error {
			stacks, err := kernel.Record(ctx, subjects[i].CPU().PIDs, gaugeFor/2)
			if err == nil {
				g.gauged[i], err = kernel.ReceiveShare(stacks)
			}
			if err != nil && f.Provenance.Blocks == gaugings-1 && ctx.Err() == nil {
				g.warn(fmt.Sprintf("%s: %v", g.loads[i].calls(), err))
			}
			return nil
		}}
}

// warn says once in the run's file why something was not gauged.
func (g *group) warn(why string) {
	line := "the client's part in the servers' CPU time was not gauged: " + why
	if f := g.run.File; !slices.Contains(f.Warnings, line) {
		f.Warnings = append(f.Warnings, line)
	}
}

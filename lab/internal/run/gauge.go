package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/perf"
	"github.com/line-rate/line-rate/lab/internal/receive"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// gaugeFor is how long a server is loaded alone while it is gauged; gaugeRest is
// what the load lasts beyond that, since perf takes up to a second to begin and to
// end, and gaugeRead is more than perf may take until what it recorded is read. What
// failed twice is not tried again: each try takes time from the blocks.
const (
	gaugeFor  = time.Second
	gaugeRest = 1500 * time.Millisecond
	gaugeRead = time.Minute
	gaugings  = 2
)

// gauged gauges once a run how much of each server's CPU time goes into handing
// packets to the client, where the design asks for it: after the first trial
// that is valid, the server is loaded again, alone. What cannot be gauged is
// left out, and the run says why.
func (g *group) gauged(ctx context.Context) error {
	e := g.engine
	if x := e.plan.Experiment; x == nil || x.Relative == nil || !x.Relative.OwnWork {
		return nil
	}
	warn := func(why string) {
		line := "the client's part in the servers' CPU time was not gauged: " + why
		if !slices.Contains(e.file.Warnings, line) {
			e.file.Warnings = append(e.file.Warnings, line)
		}
	}
	if why := perf.Usable(); why != "" {
		warn(why)
		return nil
	}
	for i := range g.trials {
		if len(g.trials[i].Reasons) > 0 || e.file.Conditions[g.conds[i]].ControlOf != "" || e.gauged(g.trials[i].Condition) ||
			e.failedGauges[g.loads[i].calls()] == gaugings {
			continue
		}
		share, err := g.gauge(ctx, i)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			if e.failedGauges[g.loads[i].calls()]++; e.failedGauges[g.loads[i].calls()] == gaugings {
				warn(fmt.Sprintf("%s: %v", g.loads[i].calls(), err))
			}
		default:
			g.trials[i].Metrics[receiveShare] = share
		}
	}
	return nil
}

// receiveShare is the metric that a gauge gives.
const receiveShare = "client_receive_share"

// gauged reports whether an earlier block of the run has gauged the condition.
func (e *engine) gauged(condition string) bool {
	return slices.ContainsFunc(e.file.Trials, func(t results.Trial) bool {
		_, ok := t.Metrics[receiveShare]
		return ok && t.Condition == condition
	})
}

// gauge loads one member's server alone and samples it meanwhile.
func (g *group) gauge(ctx context.Context, i int) (float64, error) {
	var seen receive.Gauge
	var failed error
	_, found, over, err := g.meanwhile(ctx, i, gaugeFor+gaugeRest, gaugeRead, func(ctx context.Context) {
		seen, failed = receive.Of(ctx, g.loads[i].scratch, g.servers[i].processes(), gaugeFor)
	})
	switch {
	case err != nil:
		return 0, err
	case len(found) > 0:
		return 0, fmt.Errorf("%s", found[0].Detail)
	case !over:
		return 0, fmt.Errorf("the client ended before it began")
	}
	return share(seen.Share), failed
}

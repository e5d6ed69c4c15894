package doctor

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// ceilingExperiment loads a server that cannot be the wall, so that what it
// finds is what the load generators can do.
const ceilingExperiment = "04-client-ceiling"

// walls are those that a trial met, by the rule in force now: early files name
// the client also where the server was at its limit beside it.
func walls(r *results.File, t results.Trial) gate.Bound {
	return gate.EvidenceOf(t.Metrics, r.Topology.LineRateBps).Walls().Bound()
}

// ceiling says what each load generator reached on this machine when the last
// calibration was run. Only trials in which the client was the wall count.
func (m Machine) ceiling() Finding {
	// No limit: each trial says what bounded it, calibrated or not.
	f := Finding{Level: Good, About: "client", Seen: "the load generators' ceilings are not known yet (.tools/bin/lab run " + ceilingExperiment + ")"}
	var newest *results.File
	for _, r := range m.Runs {
		if r.Experiment == ceilingExperiment && r.Source == results.Measured && r.Hosts.Client == m.Host && (newest == nil || r.Run > newest.Run) {
			newest = r
		}
	}
	if newest == nil {
		return f
	}
	var parts []string
	for _, c := range newest.Conditions {
		var seen []float64
		for _, t := range newest.Trials {
			if v, ok := t.Metrics["throughput_rps"]; ok && t.Valid && t.Condition == c.ID && walls(newest, t) == gate.BoundClientCPU {
				seen = append(seen, v)
			}
		}
		if c.ControlOf == "" && len(seen) > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f/s on %s", c.Levels[setting.Generator], stats.Median(seen), c.Levels[setting.Route]))
		}
	}
	if len(parts) == 0 {
		return f
	}
	return Finding{Level: Good, About: "client", Seen: "reaches " + strings.Join(parts, ", ") + " (" + newest.Run[:8] + ")"}
}

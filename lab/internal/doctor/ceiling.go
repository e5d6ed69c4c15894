package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// ceilingExperiment loads a server that cannot be the wall, so its result is
// what the load generators can do.
const ceilingExperiment = "04-client-ceiling"

// walls gives the walls of a trial by today's rule: early files name only the
// client where the server was at its limit too.
func walls(r *results.File, t results.Trial) gate.Bound {
	return gate.EvidenceOf(t.Metrics, r.Topology.LineRateBps).Walls().Bound()
}

// ceiling gives what each load generator reached on this machine in the last
// calibration run. Only trials with the client as the wall count.
func (m Machine) ceiling() Finding {
	// Not a limit: each trial says what bounded it, with or without a calibration
	// run.
	f := Finding{Level: Good, About: "client", Seen: "the load generators' ceilings are not known yet (.tools/bin/lab run " + ceilingExperiment + ")"}
	var newest *results.File
	for _, r := range m.Runs {
		if r.Experiment == ceilingExperiment && r.Source == results.Measured && !r.OnFleet() && slices.Contains(m.Hosts, r.Hosts.Client) && (newest == nil || r.Run > newest.Run) {
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

package madeup

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// linkRate is the line rate of all links of a made-up fleet, in bits a second.
const linkRate = 1e10

// fleet makes the run one of a fleet if the plan's hosts have clients. Each host's
// name is a machine.
func (m *maker) fleet(f *results.File) {
	if len(m.Hosts.Clients) == 0 {
		return
	}
	f.Topology = results.Topology{Kind: "fleet", LineRateBps: linkRate}
	f.Provenance.ClientCPUs = ""
	f.Provenance.Fleet = &results.Fleet{}
	var seen []string
	for i, id := range append([]string{m.Hosts.Server}, m.Hosts.Clients...) {
		if !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
		f.Provenance.Fleet.Machines = append(f.Provenance.Fleet.Machines, slices.Index(seen, id))
		if i > 0 {
			f.Provenance.Fleet.Clients = append(f.Provenance.Fleet.Clients, results.OfFleet{
				CPUs: fmt.Sprint(i), LineRateBps: linkRate, Clock: "round-trips", Tools: f.Provenance.Tools, Kernel: f.Provenance.Kernel})
		}
	}
}

// levels are all settings of a trial.
func (m *maker) levels(t *results.Trial) setting.Levels {
	i := slices.IndexFunc(m.f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition })
	return m.f.Settings.With(m.f.Conditions[i].Levels)
}

// clients deals a trial out to the clients that load in it, all of them alike.
func (m *maker) clients(t *results.Trial, loading int) {
	requests, n := int64(t.Metrics["requests"]), int64(loading)
	for i := range m.Hosts.Clients {
		c := results.Client{OffsetS: 0.002 * float64(i), UncertaintyS: 0.0004, MovedS: 0.0001}
		if int64(i) < n {
			c.Requests = requests / n
			if int64(i) < requests%n {
				c.Requests++
			}
			c.CoresBusy, c.ThreadBusyMax = figure(t, "client_cores_busy", 1), figure(t, "client_thread_busy_max", 1)
			c.LineRateShare = figure(t, "line_rate_share", float64(n))
			c.LatencyP50S, c.LatencyP99S = figure(t, "latency_p50_s", 1), figure(t, "latency_p99_s", 1)
			c.LateS = 0.0003
			c.Bound, c.BoundWhy = gate.DecideBound(m.f.ClientEvidence(i, c))
		}
		t.Clients = append(t.Clients, c)
	}
}

// figure is a part of a trial's figure; nil if it was not recorded.
func figure(t *results.Trial, name string, among float64) *float64 {
	v, ok := t.Metrics[name]
	if !ok {
		return nil
	}
	v /= among
	return &v
}

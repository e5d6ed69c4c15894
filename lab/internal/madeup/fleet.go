package madeup

import (
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Part is what one client of a fleet does by itself: its weight among all
// requests, and how full its cores, its busiest thread and its link are.
type Part struct{ Weight, Cores, Thread, Link float64 }

// linkRate is the line rate of all links of a made-up fleet, in bits a second.
const linkRate = 1e10

// fleet makes the run one of a fleet if the plan's hosts have clients. Each host's
// name is a machine, so a fleet of one name is in namespaces of one machine.
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
				CPUs: fmt.Sprint(i), LineRateBps: linkRate, Clock: "round-trips", Tools: f.Provenance.Tools,
				Kernel: f.Provenance.Kernel})
		}
	}
}

// clients deals a trial out to the clients that load in it: by their parts, or to
// all alike. The trial's own figures of its clients are those of the fullest.
func (m *maker) clients(t *results.Trial, parts []Part, loading int) {
	left, weights := int64(t.Metrics["requests"]), float64(loading)
	if parts != nil {
		weights = 0
		for _, p := range parts[:loading] {
			weights += p.Weight
		}
	}
	thread := 0.0
	for i := range m.Hosts.Clients {
		c := results.Client{OffsetS: 0.002 * float64(i), UncertaintyS: 0.0004, MovedS: 0.0001}
		if i < loading {
			c.CoresBusy, c.ThreadBusyMax = figure(t, "client_cores_busy", 1), figure(t, "client_thread_busy_max", 1)
			c.LineRateShare = figure(t, "line_rate_share", float64(loading))
			p := Part{Weight: 1}
			if parts != nil {
				p = parts[i]
				c.CoresBusy, c.ThreadBusyMax, c.LineRateShare = &p.Cores, &p.Thread, &p.Link
				thread = max(thread, p.Thread)
			}
			c.Requests = int64(t.Metrics["requests"] * p.Weight / weights)
			if i == loading-1 {
				c.Requests = left
			}
			left -= c.Requests
			c.LatencyP50S, c.LatencyP99S = figure(t, "latency_p50_s", 1), figure(t, "latency_p99_s", 1)
			c.LateS = 0.0003
		}
		t.Clients = append(t.Clients, c)
	}
	if parts != nil {
		t.ClientThreads = []float64{math.Round(thread*1e4) / 1e4}
	}
}

// figure is a part of a trial's figure; nil if it was not recorded.
func figure(t *results.Trial, name string, among float64) *float64 {
	if v, ok := t.Metrics[name]; ok {
		return new(v / among)
	}
	return nil
}

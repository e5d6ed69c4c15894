package check

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// checkFleet compares what a run says of its fleet in different places.
func (f *file) checkFleet() error {
	fl, n := f.Provenance.Fleet, len(f.Hosts.Clients)
	if fl == nil {
		for i, t := range f.Trials {
			if t.Clients != nil {
				return fmt.Errorf("/trials/%d/clients: the run had no fleet", i)
			}
		}
		if n > 0 {
			return fmt.Errorf("/hosts/clients: the run had no fleet")
		}
		return nil
	}
	switch {
	case f.Topology.Kind != "fleet":
		return fmt.Errorf("/topology/kind: %q, but the run had a fleet", f.Topology.Kind)
	case n == 0 || f.Hosts.Client != f.Hosts.Clients[0]:
		return fmt.Errorf("/hosts/client: %q is not the first of a fleet's clients", f.Hosts.Client)
	case len(fl.Clients) != n:
		return fmt.Errorf("/provenance/fleet/clients: %d, but /hosts/clients names %d", len(fl.Clients), n)
	case len(fl.Machines) != n+1:
		return fmt.Errorf("/provenance/fleet/machines: %d entries for a server and %d clients", len(fl.Machines), n)
	case f.Provenance.ClientCPUs != "":
		return fmt.Errorf("/provenance/client_cpus: those of a fleet's clients stand in /provenance/fleet/clients")
	}
	next := 0
	ids := map[int]string{}
	for i, m := range fl.Machines {
		id := f.Hosts.Server
		if i > 0 {
			id = f.Hosts.Clients[i-1]
		}
		switch {
		case m > next || m < 0:
			return fmt.Errorf("/provenance/fleet/machines/%d: %d where machines are numbered in order, the next as %d", i, m,
				next)
		case m == next:
			next++
			ids[m] = id
		case ids[m] != id:
			return fmt.Errorf("/provenance/fleet/machines/%d: one machine as %q and as %q", i, ids[m], id)
		}
	}
	for i, t := range f.Trials {
		if err := f.checkClients(t, fmt.Sprintf("/trials/%d", i)); err != nil {
			return err
		}
	}
	return nil
}

// checkClients compares the clients' parts of a trial with the trial. An invalid
// trial may lack them: there may be no report of a client.
func (f *file) checkClients(t results.Trial, at string) error {
	fl := f.Provenance.Fleet
	if t.Clients == nil && !t.Valid {
		return nil
	}
	if len(t.Clients) != len(fl.Clients) {
		return fmt.Errorf("%s/clients: %d of a fleet of %d", at, len(t.Clients), len(fl.Clients))
	}
	all := int64(0)
	for i, c := range t.Clients {
		at := fmt.Sprintf("%s/clients/%d", at, i)
		all += c.Requests
		for name, v := range map[string]*float64{"cores_busy": c.CoresBusy, "thread_busy_max": c.ThreadBusyMax,
			"line_rate_share": c.LineRateShare} {
			switch {
			case v != nil && !(*v <= mostOfClient):
				return fmt.Errorf("%s/%s: %v is a share of more than all", at, name, *v)
			case v != nil && !c.Loads():
				return fmt.Errorf("%s/%s: of a client that does not load", at, name)
			}
		}
		if !c.Loads() {
			if c.Requests > 0 {
				return fmt.Errorf("%s/requests: %d of a client that does not load", at, c.Requests)
			}
			continue
		}
		if c.LatencyP50S != nil && c.LatencyP99S != nil && *c.LatencyP99S < *c.LatencyP50S {
			return fmt.Errorf("%s/latency_p99_s: %v is less than latency_p50_s, %v", at, *c.LatencyP99S, *c.LatencyP50S)
		}
		for _, found := range gate.JudgeClock(c.Clock()) {
			if t.Valid {
				return fmt.Errorf("%s: %s, and so the gate %s makes the trial invalid; it is called valid", at, found.Detail,
					found.Gate)
			}
		}
		if t.Valid && c.LateS > gate.ClientLate.Seconds() {
			return fmt.Errorf("%s/late_s: %v, and so the gate %s makes the trial invalid; it is called valid", at, c.LateS,
				gate.ClientsApart)
		}
	}
	if requests, there := t.Metrics["requests"]; there && math.Abs(float64(all)-requests) > 0.5 {
		return fmt.Errorf("%s/clients: %d requests of all of them, but the trial has %v", at, all, requests)
	}
	return nil
}

// mostOfClient is the most that a client's share of a resource can seem: clocks
// are read one after the other, and a shaper passes bursts at more than its rate.
const mostOfClient = 1.25

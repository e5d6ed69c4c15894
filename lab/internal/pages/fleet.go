package pages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Fleet is what pages tell of a run whose clients were on other hosts: which
// they were, and what each did in each condition. It decides nothing. A figure is
// the median over the condition's valid trials; percentiles of latency are not in
// it, since those of the run are of all clients' histograms together.
type Fleet struct {
	Who        string           `json:"who"`  // what tells it from its server alone and from other fleets, as OnHost's
	Says       string           `json:"says"` // "1 server and 3 clients on 4 machines"
	With       string           `json:"with"` // beside the server's name: "with 3 clients on 3 machines"
	Hosts      []string         `json:"hosts"`
	Conditions []FleetCondition `json:"conditions,omitempty"` // in the order of the table, those with a valid trial
}

// A FleetCondition is one condition, with its clients in their order.
type FleetCondition struct {
	ID      string        `json:"id"`
	Says    string        `json:"says"` // which of the clients were full
	Clients []FleetClient `json:"clients"`
}

// A FleetClient is one client that loaded in a condition. A figure is empty where
// it was not recorded.
type FleetClient struct {
	Client int    `json:"client"` // counted from 1
	Share  string `json:"share"`  // of all requests, in percent
	Cores  string `json:"cores,omitempty"`
	Thread string `json:"thread,omitempty"`
	Link   string `json:"link,omitempty"`
	Bound  string `json:"bound"` // its own, with the number of trials
	Clock  string `json:"clock"` // how far its clock was ahead, and how sure that is, in milliseconds
}

// fleetOf describes a run's fleet; nil without one.
func fleetOf(r *results.File) *Fleet {
	if !r.OnFleet() {
		return nil
	}
	f := &Fleet{Who: r.Hosts.Word(), Hosts: r.Hosts.Clients}
	f.Says, f.With = fleetWords(r.Provenance.Fleet.Machines)
	for _, c := range r.Conditions {
		valid := strict.Those(r.Trials, func(t results.Trial) bool {
			return t.Condition == c.ID && t.Valid && len(t.Clients) > 0
		})
		if len(valid) > 0 {
			f.Conditions = append(f.Conditions, fleetCondition(c.ID, valid))
		}
	}
	return f
}

// fleetWords says how many hosts there were and on how many machines, from the
// machine of each, the server's first. Hosts that share a machine are not taken
// for several: what one of them does slows the others, and nothing crosses a
// network card between them.
func fleetWords(machines []int) (says, with string) {
	beside := strict.Count(machines[1:], func(m int) bool { return m == machines[0] })
	clients := words.Count(len(machines)-1, "client")
	all := len(strict.Set(machines, func(m int) int { return m }))
	switch {
	case all == 1:
		return "1 server and " + clients + " in network namespaces of one machine", "with " + clients +
			" in namespaces of one machine"
	case beside > 0:
		says = fmt.Sprintf("1 server and %s on %d machines, %d of them on the server's own", clients, all, beside)
		return says, fmt.Sprintf("with %s, %d of them on the same machine", clients, beside)
	}
	return fmt.Sprintf("1 server and %s on %d machines", clients, all),
		fmt.Sprintf("with %s on %s", clients, words.Count(all-1, "machine"))
}

// fleetCondition sums up the valid trials of a condition, client by client.
func fleetCondition(id string, trials []results.Trial) FleetCondition {
	out := FleetCondition{ID: id, Clients: []FleetClient{}}
	n := len(trials[0].Clients)
	var full []string // clients that met a wall in most trials
	walls := map[string]bool{}
	for i := range n {
		var mine []results.Client
		var shares []float64
		for _, t := range trials {
			if i < len(t.Clients) && t.Clients[i].Loads() {
				mine = append(mine, t.Clients[i])
				all := int64(0)
				for _, c := range t.Clients {
					all += c.Requests
				}
				shares = append(shares, float64(t.Clients[i].Requests)/float64(max(1, all)))
			}
		}
		if len(mine) == 0 {
			continue
		}
		bounds := map[string]int{}
		for _, c := range mine {
			bounds[string(c.Bound)]++
		}
		if 2*bounds[string(gate.BoundUnknown)] < len(mine) {
			full = append(full, strconv.Itoa(i+1))
			for bound := range bounds {
				for wall := range strings.SplitSeq(bound, "+") {
					if wall != string(gate.BoundUnknown) {
						walls[wall] = true
					}
				}
			}
		}
		out.Clients = append(out.Clients, FleetClient{
			Client: i + 1, Share: percentOf(shares), Bound: words.Bounds(bounds, true), Clock: clockText(mine),
			Cores:  percentOf(recordedBy(mine, func(c results.Client) *float64 { return c.CoresBusy })),
			Thread: percentOf(recordedBy(mine, func(c results.Client) *float64 { return c.ThreadBusyMax })),
			Link:   percentOf(recordedBy(mine, func(c results.Client) *float64 { return c.LineRateShare })),
		})
	}
	out.Says = fullText(full, walls, len(out.Clients), n)
	return out
}

// fullText says which clients were full: one of eight is a finding about that one,
// and its row alone might be overlooked.
func fullText(full []string, walls map[string]bool, loading, n int) string {
	of := strconv.Itoa(loading)
	if loading < n {
		of += " that loaded"
	}
	by := map[string]string{"client-cpu": "by its CPU", "wire": "by its link", "client-cpu+wire": "by its CPU or its link"}
	how := by[strings.Join(slices.Sorted(maps.Keys(walls)), "+")]
	others := "the others were not seen to be"
	if loading-len(full) == 1 {
		others = "the other one was not seen to be"
	}
	switch {
	case len(full) == 0 && loading == 1:
		return "The only client that loaded was not seen to be full."
	case len(full) == 0:
		return "No client was seen to be full."
	case loading == 1:
		return fmt.Sprintf("The only client that loaded was full, %s.", how)
	case len(full) == loading:
		return fmt.Sprintf("All of the clients were full, each %s.", how)
	case len(full) == 1:
		return fmt.Sprintf("Client %s of %s was full, %s; %s.", full[0], of, how, others)
	}
	return fmt.Sprintf("Clients %s of %s were full, each %s; %s.", words.List(full), of, how, others)
}

// recordedBy lists a figure of the trials that recorded it.
func recordedBy(clients []results.Client, of func(results.Client) *float64) (out []float64) {
	for _, c := range clients {
		if v := of(c); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func percentOf(shares []float64) string {
	if len(shares) == 0 {
		return ""
	}
	return words.Grouped(100*stats.Median(shares), -1) + " %"
}

// clockText has the median offset, and the largest of the uncertainties.
func clockText(clients []results.Client) string {
	var offsets []float64
	most := 0.0
	for _, c := range clients {
		offsets, most = append(offsets, c.OffsetS), max(most, c.UncertaintyS)
	}
	offset := words.Grouped(1e3*stats.Median(offsets), -2)
	if !strings.HasPrefix(offset, "−") {
		offset = "+" + offset
	}
	return fmt.Sprintf("%s ± %s ms", offset, words.Grouped(1e3*most, -2))
}

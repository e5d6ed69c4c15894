package run

import (
	"math"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A joined trial is one of a fleet of two clients, each of which closes no gate.
type joined struct {
	clients []results.Client
	figures map[string]float64
	lost    error
}

func second(set func(*results.Client)) func(*joined) { return func(j *joined) { set(&j.clients[1]) } }
func seenAs(name string, v float64) func(*joined)    { return func(j *joined) { j.figures[name] = v } }

// idle makes the second client one that does not load in the trial.
func idle(j *joined) { j.clients[1].Bound = "" }

var fleetRows = map[string][]row[*joined]{
	gate.ClocksUnsure: {
		{"known to 5 ms", second(func(c *results.Client) { c.UncertaintyS = 0.005 }), none},
		{"known to less", second(func(c *results.Client) { c.UncertaintyS = 0.00501 }), gate.ClocksUnsure},
		{"missing: it cannot be told", second(func(c *results.Client) { c.UncertaintyS = math.NaN() }), gate.ClocksUnsure},
		{"it does not load", both(second(func(c *results.Client) { c.UncertaintyS = 1 }), idle), none},
	},
	gate.ClocksOff: {
		{"100 ms ahead", second(func(c *results.Client) { c.OffsetS = 0.1 }), none},
		{"more", second(func(c *results.Client) { c.OffsetS = 0.1001 }), gate.ClocksOff},
		{"as much behind", second(func(c *results.Client) { c.OffsetS = -0.1001 }), gate.ClocksOff},
		{"it drifts as far", both(second(func(c *results.Client) { c.OffsetS = 0.098 }),
			second(func(c *results.Client) { c.MovedS = 0.004 })), gate.ClocksOff},
		{"it moved by 5 ms", second(func(c *results.Client) { c.MovedS = -0.005 }), none},
		{"it moved by more", second(func(c *results.Client) { c.MovedS = -0.00501 }), gate.ClocksOff},
		{"missing: it cannot be told", second(func(c *results.Client) { c.OffsetS = math.NaN() }), gate.ClocksOff},
		{"it does not load", both(second(func(c *results.Client) { c.OffsetS = 9 }), idle), none},
	},
	gate.ClientsApart: {
		{"50 ms late", second(func(c *results.Client) { c.LateS = 0.05 }), none},
		{"later", second(func(c *results.Client) { c.LateS = 0.0501 }), gate.ClientsApart},
		{"the server read 6 ms late, of 200", seenAs("server_edge_late_s", 0.006), none},
		{"later than that", seenAs("server_edge_late_s", 0.00601), gate.ClientsApart},
		{"missing: nobody asked", func(j *joined) { delete(j.figures, "server_edge_late_s") }, none},
		{"it does not load", both(second(func(c *results.Client) { c.LateS = 9 }), idle), none},
	},
	gate.EndsDiffer: {
		{"5 %", seenAs("wire_ends_off", 0.05), none},
		{"more", seenAs("wire_ends_off", 0.0501), gate.EndsDiffer},
		{"missing: not read at one end", func(j *joined) { delete(j.figures, "wire_ends_off") }, none},
	},
	gate.ClientLost: {
		{"it is there", func(*joined) {}, none},
		{"it is lost", func(j *joined) { j.lost = fleet.Lost{Client: 2, Why: "it said nothing"} }, gate.ClientLost},
		{"missing: nobody knows why", func(j *joined) { j.lost = fleet.Lost{Client: 1} }, gate.ClientLost},
	},
}

func TestFleetsCloseGates(t *testing.T) {
	for name, rows := range fleetRows {
		for _, r := range rows {
			j := &joined{figures: map[string]float64{"server_edge_late_s": 0.001, "wire_ends_off": 0.001}}
			for range 2 {
				j.clients = append(j.clients, results.Client{Bound: gate.BoundUnknown, OffsetS: 0.03, UncertaintyS: 0.001,
					LateS: 0.002})
			}
			r.spoil(j)
			g := &group{engine: &engine{}, trials: []results.Trial{{Clients: j.clients}}}
			closes(t, name+", "+r.what, r.closes, func(fail failer) {
				g.together(&g.trials[0], nil, fail)
				for _, of := range []string{gate.ClientsApart, gate.EndsDiffer} {
					found := gate.Hold(of, j.figures, gate.Asked{SlotS: 0.2})
					for _, f := range found {
						if !f.Missing() {
							fail(f.Gate, "%s", f.Detail)
						}
					}
					missing(found, fail)
				}
				if err := g.without(j.lost); err != nil {
					t.Error(err)
				}
				for _, one := range g.trials[0].Reasons {
					fail(one.Gate, "%s", one.Detail)
				}
			})
		}
	}
}

// Hosts on one machine have one name, whatever their checkouts call it.
func TestHostsOfOneMachineHaveOneName(t *testing.T) {
	hello := func(id, machine string) fleet.Hello {
		return fleet.Hello{Profile: host.Profile{ID: id}, Machine: machine}
	}
	got := FleetOf("s", []fleet.Hello{hello("other", "0"), hello("a", "0"), hello("b", "1"), hello("c", "1"),
		hello("d", "")})
	if want := (results.Hosts{Server: "s", Client: "s", Clients: []string{"s", "b", "b", "d"}}); !got.Same(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A client that came late to the first slot gets more time in the next turn, and
// so do connections that had no answer when a slot was to count, and answers that
// were in flight when the next one was to be filled.
func TestALateClientIsGivenTime(t *testing.T) {
	for what, c := range map[string]struct {
		slots []httpload.SlotReport
		lead  time.Duration
		fill  time.Duration
		drain time.Duration
	}{
		"in time":           {[]httpload.SlotReport{{LateS: 0.01}, {}}, time.Second, 0, 0},
		"late to the first": {[]httpload.SlotReport{{LateS: 0.3, Failed: "began 0.3 s late"}, {}}, 2 * time.Second, 0, 0},
		"late to a later one": {[]httpload.SlotReport{{}, {LateS: 0.3, Failed: "began 0.3 s late"}}, time.Second, 0,
			fillWire},
		"not answered": {[]httpload.SlotReport{{}, {Failed: "3 of 5 connections had no answer by its time"}}, time.Second,
			fillWire, 0},
	} {
		e := &engine{lead: time.Second}
		e.learn(&sweep{shares: []portion{{}, {report: &httpload.Report{Slots: c.slots}}}})
		if e.lead != c.lead || e.fillMore != c.fill || e.drainMore != c.drain {
			t.Errorf("%s: %v, %v and %v, want %v, %v and %v", what, e.lead, e.fillMore, e.drainMore, c.lead, c.fill, c.drain)
		}
	}
	e := &engine{lead: leadLongest, fillMore: longestFill, drainMore: longestFill}
	e.learn(&sweep{shares: []portion{{report: &httpload.Report{Slots: []httpload.SlotReport{{LateS: 9, Failed: "late"},
		{Failed: "no answer"}}}}}})
	if fill := e.fillOf(load{connections: 1, pipelining: 1}); e.lead != leadLongest || fill != longestFill ||
		e.drainOf(load{}) != longestFill {
		t.Errorf("%v, %v and %v grow without end", e.lead, fill, e.drainOf(load{}))
	}
}

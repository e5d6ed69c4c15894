package run

import (
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// Times of a plan that all clients of a fleet carry out together.
const (
	// leadFirst is from when a plan is sent to when its first slot is filled: a
	// generator has to be started on each client and to open its connections. It
	// doubles for the rest of the run, up to leadLongest, where a client came late.
	leadFirst   = 1500 * time.Millisecond
	leadLongest = 12 * time.Second
	// fillEach is about what an answer costs a server.
	fillEach = 50 * time.Microsecond
	// drained is the least that is left between a slot's end and the next one's
	// fill, for the answers in flight.
	drained = 30 * time.Millisecond
	// clocksTake is about how long the clocks of a fleet are measured before and
	// after a turn.
	clocksTake = time.Second
	// lateness is how much longer the lab waits for a client than the client's own
	// host does.
	lateness = 3 * time.Second
)

// timed gives each slot of a plan its time and returns when the first is filled
// and the last has ended.
func (g *group) timed(p *httpload.Plan) (from, to int64) {
	at := fleet.Monotonic() + int64(g.engine.lead)
	from = at
	p.Slots = slices.Clone(p.Slots)
	for i := range p.Slots {
		s := &p.Slots[i]
		fill := g.engine.fillOf(g.loads[s.Target])
		s.AtNS, s.FillS = at+int64(fill), fill.Seconds()
		to = s.AtNS + httpload.NS(s.Seconds)
		at = to + int64(g.engine.drainOf(g.loads[s.Target]))
	}
	return from, to
}

// learn gives the clients more time in further turns, where one of them came late
// to the first slot, or to a later one, since answers of the slot before were
// still in flight, or a connection had no answer when a slot was to count.
func (e *engine) learn(s *sweep) {
	late, empty, undrained := false, false, false
	for k := range s.shares {
		one := &s.shares[k]
		if one.report == nil {
			continue
		}
		for i, slot := range one.report.Slots {
			if slot.LateS > gate.ClientLate.Seconds() {
				late, undrained = late || i == 0, undrained || i > 0
			}
			empty = empty || slot.Failed != "" && slot.LateS <= gate.ApartSlack.Seconds()
		}
	}
	if late {
		e.lead = min(2*e.lead, leadLongest)
	}
	if undrained {
		e.drainMore = max(2*e.drainMore, fillWire)
	}
	if empty {
		e.fillMore = max(2*e.fillMore, fillWire)
	}
}

// fillOf is how long before its slot a target is loaded, so that each connection
// has had an answer: some time for the queues between client and server, and some
// for each request that is in flight then.
func (e *engine) fillOf(l load) time.Duration {
	return min(fillWire+time.Duration(l.connections*l.pipelining)*fillEach+e.fillMore, longestFill)
}

// drainOf is how long after a slot of a target the next one may be filled, so
// that all answers in flight have come.
func (e *engine) drainOf(l load) time.Duration {
	return min(drained+time.Duration(l.connections*l.pipelining)*fillEach+e.drainMore, longestFill)
}

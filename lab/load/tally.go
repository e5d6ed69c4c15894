package load

import (
	"fmt"
	"math"
)

// Tally says how a report of a target contradicts itself or its plan; empty if it does
// not. The slots count answers and the histogram requests, each by way of its own, and a
// set rate says how many requests were due. What may differ is what was in flight at the
// slots' edges. Faults have gates of their own, and a slot that failed has no count: of
// such a report nothing is said.
func (r *Report) Tally(p *Plan, target int) string {
	t, s := &p.Targets[target], &r.Summary.Targets[target]
	var l Latency
	if s.Latency != nil {
		l = *s.Latency
	}
	var requests, due, slots, late float64
	for i, one := range r.Slots {
		if one.Target != target || !p.Slots[i].Counts {
			continue
		}
		if one.Failed != "" {
			return ""
		}
		requests += float64(one.Requests)
		due += t.Rate * p.Slots[i].Seconds
		late += float64(one.Requests) * max(0, 1-p.Slots[i].Seconds/one.Seconds) // after the planned end
		slots++
	}
	n := float64(l.N)
	switch inFlight := slots * float64(t.Connections*t.Pipelining); {
	case s.Non2xx+s.Errors+s.Timeouts+s.Resets > 0:
	case t.Rate == 0 && math.Abs(n-requests) > inFlight+late:
		return fmt.Sprintf("%.0f requests were answered in its slots, and its latencies are of %.0f", requests, n)
	case t.Rate == 0:
	case math.Abs(n-due) > slots*float64(max(r.Summary.Threads, 1)): // each thread has a schedule of its own
		return fmt.Sprintf("%.0f requests were due in its slots, and its latencies are of %.0f", due, n)
	case requests > n+slots+late+slots*t.Rate*l.Max: // what came due within a latency may wait when a slot begins
		return fmt.Sprintf("%.0f requests were answered in its slots, where %.0f were due", requests, n)
	}
	return ""
}

package load

import "testing"

// Two slots of a tenth of a second, of a hundred connections or of a thousand a second.
func TestSlotsAndLatenciesAreOfTheSameRequests(t *testing.T) {
	const most = 1000
	for _, c := range []struct {
		what     string
		rate     float64
		requests int64 // of both slots
		n        int64
		spoil    func(r *Report)
		wrong    bool
	}{
		{"alike", 0, most, most, nil, false},
		{"what was in flight at both slots' edges", 0, most, most - 200, nil, false},
		{"more", 0, most, most - 201, nil, true},
		{"fewer", 0, most, most + 201, nil, true},
		{"twice the requests", 0, 2 * most, most, nil, true},
		{"none", 0, most, 0, func(r *Report) { r.Summary.Targets[0].Latency = nil }, true},
		{"a slot failed", 0, most, 1, func(r *Report) { r.Slots[1] = SlotReport{Slot: 1, Failed: "x"} }, false},
		{"a warm-up does not count", 0, most, most, func(r *Report) { r.Slots[2].Requests = 10 * most }, false},
		{"faults have gates of their own", 0, most, 1, func(r *Report) { r.Summary.Targets[0].Resets = 1 }, false},
		{"at a rate", 1000, 200, 200, nil, false},
		{"at a rate, a request off at each edge", 1000, 200, 202, nil, false},
		{"at a rate, more latencies than were due", 1000, 200, 203, nil, true},
		{"at a rate, fewer", 1000, 200, 197, nil, true},
		{"at a rate, more answers than were due, and than could wait", 1000, 223, 200, nil, true},
		{"at a rate, those that waited", 1000, 222, 200, nil, false},
		{"at a rate, fewer answers, which another gate judges", 1000, 20, 200, nil, false},
	} {
		p := &Plan{Targets: []Target{{Connections: 100, Pipelining: 1, Rate: c.rate}},
			Slots: []Slot{{Seconds: 0.1, Counts: true}, {Seconds: 0.1, Counts: true}, {Seconds: 0.1}}}
		r := &Report{Summary: Summary{Threads: 1, Targets: []TargetSummary{{Latency: &Latency{N: c.n, Max: 0.01}}}}}
		for i := range p.Slots {
			r.Slots = append(r.Slots, SlotReport{Slot: i, Seconds: 0.1, Requests: c.requests / 2})
		}
		r.Slots[0].Requests += c.requests % 2
		if c.spoil != nil {
			c.spoil(r)
		}
		if why := r.Tally(p, 0); (why != "") != c.wrong {
			t.Errorf("%s: %q", c.what, why)
		}
	}
}

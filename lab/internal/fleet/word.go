package fleet

import "github.com/line-rate/line-rate/lab/load"

// Calls of the program to itself.
const (
	relayCall   = "relay-clients" // DEVICE HOST=PROGRAM…
	machineCall = "say-machine"
	clientCall  = "client"
)

// A Machine is that of a client, and its use: since it booted, or in a turn. A figure that nobody
// could read is 0.
type Machine struct {
	Program string  `json:"program"` // SHA-256 of the client
	Cores   int     `json:"cores"`
	AtS     float64 `json:"at_s"`   // since the client began; of a turn its length
	BusyS   float64 `json:"busy_s"` // of all cores together
	NetS    float64 `json:"net_s"`  // of that in interrupts, most of which are for the load
	OwnS    float64 `json:"own_s"`  // CPU time of the client
	RxBytes int64   `json:"rx_bytes"`
	TxBytes int64   `json:"tx_bytes"`
	LinkBps float64 `json:"link_bps,omitempty"` // line rate of its interface
}

// since is the use since another reading.
func (m Machine) since(before Machine) Machine {
	m.AtS, m.BusyS, m.OwnS = m.AtS-before.AtS, m.BusyS-before.BusyS, m.OwnS-before.OwnS
	m.NetS, m.RxBytes, m.TxBytes = m.NetS-before.NetS, m.RxBytes-before.RxBytes, m.TxBytes-before.TxBytes
	return m
}

// A word is what a client says next: that its slot is filled, what came of a slot, or of all.
type word struct {
	Full    bool             `json:"full,omitempty"`
	Slot    *load.SlotReport `json:"slot,omitempty"`
	Machine *Machine         `json:"machine,omitempty"`

	Sum             *load.Summary `json:"sum,omitempty"`
	Latencies, Lags []counts      // by target
}

// counts are a histogram's: a time in nanoseconds, and how often it was counted.
type counts [][2]int64

func countsOf(h *load.Histogram) (c counts) {
	h.Each(func(ns, n int64) { c = append(c, [2]int64{ns, n}) })
	return c
}

// addTo counts them once more. Each time is the upper edge of its step, so it finds its place again, and only the
// mean is off, by less than a thousandth.
func (c counts) addTo(h *load.Histogram) {
	for _, one := range c {
		for range one[1] {
			h.Add(one[0])
		}
	}
}

// add adds what a client counted of a target. It leaves out figures of single requests.
func add(t *load.TargetSummary, o load.TargetSummary, latencies, lags counts) {
	if t.Histogram == nil {
		t.Histogram, t.Lags, t.Statuses, t.Name = load.NewHistogram(), load.NewHistogram(), map[int]int64{}, o.Name
	}
	for sum, n := range map[*int64]int64{&t.Requests: o.Requests, &t.Bytes: o.Bytes, &t.Non2xx: o.Non2xx, &t.Errors: o.Errors,
		&t.Timeouts: o.Timeouts, &t.Resets: o.Resets, &t.Reopened: o.Reopened, &t.Crossed: o.Crossed, &t.Mismatches: o.Mismatches,
		&t.Compared: o.Compared, &t.Unanswered: o.Unanswered, &t.Answered: o.Answered} {
		*sum += n
	}
	for status, n := range o.Statuses {
		t.Statuses[status] += n
	}
	t.Open, t.Varies = t.Open+o.Open, t.Varies || o.Varies
	if t.Fault == "" {
		t.Fault = o.Fault
	}
	if t.Mismatch == "" {
		t.Mismatch = o.Mismatch
	}
	latencies.addTo(t.Histogram)
	lags.addTo(t.Lags)
	t.Latency, t.SendLag = t.Histogram.Latency(), t.Lags.Latency()
}

package load

import (
	"cmp"
	"time"
)

// A SlotReport has the figures of one slot, in its counted time.
type SlotReport struct {
	Slot           int     `json:"slot"` // index in the plan
	Target         int     `json:"target"`
	AtNS           int64   `json:"at_ns"`            // begin of the counted time, CLOCK_MONOTONIC
	Seconds        float64 `json:"seconds"`          // length of the counted time, as measured; 0 if Failed
	FillS          float64 `json:"fill_s"`           // from the slot's first request to AtNS
	Requests       int64   `json:"requests"`         // answers with an expected status that came within the counted time
	Bytes          int64   `json:"bytes"`            // all answers completed within the counted time, with their heads
	ClientCPUS     float64 `json:"client_cpu_s"`     // the whole generator
	BusiestThreadS float64 `json:"busiest_thread_s"` // CPU time of the generator's busiest thread
	// longest time without an answer within the counted time, or to its ends
	SilenceS float64    `json:"silence_s"`
	Turn     TurnReport `json:"turn"`
	// Failed says why the slot does not count: its target stalled, died, or had
	// failed before. All figures but FillS are then 0.
	Failed string `json:"failed,omitempty"`
	// Elsewhere has figures of the loading machines, where they are not this one, by the names of
	// package metric. Each is that of the machine where it is highest. Notes say what a person
	// should know about them.
	Elsewhere map[string]float64 `json:"elsewhere,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
}

// A TurnReport is of a whole slot, from before its first request to after its last answer. At both
// ends nothing is in flight, so what was read then divides by these.
type TurnReport struct {
	Requests int64   `json:"requests"` // answers, whatever their status
	Seconds  float64 `json:"seconds"`
}

// A Summary is the whole plan's result, by target.
type Summary struct {
	Threads int             `json:"threads"`
	Start   time.Time       `json:"start"`
	Finish  time.Time       `json:"finish"`
	Targets []TargetSummary `json:"targets"` // in the plan's order
}

// A TargetSummary is one target's result. Requests and bytes are from the counted
// time of counted slots; faults are from the whole time.
type TargetSummary struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Non2xx   int64  `json:"non2xx"`   // answers with another status than one expected
	Errors   int64  `json:"errors"`   // requests without a valid answer, and refused connections
	Timeouts int64  `json:"timeouts"` // requests
	Resets   int64  `json:"resets"`   // connections ended by the server
	// Statuses has the answers of Non2xx by their status.
	Statuses map[int]int64 `json:"statuses,omitempty"`
	// Varies says that bodies changed in the course of the load, which is no fault: see odds.
	Varies     bool   `json:"varies,omitempty"`
	Reopened   int64  `json:"reopened,omitempty"` // connections whose end the server announced, or that ended while nothing was under way
	Crossed    int64  `json:"crossed,omitempty"`  // requests that were asked again, since the server closed their connection as they came
	Fault      string `json:"fault,omitempty"`    // description of the first of these four
	Mismatches int64  `json:"mismatches"`         // answers with an expected status and a wrong body or head
	Mismatch   string `json:"mismatch,omitempty"` // description of the first
	Compared   int64  `json:"compared"`           // bodies compared in full
	// requests among the latencies that had no answer when the slot was drained
	Unanswered int64    `json:"unanswered"`
	Latency    *Latency `json:"latency_s,omitempty"`  // absent without answers
	SendLag    *Latency `json:"send_lag_s,omitempty"` // how late the generator was; present if there is a rate and something was due
	// Histogram has the latencies, to their step, and Lags how late the generator was; no JSON has them.
	Histogram *Histogram `json:"-"`
	Lags      *Histogram `json:"-"`
	// Open has the connections that were open at the end.
	Open int `json:"open,omitempty"`
	// Answered has all answers, in counted time or not and whatever their status; absent without any.
	Answered int64 `json:"answered,omitempty"`
	// ByRequest is in the plan's order, and absent where it names no requests.
	ByRequest []RequestSummary `json:"by_request,omitempty"`
}

// A RequestSummary is what came of one of a target's requests. Faults are from the whole
// time. Requests that were due and never sent are those of no one.
type RequestSummary struct {
	Name       string   `json:"name"`       // or method and path
	Unexpected int64    `json:"unexpected"` // answers with another status than one expected
	Lost       int64    `json:"lost"`       // requests without a valid answer
	Mismatches int64    `json:"mismatches"` // answers with a wrong body or head
	Compared   int64    `json:"compared"`   // bodies compared in full
	Latency    *Latency `json:"latency_s,omitempty"`
}

// A Latency is in seconds, of the requests that were sent within the counted time of
// counted slots, or were due then in an open loop. Answers that came in the drain are
// among them, and requests without an answer, with their age.
type Latency struct {
	N    int64   `json:"n"` // requests
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// Figures are the latencies by the names of package metric, with the share of the
// requests that were left without an answer. Of those only the age is known; so the mean,
// the maximum and the percentiles that lie among them are not known, and are absent.
func (t *TargetSummary) Figures() map[string]float64 {
	l := t.Latency
	if l == nil || l.N == 0 {
		return nil
	}
	cut := float64(t.Unanswered) / float64(l.N)
	m := map[string]float64{"latency_cut_share": cut}
	for _, one := range []struct {
		name  string
		below float64
		v     float64
	}{
		{"p50", 0.5, l.P50}, {"p90", 0.9, l.P90}, {"p99", 0.99, l.P99}, {"p999", 0.999, l.P999},
		{"max", 1, l.Max}, {"mean", 1, l.Mean},
	} {
		if one.below <= 1-cut {
			m["latency_"+one.name+"_s"] = one.v
		}
	}
	return m
}

// Failed is how many requests of the whole time had a wrong answer or none, of how many, and what was wrong with the first.
func (t *TargetSummary) Failed() (failed, of int64, first string) {
	failed = t.Errors + t.Timeouts + t.Non2xx + t.Mismatches
	return failed, max(t.Answered+t.Errors+t.Timeouts, failed), cmp.Or(t.Fault, t.Mismatch)
}

// A Report is of a whole plan.
type Report struct {
	Slots   []SlotReport
	Summary Summary
}

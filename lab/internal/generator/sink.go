package generator

import (
	"maps"
)

const sinkProgram = "event_sink"

// ofSink are the counts that every trial must have: in the window, at the receiver and at the
// producer, and those of the whole trial.
var ofSink = []string{
	"requests", "refused", "bytes", "events", "duplicates", "in_flight_max", // requests with the refused ones
	"offered", "added", "dropped", "failed", "logged",
	"end.added", "end.arrived", "end.dropped", "end.failed", "end.returned", "end.unaccounted",
	"add_s.p99",
}

// A sinkOutput is what is no figure, or need not be there.
type sinkOutput struct {
	own
	PaceLag any `json:"pace_lag_s"`
	Limit   any `json:"limit_per_s"`
	Steps   []struct {
		KeptUp *bool `json:"kept_up"`
	}
}

// ParseSink reads a trial's standard output, which is one line.
//
// Arrivals at the receiver are counted; the sender's own counts have other
// names. Rates are computed from counts and the window's start and finish.
// Refusals that the receiver was told to make, and events left behind, do not
// make a trial invalid: such trials are about them.
func ParseSink(stdout []byte) (*Result, error) {
	var s sinkOutput
	o, err := readOwn(sinkProgram, stdout, &s, &s.own)
	if err == nil {
		err = o.usable(ofSink...)
	}
	if err == nil && o.figures["events"] > 0 {
		err = o.usable("delivery_s.p50", "delivery_s.p99")
	}
	if err == nil && s.PaceLag != nil { // a pacer that is always behind never sleeps and so has no lag
		err = o.usable("pace_lag_s.p99")
	}
	if err == nil {
		err = o.has("backlog_start", "backlog_finish") // a clock step can make either negative
	}
	if err != nil {
		return nil, err
	}
	of := o.figures
	taken := of["requests"] - of["refused"]
	r := Of(s.Start, s.Finish, Counts{OK: taken, Bytes: of["bytes"]})
	// Answers are empty, so bytes are those of requests; failed connections were
	// not counted; and refusals were asked for.
	for _, name := range []string{"response_bytes", "transfer_bytes_per_s", "errors", "timeouts", "resets"} {
		delete(r.Metrics, name)
	}
	r.Metrics["non_2xx"] = of["refused"]
	seconds := r.Metrics["duration_s"]
	maps.Copy(r.Metrics, map[string]float64{
		"delivered_per_s":      of["events"] / seconds,
		"offered_per_s":        of["offered"] / seconds,
		"logged_per_s":         of["logged"] / seconds,
		"lost_per_s":           (of["dropped"] + of["failed"]) / seconds,
		"duplicate_events":     of["duplicates"],
		"unaccounted_events":   of["end.unaccounted"],
		"backlog_growth_per_s": (of["backlog_finish"] - of["backlog_start"]) / seconds,
		"sink_in_flight_max":   of["in_flight_max"],
		"add_p99_s":            of["add_s.p99"],
	})
	if s.PaceLag != nil {
		r.Metrics["pace_lag_p99_s"] = of["pace_lag_s.p99"]
	}
	if of["offered"] > 0 {
		r.Metrics["delivered_share"] = of["events"] / of["offered"]
	}
	if of["end.added"] > 0 {
		r.Metrics["arrived_share"] = of["end.arrived"] / of["end.added"]
	}
	if of["events"] > 0 {
		r.Metrics["delivery_p50_s"], r.Metrics["delivery_p99_s"] = of["delivery_s.p50"], of["delivery_s.p99"]
		if taken > 0 {
			r.Metrics["events_per_batch"] = of["events"] / taken
		}
	}
	// Without a rate that was too high, the highest one is no limit.
	for _, step := range s.Steps {
		if s.Limit != nil && step.KeptUp != nil && !*step.KeptUp {
			r.Metrics["limit_per_s"] = of["limit_per_s"]
		}
	}
	return r, nil
}

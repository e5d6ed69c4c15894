package generator

import (
	"errors"
	"fmt"
	"maps"
)

const sinkProgram = "event_sink"

// ofSink are the counts that every trial must have: in the window, at the receiver and at the
// producer, and those of the whole trial.
var ofSink = []string{
	"requests", "refused", "bytes", "events", "duplicates", "in_flight_max", // requests with the refused ones
	"offered", "added", "dropped", "failed", "logged",
	"end.added", "end.arrived", "end.dropped", "end.failed", "end.returned", "end.unaccounted",
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

// complete refuses an output with a missing or impossible figure.
func (s sinkOutput) complete(o output) error {
	if err := o.usable(ofSink...); err != nil {
		return err
	}
	of := o.figures
	for _, name := range ofSink {
		if v := of[name]; v != float64(int64(v)) {
			return fmt.Errorf("event_sink's output has no usable %q: a count is whole", name)
		}
	}
	// Events offered and not accounted for; a clock step can make it negative.
	for _, name := range []string{"backlog_start", "backlog_finish"} {
		if _, ok := of[name]; !ok {
			return fmt.Errorf("event_sink's output has no %q", name)
		}
	}
	switch {
	case of["refused"] > of["requests"]:
		return fmt.Errorf("event_sink's output has %.0f batches that were refused, of %.0f", of["refused"], of["requests"])
	case of["end.arrived"] > of["end.added"]:
		return fmt.Errorf("event_sink's output has %.0f events that arrived, of %.0f that were added", of["end.arrived"],
			of["end.added"])
	case s.Limit != nil && of["limit_per_s"] <= 0:
		return errors.New(`event_sink's output has no usable "limit_per_s"`)
	}
	times := []string{"add_s"}
	if of["events"] > 0 {
		times = append(times, "delivery_s")
	}
	if s.PaceLag != nil { // a pacer that is always behind never sleeps and so has no lag
		times = append(times, "pace_lag_s")
	}
	for _, name := range times {
		if err := o.usable(name+".p50", name+".p99", name+".max"); err != nil {
			return err
		}
		if of[name+".p50"] > of[name+".p99"] || of[name+".p99"] > of[name+".max"] {
			return fmt.Errorf("event_sink's %s does not rise", name)
		}
	}
	return nil
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
		err = s.complete(o)
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

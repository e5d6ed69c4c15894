package generator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const sinkProgram = "event_sink"

// Figures are pointers, to tell a missing figure from 0.
type sinkOutput struct {
	Generator     string
	Start, Finish time.Time

	// In the window, at the receiver.
	Requests    *float64 // including the refused ones
	Refused     *float64
	Bytes       *float64
	Events      *float64
	Duplicates  *float64
	InFlightMax *float64 `json:"in_flight_max"`

	// In the window, at the producer.
	Offered *float64
	Added   *float64
	Dropped *float64
	Failed  *float64
	Logged  *float64

	// Events offered and not accounted for; a clock step can make it negative.
	BacklogStart  *float64 `json:"backlog_start"`
	BacklogFinish *float64 `json:"backlog_finish"`

	Add      *quantiles `json:"add_s"`
	PaceLag  *quantiles `json:"pace_lag_s"`
	Delivery *quantiles `json:"delivery_s"`

	End *struct{ Added, Arrived, Dropped, Failed, Returned, Unaccounted *float64 }

	Limit *float64 `json:"limit_per_s"`
	Steps []sinkStep
}

// A sinkStep is one rate of a search for the limit.
type sinkStep struct {
	KeptUp *bool `json:"kept_up"`
}

type quantiles struct{ P50, P99, Max *float64 }

// complete refuses an output with a missing or impossible figure.
func (o sinkOutput) complete() error {
	if o.End == nil {
		return errors.New(`event_sink's output has no "end"`)
	}
	counts := map[string]*float64{
		"requests": o.Requests, "refused": o.Refused, "bytes": o.Bytes, "events": o.Events, "duplicates": o.Duplicates,
		"in_flight_max": o.InFlightMax,
		"offered":       o.Offered, "added": o.Added, "dropped": o.Dropped, "failed": o.Failed, "logged": o.Logged,
		"end.added": o.End.Added, "end.arrived": o.End.Arrived, "end.dropped": o.End.Dropped, "end.failed": o.End.Failed,
		"end.returned": o.End.Returned, "end.unaccounted": o.End.Unaccounted,
	}
	if err := Usable(sinkProgram, counts); err != nil {
		return err
	}
	for name, v := range counts {
		if *v != float64(int64(*v)) {
			return fmt.Errorf("event_sink's output has no usable %q: a count is whole", name)
		}
	}
	if o.BacklogStart == nil || o.BacklogFinish == nil {
		return errors.New(`event_sink's output has no "backlog_start" or "backlog_finish"`)
	}
	if *o.Refused > *o.Requests {
		return fmt.Errorf("event_sink's output has %.0f batches that were refused, of %.0f", *o.Refused, *o.Requests)
	}
	if *o.End.Arrived > *o.End.Added {
		return fmt.Errorf("event_sink's output has %.0f events that arrived, of %.0f that were added", *o.End.Arrived,
			*o.End.Added)
	}
	if o.Limit != nil && *o.Limit <= 0 {
		return errors.New(`event_sink's output has no usable "limit_per_s"`)
	}
	times := map[string]*quantiles{"add_s": o.Add}
	if *o.Events > 0 {
		times["delivery_s"] = o.Delivery
	}
	if o.PaceLag != nil { // a pacer that is always behind never sleeps and so has no lag
		times["pace_lag_s"] = o.PaceLag
	}
	for name, q := range times {
		if q == nil {
			return fmt.Errorf("event_sink's output has no %q", name)
		}
		if err := Usable(sinkProgram, map[string]*float64{name + ".p50": q.P50, name + ".p99": q.P99, name +
			".max": q.Max}); err != nil {
			return err
		}
		if *q.P50 > *q.P99 || *q.P99 > *q.Max {
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
	line := bytes.TrimSpace(stdout)
	if len(line) == 0 {
		return nil, errors.New("event_sink printed nothing")
	}
	var o sinkOutput
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, fmt.Errorf("event_sink's output is not JSON: %w", err)
	}
	if o.Generator != sinkProgram {
		return nil, fmt.Errorf("the output is not event_sink's, but of generator %q", o.Generator)
	}
	if err := Window(sinkProgram, o.Start, o.Finish); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	taken := *o.Requests - *o.Refused
	r := Of(o.Start, o.Finish, Counts{OK: taken, Bytes: *o.Bytes})
	// Answers are empty, so bytes are those of requests; failed connections were
	// not counted; and refusals were asked for.
	for _, name := range []string{"response_bytes", "transfer_bytes_per_s", "errors", "timeouts", "resets"} {
		delete(r.Metrics, name)
	}
	r.Metrics["non_2xx"] = *o.Refused
	window := r.Metrics["duration_s"]
	maps.Copy(r.Metrics, map[string]float64{
		"delivered_per_s":      *o.Events / window,
		"offered_per_s":        *o.Offered / window,
		"logged_per_s":         *o.Logged / window,
		"lost_per_s":           (*o.Dropped + *o.Failed) / window,
		"duplicate_events":     *o.Duplicates,
		"unaccounted_events":   *o.End.Unaccounted,
		"backlog_growth_per_s": (*o.BacklogFinish - *o.BacklogStart) / window,
		"sink_in_flight_max":   *o.InFlightMax,
		"add_p99_s":            *o.Add.P99,
	})
	if o.PaceLag != nil {
		r.Metrics["pace_lag_p99_s"] = *o.PaceLag.P99
	}
	if *o.Offered > 0 {
		r.Metrics["delivered_share"] = *o.Events / *o.Offered
	}
	if *o.End.Added > 0 {
		r.Metrics["arrived_share"] = *o.End.Arrived / *o.End.Added
	}
	if *o.Events > 0 {
		r.Metrics["delivery_p50_s"], r.Metrics["delivery_p99_s"] = *o.Delivery.P50, *o.Delivery.P99
		if taken > 0 {
			r.Metrics["events_per_batch"] = *o.Events / taken
		}
	}
	// Without a rate that was too high, the highest one is no limit.
	tooHigh := slices.ContainsFunc(o.Steps, func(s sinkStep) bool { return s.KeptUp != nil && !*s.KeptUp })
	if o.Limit != nil && tooHigh {
		r.Metrics["limit_per_s"] = *o.Limit
	}
	return r, nil
}

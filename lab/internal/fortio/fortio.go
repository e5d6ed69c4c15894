// Package fortio reads the line that one trial of fortio_load printed.
//
// Latencies come in seconds, to the microsecond. Of a trial at a fixed rate
// they count from when a request was due. As with autocannon, rates are
// computed from counts and the trial's own start and finish.
package fortio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/generator"
)

const program = "fortio_load"

// Figures are pointers: one that is missing is not nought.
type output struct {
	Generator     string
	Start, Finish time.Time
	Requests      *float64
	Non2xx        *float64
	Errors        *float64
	Timeouts      *float64
	Resets        *float64
	Mismatches    *float64
	Mismatch      string
	Compared      *float64
	Bytes         *float64
	AskedRate     *float64 `json:"asked_rate"`
	Unanswered    *float64
	Connections   *float64
	Latency       *struct{ Mean, P50, P90, P99, P999, Max *float64 } `json:"latency_s"`
	SendLag       *struct{ P50, P99, Max *float64 }                  `json:"send_lag_s"`
}

// complete refuses an output that lacks a figure, or has one that cannot be.
func (o output) complete() error {
	usable := func(figures map[string]*float64) error { return generator.Usable(program, figures) }
	counts := map[string]*float64{
		"requests": o.Requests, "non2xx": o.Non2xx, "errors": o.Errors, "timeouts": o.Timeouts, "resets": o.Resets, "mismatches": o.Mismatches, "compared": o.Compared, "bytes": o.Bytes,
		"asked_rate": o.AskedRate, "unanswered": o.Unanswered, "connections": o.Connections,
	}
	if err := usable(counts); err != nil {
		return err
	}
	for name, v := range counts {
		if *v != float64(int64(*v)) {
			return fmt.Errorf("fortio_load's output has no usable %q: a count is whole", name)
		}
	}
	if *o.Requests > 0 {
		l := o.Latency
		if l == nil {
			return errors.New(`fortio_load's output has requests and no "latency_s"`)
		}
		if err := usable(map[string]*float64{"latency_s.mean": l.Mean, "latency_s.p50": l.P50, "latency_s.p90": l.P90,
			"latency_s.p99": l.P99, "latency_s.p999": l.P999, "latency_s.max": l.Max}); err != nil {
			return err
		}
		if *l.P50 > *l.P90 || *l.P90 > *l.P99 || *l.P99 > *l.P999 || *l.P999 > *l.Max || *l.Mean > *l.Max {
			return errors.New("fortio_load's latencies do not rise")
		}
	}
	switch g := o.SendLag; {
	case *o.AskedRate == 0 && (g != nil || *o.Unanswered > 0):
		return errors.New("fortio_load's output is of no rate, and yet of requests that were due")
	case *o.AskedRate == 0:
		return nil
	case g == nil:
		return errors.New(`fortio_load's output has a rate and no "send_lag_s"`)
	default:
		return usable(map[string]*float64{"send_lag_s.p50": g.P50, "send_lag_s.p99": g.P99, "send_lag_s.max": g.Max})
	}
}

// Parse reads a trial's standard output, which is one line.
func Parse(stdout []byte) (*generator.Result, error) {
	line := bytes.TrimSpace(stdout)
	if len(line) == 0 {
		return nil, errors.New("fortio_load printed nothing")
	}
	var o output
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, fmt.Errorf("fortio_load's output is not JSON: %w", err)
	}
	if o.Generator != "fortio" {
		return nil, fmt.Errorf("the output is not fortio_load's, but of generator %q", o.Generator)
	}
	if err := generator.Window(program, o.Start, o.Finish); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := generator.Of(o.Start, o.Finish, generator.Counts{
		OK: *o.Requests, Non2xx: *o.Non2xx, Errors: *o.Errors, Timeouts: *o.Timeouts, Resets: *o.Resets,
		Mismatches: *o.Mismatches, Mismatch: o.Mismatch, Compared: *o.Compared, Bytes: *o.Bytes,
	})
	if *o.Requests > 0 {
		r.Metrics["latency_mean_s"] = *o.Latency.Mean
		r.Metrics["latency_p50_s"] = *o.Latency.P50
		r.Metrics["latency_p90_s"] = *o.Latency.P90
		r.Metrics["latency_p99_s"] = *o.Latency.P99
		r.Metrics["latency_p999_s"] = *o.Latency.P999
		r.Metrics["latency_max_s"] = *o.Latency.Max
	}
	if *o.AskedRate > 0 {
		r.Open = &generator.Open{Unanswered: *o.Unanswered,
			SendLagP50S: *o.SendLag.P50, SendLagP99S: *o.SendLag.P99, SendLagMaxS: *o.SendLag.Max}
	}
	r.Asked(*o.AskedRate)
	return r, nil
}

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

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
)

// Figures are pointers: one that is missing is not nought.
type output struct {
	Generator     string
	Start, Finish time.Time
	Requests      *float64
	Non2xx        *float64
	Errors        *float64
	Timeouts      *float64
	Resets        *float64
	Bytes         *float64
	AskedRate     *float64 `json:"asked_rate"`
	Unanswered    *float64
	Connections   *float64
	Latency       *struct{ Mean, P50, P90, P99, P999, Max *float64 } `json:"latency_s"`
	SendLag       *struct{ P50, P99, Max *float64 }                  `json:"send_lag_s"`
}

type figure struct {
	name string
	v    *float64
}

// complete refuses an output that lacks a figure, or has one that cannot be.
func (o output) complete() error {
	figures := []figure{
		{"requests", o.Requests}, {"non2xx", o.Non2xx}, {"errors", o.Errors}, {"timeouts", o.Timeouts},
		{"resets", o.Resets}, {"bytes", o.Bytes}, {"asked_rate", o.AskedRate}, {"unanswered", o.Unanswered},
		{"connections", o.Connections},
	}
	if err := usable(figures); err != nil {
		return err
	}
	for _, f := range figures {
		if *f.v != float64(int64(*f.v)) {
			return fmt.Errorf("fortio_load's output has no usable %q: a count is whole", f.name)
		}
	}
	if *o.Requests > 0 {
		l := o.Latency
		if l == nil {
			return errors.New(`fortio_load's output has requests and no "latency_s"`)
		}
		if err := usable([]figure{{"latency_s.mean", l.Mean}, {"latency_s.p50", l.P50}, {"latency_s.p90", l.P90},
			{"latency_s.p99", l.P99}, {"latency_s.p999", l.P999}, {"latency_s.max", l.Max}}); err != nil {
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
		return usable([]figure{{"send_lag_s.p50", g.P50}, {"send_lag_s.p99", g.P99}, {"send_lag_s.max", g.Max}})
	}
}

func usable(figures []figure) error {
	for _, f := range figures {
		if f.v == nil || *f.v < 0 || *f.v > generator.Largest {
			return fmt.Errorf("fortio_load's output has no usable %q", f.name)
		}
	}
	return nil
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
	window := o.Finish.Sub(o.Start).Seconds()
	if o.Start.IsZero() || !(window > 0) {
		return nil, errors.New("fortio_load's output has no measured window")
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	done := *o.Requests + *o.Non2xx
	r := &generator.Result{Start: o.Start, Finish: o.Finish, Below: map[string]float64{}, Metrics: map[string]float64{
		"requests":             done,
		"duration_s":           window,
		"throughput_rps":       done / window,
		"transfer_bytes_per_s": *o.Bytes / window,
		"errors":               *o.Errors + *o.Timeouts,
		"timeouts":             *o.Timeouts,
		"resets":               *o.Resets,
		"non_2xx":              *o.Non2xx,
	}}
	if done > 0 {
		r.Metrics["response_bytes"] = *o.Bytes / done
	}
	if *o.Requests > 0 {
		r.Metrics["latency_mean_s"] = *o.Latency.Mean
		r.Metrics["latency_p50_s"] = *o.Latency.P50
		r.Metrics["latency_p90_s"] = *o.Latency.P90
		r.Metrics["latency_p99_s"] = *o.Latency.P99
		r.Metrics["latency_p999_s"] = *o.Latency.P999
		r.Metrics["latency_max_s"] = *o.Latency.Max
	}
	if rate := *o.AskedRate; rate > 0 {
		r.Metrics["asked_rate_rps"] = rate
		r.Open = &generator.Open{Unanswered: *o.Unanswered,
			SendLagP50S: *o.SendLag.P50, SendLagP99S: *o.SendLag.P99, SendLagMaxS: *o.SendLag.Max}
	}
	r.Count(generator.Non2xx, *o.Non2xx)
	r.Count(generator.Timeouts, *o.Timeouts)
	r.Count(generator.Errors, *o.Errors)
	r.Count(generator.Resets, *o.Resets)
	if done == 0 {
		r.Fault(generator.NoRequests, "no request was answered")
	}
	if rate := *o.AskedRate; done/window < gate.LeastShare*rate {
		r.Fault(generator.RateShort, "%.1f requests a second were answered of %.0f asked for, %.0f were due and unanswered at the end",
			done/window, rate, *o.Unanswered)
	}
	return r, nil
}

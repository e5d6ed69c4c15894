package generator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const autocannon = "autocannon"

// AutocannonStep is the step of autocannon's latencies, in seconds: up to that
// much is cut off.
const AutocannonStep = 0.001

// Figures are pointers, to tell a missing figure from 0.
type autocannonOutput struct {
	Start, Finish time.Time
	Errors        *float64
	Timeouts      *float64
	Mismatches    *float64
	Resets        *float64
	Non2xx        *float64
	OK            *float64 `json:"2xx"`
	Latency       struct{ Mean, P50, P90, P99, Max *float64 }
	Throughput    struct{ Total *float64 }
}

// figures are those that every trial must have.
func (o autocannonOutput) figures() map[string]*float64 {
	return map[string]*float64{
		"errors": o.Errors, "timeouts": o.Timeouts, "mismatches": o.Mismatches, "resets": o.Resets,
		"non2xx": o.Non2xx, "2xx": o.OK, "latency.mean": o.Latency.Mean, "latency.p50": o.Latency.P50,
		"latency.p90": o.Latency.P90, "latency.p99": o.Latency.P99, "latency.max": o.Latency.Max,
		"throughput.total": o.Throughput.Total,
	}
}

// ParseAutocannon reads the last JSON document of a trial's standard output;
// earlier ones are the warm-up's.
//
// Latencies are in whole milliseconds, cut rather than rounded. So a latency of
// 0 means "below a millisecond", and the mean of cut latencies is not a metric;
// it only limits the mean, which is enough for Little's law. Rates are computed
// from counts and the trial's start and finish, because autocannon's averages
// are averages of its samples.
//
// As started by the lab, autocannon compares no bodies, so its mismatches are
// always 0. Its resets are restarts of its list of requests, not resets of
// connections: when the server ends a connection, it opens a new one without
// counting it. Package run checks bodies and connections from outside.
func ParseAutocannon(stdout []byte) (*Result, error) {
	lines := bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
	last := lines[len(lines)-1]
	if len(last) == 0 {
		return nil, errors.New("autocannon printed nothing")
	}
	var o autocannonOutput
	if err := json.Unmarshal(last, &o); err != nil {
		return nil, fmt.Errorf("autocannon's output is not JSON: %w", err)
	}
	if err := Window(autocannon, o.Start, o.Finish); err != nil {
		return nil, err
	}
	if err := Usable(autocannon, o.figures()); err != nil {
		return nil, err
	}
	r := Of(o.Start, o.Finish, Counts{
		OK: *o.OK, Non2xx: *o.Non2xx, Errors: *o.Errors - *o.Timeouts, Timeouts: *o.Timeouts,
		Resets: *o.Resets, Mismatches: *o.Mismatches, Bytes: *o.Throughput.Total,
	})
	if r.Metrics["requests"] > 0 {
		r.CutMeanS = *o.Latency.Mean / 1000
		for name, ms := range map[string]float64{
			"latency_p50_s": *o.Latency.P50, "latency_p90_s": *o.Latency.P90,
			"latency_p99_s": *o.Latency.P99, "latency_max_s": *o.Latency.Max,
		} {
			if ms < 1 {
				r.Below[name] = AutocannonStep
			} else {
				r.Metrics[name], r.Resolution[name] = ms/1000, AutocannonStep
			}
		}
	}
	return r, nil
}

// Package autocannon reads what one autocannon trial printed.
//
// It says no more than autocannon can: latency comes in whole milliseconds,
// cut rather than rounded, so a latency of 0 is "below a millisecond", and a
// mean of cut figures is no metric: it only bounds the mean, which is enough
// for Little's law. Rates are computed from counts
// and the trial's own start and finish, because autocannon's averages are
// those of its samples.
//
// It compares no bodies as the lab starts it, so that its mismatches are always
// nought. Nor are its resets those of connections, but restarts of its list of
// requests: a connection that the server ended it opens anew and counts nowhere.
// Both are looked at from outside, by package run.
package autocannon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/generator"
)

const program = "autocannon"

// Resolution is the step of autocannon's latencies, in seconds: the most that
// is cut off one.
const Resolution = 0.001

// Figures are pointers: one that is missing is not nought.
type output struct {
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

// figures are all that a trial must have.
func (o output) figures() map[string]*float64 {
	return map[string]*float64{
		"errors": o.Errors, "timeouts": o.Timeouts, "mismatches": o.Mismatches, "resets": o.Resets,
		"non2xx": o.Non2xx, "2xx": o.OK, "latency.mean": o.Latency.Mean, "latency.p50": o.Latency.P50,
		"latency.p90": o.Latency.P90, "latency.p99": o.Latency.P99, "latency.max": o.Latency.Max,
		"throughput.total": o.Throughput.Total,
	}
}

// Parse reads the last JSON document of a trial's standard output; those
// before it are the warm-up's.
func Parse(stdout []byte) (*generator.Result, error) {
	lines := bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
	last := lines[len(lines)-1]
	if len(last) == 0 {
		return nil, errors.New("autocannon printed nothing")
	}
	var o output
	if err := json.Unmarshal(last, &o); err != nil {
		return nil, fmt.Errorf("autocannon's output is not JSON: %w", err)
	}
	if err := generator.Window(program, o.Start, o.Finish); err != nil {
		return nil, err
	}
	if err := generator.Usable(program, o.figures()); err != nil {
		return nil, err
	}
	r := generator.Of(o.Start, o.Finish, generator.Counts{
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
				r.Below[name] = Resolution
			} else {
				r.Metrics[name], r.Resolution[name] = ms/1000, Resolution
			}
		}
	}
	return r, nil
}

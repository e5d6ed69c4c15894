// Package generator reads the output of the load generators: the result of a trial, and what
// makes it invalid.
//
// A generator's own averages and summaries are not used. Its parser takes counts and times
// from the output, and all figures are computed the same way. A figure that a generator cannot
// give is missing, not 0.
package generator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
)

// Result is the load generator's view of one trial.
type Result = measure.Result

func fault(r *Result, name, format string, args ...any) {
	r.Faults = append(r.Faults, measure.Fault{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// Counts are what every generator counts in a trial.
type Counts struct {
	OK, Non2xx float64 // answers
	Errors     float64 // connection errors, without timeouts
	Timeouts   float64
	Resets     float64
	Mismatches float64 // 0 if bodies are not compared
	Mismatch   string  // description of the first, if given
	Bytes      float64
}

// Of computes all metrics that follow from a trial's counts.
func Of(start, finish time.Time, c Counts) *Result {
	done, window := c.OK+c.Non2xx, finish.Sub(start).Seconds()
	r := &Result{Start: start, Finish: finish, Below: map[string]float64{},
		Resolution: map[string]float64{}, Metrics: map[string]float64{
			"requests":             done,
			"duration_s":           window,
			"throughput_rps":       done / window,
			"transfer_bytes_per_s": c.Bytes / window,
			"errors":               c.Errors + c.Timeouts,
			"timeouts":             c.Timeouts,
			"resets":               c.Resets,
			"non_2xx":              c.Non2xx,
		}}
	for _, one := range []struct {
		gate, says string
		n          float64
	}{
		{gate.Non2xx, "%.0f answers were not 2xx", c.Non2xx},
		{gate.Timeouts, "%.0f requests timed out", c.Timeouts},
		{gate.Errors, "%.0f connection errors", c.Errors},
		{gate.Resets, "%.0f connections were reset", c.Resets},
		{gate.Mismatches, "%.0f bodies were not as expected", c.Mismatches},
	} {
		if one.n > 0 {
			fault(r, one.gate, one.says, one.n)
		}
	}
	if n := len(r.Faults); c.Mismatches > 0 && c.Mismatch != "" {
		r.Faults[n-1].Detail += ", the first: " + c.Mismatch
	}
	if done > 0 {
		r.Metrics["response_bytes"] = c.Bytes / done
	} else {
		fault(r, gate.NoRequests, "no request was answered")
	}
	return r
}

// Asked records the rate that was asked for, and closes the gate if the trial
// answered less. A rate of 0 is a closed loop, which has none.
func Asked(r *Result, rate float64) {
	if rate <= 0 {
		return
	}
	r.Metrics["asked_rate_rps"] = rate
	if got := r.Metrics["throughput_rps"]; got < gate.LeastShare*rate {
		fault(r, gate.RateShort, "%.1f requests a second were answered of %.0f asked for", got, rate)
	}
}

// An output is what a program printed of a trial, as one JSON document.
type output struct {
	program string
	figures map[string]float64 // by their place, as latency.p50: a missing one is not 0
}

// read reads an output, and what else is wanted of it into a struct.
func read(program string, text []byte, into any) (output, error) {
	o := output{program, map[string]float64{}}
	if len(text) == 0 {
		return o, fmt.Errorf("%s printed nothing", program)
	}
	var all map[string]any
	err := json.Unmarshal(text, &all)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return o, fmt.Errorf("%s's output is not JSON: %w", program, err)
	}
	o.add("", all)
	return o, nil
}

// An own program of the lab's says its name besides.
type own struct {
	window
	Generator string
}

// readOwn reads what one of the lab's own programs printed in a line, of is its part in into.
func readOwn(program string, stdout []byte, into any, of *own) (output, error) {
	o, err := read(program, bytes.TrimSpace(stdout), into)
	if err == nil && of.Generator != program {
		err = fmt.Errorf("the output is not %s's, but of generator %q", program, of.Generator)
	}
	if err == nil {
		err = of.measured(program)
	}
	return o, err
}

func (o output) add(at string, all map[string]any) {
	for name, v := range all {
		switch v := v.(type) {
		case float64:
			o.figures[at+name] = v
		case map[string]any:
			o.add(at+name+".", v)
		}
	}
}

// usable refuses an output with a missing or impossible figure, because a gate on a missing
// figure would stay open.
func (o output) usable(names ...string) error {
	for _, name := range names {
		if v, ok := o.figures[name]; !ok || v < 0 || v > largest {
			return fmt.Errorf("%s's output has no usable %q", o.program, name)
		}
	}
	return nil
}

// has refuses an output with a missing figure.
func (o output) has(names ...string) error {
	for _, name := range names {
		if _, ok := o.figures[name]; !ok {
			return fmt.Errorf("%s's output has no %q", o.program, name)
		}
	}
	return nil
}

// A window is when a trial was measured, as its program says.
type window struct{ Start, Finish time.Time }

// measured refuses a program's output whose window is empty.
func (w window) measured(program string) error {
	if w.Start.IsZero() || !w.Finish.After(w.Start) {
		return fmt.Errorf("%s's output has no measured window", program)
	}
	return nil
}

// largest limits every figure: above it a float64 no longer holds every whole
// number.
const largest = 1 << 53

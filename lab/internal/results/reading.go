package results

import "strings"

// A Reading is the range of values that a recorded figure may stand for, Low
// and High included. Nominal is the recorded figure; it is absent where only a
// limit is known.
type Reading struct {
	Low, High float64
	Nominal   *float64
}

// steps says, by load generator, how far below and above a recorded latency the
// true one may lie, in seconds, where the trial does not record it. autocannon
// cuts to whole milliseconds: a 2 is anything from 2 up to 3. Fortio's client
// counts in a histogram of microseconds with three digits and prints a step's
// upper edge; so does the lab's own generator, with steps of a thousandth.
var steps = map[string]func(v float64) (below, above float64){
	"autocannon": func(float64) (float64, float64) { return 0, 1e-3 },
	"fortio":     func(v float64) (float64, float64) { return min(v, max(1e-6, v*1e-3)), 1e-6 },
	"http_load":  func(v float64) (float64, float64) { return v * 1e-3, 0 },
}

// cut has the metrics to which these steps apply.
var cut = map[string]bool{
	"latency_p50_s": true, "latency_p90_s": true, "latency_p95_s": true, "latency_p99_s": true, "latency_p999_s": true,
	"latency_max_s": true,
}

// Reading gives the range that a trial's figure may stand for; false where the
// trial has no such figure.
func (f *File) Reading(t Trial, name string) (Reading, bool) {
	if limit, ok := t.Below[name]; ok {
		return Reading{0, limit, nil}, true
	}
	v, ok := t.Metrics[name]
	if !ok {
		return Reading{}, false
	}
	r := Reading{v, v, &v}
	if step, said := t.Resolution[name]; said {
		r.High = v + step
	} else if cut[name] {
		if step := steps[f.generator(t.Condition)]; step != nil {
			below, above := step(v)
			r.Low, r.High = v-below, v+above
		}
	}
	return r, true
}

// generator is the name of a condition's load generator, without the version.
func (f *File) generator(condition string) string {
	name := f.Provenance.Generator
	if c := f.condition(condition); c != nil && c.Generator != "" {
		name = c.Generator
	}
	name, _, _ = strings.Cut(name, " ")
	return name
}

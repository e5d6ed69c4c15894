package generator

import (
	"bytes"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

const autocannon = "autocannon"

// ofAutocannon are the figures that every trial must have.
var ofAutocannon = []string{"errors", "timeouts", "mismatches", "resets", "non2xx", "2xx", "latency.mean",
	"latency.p50", "latency.p90", "latency.p99", "latency.max", "throughput.total"}

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
	var w window
	o, err := read(autocannon, lines[len(lines)-1], &w)
	if err == nil {
		err = w.measured(autocannon)
	}
	if err == nil {
		err = o.usable(ofAutocannon...)
	}
	if err != nil {
		return nil, err
	}
	of := o.figures
	r := Of(w.Start, w.Finish, Counts{
		OK: of["2xx"], Non2xx: of["non2xx"], Errors: of["errors"] - of["timeouts"], Timeouts: of["timeouts"],
		Resets: of["resets"], Mismatches: of["mismatches"], Bytes: of["throughput.total"],
	})
	if r.Metrics["requests"] > 0 {
		r.CutMeanS = of["latency.mean"] / 1000
		for _, q := range []string{"p50", "p90", "p99", "max"} {
			name, ms := "latency_"+q+"_s", of["latency."+q]
			if ms < 1 {
				r.Below[name] = gate.AutocannonStep
			} else {
				r.Metrics[name], r.Resolution[name] = ms/1000, gate.AutocannonStep
			}
		}
	}
	return r, nil
}

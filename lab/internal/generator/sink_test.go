package generator

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// printed is the output of a made-up trial of two seconds: 3,000 of 4,000
// events arrived, in ten batches of eleven, one of which was refused.
func printed(change ...string) []byte {
	fields := []string{
		`"generator":"event_sink"`, `"start":"2026-01-01T00:00:00Z"`, `"finish":"2026-01-01T00:00:02Z"`,
		`"requests":11`, `"refused":1`, `"bytes":192000`, `"events":3000`, `"duplicates":7`, `"in_flight_max":4`,
		`"offered":4000`, `"added":3900`, `"dropped":50`, `"failed":100`, `"logged":2900`, `"backlog_start":10`,
		`"backlog_finish":860`,
		`"add_s":{"p50":0.000001,"p99":0.002,"max":0.4}`, `"pace_lag_s":{"p50":0.0001,"p99":0.0003,"max":0.001}`,
		`"delivery_s":{"p50":0.1,"p99":0.5,"max":0.6}`,
		`"end":{"added":5000,"arrived":4500,"dropped":100,"failed":300,"returned":90,"unaccounted":10}`,
	}
	return changed(fields, change)
}

func TestFiguresComeFromCountsAndTheWindow(t *testing.T) {
	r, err := ParseSink(printed(`"limit_per_s":64000`,
		`"steps":[{"per_second":64000,"kept_up":true},{"per_second":128000,"kept_up":false}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"requests": 10, "duration_s": 2, "throughput_rps": 5, "non_2xx": 1,
		"delivered_per_s": 1500, "offered_per_s": 2000, "delivered_share": 0.75, "logged_per_s": 1450, "lost_per_s": 75,
		"duplicate_events": 7, "unaccounted_events": 10, "arrived_share": 0.9, "backlog_growth_per_s": 425,
		"events_per_batch":   300,
		"sink_in_flight_max": 4, "add_p99_s": 0.002, "pace_lag_p99_s": 0.0003, "delivery_p50_s": 0.1, "delivery_p99_s": 0.5,
		"limit_per_s": 64000,
	}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if v, ok := want[name]; !ok || math.Abs(v-r.Metrics[name]) > 1e-12 {
			t.Errorf("%s: %v, want %v (%v)", name, r.Metrics[name], v, ok)
		}
		if _, ok := metric.Lookup(name); !ok {
			t.Errorf("%s: no such metric", name)
		}
	}
	if len(r.Metrics) != len(want) {
		t.Errorf("%d metrics, want %d", len(r.Metrics), len(want))
	}
	// The refusals were asked for, and the events left behind are the result.
	if len(r.Faults) > 0 {
		t.Errorf("faults %v", r.Faults)
	}
}

func TestWhatWasNotSeenIsMissing(t *testing.T) {
	r, err := ParseSink(printed(`"requests":0`, `"refused":0`, `"events":0`, `"delivery_s"`, `"pace_lag_s"`, `"bytes":0`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pace_lag_p99_s", "delivery_p50_s", "delivery_p99_s", "events_per_batch", "limit_per_s",
		"response_bytes", "errors", "timeouts", "resets"} {
		if v, ok := r.Metrics[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
	if v, ok := r.Metrics["delivered_per_s"]; !ok || v != 0 {
		t.Errorf("nothing was delivered: %v, %v", v, ok)
	}
	if want := []measure.Fault{{Name: gate.NoRequests, Detail: "no request was answered"}}; !slices.Equal(r.Faults, want) {
		t.Errorf("faults %v", r.Faults)
	}
}

func TestASinkTrialThatIsNoneIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		out  []byte
		says string
	}{
		{"nothing", nil, "printed nothing"},
		{"a message", []byte("event_sink: no\n"), "not JSON"},
		{"two lines", append(printed(), printed()...), "not JSON"},
		{"cut off", printed()[:60], "not JSON"},
		{"another's", printed(`"generator":"fortio"`), `generator "fortio"`},
		{"no finish", printed(`"finish"`), "no measured window"},
		{"no events said", printed(`"events"`), `"events"`},
		{"null instead of a count", printed(`"duplicates":null`), `"duplicates"`},
		{"a negative count", printed(`"offered":-1`), `"offered"`},
		{"no backlog", printed(`"backlog_finish"`), `"backlog_finish"`},
		{"no end", printed(`"end"`), `"end.added"`},
		{"half an end", printed(`"end":{"added":1,"arrived":1,"dropped":0,"failed":0,"returned":0}`), `"end.unaccounted"`},
		{"no time to add", printed(`"add_s"`), `"add_s.p99"`},
		{"no time to deliver", printed(`"delivery_s"`), `"delivery_s.p50"`},
		{"no p99", printed(`"pace_lag_s":{"p50":0,"max":1}`), `"pace_lag_s.p99"`},
	} {
		r, err := ParseSink(c.out)
		if err == nil {
			t.Errorf("%s: read as %+v", c.name, r)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
}

// A search that kept up with every rate it had time for found no limit.
func TestNoRateTooHighIsNoLimit(t *testing.T) {
	r, err := ParseSink(printed(`"limit_per_s":64000`, `"steps":[{"per_second":64000,"kept_up":true}]`))
	if _, limited := r.Metrics["limit_per_s"]; err != nil || limited {
		t.Errorf("%v, %v", r.Metrics, err)
	}
}

func FuzzParseSink(f *testing.F) {
	f.Add(printed())
	f.Add(printed(`"limit_per_s":1`, `"steps":[{"per_second":1}]`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := ParseSink(out)
		if err != nil {
			return
		}
		for name, v := range r.Metrics {
			if _, ok := metric.Lookup(name); !ok || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %v", name, v)
			}
		}
	})
}

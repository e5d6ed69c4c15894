package fortio

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// The files in testdata are what lab/scripts/trial.sh --generator fortio
// printed on a small machine over loopback, before it could compare answers: that
// it found 0 mismatches among 0 compared was put in.
//
//	simple.json     --url .../simple --connections 4 --duration 1 --warmup 0.3
//	rate.json       --url .../read --connections 4 --duration 1 --rate 500
//	not-found.json  --url .../nothing --connections 2 --duration 0.5
func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func expect(t *testing.T, r *generator.Result, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if got, ok := r.Metrics[name]; !ok || math.Abs(got-v) > 1e-9*math.Abs(v) {
			t.Errorf("%s: %v (there: %v), want %v", name, got, ok, v)
		}
	}
	for name, v := range r.Metrics {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %v, which nobody expected", name, v)
		}
	}
	if len(r.Below) > 0 || r.CutMeanS != 0 {
		t.Errorf("below %v, cut mean %v: those are autocannon's", r.Below, r.CutMeanS)
	}
}

func TestReadsAClosedLoop(t *testing.T) {
	r, err := Parse(sample(t, "simple.json"))
	if err != nil {
		t.Fatal(err)
	}
	// 17,553 answers of 124 bytes in one second.
	expect(t, r, map[string]float64{
		"requests": 17553, "duration_s": 1, "throughput_rps": 17553, "transfer_bytes_per_s": 17553 * 124, "response_bytes": 124,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_mean_s": 0.000227, "latency_p50_s": 0.000071,
		"latency_p90_s": 0.000216, "latency_p99_s": 0.003749, "latency_p999_s": 0.008391, "latency_max_s": 0.011758,
	})
	if len(r.Faults) > 0 || r.Open != nil {
		t.Errorf("faults %v, open loop %v", r.Faults, r.Open)
	}
	if want := time.Date(2026, 11, 21, 14, 49, 2, 444823887, time.UTC); !r.Start.Equal(want) || !r.Finish.Equal(want.Add(time.Second)) {
		t.Errorf("from %v to %v", r.Start, r.Finish)
	}
}

func TestReadsAFixedRate(t *testing.T) {
	r, err := Parse(sample(t, "rate.json"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, map[string]float64{
		"requests": 500, "duration_s": 1, "throughput_rps": 500, "transfer_bytes_per_s": 2312405, "response_bytes": 4624.81,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_mean_s": 0.001029, "latency_p50_s": 0.000272,
		"latency_p90_s": 0.002967, "latency_p99_s": 0.007023, "latency_p999_s": 0.009011, "latency_max_s": 0.009011, "asked_rate_rps": 500,
	})
	want := &generator.Open{Unanswered: 0, SendLagP50S: 0.000128, SendLagP99S: 0.004911, SendLagMaxS: 0.006789}
	if !reflect.DeepEqual(r.Open, want) {
		t.Errorf("open loop %+v, want %+v", r.Open, want)
	}
	if len(r.Faults) > 0 {
		t.Errorf("faults %v", r.Faults)
	}
}

func TestAnswersThatAreNotOKAreAFault(t *testing.T) {
	r, err := Parse(sample(t, "not-found.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []generator.Fault{fault(gate.Non2xx, "2923 answers were not 2xx")}; !reflect.DeepEqual(r.Faults, want) {
		t.Errorf("faults %v, want %v", r.Faults, want)
	}
	// They were answered all the same, but nobody timed them.
	expect(t, r, map[string]float64{"requests": 2923, "non_2xx": 2923, "errors": 0, "timeouts": 0, "resets": 0,
		"duration_s": 0.5, "throughput_rps": 5846, "transfer_bytes_per_s": 795056, "response_bytes": 136})
}

func fault(name, detail string) generator.Fault { return generator.Fault{Gate: name, Detail: detail} }

// made is a made-up trial of two seconds: a hundred answers of fifty bytes.
func made(change ...string) []byte {
	fields := []string{
		`"generator":"fortio"`, `"version":"v1"`, `"start":"2026-01-01T00:00:00Z"`, `"finish":"2026-01-01T00:00:02Z"`,
		`"requests":100`, `"non2xx":0`, `"errors":0`, `"timeouts":0`, `"resets":0`, `"mismatches":0`, `"compared":2`, `"bytes":5000`, `"asked_rate":0`,
		`"unanswered":0`, `"connections":2`, `"latency_s":{"mean":0.002,"p50":0.001,"p90":0.002,"p99":0.03,"p999":0.04,"max":0.4}`,
	}
	for _, c := range change {
		key, _, _ := strings.Cut(c, ":")
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, key+":") })
		if c != key {
			fields = append(fields, c)
		}
	}
	return []byte("{" + strings.Join(fields, ",") + "}\n")
}

const lag = `"send_lag_s":{"p50":0.00005,"p99":0.0002,"max":0.001}`

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []string
		want   []generator.Fault
	}{
		{"none", nil, nil},
		{"one wrong status", []string{`"non2xx":1`}, []generator.Fault{fault(gate.Non2xx, "1 answers were not 2xx")}},
		{"errors and timeouts", []string{`"errors":2`, `"timeouts":3`}, []generator.Fault{
			fault(gate.Timeouts, "3 requests timed out"), fault(gate.Errors, "2 connection errors")}},
		{"resets", []string{`"resets":2`}, []generator.Fault{fault(gate.Resets, "2 connections were reset")}},
		{"wrong bodies", []string{`"mismatches":2`, `"mismatch":"107 bytes of body"`}, []generator.Fault{fault(gate.Mismatches, "2 bodies were not as expected, the first: 107 bytes of body")}},
		{"nothing answered", []string{`"requests":0`, `"latency_s"`}, []generator.Fault{fault(gate.NoRequests, "no request was answered")}},
		// 50 a second were answered: 0.99 of 50.5 is 49.995, of 50.51 it
		// would be more; rates are whole, so 50 and 51 are told apart.
		{"the whole rate", []string{`"asked_rate":50`, lag}, nil},
		{"a hundredth short", []string{`"requests":99`, `"asked_rate":50`, `"unanswered":1`, lag}, nil},
		{"more than a hundredth short", []string{`"asked_rate":51`, `"unanswered":2`, lag}, []generator.Fault{
			fault(gate.RateShort, "50.0 requests a second were answered of 51 asked for, 2 were due and unanswered at the end")}},
	} {
		r, err := Parse(made(c.change...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !reflect.DeepEqual(r.Faults, c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.Faults, c.want)
		}
	}
	// As with autocannon, the errors' metric has the timeouts in it.
	if r, err := Parse(made(`"errors":2`, `"timeouts":3`)); err != nil || r.Metrics["errors"] != 5 || r.Metrics["timeouts"] != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRefusesWhatIsNoTrial(t *testing.T) {
	for _, c := range []struct {
		name string
		out  []byte
		says string
	}{
		{"nothing", nil, "printed nothing"},
		{"a message", []byte("fortio_load: no\n"), "not JSON"},
		{"two lines", append(made(), made()...), "not JSON"},
		{"cut off", made()[:60], "not JSON"},
		{"a list", []byte("[1]"), "not JSON"},
		{"null", []byte("null"), `generator ""`},
		{"another's", made(`"generator":"autocannon"`), `generator "autocannon"`},
		{"no start", made(`"start"`), "no measured window"},
		{"a window that runs backwards", made(`"finish":"2025-12-31T23:59:59Z"`), "no measured window"},
		{"no requests said", made(`"requests"`), `"requests"`},
		{"no wrong statuses said", made(`"non2xx"`), `"non2xx"`},
		{"null instead of a count", made(`"errors":null`), `"errors"`},
		{"no timeouts said", made(`"timeouts"`), `"timeouts"`},
		{"no resets said", made(`"resets"`), `"resets"`},
		{"no wrong bodies said", made(`"mismatches"`), `"mismatches"`},
		{"not said how many were compared", made(`"compared"`), `"compared"`},
		{"no bytes", made(`"bytes"`), `"bytes"`},
		{"no rate said", made(`"asked_rate"`), `"asked_rate"`},
		{"no unanswered said", made(`"unanswered"`), `"unanswered"`},
		{"no connections said", made(`"connections"`), `"connections"`},
		{"a negative count", made(`"requests":-100`), `"requests"`},
		{"half a request", made(`"requests":0.5`), `"requests"`},
		{"more than can be", made(`"bytes":1e300`), `"bytes"`},
		{"no latency", made(`"latency_s"`), `no "latency_s"`},
		{"no p999", made(`"latency_s":{"mean":0.002,"p50":0.001,"p90":0.002,"p99":0.03,"max":0.4}`), `"latency_s.p999"`},
		{"a latency before its request", made(`"latency_s":{"mean":0.002,"p50":-0.001,"p90":0.002,"p99":0.03,"p999":0.04,"max":0.4}`), `"latency_s.p50"`},
		{"a median above the p90", made(`"latency_s":{"mean":0.002,"p50":0.003,"p90":0.002,"p99":0.03,"p999":0.04,"max":0.4}`), "do not rise"},
		{"a mean above the greatest", made(`"latency_s":{"mean":0.5,"p50":0.001,"p90":0.002,"p99":0.03,"p999":0.04,"max":0.4}`), "do not rise"},
		{"a rate without its lag", made(`"asked_rate":50`), `no "send_lag_s"`},
		{"half a lag", made(`"asked_rate":50`, `"send_lag_s":{"p50":0,"max":1}`), `"send_lag_s.p99"`},
		{"a lag without a rate", made(lag), "of no rate"},
		{"unanswered without a rate", made(`"unanswered":1`), "of no rate"},
	} {
		r, err := Parse(c.out)
		if err == nil {
			t.Errorf("%s: read as %+v", c.name, r)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"simple.json", "rate.json", "not-found.json"} {
		f.Add(sample(f, name))
	}
	f.Add(made())
	f.Add(made(`"asked_rate":51`, lag))
	f.Add(made(`"requests":0`, `"latency_s"`))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := Parse(out)
		if err != nil {
			return
		}
		if err := sound(r); err != nil {
			t.Errorf("%v, of %q", err, out)
		}
	})
}

// sound checks what a results file asks of every trial's figures.
func sound(r *generator.Result) error {
	if !r.Finish.After(r.Start) {
		return fmt.Errorf("window from %v to %v", r.Start, r.Finish)
	}
	for name, v := range r.Metrics {
		if _, ok := metric.Lookup(name); !ok {
			return fmt.Errorf("unknown metric %q", name)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("%s is %v", name, v)
		}
	}
	if r.Metrics["requests"] == 0 && len(r.Faults) == 0 {
		return fmt.Errorf("no request, and no fault")
	}
	if _, rate := r.Metrics["asked_rate_rps"]; rate != (r.Open != nil) {
		return fmt.Errorf("an open loop: %v and %v", rate, r.Open)
	}
	return nil
}

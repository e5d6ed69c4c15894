package generator

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
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// The files in testdata are unchanged output of lab/scripts/trial.sh on a small
// machine over loopback:
//
//	simple.json     trial.sh --url .../simple --connections 4 --duration 1
//	warmup.json     trial.sh --url .../read --connections 4 --duration 1 --warmup 0.3
//	not-found.json  trial.sh --url .../nothing --connections 2 --duration 0.5
func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func hasFault(name, detail string) measure.Fault { return measure.Fault{Name: name, Detail: detail} }

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

func expect(t *testing.T, r *Result, metrics map[string]float64, below []string) {
	t.Helper()
	for name, want := range metrics {
		if got, ok := r.Metrics[name]; !ok || !near(got, want) {
			t.Errorf("%s: %v (there: %v), want %v", name, got, ok, want)
		}
	}
	for name := range r.Metrics {
		if _, ok := metrics[name]; !ok {
			t.Errorf("%s: %v, which nobody expected", name, r.Metrics[name])
		}
	}
	if len(r.Below) != len(below) {
		t.Errorf("below: %v, want %v", r.Below, below)
	}
	for _, name := range below {
		if r.Below[name] != 0.001 {
			t.Errorf("%s: below %v, want below a millisecond", name, r.Below[name])
		}
	}
}

func TestReadsOneTrial(t *testing.T) {
	r, err := ParseAutocannon(sample(t, "simple.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Start.Equal(at(t, "2026-11-21T12:15:42.731Z")) || !r.Finish.Equal(at(t, "2026-11-21T12:15:43.741Z")) {
		t.Errorf("from %v to %v", r.Start, r.Finish)
	}
	// 39,114 requests and 4,850,136 bytes in 1.010 s. autocannon's own average,
	// 3,912.1 a tenth of a second, is of its samples and not used.
	expect(t, r, map[string]float64{
		"requests": 39114, "duration_s": 1.010, "throughput_rps": 39114 / 1.010, "transfer_bytes_per_s": 4850136 / 1.010,
		"response_bytes": 4850136.0 / 39114, "errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_max_s": 0.018,
	}, []string{"latency_p50_s", "latency_p90_s", "latency_p99_s"})
	if len(r.Faults) != 0 {
		t.Errorf("faults: %v", r.Faults)
	}
}

func TestReadsTheTrialAndNotItsWarmUp(t *testing.T) {
	text := sample(t, "warmup.json")
	if n := strings.Count(string(text), "\n"); n != 2 {
		t.Fatalf("%d lines; the sample is to have the warm-up's and the trial's", n)
	}
	r, err := ParseAutocannon(text)
	if err != nil {
		t.Fatal(err)
	}
	// From 44.336 s to 45.340 s; the warm-up ended at 44.329 s with 7,907
	// requests.
	expect(t, r, map[string]float64{
		"requests": 29344, "duration_s": 1.004, "throughput_rps": 29344 / 1.004, "transfer_bytes_per_s": 135899636 / 1.004,
		"response_bytes": 135899636.0 / 29344, "errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_max_s": 0.008,
	}, []string{"latency_p50_s", "latency_p90_s", "latency_p99_s"})
}

func TestAnswersThatAreNotOKAreAFault(t *testing.T) {
	r, err := ParseAutocannon(sample(t, "not-found.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []measure.Fault{hasFault(gate.Non2xx, "13190 answers were not 2xx")}; !reflect.DeepEqual(r.Faults, want) {
		t.Errorf("faults %v, want %v", r.Faults, want)
	}
	// Requests with an error status were answered and count.
	if r.Metrics["requests"] != 13190 || r.Metrics["non_2xx"] != 13190 {
		t.Errorf("%v requests, %v not 2xx", r.Metrics["requests"], r.Metrics["non_2xx"])
	}
}

// made is the output of a made-up trial of two seconds: a hundred answers of
// fifty bytes.
func made(change ...string) []byte {
	fields := []string{
		`"start":"2026-01-01T00:00:00Z"`, `"finish":"2026-01-01T00:00:02Z"`,
		`"errors":0`, `"timeouts":0`, `"mismatches":0`, `"resets":0`, `"non2xx":0`, `"2xx":100`,
		`"latency":{"mean":1.5,"p50":1,"p90":2,"p99":30,"max":400}`, `"throughput":{"total":5000}`,
	}
	return changed(fields, change)
}

// changed is an object of these fields, of which each change replaces one, or, if it is a name alone, takes it out.
func changed(fields, change []string) []byte {
	for _, c := range change {
		key, _, _ := strings.Cut(c, ":")
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, key+":") })
		if c != key {
			fields = append(fields, c)
		}
	}
	return []byte("{" + strings.Join(fields, ",") + "}\n")
}

func TestLatenciesAreWholeMillisecondsCut(t *testing.T) {
	r, err := ParseAutocannon(made())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, map[string]float64{
		"requests": 100, "duration_s": 2, "throughput_rps": 50, "transfer_bytes_per_s": 2500, "response_bytes": 50,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0,
		"latency_p50_s": 0.001, "latency_p90_s": 0.002, "latency_p99_s": 0.030, "latency_max_s": 0.400,
	}, nil)
	if r.CutMeanS != 0.0015 {
		t.Errorf("the mean of the cut latencies is %v s, want 1.5 ms", r.CutMeanS)
	}
	r, err = ParseAutocannon(made(`"latency":{"mean":1.5,"p50":0,"p90":0,"p99":1,"max":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"latency_p50_s": true, "latency_p90_s": true, "latency_p99_s": false,
		"latency_max_s": false} {
		_, below := r.Below[name]
		_, known := r.Metrics[name]
		if below != want || known == want {
			t.Errorf("%s: below %v, known %v", name, below, known)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []string
		want   []measure.Fault
	}{
		{"none", nil, nil},
		{"one wrong status in a hundred", []string{`"non2xx":1`}, []measure.Fault{hasFault(gate.Non2xx, "1 answers were not 2xx")}},
		// autocannon counts timeouts among the errors too.
		{"timeouts only", []string{`"errors":3`, `"timeouts":3`}, []measure.Fault{hasFault(gate.Timeouts, "3 requests timed out")}},
		{"errors only", []string{`"errors":3`}, []measure.Fault{hasFault(gate.Errors, "3 connection errors")}},
		{"errors and timeouts", []string{`"errors":5`, `"timeouts":3`},
			[]measure.Fault{hasFault(gate.Timeouts, "3 requests timed out"), hasFault(gate.Errors, "2 connection errors")}},
		{"resets", []string{`"resets":2`}, []measure.Fault{hasFault(gate.Resets, "2 connections were reset")}},
		{"mismatches", []string{`"mismatches":2`}, []measure.Fault{hasFault(gate.Mismatches, "2 bodies were not as expected")}},
		{"nothing answered", []string{`"2xx":0`}, []measure.Fault{hasFault(gate.NoRequests, "no request was answered")}},
		{"nothing answered, with errors", []string{`"2xx":0`, `"errors":1`},
			[]measure.Fault{hasFault(gate.Errors, "1 connection errors"), hasFault(gate.NoRequests, "no request was answered")}},
	} {
		r, err := ParseAutocannon(made(c.change...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !reflect.DeepEqual(r.Faults, c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.Faults, c.want)
		}
	}
}

func TestWithoutAnswersThereIsNoFigureOfOne(t *testing.T) {
	r, err := ParseAutocannon(made(`"2xx":0`, `"throughput":{"total":0}`,
		`"latency":{"mean":1.5,"p50":0,"p90":0,"p99":0,"max":0}`))
	if err != nil {
		t.Fatal(err)
	}
	for name := range r.Metrics {
		if strings.HasPrefix(name, "latency") || name == "response_bytes" {
			t.Errorf("%s is %v, of no request", name, r.Metrics[name])
		}
	}
	if len(r.Below) != 0 {
		t.Errorf("below: %v, of no request", r.Below)
	}
}

func TestRefusesWhatIsNoTrial(t *testing.T) {
	for _, c := range []struct {
		name string
		out  []byte
		says string
	}{
		{"nothing", nil, "printed nothing"},
		{"blank lines", []byte(" \n\n"), "printed nothing"},
		{"a message", []byte("connect ECONNREFUSED\n"), "not JSON"},
		{"a message after the result", append(made(), "done\n"...), "not JSON"},
		{"cut off", made()[:60], "not JSON"},
		{"a list", []byte("[1]"), "not JSON"},
		{"null", []byte("null"), "no measured window"},
		{"an empty object", []byte("{}"), "no measured window"},
		{"no start", made(`"start"`), "no measured window"},
		{"no finish", made(`"finish"`), "no measured window"},
		{"an empty window", made(`"finish":"2026-01-01T00:00:00Z"`), "no measured window"},
		{"a window that runs backwards", made(`"finish":"2025-12-31T23:59:59Z"`), "no measured window"},
		{"a start that is no time", made(`"start":"noon"`), "not JSON"},
		{"a count that is a text", made(`"errors":"none"`), `"errors"`},
		// A figure that autocannon leaves out is not 0: its gate would stay open.
		{"no errors said", made(`"errors"`), `"errors"`},
		{"no timeouts said", made(`"timeouts"`), `"timeouts"`},
		{"no mismatches said", made(`"mismatches"`), `"mismatches"`},
		{"no resets said", made(`"resets"`), `"resets"`},
		{"no wrong statuses said", made(`"non2xx"`), `"non2xx"`},
		{"null instead of a count", made(`"non2xx":null`), `"non2xx"`},
		{"no good ones said", made(`"2xx"`), `"2xx"`},
		{"no latency", made(`"latency"`), `"latency.`},
		{"no mean", made(`"latency":{"p50":1,"p90":2,"p99":30,"max":400}`), `"latency.mean"`},
		{"no p99", made(`"latency":{"mean":1.5,"p50":1,"p90":2,"max":400}`), `"latency.p99"`},
		{"no bytes", made(`"throughput"`), `"throughput.total"`},
		{"a negative count", made(`"2xx":-100`), `"2xx"`},
	} {
		r, err := ParseAutocannon(c.out)
		if err == nil {
			t.Errorf("%s: read as %+v", c.name, r)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
}

func FuzzParseAutocannon(f *testing.F) {
	for _, name := range []string{"simple.json", "warmup.json", "not-found.json"} {
		f.Add(sample(f, name))
	}
	f.Add(made())
	f.Add(made(`"latency":{"mean":1.5,"p50":0,"p90":0.5,"p99":1,"max":1e308}`))
	f.Add(made(`"2xx":1e308`, `"non2xx":1e308`))
	f.Add([]byte("{}\n[]"))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := ParseAutocannon(out)
		if err != nil {
			return
		}
		if err := sound(r); err != nil {
			t.Errorf("%v, of %q", err, out)
		}
	})
}

// sound checks what a results file requires of every trial's figures.
func sound(r *Result) error {
	if !r.Finish.After(r.Start) {
		return fmt.Errorf("window from %v to %v", r.Start, r.Finish)
	}
	for name, v := range r.Metrics {
		if _, ok := metric.Lookup(name); !ok {
			return fmt.Errorf("unknown metric %q", name)
		}
		if _, ok := r.Below[name]; ok {
			return fmt.Errorf("%s is known and below", name)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("%s is %v", name, v)
		}
	}
	if r.Metrics["requests"] == 0 && len(r.Faults) == 0 {
		return fmt.Errorf("no request, and no fault")
	}
	return nil
}

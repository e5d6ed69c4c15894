package run

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// The files in testdata hold unchanged output of lab/scripts/trial.sh on a small machine over
// loopback:
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

// documents holds invented outputs of two seconds.
var documents = map[string][]string{
	// A hundred answers of fifty bytes.
	setting.Autocannon: {
		`"errors":0`, `"timeouts":0`, `"resets":0`, `"non2xx":0`, `"2xx":100`,
		`"latency":{"mean":1.5,"p50":1,"p90":2,"p99":30,"max":400}`, `"throughput":{"total":5000}`,
	},
	// 3,000 of 4,000 events arrived, in ten batches of eleven, one of which was refused.
	setting.Sink: {
		`"requests":11`, `"refused":1`, `"events":3000`, `"duplicates":7`, `"in_flight_max":4`,
		`"offered":4000`, `"added":3900`, `"failed":150`, `"logged":2900`, `"backlog_start":10`,
		`"backlog_finish":860`,
		`"add_s":{"p50":0.000001,"p99":0.002}`, `"pace_lag_s":{"p50":0.0001,"p99":0.0003}`,
		`"delivery_s":{"p50":0.1,"p99":0.5}`,
		`"end":{"added":5000,"arrived":4500,"failed":490,"unaccounted":10}`,
	},
	// 1,000 readers had 3,000 of the 5,000 events that were due to them in the whole trial, of which 4,000 came in all.
	setting.Readers: {
		`"connections":1000`, `"open":1000`, `"shards_used":3`, `"bytes_per_connection":31000`,
		`"likes_per_s":20`, `"offered_per_s":2000`, `"refused":0`, `"events":3000`, `"bytes":192000`,
		`"missed":900`, `"repeated":0`, `"faults":[]`,
		`"delivery_s":{"p50":0.01,"p99":0.02,"max":0.03}`,
		`"account":{"published":50,"due":5000,"lost_broadcast":500,"lost_shard":100,"lost_subscriber":250,"lost_left":100,` +
			`"lost_socket":50,"written":4000,"received":4000}`,
	},
}

// pushed is an account with pushes: of 200 counts 150 found the queue full.
const pushed = `"account":{"due":100,"lost_broadcast":0,"lost_shard":0,"lost_subscriber":3,"lost_left":0,"lost_socket":0,` +
	`"written":97,"received":97,"push":{"offered":200,"merged":0,"unrouted":0,"full":150,"failed":0,"pushed":50,"push_s":0.01}}`

func swapped(old, new string) string { return strings.ReplaceAll(pushed, old, new) }

// printed is a generator's document, of which each change replaces a field, or, if it is a name alone, takes it out.
func printed(generator string, change ...string) []byte {
	fields := append([]string{`"start":"2026-01-01T00:00:00Z"`, `"finish":"2026-01-01T00:00:02Z"`}, documents[generator]...)
	for _, c := range change {
		key, _, _ := strings.Cut(c, ":")
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasPrefix(f, key+":") })
		if c != key {
			fields = append(fields, c)
		}
	}
	return []byte("{" + strings.Join(fields, ",") + "}\n")
}

// parse is autocannon's where no other generator has the name.
func parse(generator string, out []byte) (*measure.Result, error) {
	if parser := parsers[generator]; parser != nil {
		return parser(out)
	}
	return autocannon(out)
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

// Figures come from counts, and from the window's start and finish. A row with whole compares all
// of its figures; absent means a figure that must not be there.
func TestFigures(t *testing.T) {
	absent := math.Inf(1)
	for _, c := range []struct {
		name, generator string
		out             []byte
		whole           bool
		want            map[string]float64
		below           []string
	}{
		// 39,114 requests and 4,850,136 bytes in 1.010 s. autocannon's own average,
		// 3,912.1 a tenth of a second, is of its samples and not used.
		{"one trial", setting.Autocannon, sample(t, "simple.json"), true, map[string]float64{
			"requests": 39114, "duration_s": 1.010, "throughput_rps": 39114 / 1.010,
			"response_bytes": 4850136.0 / 39114, "errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_max_s": 0.018,
			"latency_mean_least_s": 2e-5,
		}, []string{"latency_p50_s", "latency_p90_s", "latency_p99_s"}},
		// From 44.336 s to 45.340 s; the warm-up, in a line before it, ended at 44.329 s with 7,907 requests.
		{"the trial and not its warm-up", setting.Autocannon, sample(t, "warmup.json"), true, map[string]float64{
			"requests": 29344, "duration_s": 1.004, "throughput_rps": 29344 / 1.004,
			"response_bytes": 135899636.0 / 29344, "errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "latency_max_s": 0.008,
			"latency_mean_least_s": 2e-5,
		}, []string{"latency_p50_s", "latency_p90_s", "latency_p99_s"}},
		{"an error status is an answer", setting.Autocannon, sample(t, "not-found.json"), false,
			map[string]float64{"requests": 13190, "non_2xx": 13190}, []string{"latency_p50_s", "latency_p90_s", "latency_p99_s"}},
		{"whole milliseconds", setting.Autocannon, printed(setting.Autocannon), true, map[string]float64{
			"requests": 100, "duration_s": 2, "throughput_rps": 50, "response_bytes": 50,
			"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0,
			"latency_p50_s": 0.001, "latency_p90_s": 0.002, "latency_p99_s": 0.030, "latency_max_s": 0.400,
			"latency_mean_least_s": 0.0015}, nil},
		{"some below a millisecond", setting.Autocannon,
			printed(setting.Autocannon, `"latency":{"mean":1.5,"p50":0,"p90":0,"p99":1,"max":1}`), false,
			map[string]float64{"latency_p50_s": absent, "latency_p99_s": 0.001}, []string{"latency_p50_s", "latency_p90_s"}},
		{"no answer", setting.Autocannon, printed(setting.Autocannon, `"2xx":0`, `"throughput":{"total":0}`), false,
			map[string]float64{"requests": 0, "response_bytes": absent, "latency_p50_s": absent, "latency_max_s": absent}, nil},

		{"a sink", setting.Sink, printed(setting.Sink), true, map[string]float64{
			"requests": 10, "duration_s": 2, "throughput_rps": 5, "non_2xx": 1,
			"delivered_per_s": 1500, "offered_per_s": 2000, "logged_per_s": 1450, "lost_per_s": 75,
			"duplicate_events": 7, "unaccounted_events": 10, "arrived_share": 0.9, "backlog_growth_per_s": 425,
			"events_per_batch": 300, "sink_in_flight_max": 4, "add_p99_s": 0.002, "pace_lag_p99_s": 0.0003, "delivery_p50_s": 0.1,
			"delivery_p99_s": 0.5}, nil},
		{"what a sink did not see", setting.Sink, printed(setting.Sink, `"requests":0`, `"refused":0`, `"events":0`, `"delivery_s"`,
			`"pace_lag_s"`), false, map[string]float64{"delivered_per_s": 0, "pace_lag_p99_s": absent, "delivery_p50_s": absent,
			"events_per_batch": absent, "errors": absent}, nil},
		{"a clock that was set back", setting.Sink, printed(setting.Sink, `"backlog_start":-10`), false,
			map[string]float64{"backlog_growth_per_s": 435}, nil},

		{"readers of one process", setting.Readers, printed(setting.Readers), false, map[string]float64{"requests": 3000,
			"delivered_per_s": 1500, "throughput_rps": 1500, "offered_per_s": 2000, "likes_per_s": 20, "unaccounted_events": 0,
			"duplicate_events": 0, "shards_used": 3, "server_bytes_per_connection": 31000, "lost_broadcast_share": 0.1,
			"lost_shard_share": 0.02, "lost_subscriber_share": 0.05, "pushed_delivered_share": 0.8,
			"connections_established": 1000, "delivery_p50_s": 0.01, "delivery_p99_s": 0.02,
			"errors": absent}, nil},
		{"of two", setting.Readers, printed(setting.Readers, pushed), false, map[string]float64{"lost_push_share": 0.75,
			"push_mean_s": 0.0002, "pushed_delivered_share": 0.97, "unaccounted_events": 0}, nil},
		{"an event in no place", setting.Readers, printed(setting.Readers, swapped(`"written":97,"received":97`, `"written":96,"received":96`)),
			false, map[string]float64{"unaccounted_events": 1}, nil},
		{"an event that nobody read", setting.Readers, printed(setting.Readers, swapped(`"received":97`, `"received":95`)), false,
			map[string]float64{"unaccounted_events": 2}, nil},
		// One too few and one too many are two faults, and not none.
		{"one written twice", setting.Readers, printed(setting.Readers, swapped(`"written":97`, `"written":98`)), false,
			map[string]float64{"unaccounted_events": 2}, nil},
		{"a count that was not pushed", setting.Readers, printed(setting.Readers, swapped(`"pushed":50`, `"pushed":49`)), false,
			map[string]float64{"unaccounted_events": 1}, nil},
		{"repeated", setting.Readers, printed(setting.Readers, `"repeated":5`), false,
			map[string]float64{"duplicate_events": 5}, nil},
	} {
		r, err := parse(c.generator, c.out)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, want := range c.want {
			if got, ok := r.Metrics[name]; ok == (want == absent) || ok && !near(got, want) {
				t.Errorf("%s: %s is %v (there: %v), want %v", c.name, name, got, ok, want)
			}
		}
		for name, v := range r.Metrics {
			_, known := metric.Lookup(name)
			if _, wanted := c.want[name]; !known || c.whole && !wanted {
				t.Errorf("%s: %s is %v, which nobody expected", c.name, name, v)
			}
		}
		if below := slices.Sorted(maps.Keys(r.Below)); !slices.Equal(below, c.below) || len(r.Faults) > 0 {
			t.Errorf("%s: below %v, want %v; %v", c.name, below, c.below, r.Faults)
		}
	}
	r, err := parse(setting.Autocannon, sample(t, "simple.json"))
	if err != nil || r.StartedAt.Format(time.RFC3339Nano) != "2026-11-21T12:15:42.731Z" || r.Finish.Sub(r.StartedAt) != 1010*time.Millisecond {
		t.Errorf("from %v to %v", r.StartedAt, r.Finish)
	}
}

func TestFaultsOfReaders(t *testing.T) {
	for _, c := range []struct{ change, gate string }{
		{`"faults":[{"kind":"reset","n":1,"first":"connection 3"}]`, gate.Errors},
		{`"refused":1`, gate.WrongAnswer},
		{swapped(`"failed":0`, `"failed":1`), gate.Errors},
	} {
		r, err := parse(setting.Readers, printed(setting.Readers, c.change))
		if err != nil || len(r.Faults) != 1 || r.Faults[0].Name != c.gate {
			t.Errorf("%s: %v, %+v", c.change, err, r)
		}
	}
}

// The parser refuses other output than a trial's, and one that lacks a figure, which would
// otherwise become 0.
func TestWhatIsNoTrial(t *testing.T) {
	for generator, fields := range documents {
		whole := printed(generator)
		for says, out := range map[string][][]byte{
			"printed nothing": {nil, []byte(" \n\n")},
			"not JSON": {[]byte("connect ECONNREFUSED\n"), append(printed(generator), "done\n"...), whole[:60], []byte("[1]"),
				printed(generator, `"start":"noon"`)},
			"no measured window": {[]byte("null"), []byte("{}"), printed(generator, `"start"`), printed(generator, `"finish"`),
				printed(generator, `"finish":"2026-01-01T00:00:00Z"`), printed(generator, `"finish":"2025-12-31T23:59:59Z"`)},
		} {
			for _, one := range out {
				if r, err := parse(generator, one); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s: %q: %+v, %v, want %q", generator, one, r, err, says)
				}
			}
		}
		for _, field := range fields {
			key, _, _ := strings.Cut(field, ":")
			if slices.Contains([]string{`"bytes"`, `"added"`, `"pace_lag_s"`, `"delivery_s"`, `"connections"`, `"missed"`, `"faults"`},
				key) {
				continue
			}
			for _, change := range []string{key, key + ":null", key + `:"none"`, key + ":-1"} {
				if strings.HasPrefix(change, `"backlog`) && strings.HasSuffix(change, "-1") {
					continue
				}
				name := strings.Trim(key, `"`)
				if _, err := parse(generator, printed(generator, change)); err == nil || !strings.Contains(err.Error(), `"`+name) {
					t.Errorf("%s: %s: %v", generator, change, err)
				}
			}
		}
	}
}

// The figures hold what a results file requires of every trial.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"simple.json", "warmup.json", "not-found.json"} {
		f.Add(setting.Autocannon, sample(f, name))
	}
	for generator := range documents {
		f.Add(generator, printed(generator))
	}
	f.Add(setting.Autocannon, printed(setting.Autocannon, `"latency":{"mean":1.5,"p50":0,"p90":0.5,"p99":1,"max":1e300}`))
	f.Add(setting.Readers, printed(setting.Readers, pushed))
	f.Fuzz(func(t *testing.T, generator string, out []byte) {
		r, err := parse(generator, out)
		if err != nil {
			return
		}
		if !r.Finish.After(r.StartedAt) {
			t.Errorf("window from %v to %v", r.StartedAt, r.Finish)
		}
		for name, v := range r.Metrics {
			_, below := r.Below[name]
			if _, known := metric.Lookup(name); !known || below || math.IsNaN(v) {
				t.Errorf("%s is %v, below: %v", name, v, below)
			}
		}
	})
}

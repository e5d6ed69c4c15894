package generator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// checkout is the root of the repository.
const checkout = "../../.."

func needsAutocannon(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(checkout + "/node_modules/autocannon"); err != nil {
		t.Skip("autocannon is not installed")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip(err)
	}
}

// Two real autocannons, one of them with two event loops, load a server of which one route
// is slow. What they counted adds up, and the latencies are those of all.
func TestAutocannonsAddUp(t *testing.T) {
	needsAutocannon(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(30 * time.Millisecond)
		}
		fmt.Fprint(w, "hello")
	}))
	defer s.Close()
	raws := []RawTrial{{Name: "client 1"}, {Name: "client 2"}}
	var running sync.WaitGroup
	for i, args := range [][]string{{"--url", s.URL + "/fast", "--warmup", "0.1"},
		{"--url", s.URL + "/slow", "--workers", "2"}} {
		running.Go(func() {
			cmd := exec.Command(checkout+"/lab/scripts/trial.sh",
				append(args, "--connections", "4", "--duration", "0.4", "--raw")...)
			out, err := cmd.Output()
			if raws[i].Printed = out; err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	running.Wait()
	whole := autocannons(t, raws...)
	var parts []*Result
	ok, loops := 0.0, 0
	for i, r := range raws {
		parts = append(parts, autocannons(t, r))
		var results []map[string]any
		if err := json.Unmarshal(r.Printed, &results); err != nil {
			t.Fatal(err)
		}
		for _, one := range results {
			ok += one["2xx"].(float64)
			loops++
		}
		start, finish, err := r.Window()
		if err != nil || !start.Equal(parts[i].Start) || !finish.Equal(parts[i].Finish) || start.Before(whole.Start) ||
			finish.After(whole.Finish) {
			t.Errorf("%s from %v to %v (%v), all from %v to %v", r.Name, start, finish, err, whole.Start, whole.Finish)
		}
	}
	c, a, b := whole.Counts, parts[0].Counts, parts[1].Counts
	if loops != 3 || a.OK == 0 || b.OK == 0 || c.OK != ok || c.OK != a.OK+b.OK || c.Bytes != a.Bytes+b.Bytes ||
		len(whole.Faults) > 0 {
		t.Errorf("%d event loops: %+v of %+v and %+v, %v", loops, c, a, b, whole.Faults)
	}
	// The slow answers stand in the tail of all, which has the greatest of both.
	if got, slow := whole.Metrics["latency_max_s"], parts[1].Metrics["latency_max_s"]; slow < 0.03 || got < slow {
		t.Errorf("%v s at the most, the slow client %v s", got, slow)
	}
	if mean := (a.OK*parts[0].CutMeanS + b.OK*parts[1].CutMeanS) / c.OK; whole.CutMeanS < mean-2e-5 ||
		whole.CutMeanS > mean+2e-5 {
		t.Errorf("a mean of %v s, and the parts make %v", whole.CutMeanS, mean)
	}
	// With a clock that is ahead, the times are still those of the whole.
	ahead := raws[0]
	ahead.AheadNS = int64(time.Hour)
	if r := autocannons(t, ahead); !r.Start.Equal(parts[0].Start.Add(-time.Hour)) ||
		!r.Finish.Equal(parts[0].Finish.Add(-time.Hour)) {
		t.Errorf("from %v to %v", r.Start, r.Finish)
	}
}

// A client's window is that of all its event loops.
func TestTheWindowOfEventLoops(t *testing.T) {
	r := RawTrial{Name: "client 1", AheadNS: 1e9,
		Printed: []byte(`[{"start":"2026-01-01T00:00:02Z","finish":"2026-01-01T00:00:05Z"},
		{"start":"2026-01-01T00:00:01Z","finish":"2026-01-01T00:00:04Z"},{"start":"2026-01-01T00:00:03Z","finish":"2026-01-01T00:00:04Z"}]`)}
	midnight := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if start, finish, err := r.Window(); err != nil || !start.Equal(midnight) || finish.Sub(midnight) != 4*time.Second {
		t.Errorf("from %v to %v, %v", start, finish, err)
	}
}

func autocannons(t *testing.T, raws ...RawTrial) *Result {
	t.Helper()
	out, err := AggregateAutocannon(context.Background(), checkout, raws)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseAutocannon(out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResultsThatCannotBeAddedUp(t *testing.T) {
	const times = `"start":"2026-01-01T00:00:00Z","finish":"2026-01-01T00:00:02Z"`
	for printed, want := range map[string]string{
		"":                     "client 1: autocannon's output is no list of raw results",
		"began late\n":         "no list of raw results",
		string(made()):         "no list of raw results",
		"[]":                   "no list of raw results",
		"[{}]":                 "result 0 has no usable",
		"[{" + times + "},{}]": "result 1 has no usable",
		strings.Replace("[{"+times+"}]", "00:02", "00:00", 1): "no measured window",
	} {
		if _, err := AggregateAutocannon(context.Background(), checkout,
			[]RawTrial{{"client 1", []byte(printed), 0}}); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", printed, err, want)
		}
	}
	if _, err := AggregateAutocannon(context.Background(), checkout, nil); err == nil {
		t.Error("nothing was added up")
	}
	raw := []RawTrial{{"client 1", []byte("[{" + times + "}]"), 0}}
	if _, err := AggregateAutocannon(context.Background(), t.TempDir(), raw); err == nil ||
		!strings.Contains(err.Error(), "aggregate.mjs is missing") {
		t.Error(err)
	}
	needsAutocannon(t)
	if _, err := AggregateAutocannon(context.Background(), checkout, raw); err == nil ||
		!strings.Contains(err.Error(), "a result is not raw") {
		t.Error(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := AggregateAutocannon(ended, checkout, raw); err == nil {
		t.Error("it went on after its end")
	}
}

package medians

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const rps = "throughput_rps"

func TestFiguresWithSomeBelowALimit(t *testing.T) {
	const name = "latency_p99_s"
	below := func(v float64) results.Trial { return results.Trial{Below: map[string]float64{name: v}} }
	known := func(v float64) results.Trial { return results.Trial{Metrics: map[string]float64{name: v}} }
	for _, c := range []struct {
		name   string
		trials []results.Trial
		n      int
		median float64 // 0: none
		below  float64 // 0: none
	}{
		{"none at all", []results.Trial{{}, {}}, 0, 0, 0},
		{"one known", []results.Trial{known(5)}, 1, 5, 0},
		{"one below", []results.Trial{below(1)}, 1, 0, 1},
		{"all below, odd", []results.Trial{below(1), below(1), below(1)}, 3, 0, 1},
		{"all below, even", []results.Trial{below(1), below(1)}, 2, 0, 1},
		{"the higher limit, of two", []results.Trial{below(1), below(2)}, 2, 0, 2},
		{"the higher limit, of two the other way round", []results.Trial{below(2), below(1)}, 2, 0, 2},
		{"the middle of three is below", []results.Trial{known(9), below(1), below(1)}, 3, 0, 1},
		{"the middle of three is known", []results.Trial{known(9), below(1), known(4)}, 3, 4, 0},
		// Of four, ranks 2 and 3 make the median: one is below 1, the other is 5.
		{"the lower of the middle two is below", []results.Trial{below(1), below(1), known(5), known(9)}, 4, 0, 5},
		{"both of the middle two are below", []results.Trial{below(1), below(1), below(1), known(9)}, 4, 0, 1},
		{"both of the middle two are known", []results.Trial{known(9), known(6), below(1), known(4)}, 4, 5, 0},
		{"a trial without the figure is none", []results.Trial{known(4), {}, known(6)}, 2, 5, 0},
	} {
		got, ok := figure(name, c.trials)
		if ok != (c.n > 0) || got.N != c.n {
			t.Errorf("%s: %+v, %v; want n %d", c.name, got, ok, c.n)
			continue
		}
		if (got.Median != nil) != (c.median != 0) || got.Median != nil && *got.Median != c.median {
			t.Errorf("%s: median %v, want %v", c.name, deref(got.Median), c.median)
		}
		if (got.Below != nil) != (c.below != 0) || got.Below != nil && *got.Below != c.below {
			t.Errorf("%s: below %v, want %v", c.name, deref(got.Below), c.below)
		}
	}
}

func deref(p *float64) any {
	if p == nil {
		return "none"
	}
	return *p
}

func TestFiguresFromSixOnHaveAnInterval(t *testing.T) {
	var trials []results.Trial
	for n := 1; n <= 9; n++ {
		trials = append(trials, results.Trial{Metrics: map[string]float64{rps: float64(n)}})
		got, _ := figure(rps, trials)
		if (got.Low != nil) != (n >= 6) || (got.High != nil) != (n >= 6) {
			t.Errorf("n=%d: %v to %v", n, deref(got.Low), deref(got.High))
		}
	}
	if got, _ := figure(rps, trials); *got.Median != 5 || *got.Low != 2 || *got.High != 8 {
		t.Errorf("of 1 to 9: %v, %v to %v; want 5, ranks 2 to 8", *got.Median, *got.Low, *got.High)
	}
	// An interval would need the value that is known only to be below a limit.
	trials = append(trials, results.Trial{Below: map[string]float64{rps: 0.5}})
	if got, _ := figure(rps, trials); got.Low != nil || got.Median == nil {
		t.Errorf("with one below: %v to %v, median %v", deref(got.Low), deref(got.High), deref(got.Median))
	}
}

// made is a run of two conditions, of so many blocks.
func made(first, second string, blocks int) *results.File {
	f := &results.File{Provenance: &results.Provenance{}, Conditions: []results.Condition{
		{ID: first, Levels: setting.Levels{setting.Index: setting.String("gofakeit")}},
		{ID: second, Levels: setting.Levels{setting.Index: setting.String("pool")}}}}
	for b := range blocks {
		for _, c := range f.Conditions {
			f.Trials = append(f.Trials, results.Trial{Block: b + 1, Condition: c.ID, Valid: true, Metrics: map[string]float64{rps: 1,
				"client_thread_busy_max": 0.5, "client_cores_busy": 0.5, "server_cores_busy": 0.95}})
		}
	}
	return f
}

// A condition's median is over the trials that count, of a run and of other runs with the same
// levels.
func TestAConditionIsSummedUpOverRuns(t *testing.T) {
	first, last := made("c2", "c1", 6), made("c1", "c2", 2) // joined by levels, not by names
	again := first.Trials[0]
	again.Valid = false
	first.Trials = append(first.Trials, again, first.Trials[0]) // refused, and a second one of a block that counts
	both := Of(last.Conditions, []*results.File{last, first})
	if got := both[0]; got.ID != "c1" || got.Trials != 10 || got.Invalid != 1 || got.Metrics[rps].N != 8 ||
		got.Bounds["server-cpu"] != 8 {
		t.Errorf("%+v", got)
	}
	alone := Of(first.Conditions, []*results.File{first})[0]
	if alone.ID != "c2" || alone.Trials != 8 || alone.Metrics[rps].N != 6 {
		t.Errorf("%+v", alone)
	}
}

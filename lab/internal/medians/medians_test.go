package medians

import (
	"reflect"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestFiguresWithSomeBelowALimit(t *testing.T) {
	const name = "latency_p99_s"
	below := func(v float64) results.Trial { return results.Trial{Below: sample.Figures{name: v}} }
	known := func(v float64) results.Trial { return results.Trial{Metrics: sample.Figures{name: v}} }
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
		trials = append(trials, results.Trial{Metrics: sample.Figures{sample.Rps: float64(n)}})
		got, _ := figure(sample.Rps, trials)
		if (got.Low != nil) != (n >= 6) || (got.High != nil) != (n >= 6) {
			t.Errorf("n=%d: %v to %v", n, deref(got.Low), deref(got.High))
		}
	}
	if got, _ := figure(sample.Rps, trials); *got.Median != 5 || *got.Low != 2 || *got.High != 8 {
		t.Errorf("of 1 to 9: %v, %v to %v; want 5, ranks 2 to 8", *got.Median, *got.Low, *got.High)
	}
	// An interval would need the value that is known only to be below a limit.
	trials = append(trials, results.Trial{Below: sample.Figures{sample.Rps: 0.5}})
	if got, _ := figure(sample.Rps, trials); got.Low != nil || got.Median == nil {
		t.Errorf("with one below: %v to %v, median %v", deref(got.Low), deref(got.High), deref(got.Median))
	}
}

// A condition is summed up over the trials of a run that count, and over those of other runs with the same levels.
func TestAConditionIsSummedUpOverRuns(t *testing.T) {
	x := sample.ProfileDesign(t, sample.ATenth)
	first, last := sample.Shares(x, 0.2, 0.3, 0, 0, 0, 0), sample.Shares(x, 0.5, 0.5)
	first.Conditions[0].ID, first.Conditions[1].ID = "c2", "c1" // joined by levels, not by names
	for i := range first.Trials {
		first.Trials[i].Condition = map[string]string{"c1": "c2", "c2": "c1"}[first.Trials[i].Condition]
	}
	again := first.Trials[0]
	sample.Spoil(&again)
	first.Trials = append(first.Trials, again, first.Trials[0]) // refused, and a second one of a block that counts
	both := Of(last.Conditions, last, first)
	if got := both[0]; got.ID != "c1" || got.Trials != 10 || got.Invalid != 1 || got.Metrics[sample.Rps].N != 8 ||
		got.Bounds["server-cpu"] != 8 || len(got.Profiles) != 2 {
		t.Errorf("%+v", got)
	}
	alone := Of(first.Conditions, first)
	if alone[0].ID != "c2" || alone[0].Trials != 8 || alone[0].Metrics[sample.Rps].N != 6 {
		t.Errorf("%+v", alone[0])
	}
	got := alone[0].Profiles
	want := []profile.Profile{
		{Kind: profile.CPU, Unit: "s", Total: 1, DurationS: 1, Work: map[string]float64{"write": 0.5, "http": 0.5},
			Packages: map[string]float64{}},
		// In two trials of six: its median is 0, which does not mean absent.
		{Kind: profile.Block, Unit: "s", Total: 2, DurationS: 1, Work: map[string]float64{},
			Packages: map[string]float64{"runtime": 1, sample.Lock: 0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

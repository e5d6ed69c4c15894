package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// Runs whose figures look as the claim wants but cannot support it: something
// was not recorded, figures are too coarse, or another wall may explain them.

const (
	p50      = "latency_p50_s"
	flatWait = `{ id = "c", kind = "flat", text = "t", why = "Made up.", metric = "latency_p50_s", over = "workers", margin = 0.1 }`
	longer   = `{ id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "latency_p50_s", over = "workers", at_least = 8 }`
	shorter  = `{ id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "latency_p50_s", over = "workers", at_most = 0.5 }`
)

// A block without the client's figures cannot tell about throughput: it counts
// in the total and on neither side. If more than half of all blocks are such,
// there is no decision.
func TestWhatWasNotSeenDecidesNothingAboutThroughput(t *testing.T) {
	for _, c := range []struct {
		name string
		lose []string
		says string
	}{
		{"the client's threads", []string{"client_thread_busy_max"}, "blocks the client's CPU was not recorded"},
		{"the client's cores", []string{"client_cores_busy"}, "blocks the client's CPU was not recorded"},
		{"the client", []string{"client_thread_busy_max", "client_cores_busy"}, "blocks the client's CPU was not recorded"},
		{"the server, so that no wall is known", []string{"server_cores_busy"},
			"blocks no wall was seen to be met, so what limited throughput is not known"},
	} {
		for _, ratio := range []float64{1, 2} { // flat, and not flat
			want := map[float64]Verdict{1: Reproduced, 2: Refuted}[ratio]
			x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.FlatCost, "cost"))
			f := sample.Ratios(x, slices.Repeat([]float64{ratio}, 16)...)
			for blind := 1; blind <= 9; blind++ {
				for _, name := range c.lose { // of one trial of the block
					delete(f.Trials[2*blind-1].Metrics, name)
				}
				got := Decide(x, sample.Machine, []Run{{f, x}}).Claims
				says := fmt.Sprintf("in %d of 16 %s", blind, c.says)
				switch {
				// Fifteen of sixteen have an e-value of over 400.
				case blind == 1 && (got[0].Verdict != want || got[0].For+got[0].Against != 15 ||
					!strings.Contains(got[0].Reason, says)):
					t.Errorf("%s in one block: %+v", c.name, got[0])
				case blind > 4 && (got[0].Verdict != Inconclusive || !strings.Contains(got[0].Reason, says)):
					t.Errorf("%s in %d blocks: %s (%s)", c.name, blind, got[0].Verdict, got[0].Reason)
				case blind == 9 && !strings.HasPrefix(got[0].Reason, says):
					t.Errorf("%s in more than half: %s", c.name, got[0].Reason)
				// The cost of a request is measured on the server's own processes.
				case got[1].Verdict != want:
					t.Errorf("%s, cost: %s (%s)", c.name, got[1].Verdict, got[1].Reason)
				}
			}
		}
	}
}

// If no wall was met, something unknown limited throughput, unless a fixed rate
// was asked for and kept.
func TestThroughputWithoutAWallIsUnknown(t *testing.T) {
	run := func(set string) Claim {
		x := sample.Design(t, "", sample.IsFlat)
		f := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1)
		if set != "" {
			f.Settings = f.Settings.With(setting.Levels{set: setting.Int(1000)})
		}
		for i := range f.Trials {
			f.Trials[i].Metrics["server_cores_busy"] = 0.5
		}
		return one(t, x, f, sample.Machine)
	}
	if c := run(""); c.Verdict != Inconclusive ||
		!strings.Contains(c.Reason, "in 7 of 7 blocks no wall was seen to be met, so what limited throughput is not known") {
		t.Errorf("a closed loop: %s (%s)", c.Verdict, c.Reason)
	}
	for _, set := range []string{setting.Rate, setting.EventRate} {
		if c := run(set); c.Verdict != Reproduced {
			t.Errorf("with %s: %s (%s)", set, c.Verdict, c.Reason)
		}
	}
}

func TestTwoWallsAreBothLookedAt(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat, strings.Replace(sample.WireWall, `"c"`, `"wall"`, 1))
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		m := r.Trials[i].Metrics
		m["line_rate_share"], m["client_cores_busy"], m["server_cores_busy"] = 0.91, 1, 0.5
	}
	got := Decide(x, sample.Machine, []Run{{r, x}}).Claims
	if got[0].Verdict != Invalid || !strings.Contains(got[0].Reason, "the figures measure the client") ||
		got[0].Bounds["client-cpu+wire"] != 12 {
		t.Errorf("a wire at 91 %% beside a client at 100 %%: %s (%s), %v", got[0].Verdict, got[0].Reason, got[0].Bounds)
	}
	if got[1].Verdict != Inconclusive {
		t.Errorf("the wire as the only wall: %s (%s)", got[1].Verdict, got[1].Reason)
	}
	needs := sample.Design(t, "", strings.Replace(sample.FlatCost, " }", `, needs = { bound = "server-cpu" } }`, 1))
	for i := range r.Trials {
		m := r.Trials[i].Metrics
		m["line_rate_share"], m["client_cores_busy"], m["server_cores_busy"] = 0, 0.94, 0.98
	}
	if c := one(t, needs, r, sample.Machine); c.Verdict != NotApplicable {
		t.Errorf("a server at 98 %% beside a client at 94 %%: %s (%s)", c.Verdict, c.Reason)
	}
}

func TestAnUnreadWallIsEvidenceOfNothing(t *testing.T) {
	for _, claim := range []string{sample.WireWall, strings.Replace(sample.WireWall, `"wire"`, `"server-cpu"`, 1),
		strings.Replace(sample.WireWall, `"wire"`, `"client-cpu"`, 1)} {
		x := sample.Design(t, "", claim)
		r := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1)
		r.Topology = results.Topology{Kind: "netns", LineRateBps: 5e8}
		for i := range r.Trials {
			r.Trials[i].Metrics = sample.Figures{sample.Rps: 1}
		}
		if c := one(t, x, r, sample.Machine); c.Verdict != Inconclusive || c.Bounds["unknown"] != 14 {
			t.Errorf("%s: %s (%s)", x.Claims[0].Bound, c.Verdict, c.Reason)
		}
		// In seven of seven blocks one trial recorded the wall, and had room.
		for i := 0; i < 14; i += 2 {
			r.Trials[i].Metrics = sample.Figures{"line_rate_share": 0.1, "client_cores_busy": 0.1, "client_thread_busy_max": 0.1,
				"server_cores_busy": 0.1}
		}
		if c := one(t, x, r, sample.Machine); c.Verdict != Refuted || c.Against != 7 {
			t.Errorf("%s, with room: %s (%s)", x.Claims[0].Bound, c.Verdict, c.Reason)
		}
	}
	// The claimed wall was met, and another may have been.
	x := sample.Design(t, "", strings.Replace(sample.WireWall, `"wire"`, `"server-cpu"`, 1))
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		delete(r.Trials[i].Metrics, "client_cores_busy")
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Inconclusive {
		t.Errorf("a full server beside a client that was not looked at: %s (%s)", c.Verdict, c.Reason)
	}
}

// waits makes a run of a generator with these latencies by level; 0 means below
// a millisecond.
func waits(x *experiment.Experiment, generator string, at1, at2 []float64) *results.File {
	r := sample.Run(x, len(at1), func(setting.Levels, int) sample.Figures { return sample.Figures{sample.Rps: 1} })
	r.Provenance.Generator = generator
	for i := range r.Trials {
		tr := &r.Trials[i]
		v := at1[tr.Block-1]
		if tr.Condition == "c2" {
			v = at2[tr.Block-1]
		}
		if v == 0 {
			tr.Below = map[string]float64{p50: 0.001}
		} else {
			tr.Metrics[p50] = v
		}
	}
	return r
}

// ten repeats a figure ten times: six or seven blocks decide, so one block more
// or less does not matter.
func ten(v float64) []float64 { return slices.Repeat([]float64{v}, 10) }

func TestAVerdictHoldsForAllThatAFigureMayStandFor(t *testing.T) {
	const cannon, fortio = "autocannon 8.0.0", "fortio 1.75.2"
	for _, c := range []struct {
		name, claim, generator string
		at1, at2               []float64
		want                   Verdict
		says                   string
	}{
		// 2.05 and 2.9 ms are both cut to 2.
		{"flat by whole milliseconds", flatWait, cannon, ten(0.002), ten(0.002), Inconclusive,
			"is 0.67 to 1.50 times that with 1, as far as coarse figures tell (0.67 to 1.50); 0 of 10 blocks lie between " +
				"0.9091 and 1.1"},
		{"flat by microseconds", flatWait, fortio, ten(0.002), ten(0.002), Reproduced, ""},
		{"flat by whole milliseconds, where they are many", flatWait, cannon, ten(0.100), ten(0.100), Reproduced, ""},
		{"not flat, whatever was cut off", flatWait, cannon, ten(0.002), ten(0.009), Refuted, ""},
		{"nine times, or six", longer, cannon, ten(0.002), ten(0.018), Inconclusive, "is 6.0 to 9.5 times"},
		{"nine times, nearly exactly", longer, fortio, ten(0.002), ten(0.018), Reproduced, ""},
		{"thirteen times at the least", longer, cannon, ten(0.002), ten(0.040), Reproduced, ""},
		// Figures below the clock's resolution are kept as ranges, not dropped.
		{"below the resolution, at least eight times", longer, cannon, ten(0), ten(0.009), Reproduced, ""},
		{"below the resolution, at least seven times", longer, cannon, ten(0), ten(0.007), Inconclusive,
			"is 7.0 or more times"},
		{"below it at either level", flatWait, cannon, ten(0), ten(0), Inconclusive, ""},
		{"below it now, four before", shorter, cannon, ten(0.004), ten(0), Reproduced, ""},
		{"below it now, one before", shorter, cannon, ten(0.001), ten(0), Inconclusive, ""},
		{"below it in one block of ten, at either level", longer, cannon, append(ten(0.002)[:9], 0),
			append(ten(0.040)[:9], 0), Inconclusive, "9 of 10 blocks lie at 8 or above"},
		{"three blocks below it, which say nothing", longer, cannon,
			[]float64{0.002, 0.002, 0.002, 0.002, 0.002, 0.002, 0, 0, 0},
			[]float64{0.040, 0.040, 0.040, 0.040, 0.040, 0.040, 0.001, 0.001, 0.001}, Inconclusive,
			"6 of 9 blocks lie at 8 or above"},
	} {
		x := sample.Design(t, "", c.claim)
		got := one(t, x, waits(x, c.generator, c.at1, c.at2), sample.Machine)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
		if coarse := slices.Contains(got.Warnings, "coarse"); coarse != (c.generator == cannon) && c.generator == cannon {
			t.Errorf("%s: warnings %v", c.name, got.Warnings)
		}
	}
}

// A trial may record its own resolution.
func TestATrialsOwnResolutionGoesFirst(t *testing.T) {
	x := sample.Design(t, "", flatWait)
	r := waits(x, "autocannon 8.0.0", ten(0.002), ten(0.002))
	for i := range r.Trials {
		r.Trials[i].Resolution = map[string]float64{p50: 1e-6}
	}
	if c := one(t, x, r, sample.Machine); c.Verdict != Reproduced {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

func TestSharedCoresSayNothingOfThroughput(t *testing.T) {
	for name, set := range map[string]func(*results.Provenance){
		"not pinned":      func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "", "" },
		"on one core":     func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "0", "0" },
		"with one shared": func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "0-2", "2-3" },
	} {
		x := sample.Design(t, "", sample.IsFlat, strings.Replace(sample.FlatCost, `"c"`, `"cost"`, 1),
			strings.Replace(flatWait, `"c"`, `"wait"`, 1))
		r := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1, 1)
		set(r.Provenance)
		got := Decide(x, sample.Machine, []Run{{r, x}}).Claims
		if got[0].Verdict != NotApplicable || !strings.Contains(got[0].Reason, "server and client shared cores") ||
			got[2].Verdict != NotApplicable {
			t.Errorf("%s: %s (%s), %s", name, got[0].Verdict, got[0].Reason, got[2].Verdict)
		}
		if got[1].Verdict != Reproduced {
			t.Errorf("%s, cost: %s (%s)", name, got[1].Verdict, got[1].Reason)
		}
	}
}

// A core slowed by another program is full sooner. Such blocks still compare conditions, and trials in slots tell
// how much of the core was the server's own.
func TestASlowCoreIsNoWallOfTheServersOwn(t *testing.T) {
	x := sample.Design(t, "", strings.Replace(sample.WireWall, `"wire"`, `"server-cpu"`, 1), sample.Rename(sample.IsFlat,
		"flat"),
		sample.Rename(fmt.Sprintf(sample.FlatNeeds, `bound = "server-cpu"`), "needs"))
	for _, c := range []struct {
		slow             int // slow blocks of eight
		slots            []slots.Slot
		cpu, flat, needs Verdict
	}{
		{0, nil, Reproduced, Reproduced, Reproduced},
		{1, nil, Inconclusive, Reproduced, Inconclusive}, // seven of eight
		{5, nil, Inconclusive, Reproduced, Inconclusive},
		{5, []slots.Slot{{}}, Reproduced, Reproduced, Reproduced},
	} {
		r := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1, 1)
		r.Provenance.CalibrationS = 1e-6
		for i, one := range r.Trials {
			took := 1.2e-6
			if one.Block <= c.slow {
				took = 1.6e-6
			}
			r.Trials[i].Slots = c.slots
			r.Trials[i].Metrics["calibration_before_s"], r.Trials[i].Metrics["calibration_after_s"] = took, 1.1*took
		}
		f := Decide(x, sample.Machine, []Run{{r, x}})
		for i, want := range []Verdict{c.cpu, c.flat, c.needs} {
			if got := f.Claims[i]; got.Verdict != want {
				t.Errorf("%d of 8 slow, %s: %s (%s), want %s", c.slow, got.ID, got.Verdict, got.Reason, want)
			}
		}
		if got := f.Claims[0]; got.Verdict == Inconclusive && !strings.Contains(got.Reason, fmt.Sprintf("in %d of 8 block", c.slow)) {
			t.Errorf("%d of 8 slow: %s", c.slow, got.Reason)
		}
		// A slow core does not explain a full wire.
		wired := sample.Design(t, "", sample.WireWall)
		r.Topology = results.Topology{Kind: "netns", LineRateBps: 5e8}
		for i := range r.Trials {
			r.Trials[i].Metrics["line_rate_share"], r.Trials[i].Metrics["server_cores_busy"] = 0.97, 0.5
		}
		if got := one(t, wired, r, sample.Machine); got.Verdict != Reproduced {
			t.Errorf("%d of 8 slow, a full wire: %s (%s)", c.slow, got.Verdict, got.Reason)
		}
	}
}

// A run decides the claims that it was made with. A claim that was changed
// since has an empty record.
func TestARunDecidesTheClaimsItWasMadeWith(t *testing.T) {
	strict := strings.Replace(sample.FlatCost, "margin = 0.1", "margin = 0.01", 1)
	keeps := strings.Replace(sample.IsFlat, `"c"`, `"keeps"`, 1)
	then := sample.Design(t, "", strict, keeps, strings.Replace(sample.AtLeast, `"c"`, `"gone"`, 1))
	now := sample.Design(t, "", sample.FlatCost, keeps, strings.Replace(sample.FlatWide, `"c"`, `"new"`, 1))
	r := sample.Ratios(then, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1, 1)
	f := Decide(now, sample.Machine, []Run{{r, then}})
	if len(f.Claims) != 1 || f.Claims[0].ID != "keeps" {
		t.Errorf("claims %+v; only the one that is as it was is decided", f.Claims)
	}
	if f.Design != r.Provenance.ExperimentSHA256 {
		t.Errorf("design %s", f.Design)
	}
	// The loosened claim would have been reproduced.
	if c := Decide(now, sample.Machine, []Run{{r, now}}).Claims[0]; c.Verdict != Reproduced {
		t.Errorf("%s (%s): the test shows nothing", c.Verdict, c.Reason)
	}
}

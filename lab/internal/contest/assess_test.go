package contest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// made is a run in which each block has the given ratios of cost; the first
// server's cost is 10 µs, and the control repeats it.
func made(o Options, ratios [][]float64) *results.File {
	f := &results.File{SchemaVersion: results.Version, Experiment: "compare", Topology: results.Topology{Kind: "loopback"},
		Settings: setting.Levels{setting.Generator: setting.String(setting.HTTPLoad)},
		Provenance: &results.Provenance{Blocks: len(ratios), Generator: setting.HTTPLoad, ServerCPUs: "0", ClientCPUs: "1",
			Block: &results.BlockPlan{SlotS: 0.05, Rounds: leastRounds, WarmupS: 0.1}}}
	for i := range len(o.Servers) + 1 {
		c := results.Condition{ID: string(rune('a' + i)), Levels: setting.Levels{setting.Server: setting.String(serverID(i))}}
		if i == len(o.Servers) {
			c.Levels, c.ControlOf = f.Conditions[0].Levels, "a"
		}
		f.Conditions = append(f.Conditions, c)
	}
	for b, of := range ratios {
		for i, c := range f.Conditions {
			r := 1.0
			switch {
			case i == len(o.Servers):
				r += 1e-4 * float64(1-2*(b%2)) // the control is now above, now below
			case i > 0:
				r = of[i-1]
			}
			f.Trials = append(f.Trials, results.Trial{Condition: c.ID, Block: b + 1, Seq: len(f.Trials) + 1, Valid: true,
				Bound: gate.BoundServerCPU,
				Metrics: map[string]float64{cost: 10e-6 * r, throughput: 1e5 / r, p50: 300e-6 * r, p99: 900e-6 * r,
					"client_thread_busy_max": 0.5, "client_cores_busy": 0.5, "server_cores_busy": 0.99}})
		}
	}
	return f
}

func options(servers ...string) Options {
	o := Options{Path: "/a", Connections: 4, Pipelining: 1, Margin: 0.03, Budget: time.Minute,
		Warmup: 100 * time.Millisecond}
	for _, s := range servers {
		o.Servers = append(o.Servers, Server{Name: s, Command: []string{"/bin/true", "{port}"}})
	}
	return o
}

func assessed(t *testing.T, o Options, f *results.File) *compare.Outcome {
	t.Helper()
	x, err := o.Design("/", 50*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := Assess(o, x, &host.Profile{Cores: 2}, f, float64(2*f.Provenance.Blocks))
	Seal(out)
	return out
}

// each gives so many blocks, one ratio after the other and from the first again.
func each(n int, of ...float64) (out [][]float64) {
	for i := range n {
		out = append(out, []float64{of[i%len(of)]})
	}
	return out
}

// What was cut short says so, and promises nothing of going on.
func TestARunThatEndsBeforeItsBudgetSaysWhy(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(8, 0.97, 1.04))
	f.Provenance.Ended, f.Provenance.StoppedEarly = results.Failing,
		"4 blocks in a row had no valid trial; the last: compared-02 exited"
	out := assessed(t, o, f)
	says := strings.Join(out.Says, "\n")
	if !strings.Contains(says, "note: it ended before its budget was spent, after 16 of 60 s: 4 blocks in a row had no "+
		"valid trial; the last: new exited") || strings.Contains(says, "would tell") {
		t.Error(says)
	}
}

// Twelve blocks whose ratio is 1.05, half of them on a core of half the speed. The
// base has one more slow block than the other, whose trial there is invalid: its
// own median is then the higher one, and a reader is told why.
func TestFiguresThatDoNotFitTheirRatioAreExplained(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(13, 1.05))
	for i := range f.Trials {
		tr := &f.Trials[i]
		if tr.Block%2 == 1 {
			tr.Metrics[cost] *= 2
		}
		if tr.Block == 1 && tr.Condition == "b" {
			tr.Valid, tr.Reasons = false, []results.Reason{{Gate: gate.SlowCore, Detail: "slow"}}
		}
	}
	out := assessed(t, o, f)
	if c := out.Comparisons[0]; c.Verdict != compare.Dearer || len(out.Notes) != 1 ||
		!strings.HasPrefix(out.Notes[0], "a ratio is taken within each block") {
		t.Errorf("%s: %s; %q; %v", c.Verdict, c.Says, out.Notes, out.Servers)
	}
	if out = assessed(t, o, made(o, each(12, 1.05))); len(out.Notes) != 0 {
		t.Errorf("%q", out.Notes)
	}
}

func TestWhatBlocksSay(t *testing.T) {
	for _, c := range []struct {
		name    string
		ratios  [][]float64
		bar     float64
		verdict compare.Verdict
		above   string
		exit    int
		says    string
	}{
		{"dearer", each(7, 1.042, 1.031, 1.053), 0, compare.Dearer, "", compare.ExitDecided,
			"new costs 4.2 % more CPU a request than old (3.1 to 5.3 %)"},
		{"cheaper", each(7, 0.72, 0.71, 0.73), 0, compare.Cheaper, "", compare.ExitDecided,
			"new costs 28.0 % less CPU a request than old (27.0 to 29.0 %)"},
		{"same", each(7, 1.001, 0.99, 1.012), 0, compare.Same, "", compare.ExitDecided,
			"the same within 3 %: new costs 0.1 % more CPU a request than old (−1.0 to 1.2 %)"},
		{"same and not equal", each(7, 1.015, 1.01, 1.02), 0, compare.Same, "", compare.ExitDecided,
			"the same within 3 %, though not equal: new costs 1.5 % more"},
		{"six blocks are too few, however clear", each(6, 2), 0, compare.Undecided, "", compare.ExitUndecided,
			"not decided: 6 valid blocks of both new and old, and 7 are the least that tell"},
		{"neither", each(9, 1.04, 0.99, 1.02), 0, compare.Undecided, "", compare.ExitUndecided,
			"not decided: new costs between 1.0 % less and 4.0 % more CPU a request than old"},
		{"above the bar", each(7, 1.08, 1.07), 1.05, compare.Dearer, compare.AboveYes, compare.ExitAbove,
			"new costs 8.0 % more"},
		{"dearer, not above the bar", each(7, 1.04, 1.041), 1.05, compare.Dearer, compare.AboveNo, compare.ExitDecided,
			"new costs 4.0 % more"},
		{"dearer, the bar open", each(8, 1.04, 1.06), 1.05, compare.Dearer, compare.AboveOpen, compare.ExitUndecided,
			"whether that is above 1.05 is not decided"},
		{"cheaper is not above", each(7, 0.9), 1.05, compare.Cheaper, compare.AboveNo, compare.ExitDecided,
			"new costs 10.0 % less"},
	} {
		o := options("old", "new")
		o.FailAbove = c.bar
		out := assessed(t, o, made(o, c.ratios))
		got := out.Comparisons[0]
		if got.Verdict != c.verdict || got.Above != c.above || out.Exit != c.exit || !strings.Contains(got.Says, c.says) {
			t.Errorf("%s: %s, above %q, exit %d: %s; want %s, %q, %d: %s", c.name, got.Verdict, got.Above, out.Exit, got.Says,
				c.verdict, c.above, c.exit, c.says)
		}
		if out.Settled() != (c.exit != compare.ExitUndecided) {
			t.Errorf("%s: settled is %v", c.name, out.Settled())
		}
	}
}

func TestThreeLinesFollowTheVerdict(t *testing.T) {
	o := options("old", "new")
	got := strings.Join(assessed(t, o, made(o, each(7, 1.25))).Says, "\n")
	// Latencies are known to a fraction of a percent only, and so are their ratios.
	want := `new costs 25.0 % more CPU a request than old (25.0 to 25.0 %)
  CPU a request  × 1.250 (1.250 to 1.250); 12.5 µs against 10 µs; bound: server CPU
  throughput     × 0.800 (0.800 to 0.800); 80,000 against 100,000 requests/s; bound: server CPU
  latency        p50 × 1.250 (1.248 to 1.252), 375 µs against 300 µs; p99 × 1.250 (1.248 to 1.252), 1.13 ms against 900 µs; bound: server CPU`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestEachServerIsComparedWithTheFirst(t *testing.T) {
	o := options("one", "two", "three")
	var ratios [][]float64
	for range 8 {
		ratios = append(ratios, []float64{1.001, 1.5})
	}
	out := assessed(t, o, made(o, ratios[:7]))
	if v := out.Comparisons[1].Verdict; v != compare.Undecided {
		t.Errorf("two comparisons share the error, and seven blocks are too few for both: %s", v)
	}
	out = assessed(t, o, made(o, ratios))
	if a, b := out.Comparisons[0], out.Comparisons[1]; a.Verdict != compare.Same || a.Name != "two" ||
		b.Verdict != compare.Dearer || b.Name != "three" || b.Base != "one" {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestRefusedTrialsAllowNoVerdict(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(8, 1.5))
	for i := range f.Trials {
		if tr := &f.Trials[i]; tr.Condition == "b" && tr.Block > 2 {
			tr.Valid, tr.Reasons = false, []results.Reason{{Gate: gate.Non2xx, Detail: "12 answers of compared-02 were not 2xx"}}
		}
	}
	out := assessed(t, o, f)
	c := out.Comparisons[0]
	if c.Verdict != compare.Invalid || out.Exit != compare.ExitInvalid ||
		!strings.Contains(c.Says, "new: 12 answers of new were not 2xx") {
		t.Errorf("%s, exit %d: %s", c.Verdict, out.Exit, c.Says)
	}
	if want := "a server failed in 6 of 8 trials of new, and nothing of these counts: 12 answers of new were not 2xx"; !slices.Contains(
		out.Notes, want) {
		t.Errorf("%q\nlacks %q", out.Notes, want)
	}
}

func TestAControlThatDiffersSuspendsTheVerdict(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(20, 1.5))
	for i := range f.Trials {
		if f.Trials[i].Condition == "c" {
			f.Trials[i].Metrics[cost] *= 1.1
		}
	}
	out := assessed(t, o, f)
	if c := out.Comparisons[0]; c.Verdict != compare.Undecided || out.Exit != compare.ExitUndecided ||
		len(out.Notes) == 0 || !strings.Contains(out.Notes[0], "differed from itself") {
		t.Errorf("%s, exit %d: %s; %q", c.Verdict, out.Exit, c.Says, out.Notes)
	}
}

func TestAClientThatWasTheWallIsSaidToBeMeasured(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(7, 1.5))
	for i := range f.Trials {
		f.Trials[i].Metrics["client_thread_busy_max"], f.Trials[i].Metrics["server_cores_busy"] = 1, 0.5
	}
	if says := strings.Join(assessed(t, o, f).Says, "\n"); !strings.Contains(says,
		"client CPU, so throughput and latency are the client's") {
		t.Error(says)
	}
}

func TestAnswersOfOtherLengthsAreSaidToBe(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(7, 1))
	for i := range f.Trials {
		f.Trials[i].Metrics["response_bytes"] = map[string]float64{"a": 1000, "b": 1200, "c": 1000}[f.Trials[i].Condition]
	}
	if says := assessed(t, o, f).Says; says[len(says)-1] != "note: an answer of new has 1,200 bytes with its head, one "+
		"of old 1,000" {
		t.Errorf("%q", says)
	}
}

func TestABlockWithoutAFigureMayHaveAnyRatio(t *testing.T) {
	o := options("old", "new")
	f := made(o, each(7, 1.5))
	for i := range f.Trials {
		if tr := &f.Trials[i]; tr.Condition == "b" && tr.Block == 3 {
			delete(tr.Metrics, cost)
		}
	}
	if c := assessed(t, o, f).Comparisons[0]; c.Verdict != compare.Undecided {
		t.Errorf("six of seven blocks decide: %s", c.Says)
	}
}

// Who has the JSON alone can follow how the interval became what it is.
func TestTheCourseOfAnIntervalEndsWithIt(t *testing.T) {
	o := options("old", "new")
	out := assessed(t, o, made(o, each(20, 1.05, 1.02, 1.04, 0.99, 1.03)))
	r := out.Comparisons[0].CPUPerRequest
	if got := r.After(20, 0.05); !r.Known() || got.String() != r.String() || got.Unequal != r.Unequal || len(r.Each) != 20 {
		t.Errorf("%v, want %v", got, r)
	}
	if r.After(5, 0.05).Known() {
		t.Error("five blocks have an interval")
	}
}

// turning gives the trials of a server slots, whose cost in the second half of each block is so
// many times that in the first.
func turning(f *results.File, condition string, by float64) *results.File {
	for i := range f.Trials {
		t := &f.Trials[i]
		if t.Condition != condition {
			continue
		}
		t.Slots = &measure.Slots{}
		for n := range leastRounds {
			cpu := 0.01
			if n > leastRounds/2 {
				cpu *= by
			}
			t.Slots.Requests, t.Slots.ServerCPUS = append(t.Slots.Requests, 1000), append(t.Slots.ServerCPUS, cpu)
		}
	}
	return f
}

// A server that costs more until it is warm must not be told to cost more.
func TestAServerThatIsNeverSteadyDecidesNothing(t *testing.T) {
	dearer := func() *results.File { return made(options("old", "new"), slices.Repeat([][]float64{{1.4}}, 12)) }
	warm := options("old", "new")
	warm.Steady = true
	found := warm
	found.Looks = []Look{{}, {Never: "after 10 s of load its CPU a request still went from 20 µs to 15 µs"}}
	for name, c := range map[string]struct {
		o     Options
		f     *results.File
		never bool
		note  string
	}{
		"steady":             {warm, turning(dearer(), "b", 0.99), false, ""},
		"seen in the blocks": {warm, turning(dearer(), "b", 0.9), true, ""},
		"so is the first":    {warm, turning(dearer(), "a", 1.1), true, ""},
		"seen in the look":   {found, dearer(), true, ""},
		"a given warm-up":    {options("old", "new"), turning(dearer(), "b", 0.9), false, "new was still warming up"},
	} {
		out := assessed(t, c.o, c.f)
		switch is := out.Comparisons[0]; {
		case c.never:
			if is.Verdict != compare.Undecided || !is.NeverSteady || out.Status() != compare.ExitUndecided ||
				!strings.HasPrefix(is.Says, "not decided, never steady: ") || !out.Settled() ||
				out.Servers[0].NeverSteady+out.Servers[1].NeverSteady == "" {
				t.Errorf("%s: %+v", name, is)
			}
		case is.Verdict != compare.Dearer || is.NeverSteady:
			t.Errorf("%s: %+v", name, is)
		}
		if got := strings.Join(out.Notes, "\n"); !strings.Contains(got, c.note) || c.note == "" && strings.Contains(got, "warming") {
			t.Errorf("%s: notes %q", name, got)
		}
	}
}

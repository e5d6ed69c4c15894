package why

import (
	"fmt"
	"io"
	"math"
	"net/http"
	_ "net/http/pprof" // of the server that this test is
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/load"
)

// The test's own program answers the engine's calls, and is the server: "serve ADDR HOW".
func TestMain(m *testing.M) {
	if status, is := measure.Answer(os.Args[1:]); is {
		os.Exit(status)
	}
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		runtime.GOMAXPROCS(1)
		how, asked := os.Args[3], 0
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			if asked++; how == "dies" && asked > 500 {
				fmt.Fprintln(os.Stderr, "out of coffee")
				os.Exit(9)
			}
			_, _ = io.WriteString(w, strings.Repeat("x", 50))
			for range map[string]int{"twice": 1, "often": 20}[how] {
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, strings.Repeat("x", 50))
			}
		})
		fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[2], nil))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func plan(t *testing.T, port int, hows ...string) measure.Plan {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := measure.Plan{Slot: 30 * time.Millisecond, Rounds: 4, Self: []string{self}, Loader: []string{self}, Link: measure.Loopback{}, Clock: measure.NewClock(),
		Unlike: true, Target: func(_ int, addr string) load.Target {
			return load.Target{Name: addr, URL: "http://" + addr + "/", Connections: 4, Pipelining: 1}
		}}
	for i, how := range hows {
		at := fmt.Sprintf("127.0.0.1:%d", port+i)
		p.Subjects = append(p.Subjects, &measure.Command{Label: how, Argv: []string{self, "serve", at, how}, At: at,
			Within: 10 * time.Second, Self: p.Self, Link: p.Link})
		p.Asked = append(p.Asked, gate.Asked{Generator: setting.HTTPLoad, Connections: 4, Pipelining: 1, SlotS: 0.03, WindowS: 0.12})
		p.Warmup = append(p.Warmup, 50*time.Millisecond)
	}
	return p
}

// outcome is that of two servers before the measurement.
func outcome() *compare.Outcome { return &compare.Outcome{Servers: make([]compare.Measured, 2)} }

func TestSystemCallsOfARequestAreCountedExactly(t *testing.T) {
	o := outcome()
	if err := Calls(t.Context(), plan(t, 21600, "once", "twice"), o, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if len(o.Notes) > 0 {
		t.Skip(o.Notes)
	}
	for i, want := range []string{"1.00", "2.00"} {
		m := o.Servers[i]
		if got := fmt.Sprintf("%.2f", m.CallsBy["write"]); got != want || m.Calls < m.CallsBy["read"]+m.CallsBy["write"] {
			t.Errorf("server %d: %s writes a request, want %s: %v", i, got, want, m)
		}
	}
}

func TestAServerThatEndsIsNamed(t *testing.T) {
	o := outcome()
	if err := Calls(t.Context(), plan(t, 21610, "dies", "once"), o, func(string) {}); err != nil || len(o.Notes) != 1 ||
		!strings.HasPrefix(o.Notes[0], "dies: system calls were not counted: ") || !strings.Contains(o.Notes[0], "out of coffee") {
		t.Errorf("%v, %q", err, o.Notes)
	}
}

// What it writes more is a row of its own. Package kernel has perf's part.
func TestTheWorkOfADifferenceIsTold(t *testing.T) {
	o := outcome()
	most = 1
	if err := Add(t.Context(), plan(t, 21620, "once", "often"), o, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if o.Why == nil {
		t.Skip(o.Notes)
	}
	of := o.Why.Comparisons[0]
	if !slices.ContainsFunc(of.Kinds, func(r compare.Reason) bool { return r.Kind == "writing" && r.Other > r.Base }) {
		t.Errorf("by %s: %+v", o.Why.Source, of)
	}
}

// The first server costs 10 µs: 6 of its handler, 3 of writing, and 1 of what has no row. The other
// costs 14 to 20 µs, half in writing, so 4 to 7 µs more of that.
func rounds() (all [][]profiled) {
	shares := func(handler, write float64) profile.Profile {
		return profile.Profile{Work: map[string]float64{"handler": handler, "write": write, "gc": 0.08, "lock": 0.01,
			"other": 0.91 - handler - write}}
	}
	for us := 14.; us <= 20; us++ {
		all = append(all, []profiled{{10e-6, shares(0.6, 0.3)}, {us * 1e-6, shares(0.4, 0.5)}})
	}
	return all
}

func TestKindsOfWorkAddUpAndNoSentenceSaysMoreThanItsInterval(t *testing.T) {
	more := reasons(rounds(), 1)
	var names []string
	for _, k := range more.Kinds {
		names = append(names, k.Kind)
	}
	if want := []string{"writing", "the handler", "garbage collection", "locks", "other"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	if w := more.Kinds[0]; !near(w.Base, 3e-6) || !near(w.Other, 8.5e-6) || !near(w.Low, 4e-6) || !near(w.High, 7e-6) {
		t.Errorf("%+v", w)
	}
	if handler := more.Kinds[1]; handler.Share != 0 {
		t.Errorf("its interval holds 0: %+v", handler)
	}
	for n, all := range more.All.Each {
		sum := 0.0
		for _, k := range more.Kinds {
			sum += k.Each[n]
		}
		if !near(sum, all) {
			t.Errorf("round %d: the kinds add up to %v of %v", n+1, sum, all)
		}
	}
	same, less := rounds(), rounds()
	for n := range same {
		if less[n][0], less[n][1] = less[n][1], less[n][0]; n%2 == 0 {
			same[n] = less[n]
		}
	}
	for want, of := range map[string][][]profiled{
		"a part of the difference is writing, 5.50 µs (4 µs to 7.00 µs) of 7.00 µs":              rounds(),
		"a part of the difference is writing, −5.50 µs (−7.00 µs to −4 µs) of −7.00 µs":          less,
		"whether they differ at all was not shown in this pass, so no kind of work is the cause": same,
	} {
		if got := reasons(of, 1).Says; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

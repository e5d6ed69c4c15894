package certify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/law"
)

func row(server string, connections, pipelining int, rate float64) Row {
	return Row{At{Server: server, Load: [2]int{connections, pipelining}}, law.Around(rate, 0.5)}
}

func TestATableBecomesClaims(t *testing.T) {
	for _, c := range []struct {
		rows    []Row
		servers string
		want    string // the claims, or what is wrong
		notes   string
	}{
		{[]Row{row("a", 64, 1, 1000), row("b", 64, 1, 1300)}, "a b", "rises [a b]", ""},
		{[]Row{row("a", 64, 1, 1000), row("b", 64, 1, 700)}, "a b", "falls [a b]", ""},
		{[]Row{row("a", 64, 1, 1000), row("b", 64, 1, 1010)}, "a b", "flat [a b]", ""},
		{[]Row{row("a", 64, 1, 10), row("b", 64, 1, 10)}, "a b", "the rates of a and b neither rise nor fall nor stay, as printed", ""},
		{[]Row{row("a", 64, 1, 1000), row("b", 32, 1, 1300)}, "a b", `no row "b" is like that of "a"`, ""},
		{[]Row{row("a", 64, 1, 1000)}, "b", `no row with a rate is called "b"`, ""},
		{[]Row{row("a", 64, 1, 1000)}, "a", "a has no two rows that differ", ""},
		// What the table does not say is no level.
		{[]Row{row("a", 0, 1, 1000), row("a", 64, 1, 2000)}, "a", "a has no two rows that differ", ""},
		{[]Row{row("a", 64, 1, 2000), row("a", 16, 1, 1000)}, "a", "rises [a@16 a@64]", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 1, 900), row("a", 256, 1, 800)}, "a", "falls [a@16 a@64 a@256]", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 1, 1020), row("a", 256, 1, 990)}, "a", "flat [a@16 a@64 a@256]", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 1, 2000), row("a", 256, 1, 1500)}, "a", "neither rise nor fall nor stay", ""},
		// A step within the margin is no rise.
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 1, 2000), row("a", 256, 1, 2010)}, "a", "neither rise nor fall nor stay", ""},
		// Ranges that touch tell no order, and those that may leave the margin are not flat.
		{[]Row{row("a", 16, 1, 10), row("a", 64, 1, 11)}, "a", "neither rise nor fall nor stay", ""},
		{[]Row{row("a", 16, 1, 10), row("a", 64, 1, 10)}, "a", "neither rise nor fall nor stay", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 16, 8, 3000)}, "a", "rises [a@16x1 a@16x8]", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 8, 3000)}, "a", "a has no two rows that differ", ""},
		{[]Row{row("a", 16, 1, 1000), row("a", 64, 1, 2000), row("a", 16, 8, 3000)}, "a", "rises [a@16 a@64]",
			"rows of a that differ in pipelining are left out"},
		// The least, the greatest and one between.
		{[]Row{row("a", 1, 1, 100), row("a", 2, 1, 200), row("a", 4, 1, 300), row("a", 8, 1, 400), row("a", 16, 1, 500)}, "a",
			"rises [a@1 a@4 a@16]", ""},
		{[]Row{row("a", 16, 1, 1000), row("b", 16, 1, 1300), row("a", 64, 1, 2000), row("b", 64, 1, 1200)}, "a b",
			"rises [a@16 a@64], falls [b@16 b@64], rises [a@16 b@16]", ""},
		{[]Row{row("a", 16, 1, 1000), row("b", 16, 1, 1300), row("a", 64, 1, 2000)}, "a b",
			"rises [a@16 a@64], rises [a@16 b@16]", ""},
		// Without a claim over loads one load is measured.
		{[]Row{row("a", 16, 1, 10), row("b", 16, 1, 13), row("a", 64, 1, 10)}, "a b", "rises [a b]",
			"neither rise nor fall nor stay"},
	} {
		found, err := Of(c.rows, strings.Fields(c.servers))
		var got []string
		if err != nil {
			got = []string{err.Error()}
		} else {
			for _, of := range found.All {
				got = append(got, fmt.Sprint(of.Kind, " ", of.Of))
			}
			if notes := strings.Join(found.Notes, "; "); (notes != "") != (c.notes != "") || !strings.Contains(notes, c.notes) {
				t.Errorf("%v: notes %q, want %q", c.rows, notes, c.notes)
			}
		}
		if all := strings.Join(got, ", "); all != c.want && (err == nil || !strings.Contains(all, c.want)) {
			t.Errorf("%v of %s: %s; want %s", c.rows, c.servers, all, c.want)
		}
	}
}

func TestAClaimInWords(t *testing.T) {
	for want, c := range map[string]Claim{
		"b answers more requests a second than a":               {Kind: Rises, Over: server, Of: []string{"a", "b"}},
		"b answers fewer requests a second than a":              {Kind: Falls, Over: server, Of: []string{"a@16", "b@16"}},
		"b answers as many requests a second, within 3 %, as a": {Kind: Flat, Over: server, Of: []string{"a", "b"}},
		"a answers more requests a second with more connections, from 16 to 64": {Kind: Rises, Over: loads[0],
			Of: []string{"a@16", "a@64"}, Levels: []int{16, 64}},
		"a answers as many requests a second, within 3 %, with 1 and 8 requests in flight on each connection": {Kind: Flat,
			Over: loads[1], Of: []string{"a@16x1", "a@16x8"}, Levels: []int{1, 8}},
	} {
		if got := c.Text(); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// A step is a comparison with an interval.
type step struct{ low, high float64 }

// outcome has the conditions of a claim, each step with an interval and made as the claim asks.
func outcome(c *Claim, steps ...step) *compare.Outcome {
	made := &compare.Outcome{Confidence: 0.95}
	for i, name := range c.Of {
		made.Servers = append(made.Servers, compare.Measured{Name: name, Bound: "server-cpu", Connections: i + 1})
		if i > 0 {
			made.Comparisons = append(made.Comparisons, compare.Comparison{Name: name, Base: c.Of[c.base(i)],
				Evidence: &compare.Evidence{Agreed: true}, Throughput: &compare.Ratio{Ratio: 1, Blocks: 9, Low: steps[i-1].low,
					High: steps[i-1].high}})
		}
	}
	return made
}

func claim(kind string) Claim {
	rates := map[string][3]float64{Rises: {100, 200, 300}, Falls: {300, 200, 100}, Flat: {100, 101, 100}}[kind]
	c := Claim{Kind: kind, Over: loads[0], Of: []string{"a@1", "a@2", "a@3"}, Levels: []int{1, 2, 3}}
	for _, r := range rates {
		c.Printed = append(c.Printed, law.Exactly(r))
	}
	return c
}

func TestWhatHeldOfAClaim(t *testing.T) {
	for _, c := range []struct {
		kind  string
		steps [2]step
		want  string
	}{
		{Rises, [2]step{{1.1, 1.4}, {1.01, 1.2}}, Reproduced},
		{Rises, [2]step{{1.1, 1.4}, {0.9, 1.2}}, Inconclusive},
		{Rises, [2]step{{1.1, 1.4}, {1, 1.2}}, Inconclusive},
		{Rises, [2]step{{1.1, 1.4}, {0, 0}}, Inconclusive},
		{Rises, [2]step{{1.1, 1.4}, {0.8, 0.9}}, Refuted},
		{Rises, [2]step{{0.9, 1.4}, {0.8, 0.9}}, Refuted},
		{Rises, [2]step{{0.8, 0.9}, {0.9, 1.4}}, Refuted},
		{Falls, [2]step{{0.8, 0.9}, {0.7, 0.99}}, Reproduced},
		{Falls, [2]step{{0.8, 0.9}, {1.1, 1.2}}, Refuted},
		{Falls, [2]step{{0.8, 0.9}, {0.9, 1.2}}, Inconclusive},
		{Flat, [2]step{{0.98, 1.02}, {0.971, 1.03}}, Reproduced},
		{Flat, [2]step{{0.98, 1.02}, {0.96, 1.03}}, Inconclusive},
		{Flat, [2]step{{0.98, 1.02}, {1.02, 1.2}}, Inconclusive},
		{Flat, [2]step{{0.98, 1.02}, {1.04, 1.2}}, Refuted},
		{Flat, [2]step{{0.98, 1.02}, {0.8, 0.97}}, Refuted},
	} {
		of := claim(c.kind)
		if of.Judge(outcome(&of, c.steps[:]...)); of.Verdict != c.want {
			t.Errorf("%+v: %s, %s", c, of.Verdict, of.Says)
		}
	}
}

// A false "reproduced" is the worst that could be said.
func TestWhatTellsNothingReproducesNothing(t *testing.T) {
	for name, spoil := range map[string]func(*compare.Outcome){
		"the client was the wall":    func(o *compare.Outcome) { o.Servers[2].Bound = "client-cpu+server-cpu" },
		"trials were refused":        func(o *compare.Outcome) { o.Comparisons[1].Verdict = compare.Invalid },
		"never steady":               func(o *compare.Outcome) { o.Comparisons[0].NeverSteady = true },
		"no control that agreed":     func(o *compare.Outcome) { o.Comparisons[0].Evidence.Agreed = false },
		"a control that differs":     func(o *compare.Outcome) { o.Differs = true },
		"a step that was not made":   func(o *compare.Outcome) { o.Comparisons = o.Comparisons[:1] },
		"another step":               func(o *compare.Outcome) { o.Comparisons[1].Base = "a@1" },
		"no throughput":              func(o *compare.Outcome) { o.Comparisons[1].Throughput = nil },
		"a server that is not there": func(o *compare.Outcome) { o.Servers = o.Servers[:2] },
		"nothing":                    func(o *compare.Outcome) { *o = compare.Outcome{} },
	} {
		of := claim(Rises)
		made := outcome(&of, step{1.1, 1.4}, step{1.1, 1.4})
		if of.Judge(made); of.Verdict != Reproduced {
			t.Fatalf("whole: %s", of.Says)
		}
		if spoil(made); made != nil {
			of.Judge(made)
		}
		if of.Verdict != Inconclusive {
			t.Errorf("%s: %s, %s", name, of.Verdict, of.Says)
		}
	}
	of := Claim{Kind: Rises}
	if of.Judge(&compare.Outcome{}); of.Verdict != Inconclusive {
		t.Errorf("of nothing: %s", of.Verdict)
	}
}

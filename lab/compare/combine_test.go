package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ran is a run of so many blocks, each with the given ratio.
func ran(seed uint64, ratio float64, blocks int) *Outcome {
	each := slices.Repeat([]float64{ratio}, blocks)
	of := Ratios{Least: each, Most: each}
	c := Comparison{Name: "head", Base: "base", CPUPerRequest: of.Interval(0.05), Evidence: Weigh(of, 0.03, 0)}
	c.Verdict, c.Evidence.Agreed = c.CPUPerRequest.Judge(0.03), true
	o := &Outcome{SchemaVersion: Version, Seed: seed, StartedAt: "2026-11-24T04:00:00Z", Path: "/", Margin: 0.03,
		Confidence: 0.95, Blocks: blocks, Servers: []Measured{{Name: "base"}, {Name: "head"}}, Comparisons: []Comparison{c}}
	o.Exit = o.Status()
	return o
}

// By hand: four blocks of four are a bet on signs of (31/5 + 1.95^4) / 2 = 10.3 against equal, and one
// on sizes of 9.1, too little alone, where 2/0.05 = 40 is asked; two such runs are 100. A run of
// which no block of four says so has (1/5 + 0.05^4) / 2 = 0.100 and 0.018, and leaves 8.
func TestEValuesOfRunsMultiply(t *testing.T) {
	four := func(seed uint64) *Outcome { return ran(seed, 1.1, 4) }
	e := (3*10.3295 + sized(1.1, 1.1, 1.1, 1.1)) / 4
	less := (3*0.100003 + sized(0.9, 0.9, 0.9, 0.9)) / 4
	against := func(seed uint64) *Outcome { return ran(seed, 0.9, 4) }
	unsure := func(o *Outcome) *Outcome { o.Comparisons[0].Evidence.Agreed = false; return o }
	for _, c := range []struct {
		name string
		runs []*Outcome
		e    float64
		says Verdict
		exit int
	}{
		{"two", []*Outcome{four(1), four(2)}, e * e, Dearer, ExitDecided},
		{"one against two", []*Outcome{four(1), four(2), against(3)}, e * e * less, Undecided, ExitUndecided},
		{"one whose control did not agree gains nothing", []*Outcome{four(1), unsure(four(2))}, e, Undecided,
			ExitUndecided},
		{"and counts against the answer all the same", []*Outcome{four(1), four(2), unsure(against(3))}, e * e * less, Undecided,
			ExitUndecided},
	} {
		var files []string
		for i := range c.runs {
			files = append(files, fmt.Sprintf("%d.json", i+1))
		}
		o, err := Combine(files, c.runs)
		if err != nil {
			t.Fatal(c.name, err)
		}
		got := o.Comparisons[0]
		if e := math.Exp(got.Evidence.More); math.Abs(e/c.e-1) > 1e-3 || got.Verdict != c.says || o.Exit != c.exit {
			t.Errorf("%s: e %v, %s, exit %d; want %v, %s, %d", c.name, e, got.Verdict, o.Exit, c.e, c.says, c.exit)
		}
	}
	if four(1).Exit != ExitUndecided {
		t.Error("one run alone is decided")
	}
	o, err := Combine([]string{"a", "b"}, []*Outcome{unsure(four(1)), unsure(four(2))})
	if err != nil || o.Exit != ExitInvalid || o.Comparisons[0].Evidence != nil {
		t.Errorf("%+v, %v", o, err)
	}
}

// The bar has its own e-values: above it in both runs, but shown only by both together.
func TestTheBarOfRunsTogether(t *testing.T) {
	bar := func(seed uint64, ratio float64) *Outcome {
		o := ran(seed, ratio, 4)
		ratios := []float64{ratio, ratio, ratio, ratio}
		o.FailAbove, o.Comparisons[0].Evidence = 1.05, Weigh(Ratios{Least: ratios, Most: ratios}, 0.03, 1.05)
		o.Comparisons[0].Evidence.Agreed = true
		return o
	}
	for ratio, want := range map[float64]string{1.06: "1.06 yes 4", 1.04: "1.04 no 0"} {
		o, err := Combine([]string{"a", "b"}, []*Outcome{bar(1, ratio), bar(2, ratio)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ratio, " ", o.Comparisons[0].Above, " ", o.Exit); got != want {
			t.Errorf("%s, want %s: %q", got, want, o.Says)
		}
	}
}

func TestRunsOfOtherQuestionsAreNotCombined(t *testing.T) {
	for want, change := range map[string]func(*Outcome){
		"b.json: margin is 0.05, and in a.json it is 0.03": func(o *Outcome) { o.Margin = 0.05 },
		"b.json: path is /x": func(o *Outcome) { o.Path = "/x" },
		"b.json: protocol is HTTP/2, and in a.json it is absent": func(o *Outcome) { o.Protocol = "HTTP/2" },
		"b.json: fail_above is 1.05":                             func(o *Outcome) { o.FailAbove = 1.05 },
		"b.json: the revision or sha256 of the servers is":       func(o *Outcome) { o.Servers[1].Revision = "abc" },
		"b.json: servers is base= new":                           func(o *Outcome) { o.Servers[0].Command = []string{"new"} },
		"b.json: lab is 12":                                      func(o *Outcome) { o.Lab = "12" },
		"b.json: the same run as a.json":                         func(o *Outcome) { o.Seed = 1 },
	} {
		o := ran(2, 1.1, 7)
		change(o)
		if made, err := Combine([]string{"a.json", "b.json"}, []*Outcome{ran(1, 1.1, 7), o}); made != nil || err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Combine([]string{"a.json"}, []*Outcome{ran(1, 1.1, 7)}); err == nil {
		t.Error("one run is combined")
	}
}

// In made-up campaigns of four runners that each stop when they like, a wrong answer is rare;
// an outcome survives its own JSON.
func TestFalseAnswersOfRunsTogetherAreRare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const campaigns = 400
	wrong := 0
	for range campaigns {
		var runs []*Outcome
		for seed := range uint64(4) {
			var ratios []float64
			o := ran(seed, 1, 1)
			for len(ratios) < 12 {
				ratios = append(ratios, math.Exp(0.02*r.NormFloat64()))
				o.Comparisons[0].Evidence = Weigh(Ratios{Least: ratios, Most: ratios}, 0.03, 0)
				o.Comparisons[0].Evidence.Agreed = true
				if o.Comparisons[0].Evidence.Judge(0.05) != Undecided {
					break
				}
			}
			text, err := json.Marshal(o)
			again := &Outcome{}
			if err = json.Unmarshal(text, again); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, again)
		}
		o, err := Combine([]string{"1", "2", "3", "4"}, runs)
		if err != nil {
			t.Fatal(err)
		}
		if v := o.Comparisons[0].Verdict; v == Dearer || v == Cheaper {
			wrong++
		}
	}
	if wrong > campaigns/20 {
		t.Errorf("%d of %d campaigns", wrong, campaigns)
	}
}

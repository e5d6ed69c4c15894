package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestBlocksThatCannotBeAreRefused(t *testing.T) {
	of := func(cost ...float64) (b []Figures) {
		for _, c := range cost {
			b = append(b, Figures{CPUPerRequest: c})
		}
		return b
	}
	for _, c := range []struct {
		servers []string
		margin  float64
		block   []Figures
		want    string
	}{
		{[]string{"old"}, 0.03, of(1), "name two servers"},
		{[]string{"old", "new"}, 0, of(1, 1), "margin is 0"},
		{[]string{"old", "new"}, math.NaN(), of(1, 1), "margin is NaN"},
		{[]string{"old", "new"}, 0.03, of(1), "block 1 has figures of 1 servers"},
		{[]string{"old", "new"}, 0.03, of(1, -1), "block 1: new has a figure of -1"},
		{[]string{"old", "new"}, 0.03, of(math.NaN(), 1), "block 1: old has a figure of NaN"},
	} {
		if o, err := Blocks(c.servers, c.margin, [][]Figures{c.block}); err == nil || o != nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v, want %q", c.servers, c.block, err, c.want)
		}
	}
}

// A block without CPU time of both may have any ratio: it counts, and six of seven are too few.
func TestABlockWithoutAFigureCounts(t *testing.T) {
	var blocks [][]Figures
	for n := range 7 {
		b := []Figures{{CPUPerRequest: 10e-6}, {CPUPerRequest: 12e-6}}
		if n == 3 {
			b[1] = Figures{}
		}
		blocks = append(blocks, b)
	}
	o, err := Blocks([]string{"old", "new"}, 0.03, blocks)
	if err != nil || o.Comparisons[0].Verdict != Undecided || o.Exit != ExitUndecided || o.Settled() {
		t.Errorf("%+v, %v", o, err)
	}
	blocks[3] = blocks[0]
	if o, _ = Blocks([]string{"old", "new"}, 0.03, blocks); o.Comparisons[0].Verdict != Dearer || o.Exit != ExitDecided {
		t.Errorf("%+v", o)
	}
}

// In made-up campaigns that stop as soon as they are decided, the share of false
// answers stays below what is promised, however many blocks they look at.
func TestFalseAnswersAreRare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const campaigns, longest = 400, 40
	for _, c := range []struct {
		name  string
		truth float64
		wrong func(Verdict) bool
	}{
		{"equal servers that are told apart", 1, func(v Verdict) bool { return v == Dearer || v == Cheaper }},
		{"servers beyond the margin that are called the same", 1.0301,
			func(v Verdict) bool { return v == Same || v == Cheaper }},
	} {
		wrong := 0
		for range campaigns {
			var ratios []float64
			for range longest {
				ratios = append(ratios, c.truth*math.Exp(0.02*r.NormFloat64()))
			}
			for n := 7; n <= longest; n++ {
				v := Over(ratios[:n], ratios[:n], 1-Confidence).Judge(0.03)
				if c.wrong(v) {
					wrong++
				}
				if v != Undecided {
					break
				}
			}
		}
		if wrong > campaigns/20 {
			t.Errorf("%s: %d of %d campaigns", c.name, wrong, campaigns)
		}
	}
}

func TestEndsAreRoundedOutwardsAndNeverToNothing(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{1.042, 1.03149, 1.05301, "4.2 % more (3.1 to 5.4 %)"},
		{0.72, 0.7091, 0.7309, "28.0 % less (26.9 to 29.1 %)"},
		{1.01, 1.0003, 1.02, "1.00 % more (0.03 to 2.00 %)"},
		{1, 0.99, 1.01, "0.0 % more (−1.0 to 1.0 %)"},
	} {
		by, from := change(c.ratio, c.low, c.high)
		if got := by + " (" + from + ")"; got != c.want {
			t.Errorf("%v (%v to %v): %s, want %s", c.ratio, c.low, c.high, got, c.want)
		}
	}
}

package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: of seven blocks of seven the bet's even half has gained (2^8 - 1)/8 and its bold half
// 1.95^7; of none of seven 1/8 and 0.05^7. The bar is between two of the blocks: two of seven
// are above it, which is (1+8+28) / (8 · 21) and 1.95² · 0.05⁵, and five are not.
func TestTheEvidenceOfSevenBlocksByHand(t *testing.T) {
	ratios := []float64{1.04, 1.05, 1.06, 1.06, 1.07, 1.09, 1.1}
	e := Weigh(ratios, ratios, 0.03, 1.08)
	all, none := (255.0/8+math.Pow(1.95, 7))/2, (1.0/8+math.Pow(0.05, 7))/2
	two := (37.0/168 + math.Pow(1.95, 2)*math.Pow(0.05, 5)) / 2
	five := ((1+8+28+56+70+56.0)/168 + math.Pow(1.95, 5)*math.Pow(0.05, 2)) / 2
	for name, of := range map[string][2]float64{"more": {e.More, all}, "less": {e.Less, none}, "at most": {e.AtMost, none},
		"at least": {e.AtLeast, all}, "above": {*e.Above, two}, "not above": {*e.NotAbove, five}} {
		if got := math.Exp(of[0]); math.Abs(got-of[1]) > 1e-9*of[1] {
			t.Errorf("%s: %v, want %v", name, got, of[1])
		}
	}
}

// Interval and evidence are two readings of one bet.
func TestEvidenceJudgesAsTheIntervalDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[Verdict]int{}
	for range 3000 {
		truth, bar := math.Exp(0.05*r.NormFloat64()), math.Exp(0.03*r.NormFloat64())
		level := []float64{0.05, 0.025}[r.IntN(2)]
		var least, most []float64
		for range r.IntN(40) {
			x := truth * math.Exp(0.02*r.NormFloat64())
			least, most = append(least, x), append(most, x*1.001)
		}
		interval, e := Over(least, most, level), Weigh(least, most, 0.03, bar)
		want, above := interval.Judge(0.03), interval.Against(bar)
		if got, at := e.Judge(level), e.Against(level); got != want || at != above {
			t.Fatalf("%v to %v: %s and %s above %v, but the interval %v says %s and %s", least, most, got, at, bar, interval,
				want, above)
		}
		seen[want]++
	}
	for _, v := range []Verdict{Same, Dearer, Cheaper, Undecided} {
		if seen[v] < 100 {
			t.Errorf("%s: %d times", v, seen[v])
		}
	}
}

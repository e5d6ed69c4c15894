package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sized is what a bet on sizes has become, by its definition, of blocks with these ratios.
func sized(ratios ...float64) (e float64) {
	for _, steep := range []float64{10, 30, 90, 270} {
		of := 0.25
		for _, r := range ratios {
			of *= 0.05 + 0.95*2/(1+math.Pow(r, -steep))
		}
		e += of
	}
	return e
}

// By hand: of seven blocks of seven the bet on signs has gained (2^8 - 1)/8 with its even half and
// 1.95^7 with its bold one; of none of seven 1/8 and 0.05^7. The bar is between two of the blocks: two
// of seven are above it, which is (1+8+28) / (8 · 21) and 1.95² · 0.05⁵, and five are not. Of the
// values up to 1, a quarter of the bet is on sizes.
func TestTheEvidenceOfSevenBlocksByHand(t *testing.T) {
	ratios := []float64{1.04, 1.05, 1.06, 1.06, 1.07, 1.09, 1.1}
	var inverse []float64
	for _, r := range ratios {
		inverse = append(inverse, 1/r)
	}
	e := Weigh(Ratios{Least: ratios, Most: ratios}, 0.03, 1.08)
	all, none := (255.0/8+math.Pow(1.95, 7))/2, (1.0/8+math.Pow(0.05, 7))/2
	two := (37.0/168 + math.Pow(1.95, 2)*math.Pow(0.05, 5)) / 2
	five := ((1+8+28+56+70+56.0)/168 + math.Pow(1.95, 5)*math.Pow(0.05, 2)) / 2
	up, down := sized(ratios...), sized(inverse...)
	for name, of := range map[string][2]float64{
		"more": {e.More, (3*all + up) / 4}, "less": {e.Less, (3*none + down) / 4},
		"at most": {e.AtMost, (3*none + down) / 4}, "at least": {e.AtLeast, (3*all + up) / 4},
		"above": {*e.Above, two}, "not above": {*e.NotAbove, (3*five + down) / 4},
	} {
		if got := math.Exp(of[0]); math.Abs(got-of[1]) > 1e-9*of[1] {
			t.Errorf("%s: %v, want %v", name, got, of[1])
		}
	}
}

// noisy are made-up ratios of so many blocks, whose control repeats the first server.
func noisy(r *rand.Rand, truth float64, blocks int, noise func() float64) (of Ratios) {
	for range blocks {
		base, other, again := math.Exp(noise()), truth*math.Exp(noise()), math.Exp(noise())
		of.Least, of.Most = append(of.Least, other/base), append(of.Most, other/base)
		of.AgainLeast, of.AgainMost = append(of.AgainLeast, other/again), append(of.AgainMost, other/again)
	}
	if r.IntN(3) == 0 {
		of.AgainLeast, of.AgainMost = nil, nil
	}
	return of
}

// Interval and evidence are two readings of one bet, but that an interval takes a least of blocks.
func TestEvidenceJudgesAsTheIntervalDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen, sooner := map[Verdict]int{}, 0
	for range 4000 {
		truth, bar := math.Exp(0.03*r.NormFloat64()), math.Exp(0.03*r.NormFloat64())
		level := []float64{0.05, 0.025}[r.IntN(2)]
		ratios := noisy(r, truth, Fewest(level)+r.IntN(30), func() float64 { return 0.02 * r.NormFloat64() })
		interval, e := ratios.Interval(level), Weigh(ratios, 0.03, bar)
		want, above := interval.Judge(0.03), interval.Against(bar)
		if got, at := e.Judge(level), e.Against(level); got != want || at != above {
			t.Fatalf("%v: %s and %s above %v, but the interval %v says %s and %s", ratios, got, at, bar, interval, want, above)
		}
		seen[want]++
		signs := Over(ratios.Least, ratios.Most, level)
		if want == Dearer && !signs.Unequal {
			sooner++
		}
		if interval.Low > 1 && interval.Low != signs.Low || interval.High < 1 && interval.High != signs.High {
			t.Fatalf("%v: %v, but signs alone give %v beyond 1", ratios, interval, signs)
		}
	}
	for _, v := range []Verdict{Same, Dearer, Cheaper, Undecided} {
		if seen[v] < 100 {
			t.Errorf("%s: %d times", v, seen[v])
		}
	}
	if sooner < 100 {
		t.Errorf("sizes told %d times what signs did not", sooner)
	}
}

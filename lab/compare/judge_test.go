package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A block without CPU time of both may have any ratio: it counts, and six of seven are too few.
func TestABlockWithoutAFigureCounts(t *testing.T) {
	of := Ratios{Each: slices.Repeat([]float64{1.2}, 7)}
	of.Each[3] = 0
	if r := of.Interval(0.05); r.Judge(0.03) != Undecided || r.Blocks != 7 {
		t.Errorf("%+v", r)
	}
	of.Each[3] = 1.2
	if r := of.Interval(0.05); r.Judge(0.03) != Dearer {
		t.Errorf("%+v", r)
	}
}

// Noises are what befalls one server in one block, in units of about its standard deviation. Each
// campaign makes its own, which may remember.
var noises = []struct {
	name string
	made func(r *rand.Rand) func() float64
}{
	{"normal", func(r *rand.Rand) func() float64 { return r.NormFloat64 }},
	{"outliers", func(r *rand.Rand) func() float64 {
		return func() float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }
	}},
	{"skewed", func(r *rand.Rand) func() float64 { return func() float64 { return r.ExpFloat64() - 1 } }},
	{"rarely slow", func(r *rand.Rand) func() float64 {
		return func() float64 { return 0.2*r.NormFloat64() + 5*float64(max(0, r.IntN(12)-10)) }
	}},
	{"a core of two speeds that drifts", func(r *rand.Rand) func() float64 {
		speed, drift := 0.0, 0.0
		return func() float64 {
			if drift += 0.1; r.IntN(15) == 0 {
				speed = 3 - speed
			}
			return speed + drift + (1+speed)*r.NormFloat64()
		}
	}},
}

// blocksOf makes blocks of three figures, and lots say which is whose: the first may have less
// noise than the second. The truth is a factor.
func blocksOf(r *rand.Rand, truth float64, blocks int, noise func() float64) (of Ratios) {
	for range blocks {
		x := []float64{noise(), noise(), noise()}
		r.Shuffle(3, func(i, j int) { x[i], x[j] = x[j], x[i] })
		for i := range x {
			x[i] = math.Exp(0.02 * x[i])
		}
		other, base, again := truth*x[0], x[1], x[2]
		of.Each, of.Again = append(of.Each, other/base), append(of.Again, other/again)
	}
	return of
}

// first is the part of the ratios that n blocks gave.
func (r Ratios) first(n int) Ratios {
	return Ratios{r.Each[:n], r.Again[:n]}
}

// In made-up campaigns that stop as soon as they are decided, the share of false
// answers stays below what is promised, however many blocks they look at, whatever the noise is.
func TestFalseAnswersAreRare(t *testing.T) {
	const campaigns, longest = 240, 40
	for i, noise := range noises {
		for _, c := range []struct {
			name  string
			truth float64
			wrong func(Verdict) bool
		}{
			{"equal servers with a false verdict", 1, func(v Verdict) bool { return v == Dearer || v == Cheaper }},
			{"a server that costs 1 % less, called more expensive", 0.99, func(v Verdict) bool { return v == Dearer }},
			{"servers beyond the margin that are called the same", 1.0301,
				func(v Verdict) bool { return v == Same || v == Cheaper }},
		} {
			r, wrong, missed := rand.New(rand.NewPCG(1, uint64(i))), 0, 0
			for range campaigns {
				ratios, out := blocksOf(r, c.truth, longest, noise.made(r)), false
				for n := 7; n <= longest; n++ {
					now := ratios.first(n).Interval(0.05)
					v := now.Judge(0.03)
					if out = out || now.Low > c.truth || now.High < c.truth; c.wrong(v) {
						wrong++
					}
					if v != Undecided {
						break
					}
				}
				if out {
					missed++
				}
			}
			if wrong > campaigns/20 || missed > campaigns/20 {
				t.Errorf("%s, %s: %d of %d campaigns; %d intervals missed", noise.name, c.name, wrong, campaigns, missed)
			}
			t.Logf("%s, %s: %d of %d; %d intervals missed", noise.name, c.name, wrong, campaigns, missed)
		}
	}
}

// Sizes tell a server that costs 2 % more at least a third sooner than signs do.
func TestSizesTellSooner(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	signs, sizes := told(r, 1.02, 0.02, 300, false), told(r, 1.02, 0.02, 300, true)
	if 3*sizes > 2*signs || sizes < 7 {
		t.Errorf("a median of %d blocks, by signs %d", sizes, signs)
	}
}

// told is the number of blocks after which the verdict calls a server more expensive whose cost is
// above that of another with the same noise: the median of made-up campaigns.
func told(r *rand.Rand, truth, sd float64, campaigns int, sizes bool) int {
	const longest = 400
	var all []int
	for range campaigns {
		ratios := blocksOf(r, truth, longest, func() float64 { return sd / 0.02 * r.NormFloat64() })
		n := 7
		for ; n < longest; n++ {
			now := ratios.first(n)
			if !sizes && Over(now.Each, 0.05).Low > 1 || sizes && now.Interval(0.05).Low >= 1 {
				break
			}
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all[campaigns/2]
}

func TestEndsAreRoundedOutwardsAndNeverToNothing(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want             string
	}{
		{1.042, 1.03149, 1.05301, "4.2 % more (+3.1 to +5.4 %)"},
		{0.72, 0.7091, 0.7309, "28.0 % less (−29.1 to −26.9 %)"},
		{1.01, 1.0003, 1.02, "1.00 % more (+0.03 to +2.00 %)"},
		{1, 0.99, 1.01, "under 0.1 % more (−1.0 to +1.0 %)"},
		{1.02, 1, 1.041, "2.0 % more (up to +4.1 %)"},
		{0.98, 0.961, 1, "2.0 % less (down to −3.9 %)"},
	} {
		by, from := change(c.ratio, c.low, c.high)
		if got := by + " (" + from + ")"; got != c.want {
			t.Errorf("%v (%v to %v): %s, want %s", c.ratio, c.low, c.high, got, c.want)
		}
	}
}

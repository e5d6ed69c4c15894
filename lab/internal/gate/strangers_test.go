package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// Others that ran more beside one condition in block after block take back what they may explain.
func TestWhatOthersRanFollowsACondition(t *testing.T) {
	always := slices.Repeat([]float64{0.1}, 12)
	mixed := slices.Repeat([]float64{0.1, -0.1}, 6)
	for _, c := range []struct {
		name  string
		more  []float64
		ratio float64
		is    bool
	}{
		{"in all blocks", always, 1.05, true},
		{"by less than tells", slices.Repeat([]float64{0.01}, 12), 1.01, false},
		{"a difference that it does not explain", always, 1.5, false},
		{"now this one, now that", mixed, 1.05, false},
		{"too few blocks", always[:5], 1.05, false},
		{"none was seen", nil, 1.05, false},
	} {
		if _, _, _, is := Follows(c.more, c.ratio); is != c.is {
			t.Errorf("%s: %v", c.name, is)
		}
	}
}

// In made-up comparisons of forty blocks, b leaves work behind in the slot after its own. What others ran
// is steady, comes in bursts, or has heavy tails; a server shares its core with it fairly. The bet takes
// back what leftovers of a tenth of a core pretend, keeps a difference that they cannot explain, and is
// silent where nothing is left behind.
func TestTheBetSeesWorkThatIsLeftBehind(t *testing.T) {
	const comparisons = 100
	for name, others := range map[string]func(*rand.Rand) func() float64{
		"steady": func(r *rand.Rand) func() float64 {
			return func() float64 { return max(0, 0.2+0.12*r.NormFloat64()) }
		},
		"bursts": func(r *rand.Rand) func() float64 {
			busy := 0.0
			return func() float64 {
				if r.Float64() < 0.03 {
					busy = 0.9 - busy
				}
				return busy
			}
		},
		"heavy tails": func(r *rand.Rand) func() float64 {
			return func() float64 { return min(1, 0.02*math.Pow(r.Float64(), -1/1.5)) }
		},
	} {
		for _, c := range []struct {
			more, left  float64 // what a request of b costs more, and what b leaves behind, in cores
			above, back int     // at least so many end as "costs more", and at least so many are taken back
		}{
			{0, 0, 0, 0}, {0, 0.1, 0, 50}, {0, 0.2, 0, 95}, {0.3, 0, 95, 0}, {0.3, 0.05, 95, 0},
		} {
			r := rand.New(rand.NewPCG(1, uint64(100*(c.more+c.left))))
			wrong, above, back := 0, 0, 0
			for range comparisons {
				run := others(r)
				var ratios, strangers []float64
				for range 40 {
					ratio, by := madeUpBlock(r, run, c.more, c.left)
					ratios, strangers = append(ratios, ratio), append(strangers, by)
				}
				k := 0
				for _, v := range ratios {
					if v > 1 {
						k++
					}
				}
				_, _, _, taken := Follows(strangers, stats.Median(ratios))
				switch {
				case taken:
					back++
				case confseq.Shown(k, len(ratios), 0.025):
					above++
				case confseq.Shown(len(ratios)-k, len(ratios), 0.025):
					wrong++
				}
			}
			if c.more == 0 {
				wrong += above
			}
			if above < c.above || back < c.back || c.left == 0 && back > 3 || wrong > 12 {
				t.Errorf("%s, %v more, %v left behind: %d end above, %d are taken back, %d are wrong of %d", name, c.more, c.left,
					above, back, wrong, comparisons)
			}
		}
	}
}

// madeUpBlock is the ratio of what b and a cost by time in a block, and how much more others ran in b's slots.
func madeUpBlock(r *rand.Rand, others func() float64, more, left float64) (ratio, by float64) {
	const rounds = 16
	var ran, done, start [3]float64 // of a, b, and a again
	for i := range start {
		start[i] = 0.012 * r.NormFloat64()
	}
	last := 0
	for range rounds {
		for _, i := range r.Perm(3) {
			busy := others()
			if last == 1 && i != 1 {
				busy += left
			}
			cost := math.Exp(start[i] + 0.03*r.NormFloat64())
			if i == 1 {
				cost *= 1 + more
			}
			ran[i] += busy
			done[i] += max(0.5, 1-busy) / cost
			last = i
		}
	}
	return done[0] / done[1], (ran[1] - ran[0]) / rounds
}

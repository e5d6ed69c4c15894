package stats

import (
	"math"
	"slices"
	"sort"
)

// Alpha is the probability of a wrong verdict that a question may have, over all
// of its designs and their claims, and however long it goes on.
const Alpha = 0.05

// Level is the part of Alpha of one of the claims that divide a question's nth
// design. The parts 1/(n(n+1)) of all designs add up to 1, however many follow.
func Level(nth, claims int) float64 {
	return Alpha / float64(nth*(nth+1)*max(1, claims))
}

// Bold is the share of yes on which the bold half of the bet in LogE is placed.
const Bold = 0.975

// A Visit counts the blocks of one visit, and those of them that say yes.
type Visit struct{ Yes, Blocks int }

// mean is the visit's mean vote, where a block that does not say yes says no.
func (v Visit) mean() float64 { return float64(2*v.Yes-v.Blocks) / float64(v.Blocks) }

// Single is n visits of one block each, of which k say yes.
func Single(k, n int) []Visit {
	out := make([]Visit, n)
	for i := range out {
		out[i].Blocks = 1
		if i < k {
			out[i].Yes = 1
		}
	}
	return out
}

// LogE is the logarithm of the e-value for "more than half of all blocks say yes".
// Each visit has one vote, the mean z of its blocks' +1 for yes and -1 for no. The
// e-value is what one unit of money has become after a bet on each visit that
// multiplies the stake by 1 + λz. Half of the unit bets with λ = 0.95, the best
// stake if 39 in 40 say yes. The other half is spread evenly over all λ from 0 to
// 1, so the part near the best stake grows:
//
//	e = 1/2 ∏ (1 + 0.95 z) + 1/2 ∫ ∏ (1 + λz) dλ, from 0 to 1
//
// If a visit's vote is at most 0 in the mean, whatever came before it and however
// its blocks hang together, no bet gains on average. So the probability that e ever
// reaches 1/α is at most α, at whatever visit one stops and for whatever reason
// (Ville 1939). The mixture was chosen for its values at few visits of one block,
// 36 for six of six and 69 for seven of seven, without using any measured run.
func LogE(visits []Visit) float64 { return votesOf(visits).logE() }

// votes has the number of visits by their mean vote. A share may be a fraction:
// Foretell goes on with the share of yes so far.
type votes []struct{ mean, visits float64 }

func votesOf(visits []Visit) votes {
	var out votes
	for _, v := range visits {
		out = out.with(v.mean(), 1)
	}
	return out
}

func (vs votes) with(mean, visits float64) votes {
	for i := range vs {
		if vs[i].mean == mean {
			vs[i].visits += visits
			return vs
		}
	}
	return append(vs, struct{ mean, visits float64 }{mean, visits})
}

func (vs votes) total() (visits, sum float64) {
	for _, v := range vs {
		visits, sum = visits+v.visits, sum+v.mean*v.visits
	}
	return visits, sum
}

// logProduct is the logarithm of ∏ (1 + λz).
func (vs votes) logProduct(stake float64) float64 {
	out := 0.0
	for _, v := range vs {
		if v.visits > 0 {
			out += v.visits * math.Log1p(stake*v.mean)
		}
	}
	return out
}

func (vs votes) logE() float64 {
	visits, _ := vs.total()
	stakes, weights := gauss(int(math.Ceil(visits)))
	logs := make([]float64, len(stakes)+1)
	for i, stake := range stakes {
		logs[i] = vs.logProduct(stake) + math.Log(weights[i])
	}
	logs[len(stakes)] = vs.logProduct(2*Bold - 1)
	return LogSum(logs) - math.Ln2
}

// LogSum is the logarithm of a sum, of which the logarithms of the terms are given:
// e-values exceed a float64 after a thousand visits.
func LogSum(logs []float64) float64 {
	top, sum := slices.Max(logs), 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum)
}

// Shown reports whether the visits have an e-value of 1/alpha or more. If they say
// yes in no more than half, no bet has gained.
func Shown(visits []Visit, alpha float64) bool { return votesOf(visits).shown(alpha) }

func (vs votes) shown(alpha float64) bool {
	if _, sum := vs.total(); sum <= 0 && alpha < 1 {
		return false
	}
	return vs.logE() >= -math.Log(alpha)
}

// Fewest is the smallest number of visits that decides at a level, if all say yes.
func Fewest(alpha float64) int {
	n := MinSamples
	for !(votes{{1, float64(n)}}).shown(alpha) {
		n++
	}
	return n
}

// MaxVisits is the largest number of further visits that Foretell considers. The
// share seen in a few visits cannot predict more than that.
const MaxVisits = 1000

// Foretell estimates how many further visits of one block would reach an e-value of
// 1/alpha, if the share of yes stayed what it is in the mean visit, or if all said
// yes where there is none yet. It is at least 1, and false if MaxVisits would not
// be enough.
func Foretell(visits []Visit, alpha float64) (further int, ok bool) {
	seen := votesOf(visits)
	share := 1.0
	if n, sum := seen.total(); n > 0 {
		share = (1 + sum/n) / 2
	}
	if share <= 0.5 {
		return 0, false
	}
	further = 1 + sort.Search(MaxVisits, func(i int) bool {
		n := float64(1 + i)
		return slices.Clone(seen).with(1, share*n).with(-1, (1-share)*n).shown(alpha)
	})
	return further, further <= MaxVisits
}

// Sequence is the confidence sequence of a median: with probability 1-alpha it
// contains the median at every number of visits. It has all values that the
// e-values of LogE do not exclude, with half of alpha for each side, and its
// ends are order statistics (Howard and Ramdas 2022). low comes from the least
// value that each block's figure may have, high from the most; visit numbers the
// visit of each block. It is false if there are too few visits.
func Sequence(least, most []float64, visit []int, alpha float64) (low, high float64, ok bool) {
	above := func(i int, edge float64) bool { return least[i] >= edge }
	below := func(i int, edge float64) bool { return most[i] <= edge }
	if !Shown(visitsOf(visit, func(int) bool { return true }), alpha/2) {
		return 0, 0, false
	}
	// The fewer blocks say yes, the smaller is the e-value.
	ends := func(values []float64, says func(int, float64) bool) float64 {
		i := sort.Search(len(values)-1, func(i int) bool {
			return !Shown(visitsOf(visit, func(at int) bool { return says(at, values[i+1]) }), alpha/2)
		})
		return values[i]
	}
	low = ends(slices.Sorted(slices.Values(least)), above)
	falling := slices.Sorted(slices.Values(most))
	slices.Reverse(falling)
	return low, ends(falling, below), true
}

// Unbet is the visit of a block that is not bet on.
const Unbet = -1

// visitsOf counts the blocks by visit.
func visitsOf(visit []int, yes func(block int) bool) []Visit {
	if len(visit) == 0 {
		return nil
	}
	out := make([]Visit, 1+slices.Max(visit))
	for i, v := range visit {
		if v == Unbet {
			continue
		}
		if out[v].Blocks++; yes(i) {
			out[v].Yes++
		}
	}
	return slices.DeleteFunc(out, func(v Visit) bool { return v.Blocks == 0 })
}

package stats

import (
	"math"
	"testing"
)

func TestKruskalWallisByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups [][]float64
		h, p   float64
	}{
		// Rank sums 6 and 15 of six: 12/42 (36/3 + 225/3) - 21. With one degree of
		// freedom p is the probability that a normal variable is beyond √H on either
		// side.
		{"two, apart", [][]float64{{1, 2, 3}, {40, 50, 60}}, 27.0 / 7, math.Erfc(math.Sqrt(27.0 / 14))},
		// Rank sums 6.5 and 14.5, corrected by 1 - 3·6/210.
		{"ties", [][]float64{{1, 1, 2}, {2, 3, 3}}, 10.0 / 3, math.Erfc(math.Sqrt(5.0 / 3))},
		// Rank sums 10, 26 and 42 of twelve: 12/156 (25 + 169 + 441) - 39. With
		// two degrees p is exp(-H/2).
		{"three, apart", [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, 128.0 / 13, math.Exp(-64.0 / 13)},
		{"three, alike", [][]float64{{1, 6}, {2, 5}, {3, 4}}, 0, 1},
		{"an empty one counts for none", [][]float64{{1, 2, 3}, nil, {40, 50, 60}}, 27.0 / 7, math.Erfc(math.Sqrt(27.0 / 14))},
		{"all equal", [][]float64{{2, 2}, {2, 2}}, 0, 1},
		{"one", [][]float64{{1, 2, 3}}, 0, 1},
		{"none", nil, 0, 1},
	} {
		h, p := KruskalWallis(c.groups)
		if math.Abs(h-c.h) > 1e-12 || math.Abs(p-c.p) > 1e-9 {
			t.Errorf("%s: H %v, p %v; want %v, %v", c.name, h, p, c.h, c.p)
		}
	}
}

func TestEveryWarningHasItsSentence(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range AllWarnings {
		if w.Meaning() == "" || seen[w.Meaning()] {
			t.Errorf("%s: %q", w, w.Meaning())
		}
		seen[w.Meaning()] = true
	}
}

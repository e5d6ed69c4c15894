package stats

import (
	"cmp"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// KruskalWallis tests by ranks whether groups of figures have the same
// distribution. It returns H, corrected for ties, and p by the chi-squared
// distribution, which is good enough for groups of four and more. Fewer than
// two groups, or figures that are all equal, give p = 1. Kruskal and Wallis,
// "Use of ranks in one-criterion variance analysis" (1952).
func KruskalWallis(groups [][]float64) (h, p float64) {
	type figure struct {
		v     float64
		group int
	}
	var all []figure
	for g, vs := range groups {
		for _, v := range vs {
			all = append(all, figure{v, g})
		}
	}
	slices.SortFunc(all, func(a, b figure) int { return cmp.Compare(a.v, b.v) })
	n := float64(len(all))
	sums, ties := make([]float64, len(groups)), 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for _, f := range all[i:j] {
			sums[f.group] += float64(i+1+j) / 2 // mean of the ranks i+1 to j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	used := 0
	for g, vs := range groups {
		if len(vs) > 0 {
			h += sums[g] * sums[g] / float64(len(vs))
			used++
		}
	}
	untied := 1 - ties/(n*n*n-n)
	if used < 2 || !(untied > 0) {
		return 0, 1
	}
	h = max(0, (12/(n*(n+1))*h-3*(n+1))/untied)
	return h, mathx.GammaIncComp(float64(used-1)/2, h/2)
}

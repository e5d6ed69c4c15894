package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/stats"
)

// The rule for runs that differ: runs of at least differBlocks blocks are
// compared, and their medians must differ by more than the smallest margin of
// any claim. Such a record decides only what its runs decide as well, each with
// one vote: the rule can take a decision away, and never adds one.
const (
	differBlocks = 4
	differApart  = 1.03
	differAlpha  = 0.01
)

// differ names the runs of a record whose ratios differ by more than their
// blocks explain, in any comparison; empty where none do. The comparisons
// divide the error.
func (f *finding) differ() string {
	for i := range f.comparisons {
		c := &f.comparisons[i]
		if !c.fine {
			continue
		}
		var runs []*source
		var groups [][]float64
		for at, s := range c.runs {
			if at == 0 || s != c.runs[at-1] {
				runs, groups = append(runs, s), append(groups, nil)
			}
			last := len(groups) - 1
			groups[last] = append(groups[last], math.Log(c.nominal[at]))
		}
		low, high := -1, -1
		var medians []float64
		for g := range groups {
			if len(groups[g]) < differBlocks {
				groups[g] = nil
				medians = append(medians, 0)
				continue
			}
			medians = append(medians, stats.Median(groups[g]))
			if low < 0 || medians[g] < medians[low] {
				low = g
			}
			if high < 0 || medians[g] > medians[high] {
				high = g
			}
		}
		if low < 0 || medians[high]-medians[low] <= math.Log(differApart) {
			continue
		}
		if _, p := stats.KruskalWallis(groups); p < differAlpha/float64(len(f.comparisons)) {
			a, b := math.Exp(medians[low]), math.Exp(medians[high])
			says := fmt.Sprintf("runs differ by more than their blocks explain: %s is %s in run %s and %s in run %s",
				c.effect.names(), ratioText(a, nil, nil), runs[low].Run, ratioText(b, nil, nil), runs[high].Run)
			if what := changed([]*source{runs[low], runs[high]}); what != "" {
				says += "; between the two the machine changed (" + what + ")"
			}
			return says
		}
	}
	return ""
}

// A poll is what the runs of a record decide, each with one vote.
type poll struct {
	verdict Verdict
	says    string
}

// votesOfRuns decides the claim with runs in place of blocks, by the same rule.
// A run votes on an edge by most of its blocks; runs of fewer than differBlocks
// blocks have no vote. Where runs differ, blocks of one run are alike for a
// reason that they share, so that ten of them may be one piece of evidence.
func (f *finding) votesOfRuns(level float64) poll {
	var all [][]votes
	ways, verdict := 0, Reproduced
	for i := range f.comparisons {
		edges := f.comparisons[i].votesOfRuns()
		all, ways = append(all, edges), ways+len(edges)
	}
	for _, edges := range all {
		switch v := judge(edges, level, ways); {
		case v == Refuted || verdict == Refuted:
			verdict = Refuted
		case v == Inconclusive:
			verdict = Inconclusive
		}
	}
	// The words are those of the edge with the fewest runs inside of it, or, if
	// refuted, with the most beyond.
	var w votes
	for i, e := range slices.Concat(all...) {
		if i == 0 || verdict == Refuted && e.beyond > w.beyond || verdict != Refuted && e.inside < w.inside {
			w = e
		}
	}
	n, side := w.inside, "the claim's side of its edge"
	if verdict == Refuted {
		n, side = w.beyond, "the other side of an edge"
	}
	return poll{verdict, fmt.Sprintf("with one vote for each run of %d blocks or more, %d of %d %s lie on %s", differBlocks, n, w.all, plural(w.all, "run"), side)}
}

// votesOfRuns counts the runs on each edge of the comparison's band.
func (c *comparison) votesOfRuns() []votes {
	total := c.band.edges()
	for from := 0; from < len(c.spans); {
		to := from + 1
		for to < len(c.spans) && c.of[to] == c.of[from] {
			to++
		}
		if to-from >= differBlocks {
			own := c.band.edges()
			for _, s := range c.spans[from:to] {
				c.band.count(own, s)
			}
			for i, e := range own {
				total[i].all++
				add(&total[i], 2*e.inside > e.all, 2*e.beyond > e.all)
			}
		}
		from = to
	}
	return total
}

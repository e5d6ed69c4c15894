package verdict

import (
	"fmt"
	"math"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/stats"
)

// concludeRatios makes one verdict of a claim's comparisons, with the words of
// the one that decides.
func (f *finding) concludeRatios(rec *record) {
	w := f.worst()
	f.verdict, f.yes, f.no = w.verdict, w.effect.For, w.effect.Against
	w.effect.Decides = true
	f.why = w.String()
	switch {
	case w.verdict == Reproduced && len(f.comparisons) > 1:
		f.why = fmt.Sprintf("all %d comparisons hold; nearest to the edge is %s", len(f.comparisons), w)
	case w.verdict == Inconclusive:
		f.needed = f.foretell(rec.level)
	}
	if why := f.differ(); why != "" && !rec.text && w.effect.Blocks >= stats.MinSamples {
		f.verdict, f.needed = Inconclusive, 0
		f.why = fmt.Sprintf("%s; all blocks together: %s", why, f.why)
	}
}

// foretell estimates how many further blocks decide a claim of several
// comparisons: reproduce all, or refute one.
func (f *finding) foretell(level float64) int {
	var edges []votes
	for i := range f.comparisons {
		edges = append(edges, f.comparisons[i].edges...)
	}
	return needed(edges, level, len(edges))
}

// worst is the comparison that decides: of those with the worst verdict, the
// one with the strongest evidence against the claim if refuted, else the
// weakest evidence for it; if equal, the one nearest to leaving its band or
// farthest outside.
func (f *finding) worst() *comparison {
	rank := map[Verdict]int{Reproduced: 0, Inconclusive: 1, Refuted: 2}
	var w *comparison
	for i := range f.comparisons {
		c := &f.comparisons[i]
		if w == nil || rank[c.verdict] > rank[w.verdict] || c.verdict == w.verdict && c.worseThan(w) {
			w = c
		}
	}
	return w
}

func (c *comparison) worseThan(w *comparison) bool {
	hold, refute := strength(c.edges)
	h, r := strength(w.edges)
	switch {
	case c.verdict == Refuted && refute != r:
		return refute > r
	case c.verdict != Refuted && hold != h:
		return hold < h
	}
	return c.effect.Pairs > 0 && w.effect.Pairs > 0 && c.margin() > w.margin()
}

// String says how many blocks are where, and their median ratio: "cost 2 over
// 1: 17 of 18 blocks lie below 0.5; median ratio 0.39 (0.37 to 0.41)".
func (c *comparison) String() string {
	said := fmt.Sprintf("%s: %s", c.name, c.band.says(c.verdict, c.effect))
	if c.effect.Pairs > 0 {
		said += "; " + c.figures()
	}
	return said
}

// says counts the blocks inside a band, and the blocks beyond it if there are
// any.
func (b band) says(v Verdict, e Effect) string {
	in, out := "at "+bar(b.low)+" or above", "below"
	switch {
	case b.low > 0 && !math.IsInf(b.high, 1):
		in, out = fmt.Sprintf("between %s and %s", bar(b.low), bar(b.high)), "outside"
	case b.low <= 0:
		in, out = "at "+bar(b.high)+" or below", "above"
	}
	blocks := plural(e.Blocks, "block")
	if v == Refuted {
		what := map[string]string{"outside": "outside " + bar(b.low) + " to " + bar(b.high), "below": "below " + bar(b.low), "above": "above " + bar(b.high)}[out]
		return fmt.Sprintf("%d of %d %s lie %s", e.Against, e.Blocks, blocks, what)
	}
	said := fmt.Sprintf("%d of %d %s lie %s", e.For, e.Blocks, blocks, in)
	if e.Blocks == 1 {
		said = fmt.Sprintf("%d of 1 block lies %s", e.For, in)
	}
	if e.Against > 0 {
		said += fmt.Sprintf(", %d %s", e.Against, out)
	}
	return said
}

// bar prints an edge as the claim has it. An edge computed from a margin may
// have endless digits; four are enough.
func bar(v float64) string {
	if s := strconv.FormatFloat(v, 'g', -1, 64); len(s) <= 6 {
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// figures prints the median ratio with its confidence sequence or, for too few
// blocks, with the range of all blocks.
func (c *comparison) figures() string {
	from, to := c.medians()
	e := c.effect
	said := "median ratio "
	if e.Pairs == 1 {
		said = "ratio "
	}
	if c.fine {
		said += ratio(e.Ratio)
	} else {
		said += between(from, to)
	}
	switch {
	case e.High > 0:
		said += " (" + between(e.Low, e.High) + ")"
	case e.Low > 0:
		said += " (" + between(e.Low, math.Inf(1)) + ")"
	case e.Pairs > 1:
		low, high := math.Inf(1), 0.0
		for _, s := range c.spans {
			if !s.blind {
				low, high = min(low, s.least), max(high, s.most)
			}
		}
		said += "; the blocks lie from " + between(low, high)
	}
	if !c.fine {
		said += ", for all that the figures may stand for"
	}
	return said
}

// between prints a range that may have no upper end.
func between(low, high float64) string {
	if math.IsInf(high, 1) {
		return ratio(low) + " or more"
	}
	return ratio(low) + " to " + ratio(high)
}

// ratio prints three decimals near 1, where margins are small, and otherwise
// three significant digits.
func ratio(v float64) string {
	if math.Abs(v-1) < 0.2 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// digits rounds to nine significant digits: more than any figure here resolves,
// and few enough that architectures which fuse multiplications agree.
func digits(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	// Rounded through text: scaling by powers of ten overflows for small figures.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 8, 64), 64)
	return v
}

// The rule for runs that differ: runs of at least differBlocks blocks are
// compared, and their medians must differ by more than the smallest margin of
// any claim.
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
			return fmt.Sprintf("runs differ by more than their blocks explain: %s has a median ratio of %s in run %s and of %s in run %s",
				c.name, ratio(math.Exp(medians[low])), runs[low].Run, ratio(math.Exp(medians[high])), runs[high].Run)
		}
	}
	return ""
}

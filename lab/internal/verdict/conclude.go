package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// concludeRatios makes one verdict of a claim's comparisons, with the words of
// the one that decides.
func (f *finding) concludeRatios(rec *record) {
	var edges []votes
	for i := range f.comparisons {
		edges = append(edges, f.comparisons[i].edges...)
	}
	f.verdict = judge(edges, rec.level)
	w := f.worst()
	f.yes, f.no = w.effect.For, w.effect.Against
	w.effect.Decides = true
	f.why = w.says(f.verdict)
	switch {
	case f.verdict == Reproduced && len(f.comparisons) > 1:
		f.why = fmt.Sprintf("all %d comparisons hold; closest to the edge: %s", len(f.comparisons), f.why)
	case f.verdict == Inconclusive:
		f.needed = needed(edges, rec.level)
	}
}

// worst is the comparison that decides: the one with the strongest evidence
// against the claim if refuted, else the weakest evidence for it; if equal, the one
// nearest to leaving its band or farthest outside.
func (f *finding) worst() *comparison {
	w := &f.comparisons[0]
	for i := range f.comparisons[1:] {
		if c := &f.comparisons[1+i]; c.worseThan(w, f.verdict) {
			w = c
		}
	}
	return w
}

func (c *comparison) worseThan(w *comparison, v Verdict) bool {
	hold, refute := strength(c.edges)
	h, r := strength(w.edges)
	switch {
	case v == Refuted && refute != r:
		return refute > r
	case v != Refuted && hold != h:
		return hold < h
	}
	return c.effect.Pairs > 0 && w.effect.Pairs > 0 && c.margin() > w.margin()
}

// says gives the median ratio, and how many blocks are where: "cost
// with 2 workers is 0.39 times that with 1 (0.37 to 0.41); 17 of 18 blocks lie
// below 0.5".
func (c *comparison) says(v Verdict) string {
	said := c.band.says(v, c.effect)
	if c.effect.Pairs == 0 {
		return fmt.Sprintf("%s cannot be compared; %s", c.effect.Names(), said)
	}
	return c.figures() + "; " + said
}

// says counts the blocks inside a band, and the blocks beyond it if there are
// any.
func (b band) says(v Verdict, e Effect) string {
	low, high := printEdge(b.low), printEdge(b.high)
	in, out, edge := "at "+low+" or above", "below", low
	switch {
	case b.low > 0 && !math.IsInf(b.high, 1):
		in, out, edge = "between "+low+" and "+high, "outside", low+" to "+high
	case b.low <= 0:
		in, out, edge = "at "+high+" or below", "above", high
	}
	blocks := words.Plural(e.Blocks, "block")
	if v == Refuted {
		return fmt.Sprintf("%d of %d %s lie %s %s", e.Against, e.Blocks, blocks, out, edge)
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

// figures says what the median ratio is, with its confidence sequence or, for
// too few blocks, with the range of all blocks.
func (c *comparison) figures() string {
	e := c.effect
	said := c.effect.says(e.Text() + " times")
	if !c.fine {
		said += ", as far as coarse figures tell"
	}
	if e.HasInterval() {
		return said + " (" + e.Interval() + ")"
	}
	if spread := c.spread(); spread != "" {
		said += " (" + spread + ")"
	}
	return said
}

// spread is the range of the ratios of several blocks without an interval, else empty.
func (c *comparison) spread() string {
	if c.effect.HasInterval() || c.effect.Pairs < 2 {
		return ""
	}
	low, high := math.Inf(1), 0.0
	for _, s := range c.spans {
		if !s.blind {
			low, high = min(low, s.least), max(high, s.most)
		}
	}
	return "blocks from " + words.Range(low, words.Known(finite(high)))
}

// says makes the sentence of a comparison around its figure: "where RFS is off,
// throughput with RPS on is … that with RPS off". A control has no levels.
func (e Effect) says(figure string) string {
	what := metricPhrase(e.Metric)
	out := fmt.Sprintf("%s is %s that of its repetition", what, figure)
	for factor, a := range e.A { // there is exactly one
		out = fmt.Sprintf("%s with %s is %s that with %s", what, setting.JoinLevel(factor, a), figure,
			setting.JoinOther(factor, e.B[factor]))
	}
	if at := setting.LimitTo(e.At); at != "" {
		return at + ", " + out
	}
	return out
}

// names says what is compared: "throughput with 2 workers and with 1, where RFS
// is off".
func (e Effect) Names() string {
	out := metricPhrase(e.Metric)
	for factor, a := range e.A {
		out = fmt.Sprintf("%s with %s over that with %s", out, setting.JoinLevel(factor, a), setting.JoinOther(factor, e.B[factor]))
	}
	if at := setting.LimitTo(e.At); at != "" {
		return out + ", " + at
	}
	return out
}

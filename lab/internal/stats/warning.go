package stats

// A Warning says what a reader should know before leaning on a ratio. It never
// moves a verdict: what must, is a rule.
type Warning string

// The warnings, each with its sentence in Meaning.
const (
	FewBlocks         Warning = "few-blocks"
	NoSpread          Warning = "no-spread"
	MeanOutside       Warning = "mean-outside-interval"
	IntervalsDisagree Warning = "intervals-disagree"
	Coarse            Warning = "coarse"
)

// There is none for two modes. Six to twelve ratios bear no test of that:
// the dip test and the bimodality coefficient both see two modes in noise of
// one at such sizes.

// AllWarnings lists them in the order in which they are given.
var AllWarnings = []Warning{FewBlocks, NoSpread, MeanOutside, IntervalsDisagree, Coarse}

// Meaning says in one sentence what a warning stands for.
func (w Warning) Meaning() string {
	switch w {
	case FewBlocks:
		return "the interval is the whole range of so few blocks, so a single odd block leaves the claim open"
	case NoSpread:
		return "every block gave the same ratio, so nothing is known of its noise"
	case MeanOutside:
		return "a few blocks pull the mean out of the median's interval, so the two witnesses speak of different things"
	case IntervalsDisagree:
		return "the ratio of the medians and the median of the ratios lie outside each other's intervals, as they do where the machine changed speed between blocks"
	case Coarse:
		return "the figures are known only to the step in which they were recorded, and the answer has to hold for all that they may stand for"
	}
	return ""
}

// Warn lists what the figures of a paired comparison give cause to. The
// bootstrap is asked only where it was made.
func Warn(s Summary, t T, ofMedians float64, boot *Interval) []Warning {
	var ws []Warning
	if k, _ := rank(s.N); k <= 1 {
		ws = append(ws, FewBlocks)
	}
	if t.SE < rounding {
		ws = append(ws, NoSpread)
	}
	// Rounding in the logarithm must not part what is equal.
	if mean := t.Ratio(); s.HasInterval && t.SE >= rounding && (mean < s.Low || mean > s.High) {
		ws = append(ws, MeanOutside)
	}
	if boot != nil && s.HasInterval && (s.Median < boot.Low || s.Median > boot.High || ofMedians < s.Low || ofMedians > s.High) {
		ws = append(ws, IntervalsDisagree)
	}
	return ws
}

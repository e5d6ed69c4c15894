package stats

// A Warning says what a reader should know before relying on a ratio. It never
// changes a verdict.
type Warning string

// The warnings, each with its sentence in Meaning.
const (
	FewBlocks Warning = "few-blocks"
	NoSpread  Warning = "no-spread"
	Coarse    Warning = "coarse"
)

// AllWarnings lists the warnings in the order in which they are given.
var AllWarnings = []Warning{FewBlocks, NoSpread, Coarse}

// Meaning explains a warning in one sentence.
func (w Warning) Meaning() string {
	switch w {
	case FewBlocks:
		return "the interval is the whole range of so few blocks, so a single odd block leaves the claim open"
	case NoSpread:
		return "every block gave the same ratio, so nothing is known of its noise"
	case Coarse:
		return "the figures are known only to the step in which they were recorded, and the answer has to hold for all " +
			"that they may stand for"
	}
	return ""
}

// Package law holds printed figures of load tests against each other, and reads them as they are printed.
//
// A figure stands for every value that would be printed the same way. Arithmetic is done on these
// intervals, and a law is broken only where no values within them keep it. Interval arithmetic does not
// know when two terms are the same figure, so a formula that uses a figure twice is allowed more than
// rounding gives: this errs towards "holds".
//
// A law never says which of two figures is wrong, and of a broken one what could make it true after all is told.
package law

import (
	_ "embed"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Law is what figures must keep together; laws.toml has all.
type Law struct {
	ID   string // as kinds of checks have it in data/texts
	Says string
}

//go:embed laws.toml
var text []byte

var file = strict.Embedded[struct {
	Laws    []*Law
	Rules   []rule
	Units   []Unit
	Figures []struct {
		ID, Name string
		Unit     metric.Unit
		Adds     bool
	}
}](text)

// All are all laws, those that rows of tables are held against first.
var All = file.Laws

// The laws of which more is known than laws.toml says.
var (
	InFlight, Order, Mean = named("in-flight"), named("order"), named("mean")
	Spread, Total, CPU    = named("spread"), named("total"), named("cpu-sum")
	Answer                = named("bytes-per-response")
)

func named(id string) *Law {
	return All[slices.IndexFunc(All, func(l *Law) bool { return l.ID == id })]
}

// A Relation is the expected relation of a printed figure to the recomputed one.
type Relation string

// The relations.
const (
	Equals  Relation = "equals"
	AtMost  Relation = "at most"
	AtLeast Relation = "at least"
)

// Holds tells whether the relation holds for some values of the two ranges. within is a share of the
// second that is allowed beyond them.
func (r Relation) Holds(of, to Quantity, within float64) bool {
	// Decimal fractions are not exact in binary, so touching ranges agree.
	slack := 1e-9*math.Max(math.Abs(of.Value), math.Abs(to.Value)) + within*math.Abs(to.Value)
	below := of.Low <= to.High+slack
	above := of.High >= to.Low-slack
	return (below || r == AtLeast) && (above || r == AtMost)
}

// A Result is what became of one law in one row.
type Result struct {
	Law      *Law
	Of       string // what is held: the name of a figure, or how it follows from figures
	Stands   Quantity
	Relation Relation
	To       string // what it is held against
	Allowed  Quantity
	Within   float64 // beyond rounding, as a share
	Unit     metric.Unit
	Holds    bool
	Note     string // for the pages of texts, which tell it whether it holds or not
	Unless   string // of a broken one: what could make it true after all; empty: nothing could
}

// Hold holds a figure against another; within is a share of the second that is allowed beyond rounding.
func (l *Law) Hold(of string, stands Quantity, rel Relation, to string, allowed Quantity, within float64,
	unit metric.Unit) Result {
	return Result{Law: l, Of: of, Stands: stands, Relation: rel, To: to, Allowed: allowed, Within: within, Unit: unit,
		Holds: rel.Holds(stands, allowed, within)}
}

// A Quantile is the value that a share of all latencies is at most.
type Quantile struct {
	Figure
	Quantity
}

// Means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func Means(all []Quantile, greatest Quantity) (least, atMost Quantity) {
	before := Quantile{Figure: most}
	for _, q := range append(slices.Clip(all), Quantile{most + parts, greatest}) {
		share := Exactly(q.share() - before.share())
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		before = q
	}
	return least, atMost
}

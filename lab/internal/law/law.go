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
	"cmp"
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

//go:embed laws.toml
var text []byte

var file = strict.Embedded[struct {
	Laws    []strict.Word
	Rules   []rule
	Units   []Unit
	Figures []Figure
}](text)

// All are all laws, those that rows of tables are held against first.
var All = file.Laws

// The laws of which more is known than laws.toml says.
const (
	InFlight = "in-flight"
	Order    = "order"
	Mean     = "mean"
	Spread   = "spread"
	Total    = "total"
	CPU      = "cpu-sum"
	Answer   = "bytes-per-response"
)

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
	return (of.Low <= to.High+slack || r == AtLeast) && (of.High >= to.Low-slack || r == AtMost)
}

// A Result is what became of one law in one row.
type Result struct {
	Law      string
	Of       string // what is held: the name of a figure, or how it follows from figures
	Stands   Quantity
	Relation Relation
	To       string // what it is held against
	Allowed  Quantity
	Within   float64 // beyond rounding, as a share of what is allowed
	Unit     metric.Unit
	Note     string // for the pages of texts, which tell it whether it holds or not
	Holds    bool
	Unless   string // of a broken one: what could make it true after all; empty: nothing could
}

// A rule is what figures must keep together; laws.toml says what its fields mean.
type rule struct {
	Law, Of, To, Says, Without, Note string
	Relation                         Relation
	Within                           float64
	Unit                             metric.Unit

	of, to         Formula
	needs, without uint32 // figures
}

// rules are those of laws.toml, with all that follows from their texts.
var rules = strict.Map(file.Rules, func(r rule) rule {
	parse := func(text string, needs *uint32) (f Formula, says string) {
		f, _ = ParseFormula(text, func(id string) (Formula, error) {
			figure := byID[id]
			*needs, r.Unit = *needs|1<<figure.place, cmp.Or(r.Unit, figure.Unit)
			return func(r *Row) Quantity { return r.Get(figure) }, nil
		})
		return f, ids.ReplaceAllStringFunc(strings.ReplaceAll(text, "*", "×"), func(id string) string { return byID[id].Name })
	}
	r.of, r.Of = parse(r.Of, &r.needs)
	to, says := parse(r.To, &r.needs)
	r.to, r.Says = to, cmp.Or(r.Says, says)
	_, _ = parse(r.Without, &r.without)
	return r
})

var ids = regexp.MustCompile(`[a-z_]+`)

// Tolerances beyond rounding.
const (
	ofQuantiles = 0.01 // between definitions of a quantile, and for the classes of a histogram
	ofWindows   = 0.01 // between two clocks that tell the same window
	ofNominal   = 0.05 // between a duration that was asked for and the one that was
	fewest      = 100  // requests, below which quantiles and deviations depend on their definition
	nearly      = 0.1  // within which a duration may be that asked for, although it is printed with a fraction
	usual       = 10   // seconds that a test lasts if nothing is said of it
)

// Judge holds a row against all laws for which it has figures.
func (r *Row) Judge(tell func(Result)) {
	hold := func(of Result) {
		if of.Stands.Finite() && of.Allowed.Finite() {
			if of.Holds = of.Relation.Holds(of.Stands, of.Allowed, of.Within); !of.Holds {
				of.Unless = r.unless(of)
			}
			tell(of)
		}
	}
	for i := range rules {
		rule := &rules[i]
		if r.has&rule.needs != rule.needs || r.has&rule.without != 0 {
			continue
		}
		of := Result{Law: rule.Law, Of: rule.Of, Stands: rule.of(r), Relation: rule.Relation, To: rule.Says, Allowed: rule.to(r),
			Within: rule.Within, Unit: rule.Unit, Note: rule.Note}
		if of.Law == Total && of.Within > 0 && (r.Nominal || r.Sampled) {
			of.Within = ofNominal
		}
		hold(of)
	}
	if !r.Early && r.Rated() && r.Timed() && r.Has(Connections) {
		hold(r.little())
	}
	if n := r.Get(Requests); !r.Has(Requests) || n.High >= fewest {
		r.latencies(hold)
	}
}

// little holds requests in flight against the most that there can be. Those under way when a window began are in its
// latencies and not in its time, so a share of them is allowed.
func (r *Row) little() Result {
	window, _ := r.window()
	of := Result{Law: InFlight, Of: "rate × ", Relation: AtMost, To: "connections", Allowed: r.Get(Connections),
		Within: ofWindows + r.longest()/window, Unit: metric.Count}
	rate := r.Get(Rate)
	if !r.Has(Rate) {
		rate, of.Of = r.Get(Requests).Over(r.Get(Duration)), "requests / duration × "
		if r.Nominal {
			of.Within += ofNominal - ofWindows
		}
	}
	latency, says := r.Get(Average), "mean"
	if !r.Has(Average) {
		latency, _ = means(r.quantiles(), Quantity{})
		says = "what the quantiles leave at least for the mean"
	}
	if of.Of += says; r.Has(Depth) {
		of.Allowed, of.To = of.Allowed.Times(r.Get(Depth)), "connections × pipelining"
	}
	if of.Stands = Exactly(rate.Times(latency).Low); of.Stands.Value > 0 {
		of.Note = "The least that rate and latency put in flight, against connections × pipelining."
	}
	return of
}

// window is how long the test took at least, in seconds; told is false if that is only what is usual.
func (r *Row) window() (seconds float64, told bool) {
	d, over := r.Get(Duration), r.Get(Requests).Over(r.Get(Rate))
	switch {
	case r.Has(Duration):
		return max(d.Low, 1e-3), true
	case r.Has(Requests) && r.Has(Rate) && over.Finite():
		return max(over.Low, 1e-3), true
	}
	return usual, false
}

// longest is the longest latency that is known.
func (r *Row) longest() float64 {
	longest := max(r.Get(Average).High, r.Get(greatest).High)
	for _, q := range r.quantiles() {
		longest = max(longest, q.High)
	}
	return longest
}

// means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func means(all []Value, greatest Quantity) (least, atMost Quantity) {
	before := Value{Figure: Figure{place: most}}
	for _, q := range append(slices.Clip(all), Value{Figure{place: most + parts}, greatest}) {
		share := Exactly(q.share() - before.share())
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		before = q
	}
	return least, atMost
}

// latencies holds quantiles and the deviation against the others.
func (r *Row) latencies(tell func(Result)) {
	hold := func(law, of string, stands Quantity, is Relation, to string, allowed Quantity, within float64) {
		r := Result{Law: law, Of: of, Stands: stands, Relation: is, To: to, Allowed: allowed, Within: within, Unit: metric.Second}
		if of == "p50" && to != "max" {
			r.Note = "The median against the next quantile."
		}
		tell(r)
	}
	mean, last, quantiles := r.Get(Average), r.Get(greatest), r.quantiles()
	before, name := r.Get(least), "min"
	for i, q := range quantiles {
		next := q.Name
		if i > 0 || r.Has(least) {
			hold(Order, name, before, AtMost, next, q.Quantity, 0)
		}
		before, name = q.Quantity, next
	}
	low, high := means(quantiles, last)
	if len(quantiles) > 0 && r.Has(greatest) {
		hold(Order, name, before, AtMost, "max", last.Times(Exactly(1+ofQuantiles)), 0)
	}
	if len(quantiles) > 0 && r.Has(Average) {
		hold(Mean, "mean", mean, AtLeast, "what the quantiles leave at least", low, ofQuantiles)
	}
	if len(quantiles) > 0 && r.Has(Average) && r.Has(greatest) {
		hold(Mean, "mean", mean, AtMost, "what the quantiles leave at most", high, ofQuantiles)
	}
	if r.Has(deviation) && r.Has(Average) && r.Has(greatest) {
		// Bhatia and Davis: a variance is at most (max - mean) (mean - min).
		low, high := r.Get(least).Low, last.High
		room := func(mean float64) float64 { return math.Sqrt(max(0, high-mean) * max(0, mean-low)) }
		bound := max(room(mean.Low), room(mean.High), room(min(max((low+high)/2, mean.Low), mean.High)))
		hold(Spread, "stdev", r.Get(deviation), AtMost, "what min, mean and max leave", Exactly(bound), ofQuantiles)
	}
}

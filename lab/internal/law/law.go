// Package law holds printed figures of load tests against each other, and reads them as they are printed, in published
// tables and in what load generators print.
//
// A figure means every value that prints the same way. The laws calculate with these intervals, and a row breaks a law
// only where no values within them keep it. Interval arithmetic does not know when two terms are the same
// figure, so a formula that uses a figure twice is allowed more than rounding gives: this errs towards "holds".
//
// A law never says which of two figures is wrong, and a broken one says what could make it true after all. If a row
// fails only by something that its table does not say, above all a guessed unit, we report it as unsupported, not as
// impossible. It does not see figures that are wrong and fit: a row that adds up may still be made up.
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
	Figures []Figure
	Units   []Unit

	Rules, Remarks, Follows []rule
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

// A Result is what became of one law in one row, or a remark.
type Result struct {
	Law      string
	Of       string // one side: the name of a figure, or how it follows from figures
	Stands   Quantity
	Relation Relation
	To       string // the other side
	Allowed  Quantity
	Within   float64 // beyond rounding, as a share of what is allowed
	Unit     metric.Unit
	Note     string // for the pages of texts, which tell it whether it holds or not
	Holds    bool
	Unless   string // of a broken one: what could make it true after all; empty: nothing could
}

// A rule is what figures must keep together; laws.toml says what its fields mean.
type rule struct {
	Law, Figure, Of, To, Says, Without, Note string
	Relation                                 Relation
	Within, Fewest                           float64
	Unit                                     metric.Unit
	Numbers                                  []string

	of, to       Formula
	numbers      []Formula
	needs, lacks uint32 // figures
	figure       Figure
}

var ids = regexp.MustCompile(`[a-z_]+`)

// parsed has what follows from the texts of rules.
func parsed(rules []rule) []rule {
	return strict.Map(rules, func(r rule) rule {
		formula := func(text string, figures *uint32) (f Formula, says string) {
			f, _ = ParseFormula(text, func(id string) (Formula, error) {
				figure := byID[id]
				*figures, r.Unit = *figures|1<<figure.place, cmp.Or(r.Unit, figure.Unit)
				return func(r *Row) Quantity { return r.figures[figure.place] }, nil
			})
			says = strings.ReplaceAll(text, "*", "×")
			return f, ids.ReplaceAllStringFunc(says, func(id string) string { return cmp.Or(byID[id].Name, id) })
		}
		r.figure = byID[r.Figure]
		r.of, r.Of = formula(r.Of, &r.needs)
		to, says := formula(r.To, &r.needs)
		r.to, r.Says = to, cmp.Or(r.Says, says)
		_, _ = formula(r.Without, &r.lacks)
		for _, number := range r.Numbers {
			f, _ := formula(number, &r.needs)
			r.numbers = append(r.numbers, f)
		}
		return r
	})
}

var rules, remarks, follows = parsed(file.Rules), parsed(file.Remarks), parsed(file.Follows)

// Tolerances beyond rounding, where laws.toml does not say them.
const (
	ofQuantiles = 0.01 // between definitions of a quantile, and for the classes of a histogram
	ofNominal   = 0.05 // between a duration that was asked for and the one that was
	fewest      = 100  // requests, below which quantiles depend on their definition
	nearly      = 0.1  // within which a duration may be that asked for, although it is printed with a fraction
	usual       = 10.0 // seconds that a test lasts by default
)

// Judge holds a row against all laws for which it has figures, and then remarks what it admits without breaking one. It
// leaves what follows from figures in the row.
func (r *Row) Judge(tell func(Result), remark func(string)) {
	r.follow()
	fits := func(rule *rule, has uint32) bool {
		few := r.Has(Requests) && r.Get(Requests).High < rule.Fewest
		return has&rule.needs == rule.needs && has&rule.lacks == 0 && !few
	}
	hold := func(of Result) {
		if of.Stands.Finite() && of.Allowed.Finite() {
			if of.Holds = of.Relation.Holds(of.Stands, of.Allowed, of.Within); !of.Holds {
				of.Unless = r.unless(of)
			}
			tell(of)
		}
	}
	for i := range rules {
		rule, has := &rules[i], r.has
		if rule.Law == Total {
			has = r.own // what follows from a total adds up to it
		}
		little := rule.Law == InFlight && rule.Relation == AtMost
		if !fits(rule, has) || little && r.Early {
			continue
		}
		of := Result{Law: rule.Law, Of: rule.Of, Stands: rule.of(r), Relation: rule.Relation, To: rule.Says,
			Allowed: rule.to(r), Within: rule.Within, Unit: rule.Unit, Note: rule.Note}
		nominal := r.Nominal && (rule.Law == Total || little && r.own&(1<<Rate.place) == 0)
		if of.Within > 0 && (nominal || rule.Law == Total && r.Sampled) {
			of.Within = ofNominal
		}
		if little {
			// Those under way when a window began are in its latencies and not in its time, so a share of them is allowed.
			window := usual
			if r.Has(Duration) {
				window = max(r.Get(Duration).Low, 1e-3)
			}
			of.Stands, of.Within = Exactly(of.Stands.Low), of.Within+r.late()/window
			if of.Stands.Value <= 0 {
				of.Note = "" // says nothing
			}
		}
		hold(of)
	}
	if !r.Has(Requests) || r.Get(Requests).High >= fewest {
		r.order(hold)
	}
	for i := range remarks {
		if rule := &remarks[i]; fits(rule, r.has) && !rule.Relation.Holds(rule.of(r), rule.to(r), 0) {
			remark(fill(rule.Says, strict.Map(rule.numbers, func(f Formula) float64 { return f(r).Value })...))
		}
	}
}

// order holds quantiles against each other, the least and the greatest.
func (r *Row) order(hold func(Result)) {
	before, last := Value{least, r.Get(least)}, len(r.Quantiles)
	for i, q := range append(slices.Clip(r.Quantiles), Value{greatest, r.Get(greatest).Times(Exactly(1 + ofQuantiles))}) {
		of := Result{Law: Order, Of: before.Name, Stands: before.Quantity, Relation: AtMost, To: q.Name, Allowed: q.Quantity,
			Unit: metric.Second}
		if before.Name == "p50" && i < last {
			of.Note = "The median against the next quantile."
		}
		if last > 0 && (i > 0 || r.Has(least)) && (i < last || r.Has(greatest)) {
			hold(of)
		}
		before = q
	}
}

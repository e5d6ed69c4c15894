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
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
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
	for i := range last + 1 {
		q := Value{greatest, r.Get(greatest).Times(Exactly(1 + ofQuantiles))}
		if i < last {
			q = r.Quantiles[i]
		}
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

// A Figure is what a row can have one of: one of laws.toml, or a quantile of latency.
type Figure struct {
	ID, Name string
	Unit     metric.Unit
	Adds     bool // a row may have several, which add up

	place int // in a row
}

const (
	most  = 32  // places of figures of laws.toml; those beyond are quantiles
	parts = 1e6 // of all latencies, which tell quantiles apart
)

var byID = func() map[string]Figure {
	all := map[string]Figure{}
	for i := range file.Figures {
		f := &file.Figures[i]
		f.place = i
		all[f.ID] = *f
	}
	return all
}()

// FigureOf finds a figure by what rules and patterns call it. p99.9, p99_9 and p999 are one quantile.
func FigureOf(id string) (f Figure, ok bool) {
	if f, ok = byID[id]; ok {
		return f, true
	}
	digits, ok := strings.CutPrefix(strings.Replace(id, "_", ".", 1), "p")
	v, err := strconv.ParseFloat(digits, 64)
	if v > 100 && !strings.Contains(digits, ".") {
		v, err = strconv.ParseFloat(digits[:2]+"."+digits[2:], 64)
	}
	if place := math.Round(v * parts / 100); ok && err == nil && place > 0 && place <= parts {
		f = Figure{Name: "p" + strconv.FormatFloat(v, 'g', 6, 64), Unit: metric.Second, place: most + int(place)}
	}
	return f, f.place > 0
}

// share is that of the latencies that are at most a quantile.
func (f Figure) share() float64 { return float64(f.place-most) / parts }

// The figures of which more is known than rules say.
var (
	Rate, Requests, Duration     = byID["rate"], byID["requests"], byID["duration"]
	Average                      = byID["mean"]
	Connections, Clients         = byID["connections"], byID["clients"]
	Depth, Busy, Reach, Size     = byID["depth"], byID["busy"], byID["line"], byID["size"]
	least, greatest              = byID["min"], byID["max"]
	leastMean, mostMean, longest = byID["leastmean"], byID["mostmean"], byID["longest"]
)

// A Row is one load test's figures.
type Row struct {
	figures   [most]Quantity
	has, own  uint32  // a bit a figure, and what it has of those that do not follow from others
	Quantiles []Value // rising

	Averaged bool    // its figures are means over several runs
	Early    bool    // latencies begin before a request is sent, as when a rate is kept that the server cannot keep
	Nominal  bool    // the duration is that asked for
	Sampled  bool    // the rate is a mean of samples, or leaves out a part of the window
	Made     bool    // --made-by names the tool, with all that it adds
	Added    string  // why latencies are not those of the requests alone; empty: nothing is known
	Cut      float64 // seconds that latencies may be longer than they are printed
	Apart    string  // why mean and quantiles may be of different sets; empty: nothing is known
	Doubt    string  // why the whole row may be misread; empty: it is not
}

// A Value is what a row has of a figure.
type Value struct {
	Figure
	Quantity
}

// quantile is where in a row's quantiles one is, or would be.
func (r *Row) quantile(f Figure) (int, bool) {
	return slices.BinarySearchFunc(r.Quantiles, f.place, func(v Value, place int) int { return v.place - place })
}

// Set notes a figure. Of several, the first counts, or they add up.
func (r *Row) Set(f Figure, q Quantity) {
	if at, there := r.quantile(f); f.place > most {
		if !there {
			r.Quantiles = slices.Insert(r.Quantiles, at, Value{f, q})
		}
	} else if !r.Has(f) || f.Adds {
		r.figures[f.place] = r.figures[f.place].Plus(q)
		r.has |= 1 << f.place
	}
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	r.Nominal = r.Nominal || of.Nominal && !r.Has(Duration)
	for i := 0; of.has&^r.has != 0; i++ {
		if f := file.Figures[i]; of.Has(f) && !r.Has(f) {
			r.Set(f, of.figures[i])
		}
	}
	for _, v := range of.Quantiles {
		r.Set(v.Figure, v.Quantity)
	}
}

// Get is a figure that is no quantile; zero if the row has none.
func (r *Row) Get(f Figure) Quantity { return r.figures[f.place] }

// Has tells whether a row has a figure.
func (r *Row) Has(f Figure) bool {
	if f.place < most {
		return r.has&(1<<f.place) != 0
	}
	_, there := r.quantile(f)
	return there
}

// Rated tells whether a row has a rate, or what it follows from.
func (r *Row) Rated() bool { return r.Has(Rate) || r.Has(Requests) && r.Has(Duration) }

// Timed tells whether a row has latencies.
func (r *Row) Timed() bool { return r.Has(Average) || len(r.Quantiles) > 0 }

// follow adds what follows from a row's figures.
func (r *Row) follow() {
	r.own = r.has
	for i := range follows {
		if rule := &follows[i]; r.has&rule.needs == rule.needs && r.has&(1<<rule.figure.place) == 0 {
			if q := rule.of(r); q.Finite() {
				r.Set(rule.figure, q)
			}
		}
	}
	latency, n := r.Get(Average), len(r.Quantiles)
	if n > 0 {
		low, high := means(r.Quantiles, r.Get(greatest))
		r.Set(leastMean, low)
		if r.Has(greatest) {
			r.Set(mostMean, high)
		}
	}
	if n > 0 && !r.Has(Average) {
		_, latency = means(r.Quantiles[:n-1], r.Quantiles[n-1].Quantity)
	}
	if under := latency.High + r.Cut; under*r.Get(Rate).Value > 0 && !r.Early {
		r.Set(longest, Exactly(under))
	}
}

// means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func means(all []Value, greatest Quantity) (least, atMost Quantity) {
	below, before := 0.0, Quantity{}
	for _, q := range all {
		share := Exactly(q.share() - below)
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		below, before = q.share(), q.Quantity
	}
	rest := Exactly(1 - below)
	return least.Plus(before.Times(rest)), atMost.Plus(greatest.Times(rest))
}

// late is the longest latency that is known.
func (r *Row) late() float64 {
	late := max(r.Get(Average).High, r.Get(greatest).High)
	for _, q := range r.Quantiles {
		late = max(late, q.High)
	}
	return late
}

// unless is what could make a broken law true after all. A # means a number.
func (r *Row) unless(of Result) string {
	more := of.Stands.Low / of.Allowed.High
	short := r.late() / (more - 1.01)
	counted := of.To == Requests.Name
	var all []string
	for _, may := range [...]struct {
		law    string
		be     bool
		why    string
		number float64
	}{
		{InFlight, !r.Has(Depth), "pipelining is not given, and # on each connection would do", math.Ceil(more)},
		{InFlight, r.Added != "", r.Added, 0},
		{InFlight, r.Added == "" && !r.Made, "wrk may have made it, and adds latencies of requests that it never sent", 0},
		{InFlight, !r.Has(Duration) && short > 1, "the test may have taken less than # s", short},
		{Answer, of.Relation == AtLeast, "answers may be compressed, or have no body", 0},
		{Mean, r.Apart != "", r.Apart, 0},
		{Order, r.Apart != "", r.Apart, 0},
		{Total, r.Sampled && !counted, "the rate is a mean of samples, or of a part of the window", 0},
		{Total, !counted && (r.Nominal || Equals.Holds(of.Stands, of.Allowed, nearly)), "the duration is that asked for", 0},
		{of.Law, r.Averaged && of.Law != Mean && of.Law != Order, "the figures are means over several runs", 0},
		{of.Law, r.Doubt != "", r.Doubt, 0},
	} {
		if may.law == of.Law && may.be {
			all = append(all, fill(may.why, may.number))
		}
	}
	return strings.Join(all, ", or ")
}

// fill puts numbers of two digits, or whole ones, in place of each # of a text.
func fill(text string, numbers ...float64) string {
	for _, v := range numbers {
		at := 0
		if v != math.Floor(v) {
			at = min(0, words.Exponent(v)-1)
		}
		text = strings.Replace(text, "#", words.Grouped(v, at), 1)
	}
	return text
}

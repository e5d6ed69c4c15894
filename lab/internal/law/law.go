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
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

	Rules, Remarks, Excuses, Gaps, Follows []rule
}](text)

// All are all laws, those that rows of tables are held against first.
var All = file.Laws

// The laws of which more is known than laws.toml says.
const (
	InFlight = "in-flight"
	Order    = "order"
	Total    = "total"
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

// A Rule is what two figures, or what follows from some, must keep together.
type Rule struct {
	Law      string      `toml:"law"`
	Of       string      `toml:"of"` // one side: a name of a figure, or how it follows from figures
	Relation Relation    `toml:"relation"`
	To       string      `toml:"to"`     // the other side
	Within   float64     `toml:"within"` // beyond rounding, as a share of the other side
	Unit     metric.Unit `toml:"unit"`
	Note     string      `toml:"note"` // for the pages of texts
}

// A Result is what became of a rule.
type Result struct {
	Rule
	Stands, Allowed Quantity // its sides
	Holds           bool
	Unless          string // of a broken one: what could make it true after all; empty: nothing could
}

// A rule is one of laws.toml, which says what its fields mean.
type rule struct {
	Rule
	Figure, Says, Having, Without, Beyond string
	Fewest                                float64
	Numbers                               []string

	of, to, beyond Formula
	numbers        []Formula
	needs, lacks   uint64 // figures
	figure         Figure
}

var ids = regexp.MustCompile(`[a-z_]+`)

// parsed has what follows from the texts of rules.
func parsed(rules []rule) []rule {
	return strict.Map(rules, func(r rule) rule {
		formula := func(text string, figures *uint64) (f Formula, says string) {
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
		r.to, r.To = to, cmp.Or(r.Says, says)
		r.beyond, _ = formula(cmp.Or(r.Beyond, "0"), &r.needs)
		_, _ = formula(r.Having, &r.needs)
		_, _ = formula(r.Without, &r.lacks)
		for _, number := range r.Numbers {
			f, _ := formula(number, &r.needs)
			r.numbers = append(r.numbers, f)
		}
		return r
	})
}

var (
	rules, remarks, follows = parsed(file.Rules), parsed(file.Remarks), parsed(file.Follows)
	excuses, gaps           = parsed(file.Excuses), parsed(file.Gaps)
)

// fits tells whether a row has the figures that a rule needs, of enough requests, and none that it must be without.
func (r *Row) fits(rule *rule, has uint64) bool {
	return has&rule.needs == rule.needs && has&rule.lacks == 0 &&
		(rule.Fewest == 0 || !r.Has(Requests) || r.Get(Requests).High >= rule.Fewest)
}

// Judge holds a row, with what follows from it, against all laws for which it has figures, and gives remarks on what it
// admits without breaking one.
func (r *Row) Judge(tell func(Result)) (admits []string) {
	for i := range rules {
		rule, has := &rules[i], r.has
		if rule.Law == Total {
			has = r.own // what follows from a total adds up to it
		}
		if r.fits(rule, has) {
			of := Result{Rule: rule.Rule, Stands: rule.of(r), Allowed: rule.to(r)}
			if of.Within += rule.beyond(r).Value; of.Law == InFlight && of.Relation == AtMost {
				of.Stands = Exactly(of.Stands.Low)
			}
			r.hold(of, tell)
		}
	}
	if !r.Has(Requests) || r.Get(Requests).High >= 100 { // below, quantiles depend on their definition
		r.order(tell)
	}
	return r.say(remarks, "")
}

// hold tells whether a rule holds between two sides.
func (r *Row) hold(of Result, tell func(Result)) {
	if !of.Stands.Finite() || !of.Allowed.Finite() {
		return
	}
	if of.Holds = of.Relation.Holds(of.Stands, of.Allowed, of.Within); !of.Holds {
		r.figures[stands.place], r.figures[allowed.place] = of.Stands, of.Allowed
		if r.has |= 1<<stands.place | 1<<allowed.place | 1<<within.place; of.Within == 0 {
			r.has &^= 1 << within.place
		}
		of.Unless = strings.Join(r.say(excuses, of.Law), ", or ")
	}
	tell(of)
}

// say has what those rules say that a row breaks, or that have nothing to keep: those of all laws, or of one.
func (r *Row) say(rules []rule, law string) (all []string) {
	for i := range rules {
		rule := &rules[i]
		if !r.fits(rule, r.has) || rule.Law != "" && !strings.Contains(rule.Law, law) ||
			rule.to != nil && rule.Relation.Holds(rule.of(r), rule.to(r), 0) {
			continue
		}
		text, own := map[string]string{"added": r.Added, "apart": r.Apart, "doubt": r.Doubt}[rule.Says]
		if !own {
			text = fill(rule.Says, strict.Map(rule.numbers, func(f Formula) float64 { return f(r).Value })...)
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// order holds quantiles against each other, the least and the greatest. The classes of a histogram may be 1 % wide.
func (r *Row) order(tell func(Result)) {
	before, last := Value{least, r.Get(least)}, len(r.Quantiles)
	all := append(r.Quantiles, Value{greatest, r.Get(greatest).Times(Exactly(1.01))})
	r.Quantiles = all[:last]
	for i, q := range all {
		of := Result{Rule: Rule{Law: Order, Of: before.Name, Relation: AtMost, To: q.Name, Unit: metric.Second},
			Stands: before.Quantity, Allowed: q.Quantity}
		if before.Name == "p50" && i < last {
			of.Note = "The median against the next quantile."
		}
		if last > 0 && (i > 0 || r.Has(least)) && (i < last || r.Has(greatest)) {
			r.hold(of, tell)
		}
		before = q
	}
}

// A Figure is what a row can have one of: one of laws.toml, or a quantile of latency.
type Figure struct {
	ID, Name string // all that rules and patterns call it, and what sentences do
	Unit     metric.Unit
	Adds     bool // a row may have several, which add up

	place int // in a row
}

const (
	most  = 48  // places of figures of laws.toml; those beyond are quantiles
	parts = 1e6 // of all latencies, which tell quantiles apart
)

var byID = func() map[string]Figure {
	all := map[string]Figure{}
	for i := range file.Figures {
		f := &file.Figures[i]
		f.place = i
		for id := range strings.FieldsSeq(f.ID) {
			all[id] = *f
		}
	}
	return all
}()

// FigureOf finds a figure by an id, or as results call it. p99.9, p99_9, p999 and latency_p999_s are one quantile.
func FigureOf(id string) (f Figure, ok bool) {
	if f, ok = byID[id]; ok {
		return f, true
	}
	id = strings.TrimPrefix(strings.TrimSuffix(id, "_s"), "latency_")
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

// The figures of which more is known than rules say.
var (
	Rate, Requests, Duration     = byID["rate"], byID["requests"], byID["duration"]
	Average                      = byID["mean"]
	Connections, Clients         = byID["connections"], byID["clients"]
	Depth, Busy, Reach, Size     = byID["depth"], byID["busy"], byID["line"], byID["size"]
	least, greatest              = byID["min"], byID["max"]
	leastMean, mostMean, longest = byID["leastmean"], byID["mostmean"], byID["longest"]
	nominal, loose, latest, cut  = byID["nominal"], byID["loose"], byID["latest"], byID["cut"]
	stands, allowed, within      = byID["stands"], byID["allowed"], byID["within"]
)

// A Row is one load test's figures.
type Row struct {
	figures   [most]Quantity
	has, own  uint64 // a bit a figure, and what it has of those that do not follow from others
	Quantiles []Value

	name, wrong string // the row's own, and the reason for not reading it; empty: there is none
	line        int

	Added string // why latencies may not be those of the requests alone; empty: nothing is known
	Apart string // why mean and quantiles may be of different sets; empty: nothing is known
	Doubt string // why the whole row may be misread; empty: it is not
}

// A Value is what a row has of a figure.
type Value struct {
	Figure
	Quantity
}

// Set notes a figure. Of several, the first counts, or they add up.
func (r *Row) Set(f Figure, q Quantity) {
	if has := r.Has(f); f.place > most && !has {
		r.Quantiles = append(r.Quantiles, Value{f, q})
	} else if f.place < most && (!has || f.Adds) {
		r.figures[f.place] = r.figures[f.place].Plus(q)
		r.has |= 1 << f.place
	}
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	for i := 0; i < len(file.Figures) && of.has&^r.has != 0; i++ {
		if f := file.Figures[i]; of.Has(f) && !r.Has(f) && (f != nominal || !r.Has(Duration)) {
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
	return slices.ContainsFunc(r.Quantiles, func(v Value) bool { return v.place == f.place })
}

// told tells whether a row has a rate, or what it follows from, or latencies.
func (r *Row) told() bool {
	return r.Has(Rate) || r.Has(Requests) && r.Has(Duration) || r.Has(Average) || len(r.Quantiles) > 0
}

// Follow adds what follows from a row's figures.
func (r *Row) Follow() {
	r.own = r.has | 1<<loose.place
	slices.SortFunc(r.Quantiles, func(a, b Value) int { return a.place - b.place })
	latency, n := r.Get(Average), len(r.Quantiles)
	late := max(latency.High, r.Get(greatest).High)
	for _, q := range r.Quantiles {
		late = max(late, q.High)
	}
	r.Set(latest, Exactly(late))
	if n > 0 {
		low, high := means(r.Quantiles, r.Get(greatest))
		r.Set(leastMean, low)
		r.Set(mostMean, high)
		if !r.Has(Average) {
			_, latency = means(r.Quantiles[:n-1], r.Quantiles[n-1].Quantity)
		}
	}
	for i := range follows {
		if rule := &follows[i]; r.fits(rule, r.has) && !r.Has(rule.figure) && rule.of(r).Finite() {
			r.Set(rule.figure, rule.of(r))
		}
	}
	if under := latency.High + r.Get(cut).Value; under*r.Get(Rate).Value > 0 {
		r.Set(longest, Exactly(under))
	}
}

// means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func means(all []Value, greatest Quantity) (least, atMost Quantity) {
	below, before := 0.0, Quantity{}
	for _, q := range all {
		upTo := float64(q.place-most) / parts
		share := Exactly(upTo - below)
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		below, before = upTo, q.Quantity
	}
	rest := Exactly(1 - below)
	return least.Plus(before.Times(rest)), atMost.Plus(greatest.Times(rest))
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

// A Quantity is a figure and the range of values it may have.
type Quantity struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Exactly is a quantity with no range: a number in a formula, a setting.
func Exactly(v float64) Quantity { return Quantity{v, v, v} }

// Around is a quantity known to within half on either side.
func Around(v, half float64) Quantity { return Quantity{v, v - half, v + half} }

// Plus, Minus, Times and Over compute with all values that both may have.
func (q Quantity) Plus(r Quantity) Quantity {
	return Quantity{q.Value + r.Value, q.Low + r.Low, q.High + r.High}
}

func (q Quantity) Minus(r Quantity) Quantity {
	return Quantity{q.Value - r.Value, q.Low - r.High, q.High - r.Low}
}

func (q Quantity) Times(r Quantity) Quantity {
	a, b, c, d := q.Low*r.Low, q.Low*r.High, q.High*r.Low, q.High*r.High
	return Quantity{q.Value * r.Value, min(a, b, c, d), max(a, b, c, d)}
}

// Over gives nothing finite where it may divide by zero.
func (q Quantity) Over(r Quantity) Quantity {
	if r.Low <= 0 && r.High >= 0 {
		return Exactly(math.NaN())
	}
	a, b, c, d := q.Low/r.Low, q.Low/r.High, q.High/r.Low, q.High/r.High
	return Quantity{q.Value / r.Value, min(a, b, c, d), max(a, b, c, d)}
}

// Each applies a non-decreasing function to the value and its limits.
func (q Quantity) Each(f func(float64) float64) Quantity {
	return Quantity{f(q.Value), f(q.Low), f(q.High)}
}

// Finite tells whether it is a number.
func (q Quantity) Finite() bool {
	return math.Abs(q.Value)+math.Abs(q.Low)+math.Abs(q.High) < math.Inf(1)
}

// Rounded keeps nine digits: few enough for the same file on every machine, and far more than any printed figure has.
func (q Quantity) Rounded() Quantity {
	return q.Each(func(v float64) float64 { return words.Digits(v) + 0 }) // avoids negative zero
}

// A Formula is arithmetic over the named figures of a row.
type Formula func(*Row) Quantity

// functions take one figure, operations two or more.
var (
	functions = map[string]func(Quantity) Quantity{
		"-":     Quantity{}.Minus,
		"floor": func(q Quantity) Quantity { return q.Each(math.Floor) },
		"sqrt":  func(q Quantity) Quantity { return q.Each(func(v float64) float64 { return math.Sqrt(max(0, v)) }) },
		"low":   func(q Quantity) Quantity { return Exactly(q.Low) },
		"high":  func(q Quantity) Quantity { return Exactly(q.High) },
	}
	operations = map[string]func(a, b Quantity) Quantity{
		"+": Quantity.Plus, "-": Quantity.Minus, "*": Quantity.Times, "/": Quantity.Over,
		"min": func(a, b Quantity) Quantity {
			return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
		},
		"max": func(a, b Quantity) Quantity {
			return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
		},
	}
)

// ParseFormula reads arithmetic as Go has it: numbers, names, + - * /, parentheses, and those functions, and nothing
// else, so that a reader can compute it by hand. The function named gives the value of a name, which may have dots.
func ParseFormula(text string, named func(name string) (Formula, error)) (Formula, error) {
	upper := strings.ToUpper(text) // in which no name is a word of Go's
	whole, err := parser.ParseExpr(upper)
	if err != nil {
		return nil, fmt.Errorf("%.60q, %w", text, err)
	}
	word := func(e ast.Expr) string { return strings.ToLower(upper[e.Pos()-1 : e.End()-1]) }
	var compile func(ast.Expr) Formula
	compile = func(e ast.Expr) (f Formula) {
		name, of := "", []ast.Expr{}
		fault := errors.New("a formula has numbers, names, + - * /, parentheses, min and max of figures, floor and sqrt of one")
		switch e := e.(type) {
		case *ast.ParenExpr:
			return compile(e.X)
		case *ast.BasicLit:
			v := 0.0
			v, fault = strconv.ParseFloat(word(e), 64)
			f = func(*Row) Quantity { return Exactly(v) }
		case *ast.Ident, *ast.SelectorExpr:
			f, fault = named(word(e))
		case *ast.UnaryExpr:
			name, of = e.Op.String(), []ast.Expr{e.X}
		case *ast.BinaryExpr:
			name, of = e.Op.String(), []ast.Expr{e.X, e.Y}
		case *ast.CallExpr:
			name, of = word(e.Fun), e.Args
		}
		if do := functions[name]; do != nil && len(of) == 1 {
			a := compile(of[0])
			return func(r *Row) Quantity { return do(a(r)) }
		}
		if do := operations[name]; do != nil && len(of) > 1 {
			f, fault = compile(of[0]), nil
			for _, e := range of[1:] {
				a, b := f, compile(e)
				f = func(r *Row) Quantity { return do(a(r), b(r)) }
			}
		}
		if fault != nil && err == nil {
			err = fmt.Errorf("%.60q, character %d: %w", strings.ToLower(upper), e.Pos(), fault)
		}
		return f
	}
	f := compile(whole)
	return f, err
}

// A Unit is how many base units a printed one makes; laws.toml has all.
type Unit struct {
	Of       metric.Unit
	Scale    float64
	Prefixes bool
	Names    string
}

var units = sync.OnceValue(func() map[string]Unit {
	all := map[string]Unit{}
	for _, u := range file.Units {
		for name := range strings.SplitSeq(u.Names, " ") {
			all[name] = u
			for i, prefix := range []string{"k", "m", "g", "t"} {
				kilo, kibi := u, u
				kilo.Scale *= math.Pow(1000, float64(i+1))
				kibi.Scale *= math.Pow(1024, float64(i+1))
				if u.Prefixes {
					all[prefix+name], all[prefix+"i"+name] = kilo, kibi
				}
			}
		}
	}
	return all
})

// UnitOf finds a unit by its name as it is printed. A prefix alone, as in 12k, is one of counts.
func UnitOf(name string) (u Unit, known bool) {
	if u, known = units()[name]; !known {
		u, known = units()[strings.ToLower(strings.ReplaceAll(name, " ", ""))]
	}
	return u, known
}

// A Manner says how a figure is written.
type Manner struct {
	Comma  bool   // decimals come after a comma
	Digits bool   // zeros at the end of a whole number are digits
	Binary bool   // a kilo is 1,024
	Time   bool   // m is a minute
	Unit   string // where print has none
}

// A Printed is a figure as printed, in its base unit.
type Printed struct {
	Quantity
	Unit  metric.Unit
	Name  string // of the unit that is printed with it; empty if there is none
	Whole bool   // it has no decimals
}

// boundless is more than any figure, and no product of a few such is infinite.
const boundless = 1e60

var swap = strings.NewReplacer(",", ".", ".", ",")

// Read reads a figure as printed, and gives the range of values that it may have:
//
//   - half a unit of the last digit on either side. Zeros at the end of a whole number may be digits or
//     rounding, and are taken as rounding (21,400 means 21,350 to 21,450); those of a percentage are
//     taken as digits;
//   - "~" doubles the range, to a whole unit;
//   - "<1ms" means zero to one millisecond, ">1ms" all from there on;
//   - "12 to 15 ms" means all between them, and so does "12 ± 3 ms".
//
// Of a time in several units, as 1m30s or 00:01:30, the last was rounded. ok is false if the text is no figure.
func Read(text string, m Manner) (p Printed, ok bool) {
	if text = strings.TrimSpace(text); m.Comma {
		text, m.Comma = swap.Replace(text), false
	}
	if p, ok = simple(text, m); ok {
		return p, p.Finite()
	}
	number := strings.TrimLeft(text, "<~≈≤>≥")
	about, number := text[:len(text)-len(number)], strings.TrimLeft(number, " ")
	bare := strings.TrimLeft(number, "+-−")
	if p, ok = simple(bare, m); !ok {
		plain := re("dressed").ReplaceAllStringFunc(bare, undress)
		if p, ok = simple(plain, m); !ok {
			p, ok = several(plain, m)
		}
	}
	switch v := p.Value; about {
	case "":
	case "~", "≈":
		p.Quantity = Quantity{v, v - 2*(v-p.Low), v + 2*(p.High-v)}
	case "<", "≤":
		p.Quantity = Quantity{v, 0, v}
	case ">", "≥":
		p.Quantity = Quantity{v, v, boundless}
	default:
		ok = false
	}
	if bare != number && number[0] != '+' {
		p.Quantity = Quantity{}.Minus(p.Quantity)
	}
	return p, ok && p.Finite()
}

// simple reads digits, a point and more of them perhaps, and a unit.
func simple(text string, m Manner) (p Printed, ok bool) {
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	number, name := text[:end], strings.TrimSpace(text[end:])
	whole, decimals, point := strings.Cut(number, ".")
	v, err := strconv.ParseFloat(number, 64)
	p.Name, p.Whole = name, !point
	last := math.Pow10(-len(decimals))
	if p.Whole && v != 0 && !m.Digits && name != "%" {
		last = math.Pow10(len(whole) - len(strings.TrimRight(whole, "0")))
	}
	if name == "" {
		name = m.Unit
	}
	if name == "m" && m.Time {
		name = "min"
	}
	unit, ok := UnitOf(name)
	if m.Binary && name != "" {
		if kibi, known := UnitOf(name[:1] + "i" + name[1:]); known {
			unit = kibi
		}
	}
	p.Quantity, p.Unit = Around(v, last/2).Times(Exactly(unit.Scale)), unit.Of
	return p, ok && err == nil && (p.Whole || decimals != "") // a point needs decimals
}

// undress writes a number as digits and a point.
func undress(number string) string {
	if m := re("marked").FindStringSubmatch(number); m != nil {
		return re("marks").ReplaceAllString(m[1], "") + m[2]
	}
	if v, err := strconv.ParseFloat(number, 64); err == nil && v < boundless && strings.ContainsAny(number, "eE") {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return number
}

// several reads what has more than one number: a range, a figure and its spread, a time in several units.
func several(text string, m Manner) (Printed, bool) {
	const longest = 40 // of what a person would write so
	if text == "" || len(text) > longest {
		return Printed{}, false
	}
	for _, between := range []string{"±", "+/-", "–", "—", "-", "to "} {
		left, right, _ := strings.Cut(text, between)
		if b, ok := Read(right, m); ok {
			one := m
			one.Unit = cmp.Or(b.Name, m.Unit)
			if a, ok := Read(left, one); ok && (a.Name == "" || a.Name == b.Name) {
				q := Quantity{(a.Value + b.Value) / 2, a.Low, b.High}
				if between == "±" || between == "+/-" {
					q = Quantity{a.Value, a.Low - b.High, a.High + b.High}
				}
				return Printed{q, b.Unit, b.Name, a.Whole && b.Whole}, q.Low <= q.Value && q.Value <= q.High
			}
		}
	}
	text = re("clock").ReplaceAllString(text, "${1}h${2}m${3}s")
	d, err := time.ParseDuration(re("gap").ReplaceAllString(text, "$1"))
	end := re("tail").FindString(text)
	if err != nil || end == text {
		return Printed{}, false
	}
	last, ok := Read(end, Manner{Digits: true, Time: true})
	return Printed{Around(d.Seconds(), (last.High-last.Low)/2), metric.Second, "s", last.Whole}, ok
}

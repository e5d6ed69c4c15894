package law

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/words"
)

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
	return q.Times(Quantity{1 / r.Value, 1 / r.High, 1 / r.Low})
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

// operations are those of operators and functions. Those of alone take one figure, as the second.
var (
	operations = map[string]func(a, b Quantity) Quantity{
		"+": Quantity.Plus, "-": Quantity.Minus, "*": Quantity.Times, "/": Quantity.Over,
		"min": func(a, b Quantity) Quantity {
			return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
		},
		"max": func(a, b Quantity) Quantity {
			return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
		},
		"floor": func(_, b Quantity) Quantity { return b.Each(math.Floor) },
		"sqrt":  func(_, b Quantity) Quantity { return b.Each(func(v float64) float64 { return math.Sqrt(max(0, v)) }) },
	}
	alone = map[string]bool{"floor": true, "sqrt": true}
)

// ParseFormula reads arithmetic as Go has it: numbers, names, + - * /, parentheses, min, max, floor
// and sqrt. It takes nothing else, so that a reader can compute it by hand. The function named
// gives the value of a name, which may have dots.
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
			if e.Op == token.SUB {
				a := compile(e.X)
				return func(r *Row) Quantity { return Quantity{}.Minus(a(r)) }
			}
		case *ast.BinaryExpr:
			name, of = e.Op.String(), []ast.Expr{e.X, e.Y}
		case *ast.CallExpr:
			if name, of = word(e.Fun), e.Args; alone[name] && len(of) == 1 {
				of = append(of, of[0])
			} else if alone[name] {
				of = nil
			}
		}
		if do := operations[name]; do != nil && len(of) > 0 {
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
	about, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune("<~≈≤>≥", about) {
		text = strings.TrimLeft(text[size:], " ")
	} else {
		about = 0
	}
	bare := strings.TrimLeft(text, "+-−")
	if p, ok = simple(bare, m); !ok {
		plain := dressed.ReplaceAllStringFunc(bare, undress)
		if p, ok = simple(plain, m); !ok {
			p, ok = several(plain, m)
		}
	}
	switch v := p.Value; about {
	case 0:
	case '~', '≈':
		p.Quantity = Quantity{v, v - 2*(v-p.Low), v + 2*(p.High-v)}
	case '<', '≤':
		p.Quantity = Quantity{v, 0, v}
	default:
		p.Quantity = Quantity{v, v, boundless}
	}
	if bare != text && text[0] != '+' {
		p.Quantity = Quantity{}.Minus(p.Quantity)
	}
	return p, ok && p.Finite()
}

// simple reads digits, a point and more of them perhaps, and a unit.
func simple(text string, m Manner) (p Printed, ok bool) {
	whole := digits(text, 0)
	end := whole
	if strings.HasPrefix(text[end:], ".") {
		end = digits(text, end+1)
	}
	name := strings.TrimSpace(text[end:])
	p.Name, p.Whole = name, end == whole
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
	v, err := strconv.ParseFloat(text[:end], 64)
	last := math.Pow10(min(0, whole+1-end))
	if p.Whole && v != 0 && !m.Digits && p.Name != "%" {
		last = math.Pow10(whole - len(strings.TrimRight(text[:whole], "0")))
	}
	p.Quantity, p.Unit = Around(v, last/2).Times(Exactly(unit.Scale)), unit.Of
	return p, ok && err == nil && end != whole+1 // a point needs decimals
}

// digits is where those of a text end that begin at some place.
func digits(text string, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}

var (
	// dressed is a number with one kind of mark between its thousands or lakhs, perhaps, and an exponent.
	dressed = regexp.MustCompile(`\d[\d,.'’_ \x{a0}\x{2009}\x{202f}]*\d(?:[eE][+-]?\d+)?|\d[eE][+-]?\d+`)
	marked  = regexp.MustCompile(`^(\d{1,3}(?:(?:,\d{2,3})*,\d{3}|(?:['’_ \x{a0}\x{2009}\x{202f}]\d{3})+|` +
		`(?:\.\d{3}){2,}))(\.\d+)?$`)
	marks = regexp.MustCompile(`\D`)
	clock = regexp.MustCompile(`^(\d+):(\d+):(\d+(?:\.\d+)?)s?$`)
	gap   = regexp.MustCompile(`([a-zµ]) `)
	tail  = regexp.MustCompile(`[\d.]+ ?[a-zµ]+$`)
)

// undress writes a number as digits and a point.
func undress(number string) string {
	if m := marked.FindStringSubmatch(number); m != nil {
		return marks.ReplaceAllString(m[1], "") + m[2]
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
		b, ok := Read(right, m)
		if !ok {
			continue
		}
		one := m
		one.Unit = cmp.Or(b.Name, m.Unit)
		a, ok := Read(left, one)
		if !ok || a.Name != "" && a.Name != b.Name {
			continue
		}
		q := Quantity{(a.Value + b.Value) / 2, a.Low, b.High}
		if between == "±" || between == "+/-" {
			q = Quantity{a.Value, a.Low - b.High, a.High + b.High}
		}
		return Printed{q, b.Unit, b.Name, a.Whole && b.Whole}, q.Low <= q.Value && q.Value <= q.High
	}
	text = clock.ReplaceAllString(text, "${1}h${2}m${3}s")
	d, err := time.ParseDuration(gap.ReplaceAllString(text, "$1"))
	end := tail.FindString(text)
	if err != nil || end == text {
		return Printed{}, false
	}
	last, ok := Read(end, Manner{Digits: true, Time: true})
	return Printed{Around(d.Seconds(), (last.High-last.Low)/2), metric.Second, "s", last.Whole}, ok
}

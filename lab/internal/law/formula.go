package law

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"

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

// ParseFormula reads arithmetic as Go has it: numbers, names, + - * /, parentheses, min, max, floor
// and sqrt. It takes nothing else, so that a reader can compute it by hand. The function named
// gives the value of a name, which may have dots.
func ParseFormula(text string, named func(name string) (Formula, error)) (Formula, error) {
	c := compiler{text: strings.ToUpper(text), named: named} // in which no name is a word of Go's
	e, err := parser.ParseExpr(c.text)
	if err != nil {
		return nil, fmt.Errorf("%.60q, %w", text, err)
	}
	return c.compile(e), c.err
}

type compiler struct {
	text  string
	named func(name string) (Formula, error)
	err   error // the first
}

// operations are those of operators, and of functions of several figures.
var operations = map[string]func(a, b Quantity) Quantity{
	"+": Quantity.Plus, "-": Quantity.Minus, "*": Quantity.Times, "/": Quantity.Over,
	"min": func(a, b Quantity) Quantity {
		return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
	},
	"max": func(a, b Quantity) Quantity {
		return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
	},
}

// functions are those of one figure.
var functions = map[string]func(float64) float64{
	"floor": math.Floor,
	"sqrt":  func(v float64) float64 { return math.Sqrt(max(0, v)) },
}

func (c *compiler) compile(e ast.Expr) (f Formula) {
	word := func(e ast.Expr) string { return strings.ToLower(c.text[e.Pos()-1 : e.End()-1]) }
	fold := func(name string, all ...ast.Expr) Formula {
		f, do := c.compile(all[0]), operations[name]
		for _, e := range all[1:] {
			a, b := f, c.compile(e)
			f = func(r *Row) Quantity { return do(a(r), b(r)) }
		}
		return f
	}
	err := errors.New("a formula has numbers, names, + - * /, parentheses, min and max of figures, floor and sqrt of one")
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.compile(e.X)
	case *ast.BasicLit:
		v := 0.0
		v, err = strconv.ParseFloat(word(e), 64)
		f = func(*Row) Quantity { return Exactly(v) }
	case *ast.Ident, *ast.SelectorExpr:
		f, err = c.named(word(e))
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			a := c.compile(e.X)
			return func(r *Row) Quantity { return Quantity{}.Minus(a(r)) }
		}
	case *ast.BinaryExpr:
		if operations[e.Op.String()] != nil {
			return fold(e.Op.String(), e.X, e.Y)
		}
	case *ast.CallExpr:
		if name := word(e.Fun); operations[name] != nil && len(e.Args) > 0 {
			return fold(name, e.Args...)
		} else if do := functions[name]; do != nil && len(e.Args) == 1 {
			a := c.compile(e.Args[0])
			return func(r *Row) Quantity { return a(r).Each(do) }
		}
	}
	if err != nil {
		c.err = cmp.Or(c.err, fmt.Errorf("%.60q, character %d: %w", strings.ToLower(c.text), e.Pos(), err))
	}
	return f
}

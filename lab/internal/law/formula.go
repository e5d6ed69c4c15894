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
)

// A Formula is what arithmetic over named figures comes to for a row.
type Formula func(*Row) Quantity

// Always is a formula that comes to the same for every row.
func Always(q Quantity) Formula { return func(*Row) Quantity { return q } }

// ParseFormula reads arithmetic as Go has it: numbers, names, + - * /, parentheses, min, max and floor. It takes nothing
// else, so that a reader can compute it by hand. named gives what a name stands for, which may have dots.
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

type operation = func(a, b Quantity) Quantity

// operations are those of operators, and of functions of several figures.
var operations = map[string]operation{
	"+": Quantity.Plus, "-": Quantity.Minus, "*": Quantity.Times, "/": Quantity.Over,
	"min": func(a, b Quantity) Quantity {
		return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
	},
	"max": func(a, b Quantity) Quantity {
		return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
	},
}

func (c *compiler) compile(e ast.Expr) (f Formula) {
	word := func(e ast.Expr) string { return strings.ToLower(c.text[e.Pos()-1 : e.End()-1]) }
	fold := func(do operation, all ...ast.Expr) Formula {
		f := c.compile(all[0])
		for _, e := range all[1:] {
			a, b := f, c.compile(e)
			f = func(r *Row) Quantity { return do(a(r), b(r)) }
		}
		return f
	}
	err := errors.New("a formula has numbers, names, + - * /, parentheses, min and max of figures, and floor of one")
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.compile(e.X)
	case *ast.BasicLit:
		v := 0.0
		v, err = strconv.ParseFloat(word(e), 64)
		f = Always(Exactly(v))
	case *ast.Ident, *ast.SelectorExpr:
		f, err = c.named(word(e))
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			a := c.compile(e.X)
			return func(r *Row) Quantity { return Quantity{}.Minus(a(r)) }
		}
	case *ast.BinaryExpr:
		if do := operations[e.Op.String()]; do != nil {
			return fold(do, e.X, e.Y)
		}
	case *ast.CallExpr:
		if do := operations[word(e.Fun)]; do != nil && len(e.Args) > 0 {
			return fold(do, e.Args...)
		} else if word(e.Fun) == "floor" && len(e.Args) == 1 {
			a := c.compile(e.Args[0])
			return func(r *Row) Quantity { return a(r).Each(math.Floor) }
		}
	}
	if err != nil {
		c.err = cmp.Or(c.err, fmt.Errorf("%.60q, character %d: %w", strings.ToLower(c.text), e.Pos(), err))
	}
	return f
}

package audit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// A formula is arithmetic over named figures, in Go's syntax: numbers, + - * /,
// parentheses, min, max and floor. It has nothing else, so that a reader can
// compute it by hand.
type formula struct {
	text string
	look func(name string) (law.Quantity, error)
}

// evaluate computes a formula; look gives the figure for a name.
func evaluate(text string, look func(string) (law.Quantity, error)) (law.Quantity, error) {
	f := formula{text, look}
	e, err := f.parse()
	if err != nil {
		return law.Quantity{}, err
	}
	q, err := f.figure(e)
	if err == nil && !q.Finite() {
		err = fmt.Errorf("%q is no finite figure", text)
	}
	return q, err
}

// parse reads a formula in capitals, since a name may be one of Go's words, which are
// not in capitals.
func (f formula) parse() (ast.Expr, error) {
	if at := strings.IndexFunc(f.text, strange); at >= 0 {
		return nil, f.fault(token.Pos(at+1), "a formula has no %.4q", f.text[at:])
	}
	for _, comment := range []string{"//", "/*"} {
		if at := strings.Index(f.text, comment); at >= 0 {
			return nil, f.fault(token.Pos(at+1), "a formula has no %q", comment)
		}
	}
	// In a new file set a position is the number of the character.
	e, err := parser.ParseExprFrom(token.NewFileSet(), "", strings.ToUpper(f.text), parser.SkipObjectResolution)
	if faults := (scanner.ErrorList{}); errors.As(err, &faults) {
		return nil, f.fault(token.Pos(faults[0].Pos.Column), "%s", strings.ToLower(faults[0].Msg))
	}
	return e, err
}

func strange(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_., ()+-*/", r)
}

func (f formula) fault(at token.Pos, format string, args ...any) error {
	return fmt.Errorf("%.200q, character %d: %s", f.text, at, fmt.Sprintf(format, args...))
}

func (f formula) figure(e ast.Expr) (law.Quantity, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.figure(e.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		if err != nil || strings.Trim(e.Value, "0123456789.") != "" {
			return law.Quantity{}, f.fault(e.Pos(), "%s is no number of digits", strings.ToLower(e.Value))
		}
		return law.Exactly(v), nil
	case *ast.UnaryExpr:
		if e.Op != token.SUB {
			return law.Quantity{}, f.fault(e.OpPos, "%s is none of + - * /", e.Op)
		}
		q, err := f.figure(e.X)
		return law.Quantity{}.Minus(q), err
	case *ast.BinaryExpr:
		return f.binary(e)
	case *ast.CallExpr:
		return f.call(e)
	}
	if name(e) == "" {
		return law.Quantity{}, f.fault(e.Pos(), "a figure is wanted: a number, a name, or min, max or floor of figures")
	}
	q, err := f.look(name(e))
	if err != nil {
		err = f.fault(e.Pos(), "%v", err)
	}
	return q, err
}

func (f formula) binary(e *ast.BinaryExpr) (law.Quantity, error) {
	x, err := f.figure(e.X)
	if err != nil {
		return x, err
	}
	y, err := f.figure(e.Y)
	if err != nil {
		return y, err
	}
	switch e.Op {
	case token.ADD:
		return x.Plus(y), nil
	case token.SUB:
		return x.Minus(y), nil
	case token.MUL:
		return x.Times(y), nil
	case token.QUO:
		if x, err = x.Over(y); err != nil {
			err = f.fault(e.Y.Pos(), "%v", err)
		}
		return x, err
	}
	return x, f.fault(e.OpPos, "%s is none of + - * /", e.Op)
}

// calls has what a formula can call: a fold of two figures or more, or, without
// one, a function of a single figure.
var calls = map[string]func(a, b law.Quantity) law.Quantity{
	"min": func(a, b law.Quantity) law.Quantity {
		return law.Between(min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High))
	},
	"max": func(a, b law.Quantity) law.Quantity {
		return law.Between(max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High))
	},
	"floor": nil,
}

func callable(name string) bool {
	_, ok := calls[name]
	return ok
}

func (f formula) call(e *ast.CallExpr) (q law.Quantity, err error) {
	called := name(e.Fun)
	fold := calls[called]
	switch {
	case !callable(called) || e.Ellipsis.IsValid():
		return q, f.fault(e.Pos(), "a formula can call min, max and floor alone")
	case fold == nil && len(e.Args) != 1:
		return q, f.fault(e.Pos(), "floor wants one figure")
	case fold != nil && len(e.Args) < 2:
		return q, f.fault(e.Pos(), "%s wants two figures or more", called)
	}
	for i, arg := range e.Args {
		a, err := f.figure(arg)
		switch {
		case err != nil:
			return a, err
		case i == 0:
			q = a
		default:
			q = fold(q, a)
		}
	}
	if fold == nil {
		q = q.Each(math.Floor)
	}
	return q, nil
}

// name is the dotted name that an expression is; "" if it is another.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.ToLower(e.Name)
	case *ast.SelectorExpr:
		if of := name(e.X); of != "" {
			return of + "." + strings.ToLower(e.Sel.Name)
		}
	}
	return ""
}

// lone is the name that a formula is; "" if it is more.
func lone(text string) string {
	e, _ := formula{text: text}.parse()
	return name(e)
}

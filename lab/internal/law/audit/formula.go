package audit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// A formula is arithmetic over named figures: numbers, + - * /, parentheses, min, max and floor. It has nothing else, so
// that a reader can compute it by hand. It is computed while it is read.
type formula struct {
	text   string
	at     int
	figure func(name string) (law.Quantity, error)
	err    error // the first; nothing is read after it
}

// evaluate computes a formula; figure gives the figure of a name.
func evaluate(text string, figure func(name string) (law.Quantity, error)) (law.Quantity, error) {
	f := &formula{text: text, figure: figure}
	const longest = 1000 // that a person can still read
	if len(text) > longest {
		return law.Quantity{}, fmt.Errorf("%.40q… has more than %d characters", text, longest)
	}
	q := f.sum()
	switch {
	case f.next() != 0:
		f.fail(f.at, errors.New("an operator is wanted"))
	case !q.Finite():
		f.fail(0, errors.New("it is no finite figure"))
	}
	return q, f.err
}

func (f *formula) fail(at int, err error) {
	if f.err == nil && err != nil {
		f.err, f.at = fmt.Errorf("%q, character %d: %w", f.text, at+1, err), len(f.text)
	}
}

// next is the next character that is no space; 0 at the end.
func (f *formula) next() byte {
	for f.at < len(f.text) && f.text[f.at] == ' ' {
		f.at++
	}
	if f.at == len(f.text) {
		return 0
	}
	return f.text[f.at]
}

func (f *formula) sum() law.Quantity {
	q := f.product()
	for c := f.next(); c == '+' || c == '-'; c = f.next() {
		f.at++
		if r := f.product(); c == '+' {
			q = q.Plus(r)
		} else {
			q = q.Minus(r)
		}
	}
	return q
}

func (f *formula) product() law.Quantity {
	q := f.operand()
	for c := f.next(); c == '*' || c == '/'; c = f.next() {
		f.at++
		f.next()
		at := f.at
		r := f.operand()
		if c == '*' {
			q = q.Times(r)
			continue
		}
		over, err := q.Over(r)
		f.fail(at, err)
		q = over
	}
	return q
}

func (f *formula) operand() (q law.Quantity) {
	c, at := f.next(), f.at
	for f.at < len(f.text) && strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789_.", f.text[f.at]) >= 0 {
		f.at++
	}
	word := f.text[at:f.at]
	var err error
	switch {
	case c == '-':
		f.at++
		q = q.Minus(f.operand())
	case c == '(':
		q = f.call("max", at)
	case word == "":
		err = errors.New("a figure is wanted: a number, a name, or min, max or floor of figures")
	case c >= '0' && c <= '9':
		var v float64
		v, err = strconv.ParseFloat(word, 64)
		q = law.Exactly(v)
	case f.next() == '(':
		q = f.call(word, at)
	default:
		q, err = f.figure(word)
	}
	f.fail(at, err)
	return q
}

// functions are what a formula can call, each with what it makes of two figures; floor is of one.
var functions = map[string]func(a, b law.Quantity) law.Quantity{
	"min": func(a, b law.Quantity) law.Quantity {
		return law.Quantity{Value: min(a.Value, b.Value), Low: min(a.Low, b.Low), High: min(a.High, b.High)}
	},
	"max": func(a, b law.Quantity) law.Quantity {
		return law.Quantity{Value: max(a.Value, b.Value), Low: max(a.Low, b.Low), High: max(a.High, b.High)}
	},
	"floor": nil,
}

// call reads figures in parentheses, and folds them by a function.
func (f *formula) call(name string, at int) (q law.Quantity) {
	fold, known := functions[name]
	f.at++
	q = f.sum()
	for f.next() == ',' && fold != nil {
		f.at++
		q = fold(q, f.sum())
	}
	switch {
	case f.next() != ')' || !known:
		f.fail(at, errors.New("a ) is wanted, and a formula can call min and max of figures, and floor of one"))
		return q
	case fold == nil:
		q = q.Each(math.Floor)
	}
	f.at++
	return q
}

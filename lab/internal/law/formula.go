package law

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Formula is what arithmetic over named figures comes to for a row.
type Formula func(*Row) Quantity

// Always is a formula that comes to the same for every row.
func Always(q Quantity) Formula { return func(*Row) Quantity { return q } }

// ParseFormula reads arithmetic: numbers, names, + - * /, parentheses, min, max and floor. It takes nothing else, so that
// a reader can compute a formula by hand. named gives what a name stands for. An error tells the place.
func ParseFormula(text string, named func(name string) (Formula, error)) (Formula, error) {
	const longest = 1000 // that a person can still read
	if len(text) > longest {
		return nil, fmt.Errorf("%.40q… has more than %d characters", text, longest)
	}
	p := &parser{text: text, named: named}
	f := p.join(0)
	if p.next() != 0 {
		p.fail(p.at, errors.New("an operator is wanted"))
	}
	return f, p.err
}

type parser struct {
	text  string
	at    int
	named func(string) (Formula, error)
	err   error // the first; nothing is read after it
}

func (p *parser) fail(at int, err error) {
	if p.err == nil && err != nil {
		p.err, p.at = fmt.Errorf("%q, character %d: %w", p.text, at+1, err), len(p.text)
	}
}

// next is the next character that is no space; 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

type operation = func(a, b Quantity) Quantity

// operators join operands, the last of them first.
var operators = [...]map[byte]operation{{'+': Quantity.Plus, '-': Quantity.Minus}, {'*': Quantity.Times, '/': Quantity.Over}}

// join reads operands that operators from some level on join.
func (p *parser) join(level int) Formula {
	if level == len(operators) {
		return p.operand()
	}
	f := p.join(level + 1)
	for do := operators[level][p.next()]; do != nil; do = operators[level][p.next()] {
		p.at++
		f = both(do, f, p.join(level+1))
	}
	return f
}

func both(do operation, a, b Formula) Formula { return func(r *Row) Quantity { return do(a(r), b(r)) } }

func (p *parser) operand() (f Formula) {
	c, at := p.next(), p.at
	for p.at < len(p.text) && strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789_.", p.text[p.at]) >= 0 {
		p.at++
	}
	word := p.text[at:p.at]
	f, err := Always(Quantity{}), error(nil)
	switch {
	case c == '-':
		p.at++
		f = both(Quantity.Minus, f, p.operand())
	case p.next() == '(':
		f = p.call(word, at)
	case word == "":
		err = errors.New("a figure is wanted: a number, a name, or min, max or floor of figures")
	case isDigit(c):
		var v float64
		v, err = strconv.ParseFloat(word, 64)
		f = Always(Exactly(v))
	default:
		f, err = p.named(word)
	}
	p.fail(at, err)
	return f
}

// folds are functions of several figures.
var folds = map[string]operation{
	"min": func(a, b Quantity) Quantity {
		return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
	},
	"max": func(a, b Quantity) Quantity {
		return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
	},
}

// call reads figures in parentheses, and what a function makes of them.
func (p *parser) call(name string, at int) Formula {
	p.at++
	f, fold := p.join(0), folds[name]
	for p.next() == ',' && fold != nil {
		p.at++
		f = both(fold, f, p.join(0))
	}
	if p.next() != ')' || fold == nil && name != "" && name != "floor" {
		p.fail(at, errors.New("a ) is wanted, and a formula can call min and max of figures, and floor of one"))
		return f
	}
	p.at++
	if name != "floor" {
		return f
	}
	return func(r *Row) Quantity { return f(r).Each(math.Floor) }
}

package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A formula is arithmetic over named figures: numbers, + - * /, parentheses,
// min, max and floor. It has nothing else, so that a reader can compute it by
// hand.
//
//	sum     = product {("+" | "-") product}
//	product = factor {("*" | "/") factor}
//	factor  = ["-"] (number | name | "(" sum ")" | ("min"|"max"|"floor") "(" sum {"," sum} ")")
type formula struct {
	text string
	at   int
	deep int
	look func(name string) (Quantity, error)
}

// deepest limits the nesting of parentheses, to keep the stack small. No
// formula that a person can check comes near.
const deepest = 50

// evaluate computes a formula; look gives the figure for a name.
func evaluate(text string, look func(string) (Quantity, error)) (Quantity, error) {
	f := &formula{text: text, look: look}
	q, err := f.sum()
	if err == nil && f.peek() != 0 {
		err = f.fault("nothing can follow here")
	}
	if err == nil && !q.finite() {
		err = fmt.Errorf("%q is no finite figure", text)
	}
	return q, err
}

func (f *formula) fault(format string, args ...any) error {
	return fmt.Errorf("%q, character %d: %s", f.text, f.at+1, fmt.Sprintf(format, args...))
}

// peek gives the next non-blank character; 0 at the end.
func (f *formula) peek() byte {
	for f.at < len(f.text) && f.text[f.at] == ' ' {
		f.at++
	}
	if f.at == len(f.text) {
		return 0
	}
	return f.text[f.at]
}

func (f *formula) take(c byte) bool {
	if f.peek() != c {
		return false
	}
	f.at++
	return true
}

func (f *formula) sum() (Quantity, error) {
	if f.deep++; f.deep > deepest {
		return Quantity{}, f.fault("nested too deep")
	}
	defer func() { f.deep-- }()
	q, err := f.product()
	for err == nil {
		var r Quantity
		switch {
		case f.take('+'):
			if r, err = f.product(); err == nil {
				q = q.plus(r)
			}
		case f.take('-'):
			if r, err = f.product(); err == nil {
				q = q.minus(r)
			}
		default:
			return q, nil
		}
	}
	return q, err
}

func (f *formula) product() (Quantity, error) {
	q, err := f.factor()
	for err == nil {
		var r Quantity
		switch {
		case f.take('*'):
			if r, err = f.factor(); err == nil {
				q = q.times(r)
			}
		case f.take('/'):
			at := f.at
			if r, err = f.factor(); err == nil {
				if q, err = q.over(r); err != nil {
					f.at = at
					err = f.fault("%v", err)
				}
			}
		default:
			return q, nil
		}
	}
	return q, err
}

func (f *formula) factor() (Quantity, error) {
	c := f.peek()
	switch {
	case c == '-':
		f.at++
		if f.peek() == '-' {
			return Quantity{}, f.fault("a second minus")
		}
		q, err := f.factor()
		return Quantity{}.minus(q), err
	case c == '(':
		f.at++
		q, err := f.sum()
		if err == nil && !f.take(')') {
			err = f.fault("a closing parenthesis is missing")
		}
		return q, err
	case c >= '0' && c <= '9':
		word := f.word(func(c byte) bool { return c >= '0' && c <= '9' || c == '.' })
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return Quantity{}, f.fault("%q is no number", word)
		}
		return Exactly(v), nil
	case letter(c):
		start := f.at
		word := f.word(func(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '.' })
		if call, ok := calls[word]; ok && f.take('(') {
			return f.call(word, call)
		}
		q, err := f.look(word)
		if err != nil {
			f.at = start
			return q, f.fault("%v", err)
		}
		return q, nil
	case c == 0:
		return Quantity{}, f.fault("the formula ends where a figure is wanted")
	}
	return Quantity{}, f.fault("a figure is wanted, not %q", f.text[f.at])
}

var calls = map[string]func(a, b Quantity) Quantity{
	"min": func(a, b Quantity) Quantity {
		return Quantity{min(a.Value, b.Value), min(a.Low, b.Low), min(a.High, b.High)}
	},
	"max": func(a, b Quantity) Quantity {
		return Quantity{max(a.Value, b.Value), max(a.Low, b.Low), max(a.High, b.High)}
	},
	"floor": nil, // takes one argument
}

func (f *formula) call(name string, fold func(a, b Quantity) Quantity) (Quantity, error) {
	q, err := f.sum()
	for n := 1; err == nil; n++ {
		switch {
		case f.take(')'):
			if fold == nil {
				q = q.each(math.Floor)
			} else if n < 2 {
				return q, f.fault("%s wants two figures or more", name)
			}
			return q, nil
		case fold != nil && f.take(','):
			var r Quantity
			if r, err = f.sum(); err == nil {
				q = fold(q, r)
			}
		default:
			return q, f.fault("a closing parenthesis is missing")
		}
	}
	return q, err
}

func (f *formula) word(in func(byte) bool) string {
	start := f.at
	for f.at < len(f.text) && in(f.text[f.at]) {
		f.at++
	}
	return f.text[start:f.at]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }

// lone tells whether a formula is just a name.
func lone(text string) bool {
	text = strings.TrimSpace(text)
	for i := range len(text) {
		if c := text[i]; !letter(c) && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != ""
}

package law

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Quantity is a figure and the range of values it may stand for.
type Quantity struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Exactly is a quantity with no range: a number in a formula, a setting.
func Exactly(v float64) Quantity { return Quantity{v, v, v} }

// Around is a quantity known to within half on either side.
func Around(v, half float64) Quantity { return Quantity{v, v - half, v + half} }

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

// Over divides. By what may be zero it gives no finite quantity.
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

func (q Quantity) Finite() bool {
	sum := q.Value + q.Low + q.High
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// Rounded keeps nine digits: few enough for the same file on every machine, and far more than any printed figure has.
func (q Quantity) Rounded() Quantity {
	return q.Each(func(v float64) float64 { return words.Digits(v) + 0 }) // avoids negative zero
}

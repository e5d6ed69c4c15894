// Package statstest makes figures as noisy as those of the machines the lab
// runs on, so that tests can see whether stated error rates hold there.
package statstest

import (
	"math"
	"math/rand/v2"
)

// A Noise draws what two conditions of equal cost show in as many blocks. Both
// are measured once a block, in random order.
type Noise struct {
	Name string
	Draw func(r *rand.Rand, blocks int) (a, b []float64)
}

// Noises are the kinds that were seen, and two that any machine has.
var Noises = []Noise{
	{"lognormal", each(func(r *rand.Rand) func() float64 {
		return func() float64 { return math.Exp(0.03 * r.NormFloat64()) }
	})},
	{"heavy tails", each(func(r *rand.Rand) func() float64 {
		// Student's t of two degrees of freedom: it has no variance.
		return func() float64 { return math.Exp(0.02 * r.NormFloat64() / math.Sqrt(r.ExpFloat64())) }
	})},
	{"two speeds", each(func(r *rand.Rand) func() float64 {
		// A shared core: 1.6 or 2.5 for stretches of trials, at times from one
		// trial of a block to the next.
		slow := r.IntN(2) == 0
		return func() float64 {
			if r.IntN(8) == 0 {
				slow = !slow
			}
			speed := 1.6
			if slow {
				speed = 2.5
			}
			return speed * math.Exp(0.01*r.NormFloat64())
		}
	})},
	{"drift", each(func(r *rand.Rand) func() float64 {
		// Two percent a trial, all one way.
		level := 0.0
		return func() float64 { level += 0.02; return math.Exp(level + 0.01*r.NormFloat64()) }
	})},
	{"neighbour", each(func(r *rand.Rand) func() float64 {
		// Now and then something else runs, for a trial; never the other way.
		return func() float64 {
			v := math.Exp(0.01 * r.NormFloat64())
			if r.IntN(4) == 0 {
				v *= 1 + 0.3*r.ExpFloat64()
			}
			return v
		}
	})},
}

// each makes a noise of what one trial after the other shows.
func each(machine func(*rand.Rand) func() float64) func(*rand.Rand, int) (a, b []float64) {
	return func(r *rand.Rand, blocks int) (a, b []float64) {
		next := machine(r)
		for range blocks {
			x, y := next(), next()
			if r.IntN(2) == 0 {
				x, y = y, x
			}
			a, b = append(a, x), append(b, y)
		}
		return a, b
	}
}

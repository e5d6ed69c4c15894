package stats

import (
	"math"
	"sync"
)

// rules keeps the rules that were made, by their number of points.
var rules sync.Map

type rule struct{ at, weights []float64 }

// gauss gives points between 0 and 1 and their weights, by which the integral from 0
// to 1 of any polynomial of the degree is exact (Gauss and Legendre). The integrand
// of LogE is one, and none of its values is negative there, so nothing cancels.
func gauss(degree int) (at, weights []float64) {
	n := 16
	for 2*n-1 < degree {
		n *= 2
	}
	r, ok := rules.Load(n)
	if !ok {
		r, _ = rules.LoadOrStore(n, legendre(n))
	}
	return r.(rule).at, r.(rule).weights
}

// legendre finds the roots of the nth Legendre polynomial by Newton's method.
func legendre(n int) rule {
	out := rule{make([]float64, n), make([]float64, n)}
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		slope := 0.0
		for range 10 {
			p, before := 1.0, 0.0
			for k := range n {
				p, before = (float64(2*k+1)*x*p-float64(k)*before)/float64(k+1), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			step := p / slope
			if x -= step; math.Abs(step) < 1e-15 {
				break
			}
		}
		out.at[i], out.weights[i] = (1+x)/2, 1/((1-x*x)*slope*slope)
	}
	return out
}

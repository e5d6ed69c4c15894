package main

import (
	"math"
	"slices"
	"time"
)

// A spend shares one budget of time among experiments: next is always what is likely
// to decide most claims a second, so that a budget that ends early has done the most.
// For an experiment without blocks that is its clear case; for another, what its
// claims still need. That counts for half where blocks disagree, and for half again
// each time that it was foretold and did not come true, or a claim that lies on its
// own bar would take all that is left. A spend chooses only, and measures nothing.
type spend struct {
	left  time.Duration
	parts []*part
}

// A part is one experiment's.
type part struct {
	block  time.Duration // about how long one block takes
	claims int           // that it has
	clear  int           // blocks that decide a clear case
	most   int           // blocks that may be made of it; 0: any number
	made   int
	missed int   // times that it went on and left as many claims open
	over   bool  // nothing more is to be had of it
	needs  []int // of each claim that is open after a run, about how many further blocks decide it; 0: cannot be said
}

// A stint is what comes next: so many blocks of a part at the most, 0 for as many
// as the budget holds.
type stint struct{ part, blocks int }

// leastFurther is the least that a further run has, where the budget holds it: one
// block alone is hardly worth a file, and estimates fall short.
const leastFurther = 3

// next says what to measure next; false where nothing more can be decided within
// the budget.
func (s *spend) next() (stint, bool) {
	if len(s.parts) == 1 {
		return s.alone()
	}
	best, rate := stint{}, 0.0
	try := func(i, blocks int, claims float64, cost time.Duration) {
		if r := claims / cost.Seconds(); cost <= s.left && r > rate {
			best, rate = stint{i, blocks}, r
		}
	}
	for i, p := range s.parts {
		switch {
		case p.over:
		case p.made == 0:
			try(i, p.clear, float64(p.claims), time.Duration(p.clear)*p.block)
		default:
			needs := slices.DeleteFunc(slices.Clone(p.needs), func(n int) bool { return n == 0 })
			slices.Sort(needs)
			for k, n := range needs {
				fits, doubt := int(s.left/p.block), p.missed
				if n > leastFurther { // its blocks disagree
					doubt++
				}
				try(i, min(max(n+n/2, leastFurther), fits), math.Ldexp(float64(k+1), -doubt), time.Duration(n)*p.block)
			}
		}
	}
	return best, rate > 0
}

// alone goes on with the only experiment until its claims are decided or the time
// is spent: nobody else could use it.
func (s *spend) alone() (stint, bool) {
	p := s.parts[0]
	switch {
	case p.over, p.most > 0 && p.made >= p.most, p.made > 0 && s.left < p.block:
		return stint{}, false
	case p.most > 0:
		return stint{0, p.most - p.made}, true
	}
	return stint{}, true
}

// took takes a run off the budget. Its blocks tell how long the next ones take.
func (s *spend) took(at, blocks int, length time.Duration) {
	p := s.parts[at]
	s.left -= length
	if p.made += blocks; blocks == 0 {
		p.over = true
		return
	}
	p.block = length / time.Duration(blocks)
}

// open has a part know what its open claims need after a run.
func (p *part) open(needs []int) {
	if len(p.needs) > 0 && len(needs) >= len(p.needs) {
		p.missed++
	}
	p.needs = needs
}

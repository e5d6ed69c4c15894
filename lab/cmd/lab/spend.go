package main

import (
	"math"
	"slices"
	"time"
)

// A spend shares one budget of time among experiments. next is always the experiment that
// is likely to decide most claims per second, so that a budget that runs out early has
// decided the most. For an experiment without blocks, the estimate is its clear case; for
// another, it is the blocks that its open claims still need. The estimate counts half
// where blocks disagree, and half again each time that it did not come true; otherwise a
// claim that lies exactly on its limit would take all the time that is left. An
// experiment without blocks does not come first for being new: an expensive one would
// take the time in which several others are decided. A spend only chooses; it measures
// nothing.
type spend struct {
	left  time.Duration
	parts []*part
}

// A part is the share of one experiment.
type part struct {
	block  time.Duration // about how long one block takes
	claims int           // of the experiment
	clear  int           // blocks that decide its claims if all agree
	most   int           // blocks that may be made; 0: any number
	made   int
	missed int   // times that further blocks left as many claims open as before
	over   bool  // no further run is possible or needed
	needs  []int // for each claim that is open after a run, about how many further blocks decide it; 0: not known
}

// A stint is what is measured next: at most so many blocks of a part; 0 means as many as
// the budget holds.
type stint struct{ part, blocks int }

// leastFurther is how many blocks a further run has at least, if the budget holds them: a
// file for one block is hardly worth it, and estimates are often too low.
const leastFurther = 3

// next says what to measure next; false if no more claims can be decided within the
// budget.
func (s *spend) next() (stint, bool) {
	if len(s.parts) == 1 {
		return s.alone()
	}
	best, rate := stint{}, 0.0
	try := func(i, blocks int, claims float64, doubt int, cost time.Duration) {
		r := math.Ldexp(claims, -doubt) / cost.Seconds()
		if cost <= s.left && r > rate {
			best, rate = stint{i, blocks}, r
		}
	}
	for i, p := range s.parts {
		switch {
		case p.over:
		case p.made == 0:
			try(i, p.clear, float64(p.claims), 0, time.Duration(p.clear)*p.block)
		default:
			needs := slices.DeleteFunc(slices.Clone(p.needs), func(n int) bool { return n == 0 })
			slices.Sort(needs)
			for k, n := range needs {
				fits, doubt := int(s.left/p.block), p.missed
				if n > leastFurther { // its blocks disagree
					doubt++
				}
				try(i, min(max(n+n/2, leastFurther), fits), float64(k+1), doubt, time.Duration(n)*p.block)
			}
		}
	}
	return best, rate > 0
}

// alone measures the only experiment until its claims are decided or the time is spent:
// no other experiment could use the time.
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

// took takes a run's time off the budget. The time of its blocks is the estimate for the
// next ones.
func (s *spend) took(at, blocks int, length time.Duration) {
	p := s.parts[at]
	s.left -= length
	if p.made += blocks; blocks == 0 {
		p.over = true
		return
	}
	p.block = length / time.Duration(blocks)
}

// open updates a part with what its open claims need after a run.
func (p *part) open(needs []int) {
	if len(p.needs) > 0 && len(needs) >= len(p.needs) {
		p.missed++
	}
	p.needs = needs
}

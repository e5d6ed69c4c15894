package bench

import (
	"math"
	"time"
)

// The rule for when a server is warm. We chose it before it measured any server.
//
// A server that compiles while it runs, fills caches or starts workers costs more at first. So before the first block each
// is loaded until it is steady, or a limit has come; and in each block it is warmed up for as long as that took. No block's
// own result has a part in it.
//
// Steady is a server whose latest stretch, the second half of all its load so far, has two halves that cost the same
// CPU a request. The stretch grows with the time, because a cost that falls slowly changes little within any fixed
// time. The halves agree within drift, or within what the scatter of single turns explains, if that is small enough.
// They agree twice in a row, the second time after half as much load again. What falls by a tenth a second is still
// taken for warm in one look of ten; its comparison is then of servers of that age, as each block's are.
//
// The server was warm from the first moment on, of those that double, from which as much load as a short block has cost
// the same as the latest stretch. If it is not steady at the limit, its blocks decide. A server is never steady if its
// CPU a request goes the same way in block after block, by more than drift, from one half of each to the other. Of such
// a server nothing is decided. A warm-up that is given is taken as it is.
const (
	drift       = 0.03                   // the margin below which nothing is called a difference unless that is asked for
	chance      = 2                      // standard errors that are no difference
	surely      = 3                      // standard errors beyond which it is one, at the limit
	known       = 0.05                   // the standard error above which more load is needed, and what is let pass at the limit
	lookSlot    = 100 * time.Millisecond // of the look: its grain, and the shortest warm-up
	firstTurns  = 12                     // after which a server is judged first
	growth      = 1.5                    // of the time from one judgement to the next
	blockTurns  = 4                      // as much load as a short block has
	mostLooking = 20 * time.Second       // at each server
	ofBudget    = 20                     // and of the budget no more than one part in so many
)

// A turn is what a slot of load cost a server.
type turn struct {
	requests int64
	cpu      float64 // seconds
}

// costOf is the mean CPU time of a request in some turns, and its variance; of one turn that is 0.
func costOf(turns []turn) (mean, variance float64) {
	requests, cpu, n := 0.0, 0.0, 0.0
	for _, t := range turns {
		if t.requests > 0 {
			requests, cpu, n = requests+float64(t.requests), cpu+t.cpu, n+1
		}
	}
	if requests == 0 {
		return 0, 0
	}
	mean = cpu / requests
	for _, t := range turns {
		if t.requests > 0 && n > 1 {
			off := t.cpu/float64(t.requests) - mean
			variance += off * off / (n - 1) / n
		}
	}
	return mean, variance
}

// steady tells whether the latest stretch of some turns is steady. At the limit only what surely
// is not is not.
func steady(turns []turn, limit bool) bool {
	n := len(turns)
	x, of := costOf(turns[n/2 : 3*n/4])
	y, other := costOf(turns[3*n/4:])
	if x == 0 || y == 0 {
		return false
	}
	by, wrong := math.Abs(x-y)/min(x, y), math.Sqrt(of+other)/min(x, y)
	if limit {
		return by <= max(known, surely*wrong)
	}
	return by <= max(drift, chance*wrong) && wrong <= known
}

// warmAfter is after how many turns a server was warm that is steady now. The turns of the steady
// stretch tell how far turns may lie apart: a cost that still falls has a large scatter of its own.
func warmAfter(turns []turn) int {
	n := len(turns)
	cost, variance := costOf(turns[n/2:])
	wrong := math.Sqrt(variance*float64(n-n/2)*(1.0/blockTurns+1/float64(n-n/2))) / cost
	for after := 1; after < n/2; after *= 2 {
		if then, _ := costOf(turns[after : after+blockTurns]); then > 0 && math.Abs(then/cost-1) <= max(drift, chance*wrong) {
			return after
		}
	}
	return n / 2
}

// until has a server that had some turns loaded in more of them until it is steady, or for so many turns, and tells after
// how many it was warm; false if it never was.
func until(turns *[]turn, most int, load func(more int) error) (after int, is bool, err error) {
	for n, agreed := firstTurns, 0; ; n = int(growth * float64(n)) {
		n = min(n, most)
		if err := load(n - len(*turns)); err != nil {
			return 0, false, err
		}
		if agreed++; !steady(*turns, false) {
			agreed = 0
		}
		switch {
		case agreed == 2 || n == most && steady(*turns, true):
			return warmAfter(*turns), true, nil
		case n == most:
			return 0, false, nil
		}
	}
}

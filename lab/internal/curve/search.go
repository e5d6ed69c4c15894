package curve

import (
	"cmp"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Search finds between which rates a server stops to keep a p99. It halves a span of rates, by the
// better of three slots at each, which may err. Then it asks both neighbours that it found again and
// again, until bets on "more than half of the slots keep it" and on "more than half do not" are won.
// Where most slots say the contrary it searches on from there. Only the later slots are evidence, at
// each rate by themselves, so it may look after each. The n-th rate on a side has to win n(n+1) times
// as much, so that all of them together err no more often than one would.
type Search struct {
	server    int
	target    float64 // seconds
	ceiling   float64 // requests a second in a closed loop
	level     float64 // the error that the whole answer may have
	bottom    int     // the lowest rate that is asked
	low, high int     // the highest rate that was kept, the lowest that was not
	wall      int     // the lowest rate at which the client was late
	stride    int
	confirms  bool
	blocks    int
	votes, at map[int]*tally // of the search, and of what confirms it
	ranks     [2]map[int]int // by side: how many rates had been judged there before
}

// A tally counts the slots of a rate.
type tally struct{ kept, lost, late int }

func (t *tally) all() int { return t.kept + t.lost + t.late }

// close reports whether a rate is too close to call, if so many slots speak for one side.
func (t *tally) close(yes int) bool {
	return t.all() >= manySlots || t.all() >= 2*fewSlots && 4*yes <= 3*t.all()
}

// The rates are steps of 5 %, from a thousandth of the closed loop, though not below MinRPS, to
// four times as much.
const (
	step       = 1.05
	lowest     = -142
	top        = 28
	first      = -14 // about a half
	MostBlocks = 80
	fewSlots   = 5  // that can show a rate to be the wrong one
	manySlots  = 20 // after which a rate is too close to call
)

const (
	keeps = iota
	loses
)

// MinRPS is the lowest rate of which the longest slot tells a p99. A server has to answer ten times as
// many in a closed loop.
const MinRPS = 10

// NewSearch begins a search for the highest rate of a server that keeps a p99 of target seconds.
func NewSearch(server int, target, ceiling, level float64) *Search {
	bottom := max(lowest, int(math.Ceil(math.Log(MinRPS/ceiling)/math.Log(step))))
	return &Search{server: server, target: target, ceiling: ceiling, level: level, bottom: bottom, low: bottom - 1, high: top + 1,
		wall: top + 1, stride: -first, votes: map[int]*tally{}, at: map[int]*tally{}, ranks: [2]map[int]int{{}, {}}}
}

func (s *Search) rps(i int) float64 {
	return min(max(1, math.Round(s.ceiling*math.Pow(step, float64(i)))), load.MaxRate)
}

// Asks are the slots of the next block; none when the search is over.
func (s *Search) Asks() (asks []Ask) {
	for _, i := range s.next() {
		rps := s.rps(i)
		// A p99 of three thousand requests has thirty beyond it.
		asks = append(asks, Ask{s.server, rps, min(max(1, 3000/rps), 10)})
	}
	return asks
}

func (s *Search) next() (open []int) {
	switch lower, higher := s.low >= s.bottom, s.high <= top; {
	case s.blocks >= MostBlocks:
		return nil
	case !s.confirms && !lower && !higher:
		return []int{first}
	case !s.confirms && !higher:
		return []int{min(s.low+s.stride, top)}
	case !s.confirms && !lower:
		return []int{max(s.high-s.stride, s.bottom)}
	case !s.confirms:
		return []int{(s.low + s.high) / 2}
	}
	if s.low >= s.bottom && !s.shown(s.low, keeps) {
		open = append(open, s.low)
	}
	if s.high < s.wall && !s.shown(s.high, loses) {
		open = append(open, s.high)
	}
	mid := (s.low + s.high) / 2
	if t := of(s.at, mid); len(open) == 0 && s.high-s.low > 1 && !(t.close(t.kept) && t.close(t.lost)) {
		open = append(open, mid)
	}
	return open
}

func of(all map[int]*tally, i int) *tally {
	if all[i] == nil {
		all[i] = &tally{}
	}
	return all[i]
}

// shown reports whether a rate was shown to be kept, or not to be, in more than half of its slots.
// What a late client left open counts against either.
func (s *Search) shown(i, side int) bool {
	t, rank := of(s.at, i), s.ranks[side]
	if _, ok := rank[i]; !ok {
		rank[i] = len(rank) + 1
	}
	yes := map[int]int{keeps: t.kept, loses: t.lost}[side]
	return confseq.Shown(yes, t.all(), s.level/2/float64(rank[i]*(rank[i]+1)))
}

// Saw takes what came of the last asks.
func (s *Search) Saw(slots []Slot) {
	tallies := s.votes
	if s.confirms {
		tallies = s.at
	}
	for n, i := range s.next() {
		t := of(tallies, i)
		switch kept := slots[n].Short() == "" && slots[n].Latency[p99] > 0 && slots[n].Latency[p99] <= s.target; {
		case kept: // latencies hold the client's own lateness: what was kept in spite of it was kept
			t.kept++
		case slots[n].Late() != "":
			t.late++
		default:
			t.lost++
		}
		if s.confirms {
			s.weigh(i, t)
		} else {
			s.halve(i, t)
		}
	}
	s.blocks++
}

// halve takes the better of three answers.
func (s *Search) halve(i int, t *tally) {
	switch {
	case t.kept > 1:
		s.low = i
	case t.late > 1:
		s.wall, s.high = i, i
	case t.lost+t.late > 1:
		s.high = i
	default:
		return
	}
	s.stride *= 2
	s.confirms = s.high-s.low <= 1 || s.low == top || s.high == s.bottom
	if s.confirms {
		s.stride = 1
	}
}

// weigh moves on from a rate that is the wrong one, or too close to call.
func (s *Search) weigh(i int, t *tally) {
	few := t.all() >= fewSlots
	if few && 2*t.late > t.all() {
		s.wall = min(s.wall, i)
	}
	switch {
	case i >= s.high || i <= s.low: // one of the neighbours
	case s.shown(i, keeps):
		s.low = i
	case s.shown(i, loses):
		s.high = i
	}
	switch {
	case i == s.low && !s.shown(i, keeps) && few && 4*t.kept <= t.all():
		s.again(s.bottom-1, i)
	case i == s.high && i < s.wall && !s.shown(i, loses) && few && 4*t.lost <= t.all():
		s.again(i, s.wall)
	case i == s.low && !s.shown(i, keeps) && t.close(t.kept):
		s.low = max(s.low-s.stride, s.bottom-1)
		s.stride = 2
	case i == s.high && !s.shown(i, loses) && t.close(t.lost):
		s.high = min(s.high+s.stride, top+1)
		s.stride = 2
	}
	s.high = min(s.high, s.wall)
}

// again searches on between other ends.
func (s *Search) again(low, high int) {
	s.low, s.high, s.stride, s.votes = low, high, 1, map[int]*tally{}
	s.confirms = high-low <= 1 || low == top || high == s.bottom
}

// Result is what the search came to.
func (s *Search) Result(name string) compare.Highest {
	h := compare.Highest{Server: name, P99S: s.target}
	seen := func(i int) compare.Shown {
		return compare.Shown{RateRPS: s.rps(i), Kept: of(s.at, i).kept, Slots: of(s.at, i).all()}
	}
	if s.low >= s.bottom && s.shown(s.low, keeps) {
		h.Kept = seen(s.low)
	}
	if s.high < s.wall && s.shown(s.high, loses) {
		h.NotKept = seen(s.high)
	}
	if s.wall <= top {
		h.ClientRPS = s.rps(s.wall)
	}
	h.Says = fmt.Sprintf("%s: at no rate was it shown that a p99 of %s is kept", name, words.Time(s.target))
	rps := func(v float64) string { return words.Grouped(v, 0) }
	if k := h.Kept; k.RateRPS > 0 {
		h.Says = fmt.Sprintf("%s keeps a p99 of %s at %s requests/s (in %d of %d slots)", name, words.Time(s.target),
			rps(k.RateRPS), k.Kept, k.Slots)
	}
	switch n := h.NotKept; {
	case n.RateRPS > 0:
		h.Says += fmt.Sprintf("; at %s requests/s it is not (in %d of %d)", rps(n.RateRPS), n.Slots-n.Kept, n.Slots)
	case h.ClientRPS > 0:
		h.Says += fmt.Sprintf("; the client was the wall above %s requests/s", rps(cmp.Or(h.Kept.RateRPS, h.ClientRPS)))
	default:
		h.Says += "; from where on it is not was not shown"
	}
	return h
}

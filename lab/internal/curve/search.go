package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Search finds between which rates a server stops to keep a p99. One side looks for the highest rate
// at which more than half of the slots keep it, another for the lowest at which more than half do not.
// First each halves a span of rates; a rate counts as found if three slots agree before two do not,
// which may err. Then a side bets on its statement at one rate, again and again. What is too close to
// call sends it away from the other side, by ever longer strides; once its statement is shown, it
// halves the way back. Only these later slots are evidence, at each rate by themselves and since the
// side chose it, so it may look after each. The n-th rate of a side has to win n(n+1) times as much,
// so that all of them together err no more often than one would.
type Search struct {
	server  int
	target  float64 // seconds
	ceiling float64 // requests a second in a closed loop
	level   float64 // the error that the whole answer may have
	wall    int     // the lowest rate at which the client was late
	blocks  int
	sides   [2]side
}

// A side counts the rates towards the other side, whichever way that is: its places are sign times
// the numbers of rates.
type side struct {
	sign, far, near int // the places from far to near may be asked
	stride          int
	good, bad       int   // the last place that was found, the first that was not
	votes           tally // of the place that is asked while it halves
	confirms, shown bool  // that good is to be shown, and was
	at              map[int]*tally
}

// A tally counts the slots of a rate.
type tally struct {
	slots [3]int // by what they say
	rank  int    // how many rates the side had chosen with this one
}

// What a slot says. The first two are the sides, too.
const (
	keeps = iota
	loses
	late
)

func (t tally) all() int { return t.slots[keeps] + t.slots[loses] + t.slots[late] }

// fails reports whether a rate is too close to call, or worse, if so many slots speak for a side.
func (t tally) fails(yes int) bool {
	n := t.all()
	return n >= manySlots || n >= 2*fewSlots && 4*yes <= 3*n || n >= fewSlots && 5*yes <= 3*n
}

// The rates are steps of 5 %, from a thousandth of the closed loop, though not below MinRPS, to
// four times as much.
const (
	step       = 1.05
	lowest     = -142
	top        = 28
	none       = top + 2 // is no rate
	first      = -14     // about a half
	MostBlocks = 80
	agree      = 3  // slots that find a rate while a side halves
	away       = 3  // the first stride to another place
	fewSlots   = 5  // that can show a rate to be the wrong one
	manySlots  = 30 // after which a rate is too close to call
)

// MinRPS is the lowest rate of which the longest slot tells a p99. A server has to answer ten times as
// many in a closed loop.
const MinRPS = 10

// NewSearch begins a search for the highest rate of a server that keeps a p99 of target seconds.
func NewSearch(server int, target, ceiling, level float64) *Search {
	bottom := max(lowest, int(math.Ceil(math.Log(MinRPS/ceiling)/math.Log(step))))
	towards := func(sign, far, near int) side {
		return side{sign: sign, far: far, near: near, stride: -first, good: far - 1, bad: near + 1, at: map[int]*tally{}}
	}
	return &Search{server: server, target: target, ceiling: ceiling, level: level, wall: top + 1,
		sides: [2]side{keeps: towards(1, bottom, top), loses: towards(-1, -top, -bottom)}}
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

func (s *Search) next() (rates []int) {
	for n := range s.sides {
		if i := s.asks(n); i != none && !slices.Contains(rates, i) {
			rates = append(rates, i)
		}
	}
	return rates
}

// asks is the rate that a side asks next, or none.
func (s *Search) asks(n int) int {
	a, place, ok := s.sides[n], 0, false
	switch {
	case a.confirms && !a.shown:
		place, ok = a.good, a.good >= a.far
	case a.confirms:
		place, ok = between(a.good, min(a.bad, -s.sides[1-n].good))
	case a.good < a.far && a.bad > a.near:
		place, ok = a.sign*first, true
	case a.bad > a.near:
		place, ok = min(a.good+a.stride, a.near), a.good < a.near
	case a.good < a.far:
		place, ok = max(a.bad-a.stride, a.far), a.bad > a.far
	default:
		place, ok = between(a.good, a.bad)
	}
	if rate := a.sign * place; ok && rate < s.wall && s.blocks < MostBlocks {
		return rate
	}
	return none
}

func between(good, bad int) (place int, ok bool) { return good + (bad-good)/2, bad-good > 1 }

// Saw takes what came of the last asks.
func (s *Search) Saw(slots []Slot) {
	asked, rates := s.next(), [2]int{s.asks(keeps), s.asks(loses)}
	s.blocks++
	for n, rate := range rates {
		if rate == none {
			continue
		}
		slot, says := slots[slices.Index(asked, rate)], loses
		switch {
		case slot.Short() == "" && slot.Latency[p99] > 0 && slot.Latency[p99] <= s.target:
			says = keeps // latencies hold the client's own lateness: what was kept in spite of it was kept
		case slot.Late() != "":
			says = late
		}
		if s.sides[n].confirms {
			s.weigh(n, rate, says)
		} else {
			s.halve(n, rate, says)
		}
	}
}

// halve takes a vote on a rate.
func (s *Search) halve(n, rate, says int) {
	a := &s.sides[n]
	a.votes.slots[says]++
	switch v := a.votes.slots; {
	case v[n] == agree:
		a.good = a.sign * rate
	case v[late] > 1:
		s.wall = min(s.wall, rate)
		fallthrough
	case v[1-n] > 1:
		a.bad = a.sign * rate
	default:
		return
	}
	a.votes = tally{}
	a.stride *= 2
	if a.bad-a.good <= 1 || a.good == a.near {
		a.confirms, a.stride, a.bad = true, away, a.near+1
	}
}

// weigh takes evidence at a rate.
func (s *Search) weigh(n, rate, says int) {
	a := &s.sides[n]
	place, t := a.sign*rate, a.at[rate]
	if t == nil {
		t = &tally{rank: len(a.at) + 1}
		a.at[rate] = t
	}
	t.slots[says]++
	if t.all() >= fewSlots && 2*t.slots[late] > t.all() {
		s.wall = min(s.wall, rate)
	}
	switch {
	// What a late client left open counts against either side.
	case confseq.Shown(t.slots[n], t.all(), s.level/2/float64(t.rank*(t.rank+1))):
		a.good, a.shown = place, true
	case !t.fails(t.slots[n]):
	case a.shown || place == a.far:
		a.bad = place
		a.good = min(a.good, place-1)
	default:
		a.bad, a.good, a.stride = place, max(place-a.stride, a.far), 2*a.stride
	}
}

// Result is what the search came to.
func (s *Search) Result(name string) compare.Highest {
	h := compare.Highest{Server: name, P99S: s.target}
	for n, shown := range []*compare.Shown{keeps: &h.Kept, loses: &h.NotKept} {
		if a := s.sides[n]; a.shown {
			rate := a.sign * a.good
			*shown = compare.Shown{RateRPS: s.rps(rate), Kept: a.at[rate].slots[keeps], Slots: a.at[rate].all()}
		}
	}
	if s.wall <= top {
		h.ClientRPS = s.rps(s.wall)
	}
	h.Says = fmt.Sprintf("%s: at no rate was it shown that a p99 of %s is kept", name, words.Time(s.target))
	if k := h.Kept; k.RateRPS > 0 {
		h.Says = fmt.Sprintf("%s keeps a p99 of %s at %s requests/s (in %d of %d slots)", name, words.Time(s.target),
			words.Grouped(k.RateRPS, 0), k.Kept, k.Slots)
	}
	switch n := h.NotKept; {
	case n.RateRPS > 0:
		h.Says += fmt.Sprintf("; at %s requests/s it is not (in %d of %d)", words.Grouped(n.RateRPS, 0), n.Slots-n.Kept, n.Slots)
	case h.ClientRPS > 0:
		h.Says += fmt.Sprintf("; the client was the wall above %s requests/s", words.Grouped(cmp.Or(h.Kept.RateRPS, h.ClientRPS), 0))
	default:
		h.Says += "; from where on it is not was not shown"
	}
	return h
}

package load

import (
	"math/rand/v2"
	"slices"
)

const (
	mostPlaces = 4096     // of a mix
	mostMixed  = 64 << 20 // bytes, where bodies are long
	mostAhead  = 1 << 20  // bytes that follow the mix once more, so that most writes are of one piece
)

// A mix is a target's requests in the order in which each connection sends them, over and
// over, as they are written. Connections begin at different places.
type mix struct {
	requests []Request
	order    []uint8 // by place: which request
	ends     []int   // by place, and on into the next turn: bytes before it
	bytes    []byte
}

// newMix draws the order, and prepares what is written. At most so many requests follow each other.
func newMix(requests []Request, host string, closes bool, seed uint64, depth int) mix {
	m := mix{requests: requests, ends: []int{0}}
	var texts [][]byte
	bytes, sum := 0.0, 0.0
	for _, r := range requests {
		text := r.text(host, closes)
		texts = append(texts, text)
		bytes, sum = bytes+r.weight()*float64(len(text)), sum+r.weight()
	}
	m.order = drawn(requests, sum, min(mostPlaces, max(4*len(requests), int(mostMixed/(bytes/sum)))), seed)
	for i := range len(m.order) + depth {
		text := texts[m.order[i%len(m.order)]]
		m.ends = append(m.ends, m.ends[i]+len(text))
		if i < len(m.order) || len(m.bytes) < m.size()+mostAhead {
			m.bytes = append(m.bytes, text...)
		}
	}
	return m
}

// size is how many bytes one turn has.
func (m *mix) size() int { return m.ends[len(m.order)] }

// after is a place of the first turn.
func (m *mix) after(place int) int {
	if n := len(m.order); place >= n {
		return place % n
	}
	return place
}

// drawn is an order of n places or a few more. Each request has its share of them, and about its
// share of any stretch: a lot draws the place of each within its stretch.
func drawn(requests []Request, sum float64, n int, seed uint64) []uint8 {
	if len(requests) == 1 {
		return []uint8{0}
	}
	chance := rand.New(rand.NewPCG(seed, mostPlaces))
	var order []uint8
	var at []float64
	for i, r := range requests {
		times := max(1, int(r.weight()/sum*float64(n)+0.5))
		for k := range times {
			place := (float64(k) + chance.Float64()) / float64(times)
			j, _ := slices.BinarySearch(at, place)
			at, order = slices.Insert(at, j, place), slices.Insert(order, j, uint8(i))
		}
	}
	return order
}

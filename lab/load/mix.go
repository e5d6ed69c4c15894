package load

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	mostPlaces = 4096     // of a mix
	mostMixed  = 64 << 20 // bytes of it, where bodies are long
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

// newMix draws the order, and prepares what is written. So many requests follow each other at
// the most.
func newMix(requests []Request, host string, closes bool, seed uint64, depth int) mix {
	m := mix{requests: requests}
	var texts [][]byte
	mean, sum := 0.0, 0.0
	for _, r := range requests {
		text := r.Text(host, closes)
		texts = append(texts, text)
		mean, sum = mean+r.weight()*float64(len(text)), sum+r.weight()
	}
	m.order = drawn(requests, min(mostPlaces, max(4*len(requests), int(mostMixed/(mean/sum)))), seed)
	m.ends = []int{0}
	for i := range len(m.order) + depth {
		text := texts[m.order[i%len(m.order)]]
		m.ends = append(m.ends, m.ends[i]+len(text))
		if i < len(m.order) || len(m.bytes) < m.ends[len(m.order)]+mostAhead {
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

// drawn is an order of n places or a few more. Each request has its share of them, and about
// its share of any stretch: it is drawn where in its share's stretch each one stands.
func drawn(requests []Request, n int, seed uint64) []uint8 {
	if len(requests) == 1 {
		return []uint8{0}
	}
	chance := rand.New(rand.NewPCG(seed, mostPlaces))
	sum := 0.0
	for _, r := range requests {
		sum += r.weight()
	}
	type stands struct {
		at float64
		of uint8
	}
	var all []stands
	for i, r := range requests {
		times := max(1, int(r.weight()/sum*float64(n)+0.5))
		for k := range times {
			all = append(all, stands{(float64(k) + chance.Float64()) / float64(times), uint8(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b stands) int { return cmp.Compare(a.at, b.at) })
	out := make([]uint8, len(all))
	for i, s := range all {
		out[i] = s.of
	}
	return out
}

// weight is a request's share over the sum of all.
func (r *Request) weight() float64 {
	return cmp.Or(r.Weight, 1)
}

// Label names a request in tables and messages.
func (r *Request) Label() string {
	return cmp.Or(r.Name, r.Method+" "+r.Path)
}

// Text is the request as it is written in HTTP/1.1.
func (r *Request) Text(host string, closes bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, r.host(host))
	for _, h := range r.Headers {
		if !strings.EqualFold(h[0], "host") {
			fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		}
	}
	// RFC 9110, 8.6: a method that has a meaning for content says that there is none.
	if len(r.Body) > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
	}
	if closes {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	b.Write(r.Body)
	return b.Bytes()
}

// A kind is what a thread counts of one of a target's requests.
type kind struct {
	heads      headCache
	comparer   comparer
	latency    *Histogram
	unexpected int64         // answers with another status
	statuses   map[int]int64 // which
	label      string        // before what is said of it, among several
	lost       int64         // requests without a valid answer
}

// A checked is a check as the comparer needs it.
type checked struct{ *Check }

// Share says that every body is checked, or one in so many where each has to be decoded.
func (c checked) Share() int {
	if len(c.JSON) > 0 {
		return oneIn
	}
	return 1
}

// Body says what is wrong with a body; nil if nothing is.
func (c checked) Body(body []byte) error { return c.BodyFault(body) }

// newKind counts a request. known are the right bodies, where they are known.
func newKind(r *Request, known Bodies, seed uint64) kind {
	if r.Check.OfBody() {
		known = checked{r.Check}
	}
	return kind{heads: headCache{of: r}, comparer: newComparer(known, seed), latency: NewHistogram(), statuses: map[int]int64{}}
}

// addTo adds what was counted to the summary of the request, and of all.
func (k *kind) addTo(one *RequestSummary, all *TargetSummary, latency *Histogram) {
	k.comparer.settle()
	one.Unexpected += k.unexpected
	one.Lost += k.lost
	one.Mismatches += k.comparer.mismatches
	one.Compared += k.comparer.compared
	latency.Merge(k.latency)
	all.Varies = all.Varies || k.comparer.varies
	if text := k.comparer.mismatch; text != "" && all.Mismatch == "" {
		all.Mismatch = k.label + text
	}
	for status, n := range k.statuses {
		if all.Statuses == nil {
			all.Statuses = map[int]int64{}
		}
		all.Statuses[status] += n
	}
}

// Package answer knows what the lab's servers may answer: every body of a route,
// or, where a body is computed, what any such body must fulfil.
//
// Its stance: a status of 200 says nothing of what came with it. A server that
// sends half of each body is quicker, and its trial must not count. The bodies
// come from the catalogue that the servers have, so that the lab compares with
// the bytes themselves and nobody has to keep a list of digests.
//
// What it cannot tell: one legal body sent in another's place, and numbers in a
// summary of /compute that fit each other and the catalogue but not the draw.
package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// ContentType is that of every answer.
const ContentType = "application/json"

// A Set is the answers of one route of one server.
type Set struct {
	bodies   map[string]struct{} // all there are; none of /compute
	summary  *summary            // of /compute, else nil
	lengths  []bool              // possible lengths, from least on
	least    int
	draws    func() []int // the lengths of bodies that are drawn alike often
	round    float64      // after so many answers of one process the draw begins anew
	estimate bool         // the draws are a sample of what can be drawn
}

// pool is the catalogue, which takes tens of milliseconds to make.
var pool = sync.OnceValues(func() (*catalog.Pool, error) { return catalog.NewPool(catalog.Seed) })

var (
	mu    sync.Mutex
	known = map[[2]string]*Set{} // by server and route
)

// Of gives the answers that a server has for a route; an error where the lab
// knows none.
func Of(server, route string) (*Set, error) {
	mu.Lock()
	defer mu.Unlock()
	key := [2]string{server, route}
	if s := known[key]; s != nil {
		return s, nil
	}
	s, err := of(server, route)
	if err == nil {
		known[key] = s
	}
	return s, err
}

func of(server, route string) (*Set, error) {
	unknown := fmt.Errorf("the lab does not know what the %s server has to answer on %s, so its answers cannot be checked", server, route)
	if server != setting.Fiber && server != setting.Null {
		return nil, unknown
	}
	if route == "/simple" {
		return fixed([]byte(catalog.Simple)), nil
	}
	p, err := pool()
	if err != nil {
		return nil, err
	}
	switch {
	case route == "/read" && server == setting.Null:
		return fixed(p.Middle()), nil
	case route == "/read":
		return drawn(catalog.Size, p.Body), nil
	case route == "/list" && server == setting.Fiber:
		return drawn(catalog.Batches, p.Batch), nil
	case route == "/compute" && server == setting.Fiber:
		return summaries(p), nil
	}
	return nil, unknown
}

func fixed(body []byte) *Set { return drawn(1, func(int) []byte { return body }) }

// drawn are n bodies that are drawn alike often.
func drawn(n int, body func(int) []byte) *Set {
	var lengths []int
	s := &Set{bodies: make(map[string]struct{}, n), round: catalog.WalkLen, draws: func() []int { return lengths }}
	for i := range n {
		b := body(i)
		s.bodies[string(b)] = struct{}{}
		lengths = append(lengths, len(b))
	}
	s.least = slices.Min(lengths)
	s.lengths = make([]bool, slices.Max(lengths)-s.least+1)
	for _, n := range lengths {
		s.lengths[n-s.least] = true
	}
	return s
}

// shortBody is up to which length every answer is compared in full. Longer ones
// are by their length alone, but for one in oneIn: comparing costs about a
// nanosecond for every ten bytes, and sending a request some microseconds.
const (
	shortBody = 256
	oneIn     = 64
)

// Share is how many answers are to be one that is compared in full.
func (s *Set) Share() int {
	if s.summary == nil && s.most() <= shortBody {
		return 1
	}
	return oneIn
}

func (s *Set) most() int { return s.least + len(s.lengths) - 1 }

// Length says what is wrong with a body of so many bytes, if anything.
func (s *Set) Length(n int) error {
	if i := n - s.least; i >= 0 && i < len(s.lengths) && s.lengths[i] {
		return nil
	}
	switch least, most := s.least, s.most(); {
	case least == most:
		return fmt.Errorf("%d bytes of body, the route's have %d", n, least)
	case n < least || n > most:
		return fmt.Errorf("%d bytes of body, the route's have %d to %d", n, least, most)
	}
	return fmt.Errorf("%d bytes of body, a length that none of the route's has", n)
}

// Body says what is wrong with a body, if anything. Where bodies are not
// computed it takes no memory for one that is right.
func (s *Set) Body(body []byte) error {
	if err := s.Length(len(body)); err != nil {
		return err
	}
	if s.summary != nil {
		return s.summary.check(body)
	}
	if _, ok := s.bodies[string(body)]; ok {
		return nil
	}
	if len(s.bodies) == 1 {
		for b := range s.bodies {
			at := 0
			for b[at] == body[at] {
				at++
			}
			return fmt.Errorf("a body of the right length that differs from the route's at byte %d", at+1)
		}
	}
	return fmt.Errorf("a body of %d bytes that is none of the route's %d", len(body), len(s.bodies))
}

// A Traffic is what a load generator counted.
type Traffic struct {
	Answers, Bytes float64
	// Head is the length of an answer's head in bytes, without the digits of its
	// Content-Length.
	Head int
	// Processes answered, each of which draws the same bodies in the same order.
	Processes int
	// Partial is of how many answers some bytes may be counted that are not
	// counted as answers yet.
	Partial int
}

// sure is how many standard errors a mean may be off: an honest one is once in
// five hundred million trials.
const sure = 6

// Bytes says whether so many answers can have come to so many bytes: exactly,
// where a route has one body, else by the mean of what is drawn.
func (s *Set) Bytes(t Traffic) error {
	if t.Answers == 0 {
		return nil
	}
	var sum, squares float64
	most := 0
	draws := s.draws()
	for _, n := range draws {
		n += t.Head + len(strconv.Itoa(n))
		most = max(most, n)
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	k := float64(len(draws))
	mean := sum / k
	variance := max(squares/k-mean*mean, 0)
	// What the processes draw alike tells no more than what one of them draws,
	// nor does a second round.
	off := variance / min(max(t.Answers/float64(max(t.Processes, 1)), 1), s.round)
	if s.estimate {
		off += variance / k
	}
	slack := sure * math.Sqrt(off) * t.Answers
	if len(s.bodies) == 1 {
		slack = 0
	}
	low, high := math.Floor(t.Answers*mean-slack), math.Ceil(t.Answers*mean+slack)+float64(t.Partial*most)
	if t.Bytes >= low && t.Bytes <= high {
		return nil
	}
	return fmt.Errorf("%.0f answers came to %.0f bytes, the route's and their heads to %.0f to %.0f", t.Answers, t.Bytes, low, high)
}

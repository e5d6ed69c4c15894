// Package answer knows what the lab's servers may answer: every body of a route
// or, for computed bodies, conditions that any such body must meet.
//
// A status of 200 says nothing about the body. A server that sends half of each
// body is faster, and its trial must not count. Bodies come from the catalogue
// that the servers use, so the lab compares the bytes themselves and no list of
// digests has to be maintained.
//
// It cannot notice a valid body sent in place of another, or numbers in a
// summary of /compute that are consistent and fit the catalogue but not the
// products drawn.
package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A Set is the possible answers of one route of one server.
type Set struct {
	bodies   map[string]struct{} // all possible bodies; nil for /compute
	summary  *summary            // conditions for /compute, else nil
	lengths  []bool              // lengths[i]: whether a body may have least+i bytes
	least    int
	draws    func() []int // lengths of bodies that are drawn with equal probability
	round    float64      // number of answers after which a process repeats its sequence of draws
	estimate bool         // draws returns a sample of the possible lengths

	// Encoding is the answers' Content-Encoding; empty if they have none.
	Encoding string
}

// The servers of whose answers the lab knows each byte.
const (
	Fiber = "fiber"
	Null  = "null"
)

// pool is the catalogue, which takes tens of milliseconds to make.
var pool = sync.OnceValues(func() (*catalog.Pool, error) { return catalog.NewPool(catalog.Seed) })

var (
	mu    sync.Mutex
	known = map[[2]string]*Set{} // by server and route
)

// Of gives a server's answers for a route; an error where the lab does not know
// them.
func Of(server, route string) (*Set, error) {
	mu.Lock()
	defer mu.Unlock()
	key := [2]string{server, route}
	if s := known[key]; s != nil {
		return s, nil
	}
	r, ok := catalog.RouteOf(route)
	if !ok || server != Fiber && (server != Null || !r.Null) {
		return nil, fmt.Errorf("the lab does not know what the %s server has to answer on %s, so its answers cannot be "+
			"checked", server, route)
	}
	s, err := setOf(r, server == Null)
	if err != nil {
		return nil, err
	}
	s.Encoding, known[key] = r.Encoding, s
	return s, nil
}

// setOf gives the answers of a route. The null server has one body.
func setOf(r catalog.Route, null bool) (*Set, error) {
	if r.Fixed != nil {
		return fixed(r.Fixed), nil
	}
	p, err := pool()
	switch {
	case err != nil:
		return nil, err
	case null:
		return fixed(r.Middle(p)), nil
	case r.Body != nil:
		return drawn(r.Count, func(i int) []byte { return r.Body(p, i) }), nil
	case r.Path == "/compute":
		return summaries(p), nil
	}
	return nil, fmt.Errorf("%s is computed, and the lab has no conditions for its answers", r.Path)
}

func fixed(body []byte) *Set { return drawn(1, func(int) []byte { return body }) }

// drawn is a set of n bodies that are drawn with equal probability.
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

// shortBody is the length in bytes up to which every answer of a route with many
// bodies is compared in full. Of longer answers only the length is compared, except
// for one in oneIn: finding one among hundreds takes about a microsecond, and sending
// a request some microseconds. One body alone is compared in a tenth of that.
const (
	shortBody = 256
	oneIn     = 64
)

// Share says that one in so many answers should be compared in full.
func (s *Set) Share() int {
	if s.summary == nil && (len(s.bodies) == 1 || s.Most() <= shortBody) {
		return 1
	}
	return oneIn
}

// Most is the length in bytes of the longest body.
func (s *Set) Most() int { return s.least + len(s.lengths) - 1 }

// Length says what is wrong with a body's length in bytes; nil if nothing is.
func (s *Set) Length(n int) error {
	if i := n - s.least; i >= 0 && i < len(s.lengths) && s.lengths[i] {
		return nil
	}
	switch least, most := s.least, s.Most(); {
	case least == most:
		return fmt.Errorf("%d bytes of body, the route's have %d", n, least)
	case n < least || n > most:
		return fmt.Errorf("%d bytes of body, the route's have %d to %d", n, least, most)
	}
	return fmt.Errorf("%d bytes of body, a length that none of the route's has", n)
}

// Body says what is wrong with a body; nil if nothing is. A correct body that
// is not computed allocates no memory.
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

// A Traffic is what a load generator counted in a trial.
type Traffic struct {
	Answers, Bytes float64
	// Head is the length of an answer's head in bytes, without the digits of its
	// Content-Length.
	Head int
	// Processes is how many processes answered. Each draws the same bodies in the
	// same order.
	Processes int
	// Partial is the number of answers of which bytes may be counted before the
	// answer is.
	Partial int
}

// maxStandardErrors is how many standard errors a mean may be off. A correct mean is further
// off in one of five hundred million trials.
const maxStandardErrors = 6

// Bytes says whether that many answers can have that many bytes: exactly, if
// the route has one body, else within the error of the mean of random draws.
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
	// All processes draw the same sequence and repeat it, so only the draws of one
	// round of one process are independent.
	off := variance / min(max(t.Answers/float64(max(t.Processes, 1)), 1), s.round)
	if s.estimate {
		off += variance / k
	}
	slack := maxStandardErrors * math.Sqrt(off) * t.Answers
	if len(s.bodies) == 1 {
		slack = 0
	}
	low, high := math.Floor(t.Answers*mean-slack), math.Ceil(t.Answers*mean+slack)+float64(t.Partial*most)
	if t.Bytes >= low && t.Bytes <= high {
		return nil
	}
	return fmt.Errorf("%.0f answers came to %.0f bytes, the route's and their heads to %.0f to %.0f", t.Answers, t.Bytes,
		low, high)
}

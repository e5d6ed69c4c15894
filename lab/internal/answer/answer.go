// Package answer knows what the lab's servers may answer: every body of a route or, for computed
// bodies, conditions that any such body must meet.
//
// A status of 200 says nothing about the body. A server that sends half of each body is faster, and its
// trial must not count. Bodies come from the catalogue that the servers use, so the lab compares the
// bytes themselves and no list of digests has to be maintained. It cannot notice a valid body sent in
// place of another, or numbers in a summary of /compute that fit the catalogue but not the products
// drawn.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A Set is the possible answers of one route of one server.
type Set struct {
	bodies  map[string]bool // all possible bodies; nil of summaries
	lengths map[int]bool    // of bodies; nil of summaries
	most    int             // length of the longest body
	brands  map[string]bool // of summaries

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

var known sync.Map // sets by server and route

// Of gives a server's answers for a route; an error where the lab does not know them.
func Of(server, route string) (*Set, error) {
	key := [2]string{server, route}
	if s, ok := known.Load(key); ok {
		return s.(*Set), nil
	}
	r, ok := catalog.RouteOf(route)
	if !ok || server != Fiber && (server != Null || !r.Null) {
		return nil, fmt.Errorf("the lab does not know what the %s server has to answer on %s, so its answers cannot be "+
			"checked", server, route)
	}
	p, err := pool()
	if err != nil {
		return nil, err
	}
	s := &Set{Encoding: r.Encoding, bodies: map[string]bool{}, lengths: map[int]bool{}}
	add := func(body []byte) {
		s.bodies[string(body)], s.lengths[len(body)], s.most = true, true, max(s.most, len(body))
	}
	switch {
	case r.Fixed != nil:
		add(r.Fixed)
	case server == Null: // it has one body
		add(r.Middle(p))
	case r.Body != nil:
		for i := range r.Count {
			add(r.Body(p, i))
		}
	case r.Path == "/compute":
		s = &Set{Encoding: r.Encoding, brands: map[string]bool{}}
		for i := range catalog.Size {
			s.brands[p.Item(i).Brand] = true
		}
	default:
		return nil, fmt.Errorf("%s is computed, and the lab has no conditions for its answers", r.Path)
	}
	known.Store(key, s)
	return s, nil
}

// shortBody is the length in bytes up to which every answer of a route with many bodies is compared in
// full. Of longer answers only the length is compared, except for one in oneIn: finding one among
// hundreds takes about a microsecond, and sending a request some microseconds. Comparing with one body
// alone takes a tenth of that.
const (
	shortBody = 256
	oneIn     = 64
)

// Share says that one in so many answers should be compared in full.
func (s *Set) Share() int {
	if len(s.bodies) == 1 || s.bodies != nil && s.most <= shortBody {
		return 1
	}
	return oneIn
}

// The lengths of summaries in bytes.
const (
	leastSummary = 300
	mostSummary  = 600
)

// Length says what is wrong with a body's length in bytes; nil if nothing is.
func (s *Set) Length(n int) error {
	switch {
	case s.lengths[n], s.bodies == nil && leastSummary <= n && n <= mostSummary:
		return nil
	case len(s.bodies) == 1:
		return fmt.Errorf("%d bytes of body, the route's have %d", n, s.most)
	}
	return fmt.Errorf("%d bytes of body, the route's have other lengths", n)
}

// Fault says what is wrong with a body; nil if nothing is. A correct body that is not computed
// allocates no memory.
func (s *Set) Fault(body []byte) error {
	if s.bodies[string(body)] {
		return nil
	}
	if err := s.Length(len(body)); err != nil {
		return err
	}
	if s.bodies == nil {
		return s.summary(body)
	}
	for b := range s.bodies {
		if len(s.bodies) == 1 {
			at := 0
			for b[at] == body[at] {
				at++
			}
			return fmt.Errorf("a body of the right length that differs from the route's at byte %d", at+1)
		}
	}
	return fmt.Errorf("a body of %d bytes that is none of the route's %d", len(body), len(s.bodies))
}

// topBrands is how many brands a summary names. A hundred draws from forty brands never give fewer.
const topBrands = 5

// summary says what is wrong with a summary; nil if nothing is. The products drawn for it are unknown,
// so it is compared with the catalogue and with itself.
func (s *Set) summary(body []byte) error {
	var a catalog.Aggregate
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("a body that is no summary: %w", err)
	}
	if again, err := json.Marshal(a); err != nil || !bytes.Equal(again, body) {
		return errors.New("a body that is no summary as the server writes one")
	}
	all, named, known := 0, 0, map[string]bool{}
	for _, part := range a.Histogram {
		all += part.Count
	}
	for _, b := range a.TopBrands {
		if named += b.Count; s.brands[b.Brand] {
			known[b.Brand] = true
		}
	}
	if a.Count != catalog.Sample || all != a.Count || len(a.Histogram) != len(catalog.Summarise(nil).Histogram) {
		return fmt.Errorf("a summary of %d products whose histogram has %d, the route's are of %d", a.Count, all, catalog.Sample)
	}
	if len(a.TopBrands) != topBrands || len(known) != topBrands || named > a.Count {
		return fmt.Errorf("a summary whose brands are not those of %d products: %v", a.Count, a.TopBrands)
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

// maxBody is the largest batch that a producer can be set to make.
const maxBody = 100_000 * 4096

// A receiver takes batches in.
type receiver struct {
	bodies sync.Pool // of *[]byte

	mu sync.Mutex
	counters
	batches  int64 // that came complete
	inFlight int64
	first    marks // the numbers that arrived

	delivery event.Times // due time to first arrival
	part     event.Times // the same for a part of the time
}

// counters are the counts of a receiver since its start.
type counters struct {
	Requests    int64 `json:"requests"`
	Refused     int64 `json:"refused"`       // not taken in
	Events      int64 `json:"events"`        // first arrivals
	Duplicates  int64 `json:"duplicates"`    // later ones
	InFlightMax int64 `json:"in_flight_max"` // since the last moment
}

// since is what was counted after an earlier moment.
func (c counters) since(earlier counters) counters {
	c.Requests -= earlier.Requests
	c.Refused -= earlier.Refused
	c.Events -= earlier.Events
	c.Duplicates -= earlier.Duplicates
	return c
}

// marks are a set of numbers: an hour at four million a second takes 1.8 GB.
type marks []uint64

// add puts n in the set, and returns whether it was new.
func (m *marks) add(n uint64) bool {
	word, bit := int(n/64), uint64(1)<<(n%64)
	if word >= len(*m) {
		*m = append(*m, make([]uint64, word+1-len(*m))...)
	}
	if (*m)[word]&bit != 0 {
		return false
	}
	(*m)[word] |= bit
	return true
}

// counted tells whether the n-th item, from 1, is one of so many in a thousand: spread evenly, and always the
// same ones.
func counted(n int64, permille int) bool {
	p := int64(permille)
	return n*p/1000 > (n-1)*p/1000
}

// ServeHTTP takes a batch in, or refuses it.
func (t *trial) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	size, err := strconv.Atoi(req.Header.Get(event.SizeHeader))
	n := req.ContentLength
	if err != nil || size < event.Header || n <= 0 || n > maxBody || n%int64(size) != 0 {
		http.Error(w, fmt.Sprintf("POST whole events, with their size in %s", event.SizeHeader), http.StatusBadRequest)
		return
	}
	t.enter(1)
	defer t.enter(-1)
	body, ok := t.bodies.Get().(*[]byte)
	if !ok || int64(cap(*body)) < n {
		b := make([]byte, n)
		body = &b
	}
	defer t.bodies.Put(body)
	raw := (*body)[:n]
	if _, err := io.ReadFull(req.Body, raw); err != nil {
		return // an error means that the sender has gone
	}
	if !t.take(raw, size, t.Errors) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if t.Latency > 0 { // else a timer for each batch would cost what is measured
		_ = sleep(req.Context(), t.Latency)
	}
	w.WriteHeader(http.StatusNoContent)
}

// enter counts a request that came, or one that leaves.
func (r *receiver) enter(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests += max(n, 0)
	r.inFlight += n
	r.InFlightMax = max(r.InFlightMax, r.inFlight)
}

// take takes a batch in, or refuses it if it is one of so many in a thousand.
func (r *receiver) take(raw []byte, size, permille int) bool {
	now := time.Now().UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	if counted(r.batches, permille) {
		r.Refused++
		return false
	}
	for at := 0; at < len(raw); at += size {
		number, due := event.Get(raw[at:])
		if !r.first.add(number) {
			r.Duplicates++
			continue
		}
		r.Events++
		r.delivery.Add(time.Duration(now - due))
		r.part.Add(time.Duration(now - due))
	}
	return true
}

// now returns the counters so far, and begins those anew that cover a part of the time.
func (r *receiver) now() (counters, *event.Spread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counters
	r.InFlightMax = r.inFlight
	return c, r.delivery.Spread()
}

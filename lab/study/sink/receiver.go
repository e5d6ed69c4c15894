package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

const (
	// maxBody is the largest batch that a producer can be set to make.
	maxBody = 100_000 * 4096
	// maxNumber bounds the numbers of events, and so the memory for them: an hour at four
	// million a second takes 1.8 GB.
	maxNumber = 3600 * 4_000_000
)

// A receiver takes batches in.
type receiver struct {
	Settings
	bodies sync.Pool // of *[]byte

	mu sync.Mutex
	counters
	batches  int64 // that came complete
	inFlight int64
	first    marks // the numbers that arrived

	delivery event.Times  // due time to first arrival
	part     *event.Times // the same for a part of the time; nil: for none
}

// counters are the counts of a receiver since its start.
type counters struct {
	Requests    int64
	Refused     int64 // not taken in
	Bytes       int64 // of what was taken in
	Events      int64 // first arrivals
	Duplicates  int64
	InFlightMax int64 // since it was last reset
}

// marks are a set of numbers.
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

func newReceiver(s Settings) *receiver {
	r := &receiver{Settings: s}
	if s.FindLimit {
		r.part = &event.Times{}
	}
	return r
}

// counted tells whether the n-th item, from 1, is one of so many in a thousand: spread
// evenly, and always the same ones.
func counted(n int64, permille int) bool {
	p := int64(permille)
	return n*p/1000 > (n-1)*p/1000
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	size, err := strconv.Atoi(req.Header.Get(event.SizeHeader))
	n := req.ContentLength
	if req.Method != http.MethodPost || err != nil || size < event.Header || n <= 0 || n > maxBody || n%int64(size) != 0 {
		http.Error(w, fmt.Sprintf("POST whole events, with their size in %s", event.SizeHeader), http.StatusBadRequest)
		return
	}
	r.enter()
	defer r.leave()
	body, ok := r.bodies.Get().(*[]byte)
	if !ok || int64(cap(*body)) < n {
		b := make([]byte, n)
		body = &b
	}
	defer r.bodies.Put(body)
	raw := (*body)[:n]
	if _, err := io.ReadFull(req.Body, raw); err != nil {
		return // an error means that the sender has gone
	}
	refused, err := r.take(raw, size, time.Now())
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case refused:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.Latency > 0 {
		_ = sleep(req.Context(), r.Latency)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) enter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests++
	r.inFlight++
	r.InFlightMax = max(r.InFlightMax, r.inFlight)
}

func (r *receiver) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
}

// take takes a batch in, or refuses it.
func (r *receiver) take(raw []byte, size int, now time.Time) (refused bool, err error) {
	for at := 0; at < len(raw); at += size {
		if number, _ := event.Get(raw[at:]); number >= maxNumber {
			return false, fmt.Errorf("an event has the number %d; they count from 0", number)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	if counted(r.batches, r.Errors) {
		r.Refused++
		return true, nil
	}
	r.Bytes += int64(len(raw))
	unix := now.UnixNano()
	for at := 0; at < len(raw); at += size {
		number, due := event.Get(raw[at:])
		if !r.first.add(number) {
			r.Duplicates++
			continue
		}
		r.Events++
		r.delivery.Add(time.Duration(unix - due))
		if r.part != nil {
			r.part.Add(time.Duration(unix - due))
		}
	}
	return false, nil
}

// now returns the counters so far, and resets those that cover a part of the time.
func (r *receiver) now() (counters, *event.Spread) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counters
	r.InFlightMax = r.inFlight
	return c, r.delivery.Spread(true)
}

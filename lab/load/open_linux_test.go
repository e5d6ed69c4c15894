package load

import (
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// paced is a plan of one slot at a fixed rate.
func (s *site) paced(connections, pipelining int, rate, seconds float64) *Plan {
	t := s.target(connections, pipelining)
	t.Rate = rate
	return once(t, seconds)
}

// Each request that was due is accounted for once.
func TestFixedRate(t *testing.T) {
	for _, c := range []struct{ threads, pipelining int }{{1, 1}, {2, 1}, {1, 4}} {
		s := serve(t, polite)
		p := s.paced(4, c.pipelining, 400, 0.5)
		p.Threads = c.threads
		r := carry(t, p)
		sum := r.Summary.Targets[0]
		clean(t, sum)
		if sum.Latency == nil || sum.SendLag == nil {
			t.Fatalf("%+v", sum)
		}
		// 400 a second for half a second, except those in flight at an edge. On a busy
		// machine some are answered after the slot, and then count as unanswered.
		if due := sum.Requests + sum.Unanswered; due < 190 || due > 210 {
			t.Errorf("%+v: %d requests and %d unanswered, about 200 were due", c, sum.Requests, sum.Unanswered)
		}
		// So light a load uses the connections in turn.
		s.mu.Lock()
		for peer, n := range s.open {
			if n < 30 {
				t.Errorf("%+v: %d requests from %s, of 200 in turns over 4", c, n, peer.RemoteAddr())
			}
		}
		s.mu.Unlock()
	}
}

// One answer in a hundred comes 50 ms late. The server notes how long it took for each
// request, and no request takes less at the client: so each percentile is at least that
// of the server's notes, whatever the machine does besides. How much more it is depends
// on the machine; TestOneInAHundredIsLate computes it without one.
func TestLateAnswersStandInTheTail(t *testing.T) {
	var mu sync.Mutex
	var took []time.Duration
	s := serve(t, func(n int64, c net.Conn) bool {
		read := time.Now()
		if n%100 == 50 {
			time.Sleep(50 * time.Millisecond)
		}
		mu.Lock()
		took = append(took, time.Since(read))
		mu.Unlock()
		return say(c, hello)
	})
	r := carry(t, s.paced(50, 1, 1000, 1))
	sum := r.Summary.Targets[0]
	clean(t, sum)
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	// The server also notes what the slot does not count. The request with a given rank
	// among fewer is never faster than the one with that rank among all.
	if n := int(sum.Requests); n > len(took) || n < 500 {
		t.Fatalf("%d answers counted, %d given", n, len(took))
	}
	l := sum.Latency
	for _, c := range []struct{ q, got float64 }{{0.5, l.P50}, {0.9, l.P90}, {0.99, l.P99}, {0.999, l.P999}, {1, l.Max}} {
		rank := int(math.Ceil(c.q * float64(sum.Requests)))
		if least := took[rank-1].Seconds(); c.got < least {
			t.Errorf("quantile %g is %v s, the server took %v s", c.q, c.got, least)
		}
	}
	// Nine late ones at least are in the slot, and the 99.9th percentile is one of them.
	if l.P999 < 0.05 {
		t.Errorf("ten in a thousand were 50 ms late: %+v", l)
	}
	// The mean includes them: at least a hundredth of 50 ms.
	if l.Mean < 0.0004 {
		t.Errorf("%+v", l)
	}
}

// A stall of 300 ms shows in the latency of every request that was due in it, not only of
// the two that were in flight when it began.
func TestAStallIsSeenByAllThatWereDue(t *testing.T) {
	const stall = 300 * time.Millisecond
	var once sync.Once
	var mu sync.Mutex
	var until time.Time
	s := serve(t, func(n int64, c net.Conn) bool {
		if n > 30 {
			once.Do(func() { mu.Lock(); until = time.Now().Add(stall); mu.Unlock() })
		}
		mu.Lock()
		wait := time.Until(until)
		mu.Unlock()
		time.Sleep(wait)
		return say(c, hello)
	})
	r := carry(t, s.paced(2, 1, 200, 1))
	sum := r.Summary.Targets[0]
	clean(t, sum)
	if sum.Latency.Max < 0.25 {
		t.Errorf("a greatest latency of %v s, and the server stalled for 0.3", sum.Latency.Max)
	}
	// Those due in the first 200 ms of the stall, a fifth of all, waited for at least 100
	// ms.
	if sum.Latency.P90 < 0.1 {
		t.Errorf("p90 is %v s: what was due in the stall is not in it", sum.Latency.P90)
	}
	if r.Slots[0].SilenceS < 0.25 {
		t.Errorf("a silence of %v s", r.Slots[0].SilenceS)
	}
}

// A request without an answer is counted, with the latency that it has at least.
func TestUnanswered(t *testing.T) {
	hang := make(chan struct{})
	s := serve(t, func(n int64, c net.Conn) bool {
		if n > 20 {
			<-hang
		}
		return say(c, hello)
	})
	t.Cleanup(func() { close(hang) })
	p := s.paced(2, 1, 100, 1)
	r := carry(t, p)
	sum := r.Summary.Targets[0]
	// Two more were sent and not answered; the others were not sent.
	if sum.Timeouts != 2 || sum.Unanswered < 70 || sum.Requests+sum.Unanswered < 95 || sum.Requests+sum.Unanswered > 105 {
		t.Errorf("%+v", sum)
	}
	if sum.Latency.Max < 0.7 || sum.Latency.P50 < 0.2 {
		t.Errorf("latencies %+v leave out what was not answered", sum.Latency)
	}
}

// A server that is slower than the rate gets only what it can take, and its backlog shows
// in the latencies.
func TestMoreThanTheServerTakes(t *testing.T) {
	s := serve(t, func(_ int64, c net.Conn) bool {
		time.Sleep(10 * time.Millisecond)
		return say(c, hello)
	})
	r := carry(t, s.paced(1, 1, 1000, 0.5))
	sum := r.Summary.Targets[0]
	clean(t, sum)
	if sum.Requests > 51 || sum.Unanswered < 400 || sum.Latency.P50 < 0.1 {
		t.Errorf("%+v, %+v", sum, sum.Latency)
	}
	// The backlog does not count as a delay of the client.
	if sum.SendLag.P50 > sum.Latency.P50/2 {
		t.Errorf("the wait for the server is taken for the client's: %+v", sum.SendLag)
	}
}

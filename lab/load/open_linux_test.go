package load

import (
	"net"
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
	// Two more had no answer; the load did not send the others.
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

// A server must never wait for a nap to end: a nap is an eighth of the time that answers
// take, and there is none if that is too short to sleep.
func TestHowLongAThreadSleeps(t *testing.T) {
	for response, want := range map[time.Duration]time.Duration{
		0: 0, 30 * time.Microsecond: 0, 79 * time.Microsecond: 0,
		80 * time.Microsecond:  10 * time.Microsecond,
		400 * time.Microsecond: 50 * time.Microsecond,
		800 * time.Microsecond: 100 * time.Microsecond,
		2 * time.Second:        100 * time.Microsecond,
	} {
		if got := napFor(int64(response)); got != int64(want) {
			t.Errorf("answers take %v: %v, want %v", response, time.Duration(got), want)
		}
	}
}

// Even after hours of load no request drifts from its time.
func TestScheduleDoesNotDrift(t *testing.T) {
	s := newSchedule(1e6/3, 0, 1)
	s.begin(0)
	if at := s.at(1_200_000_000); at != 3600e9 {
		t.Errorf("request 1,200,000,000 is due at %d", at)
	}
}

package load

import (
	"net"
	"testing"
	"time"
)

func TestClosedLoop(t *testing.T) {
	for _, c := range []struct{ threads, connections, pipelining int }{{1, 3, 1}, {1, 3, 4}, {2, 5, 1}, {2, 1, 16}} {
		s := serve(t, polite)
		p := once(s.target(c.connections, c.pipelining), 0.2)
		p.Threads = c.threads
		r := carry(t, p)
		sum, slot := r.Summary.Targets[0], r.Slots[0]
		clean(t, sum)
		// All requests that were sent: those counted, those of the fill and those
		// drained.
		room := int64(c.connections * c.pipelining)
		if sent := s.hits.Load(); sum.Requests == 0 || sent < sum.Requests+room || sum.Answered != sent {
			t.Errorf("%+v: %d requests counted and %d answered of %d sent", c, sum.Requests, sum.Answered, sent)
		}
		if n := s.connections.Load(); n != int64(c.connections) {
			t.Errorf("%+v: %d connections", c, n)
		}
		if sum.Bytes != sum.Requests*int64(len(hello)) {
			t.Errorf("%+v: %d bytes in %d answers of %d", c, sum.Bytes, sum.Requests, len(hello))
		}
		if slot.Seconds < 0.2 || slot.FillS <= 0 || slot.SilenceS <= 0 || slot.SilenceS > slot.Seconds {
			t.Errorf("%+v: %+v", c, slot)
		}
		// The first bodies were alike, so all bodies are compared with them.
		if sum.Compared < sum.Requests || sum.Latency == nil || sum.SendLag != nil || sum.Unanswered != 0 {
			t.Errorf("%+v: %+v", c, sum)
		}
		s.mu.Lock()
		for peer, n := range s.open {
			if n < c.pipelining {
				t.Errorf("%+v: %d requests on %v", c, n, peer.RemoteAddr())
			}
		}
		s.mu.Unlock()
		if r.Summary.Threads != min(c.threads, c.connections) {
			t.Errorf("%+v: %d threads", c, r.Summary.Threads)
		}
	}
}

func TestAWarmUpIsInNoFigureButTheFaults(t *testing.T) {
	s := serve(t, func(n int64, c net.Conn) bool {
		if n == 5 {
			return say(c, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
		}
		return say(c, hello)
	})
	p := once(s.target(2, 1), 0.05)
	p.Slots = append([]Slot{{Target: 0, Seconds: 0.1}}, p.Slots...)
	r := carry(t, p)
	sum := r.Summary.Targets[0]
	if sum.Requests != r.Slots[1].Requests || r.Slots[0].Requests == 0 || sum.Non2xx != 1 || sum.Fault != "status 500" {
		t.Errorf("%+v, %+v", r.Slots, sum)
	}
}

// An answer that comes after its slot has its full latency, as every request of the slot has one.
func TestAnAnswerThatOutlivesItsSlot(t *testing.T) {
	const late = 300 * time.Millisecond
	s := serve(t, func(n int64, c net.Conn) bool {
		if n == 20 {
			time.Sleep(late)
		}
		return say(c, hello)
	})
	p := times(s.target(10, 1), 1_000_000) // from the first one on
	p.Slots[0].Seconds = 0.1
	sum := carry(t, p).Summary.Targets[0]
	clean(t, sum)
	if l := sum.Latency; sum.Unanswered != 0 || l.Max < late.Seconds() || l.N > s.hits.Load() || sum.Requests >= l.N {
		t.Errorf("%d requests in the slot, %d in all: %+v", sum.Requests, s.hits.Load(), l)
	}
}

// A slot counts from when each connection has had its first answer in it.
func TestTheFillWaitsForTheLastConnection(t *testing.T) {
	hold := make(chan struct{})
	s := serve(t, func(n int64, c net.Conn) bool {
		if n == 1 {
			<-hold
		}
		if n == 200 {
			close(hold)
		}
		return say(c, hello)
	})
	r := carry(t, once(s.target(3, 1), 0.05))
	clean(t, r.Summary.Targets[0])
	// The other two connections had some two hundred answers before that one.
	if hits := s.hits.Load(); r.Slots[0].Requests > hits-190 {
		t.Errorf("%d requests counted of %d: those of the fill are among them", r.Slots[0].Requests, hits)
	}
}

// A slow answer, a deep pipeline and large bodies: one read does not return all there is,
// and sockets fill up in both directions.
func TestLargeBodiesAndDeepPipelines(t *testing.T) {
	body := make([]byte, 300_000)
	text := "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + string(body)
	s := serve(t, func(_ int64, c net.Conn) bool { return say(c, text) })
	r := carry(t, once(s.target(2, 50), 0.2))
	sum := r.Summary.Targets[0]
	clean(t, sum)
	if sum.Requests == 0 || sum.Bytes != sum.Requests*int64(len(text)) {
		t.Errorf("%+v", sum)
	}
}

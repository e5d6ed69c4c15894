package load

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// The load counts and describes each fault under its kind, and goes on: with a lone request, with
// one of two, and with a connection for each.
func TestFaults(t *testing.T) {
	t.Run("lone", func(t *testing.T) { testFaults(t, nil, false) })
	t.Run("several", func(t *testing.T) {
		testFaults(t, []Request{{Name: "a", Method: "GET", Path: "/a", Weight: 2}, {Name: "b", Method: "GET", Path: "/b"}}, false)
	})
	t.Run("a connection each", func(t *testing.T) { testFaults(t, nil, true) })
}

func testFaults(t *testing.T, requests []Request, closes bool) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	after := func(n int64, text string, stay bool) func(int64, net.Conn) bool {
		return func(i int64, c net.Conn) bool {
			if i == n {
				return say(c, text) && stay
			}
			return say(c, hello)
		}
	}
	type counts struct{ non2xx, errors, timeouts, resets, mismatches int64 }
	for _, c := range []struct {
		name   string
		answer func(int64, net.Conn) bool
		want   counts
		text   string
	}{
		{"a wrong status", after(150, "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno", true), counts{non2xx: 1},
			"status 503"},
		{"a redirection", after(150, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", true), counts{non2xx: 1},
			"status 302"},
		{"a body cut off", after(150, hello[:len(hello)-2], false), counts{errors: 1, resets: 1},
			"within an answer, after 3 bytes"},
		{"a head cut off", after(150, hello[:20], false), counts{errors: 1, resets: 1}, "within an answer, after 0 bytes"},
		{"a wrong byte of the right length", after(150, strings.Replace(hello, "hello", "hallo", 1), true),
			counts{mismatches: 1}, "differs from the first 32 at byte 2"},
		{"a shorter body", after(150, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", true), counts{mismatches: 1},
			"4 bytes of body, the first 32 had 5"},
		{"no body", after(150, "HTTP/1.1 204 No Content\r\n\r\n", true), counts{mismatches: 1}, "0 bytes of body"},
		{"it closes", after(150, "", false), counts{errors: 1, resets: 1}, "closed the connection, 1 requests in flight"},
		{"it resets", func(i int64, c net.Conn) bool {
			if i == 150 {
				_ = c.(*net.TCPConn).SetLinger(0)
				return false
			}
			return say(c, hello)
		}, counts{errors: 1, resets: 1}, "reset"},
		{"what is no HTTP", after(150, "hello there, how are you", true), counts{errors: 1}, "no HTTP/1 answer"},
		{"it hangs", func(i int64, c net.Conn) bool {
			if i == 150 {
				<-hang
			}
			return say(c, hello)
		}, counts{timeouts: 1}, "no answer within 2s"},
		{"an answer too many", after(150, hello+hello, true), counts{errors: 1}, "nobody asked for"},
	} {
		if closes && strings.HasPrefix(c.name, "an answer too many") {
			continue // nobody reads it
		}
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.answer)
			target := s.target(1, 1)
			target.Requests, target.Close = requests, closes
			p := times(target, 200)
			p.TimeoutS = 2
			sum := carry(t, p).Summary.Targets[0]
			got := counts{sum.Non2xx, sum.Errors, sum.Timeouts, sum.Resets, sum.Mismatches}
			if got != c.want || !strings.Contains(sum.Fault+sum.Mismatch, c.text) {
				t.Errorf("%+v, %q, %q; want %+v, %q", got, sum.Fault, sum.Mismatch, c.want, c.text)
			}
			var kinds counts
			for _, one := range sum.ByRequest {
				kinds.non2xx += one.Unexpected
				kinds.errors += one.Lost
				kinds.mismatches += one.Mismatches
			}
			if text := sum.Fault + sum.Mismatch; requests != nil && (kinds.non2xx != c.want.non2xx ||
				kinds.mismatches != c.want.mismatches || kinds.errors > c.want.errors+c.want.timeouts ||
				!strings.HasPrefix(text, "a: ") && !strings.HasPrefix(text, "b: ")) {
				t.Errorf("%+v, %q", sum.ByRequest, text)
			}
			if s.hits.Load() < 160 {
				t.Errorf("%d requests: the load did not go on", s.hits.Load())
			}
		})
	}
}

func TestKnownAnswers(t *testing.T) {
	right := "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + catalog.Simple
	for _, c := range []struct {
		other, want string
		n           int64
	}{
		{right[:len(right)-3] + "x" + right[len(right)-2:], "differs from the route's at byte 14", 1},
		{right[:len(right)-3] + "x" + right[len(right)-2:], "differs from the route's at byte 14", 100},
		{hello, "5 bytes of body, the route's have 16", 100},
	} {
		s := serve(t, func(i int64, conn net.Conn) bool {
			if i == c.n {
				return say(conn, c.other)
			}
			return say(conn, right)
		})
		target := s.target(1, 1)
		target.Answers = "null"
		sum := carry(t, times(target, 200)).Summary.Targets[0]
		if sum.Mismatches != 1 || !strings.Contains(sum.Mismatch, c.want) || sum.Errors+sum.Resets+sum.Non2xx > 0 {
			t.Errorf("%+v, want %q", sum, c.want)
		}
	}
}

// Connections to a server that has died are opened again a bounded number of times.
func TestADeadServerIsPassedOver(t *testing.T) {
	dead := make(chan struct{})
	bad := serve(t, func(n int64, c net.Conn) bool {
		if n == 5 {
			close(dead)
			return false
		}
		return say(c, hello)
	})
	go func() { <-dead; bad.die() }()
	t.Cleanup(func() {
		if bad.hits.Load() < 5 {
			close(dead)
		}
	})
	good := serve(t, polite)
	p := &Plan{Threads: 1, TimeoutS: 0.2, Targets: []Target{bad.target(2, 1), good.target(2, 1)}}
	for i := range 20 {
		p.Slots = append(p.Slots, Slot{Target: i % 2, Seconds: 0.02, Counts: true})
	}
	r := carry(t, p)
	passed := 0
	for i, s := range r.Slots {
		switch {
		case i%2 == 1 && (s.Failed != "" || s.Requests == 0):
			t.Errorf("slot %d of the good server: %+v", i, s)
		case i%2 == 0 && strings.HasPrefix(s.Failed, "passed over: "):
			passed++
		}
	}
	if passed < 5 {
		t.Errorf("%d of ten slots were passed over: %+v", passed, r.Slots)
	}
	if sum := r.Summary.Targets[0]; sum.Errors < 1 || sum.Resets+sum.Crossed < 1 || sum.Errors > 2+2*mostReopened || sum.Fault == "" {
		t.Errorf("%+v", sum)
	}
	clean(t, r.Summary.Targets[1])
}

// A server may announce the end of a connection, or end an idle one. The load opens it again, and
// asks again what was in flight.
func TestEndsThatAreNoFault(t *testing.T) {
	closing := strings.Replace(hello, "\r\n", "\r\nConnection: close\r\n", 1)
	for _, c := range []struct {
		name   string
		answer func(int64, net.Conn) bool
		depth  int
		close  bool
	}{
		{"it says close, and closes", func(n int64, c net.Conn) bool {
			if n%10 == 0 {
				return say(c, closing) && false
			}
			return say(c, hello)
		}, 1, false},
		{"with more in flight", func(n int64, c net.Conn) bool {
			if n%10 == 0 {
				return say(c, closing) && false
			}
			return say(c, hello)
		}, 4, false},
		{"it says close, and does not", func(n int64, c net.Conn) bool { return say(c, closing) }, 1, false},
		{"it says close, and goes on answering", func(n int64, c net.Conn) bool { return say(c, closing) && say(c, closing[:20]) }, 4, false},
		{"HTTP/1.0", func(n int64, c net.Conn) bool {
			return say(c, strings.Replace(hello, "1.1", "1.0", 1)) && false
		}, 1, false},
		{"the end of the body is that of the connection", func(n int64, c net.Conn) bool {
			return say(c, "HTTP/1.1 200 OK\r\n\r\nhello") && false
		}, 1, false},
		{"a new connection each, which it keeps", func(n int64, c net.Conn) bool { return say(c, hello) }, 1, true},
	} {
		s := serve(t, c.answer)
		target := s.target(3, c.depth)
		target.Close = c.close
		p := times(target, 100)
		p.Slots = append(p.Slots, p.Slots[0])
		sum := carry(t, p).Summary.Targets[0]
		if clean(t, sum); (sum.Reopened == 0) != c.close || sum.Answered != 200 {
			t.Errorf("%s: %+v", c.name, sum)
		}
	}
	idle := serve(t, polite)
	l, err := New(t.Context(), once(idle.target(3, 1), 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := l.Turn(t.Context(), Slot{Seconds: 60, Requests: 50, Counts: true}); err != nil || r.Requests != 50 {
			t.Errorf("%v, %+v", err, r)
		}
		idle.hangUp()
		time.Sleep(50 * time.Millisecond)
	}
	sum := l.Close().Targets[0]
	if clean(t, sum); sum.Reopened != 3 {
		t.Errorf("%+v", sum)
	}
}

// A server that ends each connection after one answer, without a word, is not loaded for ever. The
// rate is over the time in which a connection was left.
func TestReopeningIsBounded(t *testing.T) {
	s := serve(t, func(_ int64, c net.Conn) bool {
		say(c, hello)
		return false
	})
	p := once(s.target(2, 1), 60)
	p.TimeoutS = 10
	r := carry(t, p)
	if sum := r.Summary.Targets[0]; sum.Resets != 2*(1+mostReopened) || sum.Reopened > 1 || r.Slots[0].Seconds > 30 {
		t.Errorf("%+v, %+v", sum, r.Slots[0])
	}
}

// A request that meets the end of its connection on its way is asked again, without a fault, as long as
// that is rare: a server that closes every hundredth connection drops requests.
func TestARequestThatCrossesTheEndOfItsConnection(t *testing.T) {
	for each, errors := range map[int64]bool{2000: false, 100: true} {
		s := serve(t, func(n int64, c net.Conn) bool { return n%each != 0 && say(c, hello) })
		sum := carry(t, times(s.target(4, 1), 5000)).Summary.Targets[0]
		if sum.Crossed < 2 || sum.Reopened != sum.Crossed || (sum.Errors > 0) != errors || !errors && sum.Requests < 5000 {
			t.Errorf("each %d: %+v", each, sum)
		}
	}
}

// The load says at once what a server cannot do, and not after a timeout.
func TestAServerThatLeavesSomeAlone(t *testing.T) {
	var one sync.Mutex
	for want, answer := range map[string]func(int64, net.Conn) bool{
		"3 of 4 connections had no answer within 2s": func(_ int64, c net.Conn) bool {
			one.Lock() // until its connection ends
			defer one.Unlock()
			for say(c, hello) {
				if _, err := c.Read(make([]byte, 1000)); err != nil {
					return false
				}
			}
			return false
		},
		"take 8 requests at a time": func(_ int64, c net.Conn) bool {
			say(c, hello)
			_, _ = io.Copy(io.Discard, c) // one answer for all that came
			return false
		},
	} {
		s := serve(t, answer)
		p := once(s.target(4, 1), 10)
		if strings.HasPrefix(want, "take") {
			p.Targets[0].Pipelining = 8
		}
		if r := carry(t, p); !strings.Contains(r.Slots[0].Failed, want) {
			t.Errorf("%+v, want %q", r.Slots[0], want)
		}
	}
}

// A server that answers before it has read a large body, and closes: its answer counts.
func TestAnEarlyAnswerToALargeBody(t *testing.T) {
	s := serve(t, func(_ int64, c net.Conn) bool {
		return say(c, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno") && false
	})
	target := s.target(2, 1)
	target.Requests = []Request{{Method: "POST", Path: "/", Body: make([]byte, 8<<20), Status: []int{413}}}
	sum := carry(t, times(target, 20)).Summary.Targets[0]
	if clean(t, sum); sum.Reopened < 18 || sum.Requests != 20 {
		t.Errorf("%+v", sum)
	}
}

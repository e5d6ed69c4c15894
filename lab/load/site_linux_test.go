package load

import (
	"bufio"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

func TestMain(m *testing.M) {
	if status, is := wire.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	// A thread that waits occupies one of Go's processors, and the servers of these tests
	// run in the same process.
	runtime.GOMAXPROCS(8)
	os.Exit(m.Run())
}

// A site is a server that does what a test tells it to. Requests count from 1.
type site struct {
	url         string
	ln          net.Listener
	hits        atomic.Int64
	connections atomic.Int64
	mu          sync.Mutex
	open        map[net.Conn]int // requests on each
}

// serve answers each request with a function, which says whether to go on.
func serve(t *testing.T, answer func(n int64, c net.Conn) bool) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{url: "http://" + ln.Addr().String() + "/simple", ln: ln, open: map[net.Conn]int{}}
	t.Cleanup(s.die)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			s.mu.Lock()
			s.open[c] = 0
			s.mu.Unlock()
			go s.talk(c, answer)
		}
	}()
	return s
}

func (s *site) talk(c net.Conn, answer func(n int64, c net.Conn) bool) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if line == "\r\n" {
			s.mu.Lock()
			s.open[c]++
			s.mu.Unlock()
			if !answer(s.hits.Add(1), c) {
				return
			}
		}
	}
}

// die ends the server and all its connections.
func (s *site) die() {
	s.ln.Close()
	s.hangUp()
}

// hangUp ends all connections.
func (s *site) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
	}
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

func say(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

func polite(_ int64, c net.Conn) bool { return say(c, hello) }

// target loads a site over some connections.
func (s *site) target(connections, pipelining int) Target {
	return Target{Name: s.url, URL: s.url, Connections: connections, Pipelining: pipelining}
}

// once is a plan of one slot.
func once(t Target, seconds float64) *Plan {
	return &Plan{Threads: 1, Targets: []Target{t}, Slots: []Slot{{Target: 0, Seconds: seconds, Counts: true}}}
}

// times is a plan of so many requests: what a test counts must not depend on how fast the machine is.
func times(t Target, n int) *Plan {
	p := once(t, 60)
	p.Slots[0].Requests = n
	return p
}

// carry carries out a plan in this process.
func carry(t *testing.T, p *Plan) *Report {
	t.Helper()
	r, err := Run(t.Context(), p, Options{Bodies: ofTheLab})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ofTheLab are the bodies of the lab's servers.
func ofTheLab(t Target) (Bodies, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	return answer.Of(t.Answers, u.RequestURI())
}

// clean checks that there were no faults.
func clean(t *testing.T, s TargetSummary) {
	t.Helper()
	if s.Errors+s.Timeouts+s.Resets+s.Non2xx+s.Mismatches > 0 || s.Fault != "" || s.Mismatch != "" {
		t.Errorf("faults: %+v", s)
	}
}

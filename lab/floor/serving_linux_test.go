package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// patience ends a test that would hang; it does not test speed.
const patience = 20 * time.Second

// pool is made once: it is read-only, and making it is slow under -race.
var pool = sync.OnceValue(func() *catalog.Pool {
	p, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		panic(err)
	}
	return p
})

// A serving is a server in this process.
type serving struct {
	t     *testing.T
	addr  string
	srv   *server
	ended chan error
}

// serve serves on a free port with the default settings, for the duration of the test.
func serve(t *testing.T) *serving { return serveWith(t, func(*settings) {}) }

func serveWith(t *testing.T, change func(*settings)) *serving {
	t.Helper()
	s := defaults
	s.addr, s.workers = "127.0.0.1:0", 1
	change(&s)
	lns, status := listen(program.Program{Name: "test", Errs: os.Stderr}, s.addr, s.workers)
	if lns == nil {
		t.Fatalf("listen: exit status %d", status)
	}
	// The loops keep theirs while they wait, and the test needs some too.
	before := runtime.GOMAXPROCS(s.workers + 2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	v := &serving{t: t, addr: lns[0].Addr().String(), ended: make(chan error, 1)}
	var err error
	if v.srv, err = newServer(s, lns, pool()); err != nil {
		t.Fatal(err)
	}
	go func() { v.ended <- v.srv.serve() }()
	t.Cleanup(v.stop)
	return v
}

// stop stops the server and waits for its end. It may be called twice.
func (v *serving) stop() {
	v.t.Helper()
	if v.ended == nil {
		return
	}
	v.srv.stop()
	select {
	case err := <-v.ended:
		if err != nil {
			v.t.Errorf("serve: %v", err)
		}
	case <-time.After(patience):
		v.t.Error("the server does not stop")
	}
	v.ended = nil
}

// A client is a connection.
type client struct {
	t *testing.T
	*net.TCPConn
	r *bufio.Reader
}

func (v *serving) dial() *client {
	v.t.Helper()
	conn, err := net.Dial("tcp", v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	v.t.Cleanup(func() { conn.Close() })
	return &client{v.t, conn.(*net.TCPConn), bufio.NewReaderSize(conn, 256<<10)}
}

func (c *client) say(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// Heard is what a client is told.
type heard struct {
	code   int
	closes bool
	body   string
}

// next reads the answer to a request of that method.
func (c *client) next(method string) heard {
	c.t.Helper()
	a, err := c.readTo(method)
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	return a
}

func (c *client) readTo(method string) (heard, error) {
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		return heard{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return heard{resp.StatusCode, resp.Close, string(body)}, err
}

// ends reads to the end of the connection, and says what it read.
func (c *client) ends() string {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	if err != nil {
		c.t.Fatalf("the connection does not end properly: %v, after %.80q", err, rest)
	}
	return string(rest)
}

// ask sends one text and reads everything that is answered until the connection ends, as
// the codes of the answers, and the bodies of those with 200.
func (v *serving) ask(text string) (codes []int, bodies []string) {
	v.t.Helper()
	c := v.dial()
	c.say(text)
	_ = c.CloseWrite()
	return codesIn(v.t, c.ends())
}

func codesIn(t testing.TB, text string) (codes []int, bodies []string) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(text))
	for {
		if _, err := r.Peek(1); err != nil {
			return codes, bodies
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%v in %.200q", err, text)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, resp.StatusCode)
		if resp.StatusCode == http.StatusOK {
			bodies = append(bodies, string(body))
		}
	}
}

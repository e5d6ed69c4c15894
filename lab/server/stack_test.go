package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// All tests share one pool: nobody writes to it, and making it is slow under -race.
var pool = sync.OnceValue(func() *catalog.Pool {
	p, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		panic(err)
	}
	return p
})

// serveStack serves the settings' stack on a port of its own, for the duration of the
// test.
func serveStack(t *testing.T, change func(*settings)) (v stack, url string) {
	t.Helper()
	s := defaults()
	s.prefork = false
	change(&s)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v = newStack(s, pool())
	done := make(chan error, 1)
	go func() { done <- v.serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = v.shutdown(ctx)
		if err := <-done; err != nil && err != http.ErrServerClosed {
			t.Errorf("%s: serve: %v", s.stack, err)
		}
	})
	url = "http://" + ln.Addr().String()
	ask(t, url+"/simple", nil) // it has started, before anything looks into it
	return v, url
}

type asked struct {
	*http.Response
	text string
}

func ask(t *testing.T, url string, header http.Header) asked {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return asked{resp, string(text)}
}

// A refusal is JSON, and a spinning server spins for the set time; the contract has all other
// answers of a stack.
func TestStacks(t *testing.T) {
	const burn = 30 * time.Millisecond
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		_, url := serveStack(t, func(s *settings) { s.stack, s.spinNs = stack, int(burn) })
		began := time.Now()
		ask(t, url+"/simple", nil)
		if took := time.Since(began); took < burn {
			t.Errorf("%s: answered after %v, before the %v were burnt", stack, took, burn)
		}
		for _, path := range []string{"/", "/nothing"} {
			a := ask(t, url+path, nil)
			if a.StatusCode != 404 || !json.Valid([]byte(a.text)) || a.Header.Get("Content-Type") != catalog.ContentType {
				t.Errorf("%s %s: status %d, %v: %s", stack, path, a.StatusCode, a.Header, a.text)
			}
		}
	}
}

// Every process and every run serves the products in the walk's order.
func TestProductsComeInTheWalksOrder(t *testing.T) {
	_, url := serveStack(t, func(*settings) {})
	walk := catalog.NewWalk(catalog.Seed)
	for i := range 30 {
		n := walk.Next()
		path, want := "/read", pool().Body(n)
		if i%2 > 0 {
			path, want = "/list", pool().Batch(n)
		}
		if got := ask(t, url+path, nil).text; got != string(want) {
			t.Errorf("request %d, %s: not the body the walk has next: %.80s", i, path, got)
		}
	}
}

// A noting is the server's side of a connection, which notes the lengths of its reads and writes.
type noting struct {
	net.Conn
	reads, writes chan int
}

func (n noting) Read(b []byte) (int, error) {
	n.reads <- len(b)
	return n.Conn.Read(b)
}

func (n noting) Write(b []byte) (int, error) {
	n.writes <- len(b)
	return n.Conn.Write(b)
}

// connect makes a connection to an application of Fiber that has started.
func connect(t *testing.T, v stack) (ours net.Conn, theirs noting) {
	ours, side := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	theirs = noting{side, make(chan int, 1000), make(chan int, 1000)}
	go func() { _ = v.app.Server().ServeConn(theirs) }()
	return ours, theirs
}

// The size of a response on the wire, and the number of writes that it takes.
func TestWire(t *testing.T) {
	for _, c := range []struct {
		path         string
		buffer       int
		writes, size int // size 0: any
	}{
		{"/simple", 4096, 1, 124},
		{"/read", 4096, 2, 0},
		{"/read", 5120, 1, 0},
		{"/read-gz", 4096, 1, 0},
	} {
		v, _ := serveStack(t, func(s *settings) { s.writeBuffer = c.buffer })
		conn, server := connect(t, v)
		for r := bufio.NewReader(conn); len(server.reads) < 100; {
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", c.path)
			resp, err := http.ReadResponse(r, nil)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for range c.writes {
				size += <-server.writes
			}
			if len(server.writes) > 0 || c.size > 0 && size != c.size {
				t.Fatalf("%s, buffer %d: %d bytes in the first %d writes, %d more writes; want %d bytes",
					c.path, c.buffer, size, c.writes, len(server.writes), c.size)
			}
		}
	}
}

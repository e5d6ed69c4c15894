package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// pool is made once: it is read-only, and making it is slow under -race.
var pool = sync.OnceValue(func() *catalog.Pool {
	p, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		panic(err)
	}
	return p
})

// testApp is an application with the default settings, modified by change.
func testApp(change func(*settings)) *fiber.App {
	s := defaults()
	if change != nil {
		change(&s)
	}
	return newStack(s, pool()).app
}

func get(t *testing.T, app *fiber.App, method, path string) (*http.Response, []byte) {
	t.Helper()
	resp, err := app.Test(httptest.NewRequest(method, path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if ct := resp.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("%s %s: content type %q", method, path, ct)
	}
	return resp, body
}

// What is refused is refused in JSON; all else that a route answers is in its contract.
func TestRefusalsAreJSON(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		want         int
	}{{"GET", "/", 404}, {"GET", "/nothing", 404}, {"POST", "/read", 405}} {
		if resp, body := get(t, testApp(nil), tt.method, tt.path); resp.StatusCode != tt.want || !json.Valid(body) {
			t.Errorf("%s %s: status %d, want %d: %s", tt.method, tt.path, resp.StatusCode, tt.want, body)
		}
	}
}

// Without a spin, a route has only its own handler.
func TestARouteHasOneHandler(t *testing.T) {
	if n := testApp(nil).HandlersCount(); int(n) != len(catalog.Routes()) {
		t.Errorf("%d handlers, want one for each route", n)
	}
}

// Each index source serves bodies of the pool, and the walk serves them in its order.
func TestReadAndList(t *testing.T) {
	known := make(map[string]bool)
	for i := range catalog.Size {
		known[string(pool().Body(i))] = true
		known[string(pool().Batch(i))] = true
	}
	for _, index := range []string{indexPool, indexGofakeit} {
		app := testApp(func(s *settings) { s.index = index })
		walk := catalog.NewWalk(catalog.Seed)
		different := make(map[string]bool)
		for i := range 60 {
			path := []string{"/read", "/list"}[i%2]
			_, body := get(t, app, "GET", path)
			if !known[string(body)] {
				t.Fatalf("%s, %s: body is not in the pool: %.80s", index, path, body)
			}
			different[string(body)] = true
			if n := walk.Next(); index == indexPool {
				want := [][]byte{pool().Body(n), pool().Batch(n)}[i%2]
				if string(body) != string(want) {
					t.Errorf("request %d, %s: not the body the walk has next", i, path)
				}
			}
		}
		// 30 draws of 500 and 30 of 25 give at least ten different ones even with bad
		// luck; a source that is stuck gives fewer.
		if len(different) < 10 {
			t.Errorf("%s: %d different bodies in 60 requests", index, len(different))
		}
	}
}

// countingListener counts the writes of the connections it accepts.
type countingListener struct {
	net.Listener
	writes chan int // the length of each
}

type countingConn struct {
	net.Conn
	writes chan int
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes <- len(b)
	return c.Conn.Write(b)
}

// The size of a response on the wire, and the number of writes that it takes.
func TestWire(t *testing.T) {
	for _, tt := range []struct {
		path         string
		buffer       int
		writes, size int // size 0: any
	}{
		{"/simple", 4096, 1, 124},
		{"/read", 4096, 2, 0},
		{"/read", 5120, 1, 0},
		{"/read", 8192, 1, 0},
		{"/read-gz", 4096, 1, 0},
		{"/read-gz", 8192, 1, 0},
	} {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		writes := make(chan int, 1000)
		app := testApp(func(s *settings) { s.writeBuffer = tt.buffer })
		done := make(chan error, 1)
		go func() {
			done <- app.Listener(countingListener{ln, writes}, fiber.ListenConfig{DisableStartupMessage: true})
		}()

		conn, err := net.Dial("tcp4", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		br := bufio.NewReader(conn)
		for range 100 {
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", tt.path)
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			size := 0
			for range tt.writes {
				size += <-writes
			}
			if len(writes) > 0 || tt.size > 0 && size != tt.size {
				t.Errorf("%s, buffer %d: %d bytes in the first %d writes, %d more writes; want %d bytes",
					tt.path, tt.buffer, size, tt.writes, len(writes), tt.size)
				break
			}
		}
		conn.Close()
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

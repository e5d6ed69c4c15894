package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// modes are those in which requests under way are waited for.
var modes = []string{"--prefork=true", "--prefork=false", "--stack=fasthttp --prefork=false"}

// halfAsked starts a server with the options of a mode, and sends it a request that ends
// after text, unfinished. The connection ends with the test.
func halfAsked(t *testing.T, mode, text string) (*process, net.Conn) {
	t.Helper()
	p := start(t, freeAddr(t), strings.Fields(mode)...)
	listeners := 1
	if mode == "--prefork=true" {
		listeners = 3
	}
	p.readLines(listeners, " listening ")
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, text)
	time.Sleep(200 * time.Millisecond) // time for the server to accept and read it
	return p, conn
}

// A request that one worker has begun to read is answered, although the other workers are
// idle and could end at once.
func TestStopAnswersRequestInFlight(t *testing.T) {
	for _, mode := range modes {
		p, conn := halfAsked(t, mode, "GET /simple HTTP/1.1\r\nHost: x\r\n")
		p.signal(syscall.SIGTERM)
		eventually(t, "no connection is taken once all workers have begun to stop", func() bool {
			c, err := net.Dial("tcp", p.addr)
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		time.Sleep(500 * time.Millisecond) // idle workers have drained by now
		fmt.Fprint(conn, "\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != `{"message":"hi"}` || !resp.Close {
			t.Errorf("%s: got %q, %v; the answer announces the close: %v", mode, body, err, resp.Close)
		}
		p.ends(0)
	}
}

// A client that never finishes its request does not delay a stop for ever.
func TestStopWithStuckRequest(t *testing.T) {
	for _, mode := range modes {
		p, _ := halfAsked(t, mode, "GET /simple HTTP/1.1\r\n")
		began := time.Now()
		p.signal(syscall.SIGTERM)
		p.ends(0)
		// The drain or the master's patience, and slack for a busy machine.
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the stop took %v", mode, took)
		}
	}
}

func TestStopWhileStarting(t *testing.T) {
	for _, delay := range []time.Duration{0, 5, 20, 50, 80} {
		p := start(t, freeAddr(t))
		p.readLines(1, " master ")
		time.Sleep(delay * time.Millisecond)
		p.signal(syscall.SIGTERM)
		p.ends(0)
	}
}

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

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p, workers := startMaster(t)
		conn := keepAlive(t, p.addr)
		began := time.Now()
		p.signal(sig)
		<-p.done
		if took := time.Since(began); took >= patience {
			t.Errorf("%v: the master lost its patience with idle workers: %v", sig, took)
		}
		// Checked at once and without waiting: no worker outlives the master.
		if anyRunning(workers) {
			t.Errorf("%v: a worker outlives the master", sig)
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%v: exit code %d, want 0", sig, code)
		}
		if n := len(p.all); n != 4 {
			t.Errorf("%v: a stop is not silent:\n%s", sig, strings.Join(p.all, "\n"))
		}
		conn.Close()
	}
}

// halfAsked starts a server with the options of mode, and sends it a request that ends
// after text, unfinished. The connection ends with the test.
func halfAsked(t *testing.T, mode, text string) (*process, net.Conn) {
	t.Helper()
	p := start(t, freeAddr(t), strings.Fields(mode)...)
	listeners := 1
	if mode == "--prefork=true" {
		listeners = 3
	}
	p.readLines(listeners, " listening ")
	conn, err := net.Dial("tcp4", p.addr)
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
	for _, mode := range []string{"--prefork=true", "--prefork=false", "--stack=fasthttp --prefork=false"} {
		p, conn := halfAsked(t, mode, "GET /simple HTTP/1.1\r\nHost: x\r\n")
		p.signal(syscall.SIGTERM)

		// No new connection is accepted once all workers have begun to stop.
		deadline := time.Now().Add(programtest.Patience)
		for {
			c, err := net.Dial("tcp4", p.addr)
			if err != nil {
				break
			}
			c.Close()
			if time.Now().After(deadline) {
				t.Fatalf("%s: connections are still taken", mode)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // idle workers have drained by now
		fmt.Fprint(conn, "\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != `{"message":"hi"}` {
			t.Errorf("%s: got %q, %v", mode, body, err)
		}
		if !resp.Close {
			t.Errorf("%s: the client is not told that the connection closes", mode)
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
	}
}

// A client that never finishes its request does not delay a stop for ever.
func TestStopWithStuckRequest(t *testing.T) {
	for _, mode := range []string{"--prefork=true", "--prefork=false", "--stack=fasthttp --prefork=false"} {
		p, _ := halfAsked(t, mode, "GET /simple HTTP/1.1\r\n")
		began := time.Now()
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
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
		if code := p.exitCode(); code != 0 {
			t.Errorf("after %d ms: exit code %d, want 0; stderr:\n%s", delay, code, strings.Join(p.all, "\n"))
		}
	}
}

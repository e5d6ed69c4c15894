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

func TestStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p, workers := startMaster(t)
		conn := keepAlive(t, p.addr)
		began := time.Now()
		p.signal(sig)
		<-p.done
		if took := time.Since(began); took >= masterPatience {
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
		deadline := time.Now().Add(patience)
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

// Clients that never pause get every answer, and are told to close.
func TestStopUnderLoad(t *testing.T) {
	for _, mode := range []string{"--prefork=true", "--prefork=false"} {
		p := start(t, freeAddr(t), mode)
		p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[mode], " listening ")

		const clients = 12
		answered := make(chan bool, clients)
		ended := make(chan error, clients)
		for range clients {
			go func() {
				ended <- untilClosed(p.addr, func() { answered <- true })
			}()
		}
		for range clients {
			select {
			case <-answered:
			case err := <-ended:
				t.Fatalf("%s: before the stop: %v", mode, err)
			}
		}
		p.signal(syscall.SIGTERM)
		for range clients {
			if err := <-ended; err != nil {
				t.Errorf("%s: a request got no answer: %v", mode, err)
			}
		}
		if code := p.exitCode(); code != 0 {
			t.Errorf("%s: exit code %d, want 0", mode, code)
		}
	}
}

// untilClosed sends one request after the other until a response says that the connection
// closes. After the first response it calls first.
func untilClosed(addr string, first func()) error {
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	br := bufio.NewReader(conn)
	for n := 0; ; n++ {
		if _, err := fmt.Fprint(conn, "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if n == 0 {
			first()
		}
		if resp.Close {
			return nil
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
		// 2.1 s of drain, or 2.5 s of the master's patience, and slack for a
		// busy machine.
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

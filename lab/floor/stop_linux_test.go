package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// At a stop, requests that are read in part are answered when they are whole, clients are
// told that the connection closes, and idle connections are closed.
func TestStopAnswersWhatIsUnderWay(t *testing.T) {
	for _, workers := range []int{1, 3} {
		v := serveWith(t, func(s *settings) { s.workers = workers })
		head, body, idle := v.dial(), v.dial(), v.dial()
		idle.say(simple)
		idle.next("GET")
		head.say(simple + "GET /simple HTTP/1.1\r\nHo")
		head.next("GET")
		body.say(simple + "PUT /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe")
		body.next("GET")
		v.srv.stop()
		if rest := idle.ends(); rest != "" {
			t.Errorf("%q", rest)
		}
		// By now no connection is taken.
		if conn, err := net.Dial("tcp", v.addr); err == nil {
			conn.Close()
			t.Error("a connection is taken after the stop")
		}
		head.say("st: x\r\n\r\n")
		body.say("llo")
		if a, b := head.next("GET"), body.next("PUT"); a.code != 200 || !a.closes || b.code != 405 || !b.closes {
			t.Errorf("%+v, %+v", a, b)
		}
		if head.ends()+body.ends() != "" {
			t.Error("there is more behind the last answers")
		}
		v.stop()
	}
}

// A client that never finishes does not keep the server from ending.
func TestStopWithStuckClients(t *testing.T) {
	v := serve(t)
	head, reader := v.dial(), v.dial()
	head.say(simple + "GET /simple")
	head.next("GET")
	reader.say(strings.Repeat("GET /list HTTP/1.1\r\nHost: x\r\n\r\n", 500))
	reader.next("GET")
	v.stop()
}

// Clients that never pause get every answer, and are told to close.
func TestStopUnderLoad(t *testing.T) {
	v := serveWith(t, func(s *settings) { s.workers = 2 })
	const clients = 12
	first, ended := make(chan struct{}, clients), make(chan error, clients)
	for range clients {
		c := v.dial()
		go func() {
			ended <- func() error {
				for n := 0; ; n++ {
					if _, err := fmt.Fprint(c, read1); err != nil {
						return err
					}
					a, err := c.readTo("GET")
					if err != nil {
						return fmt.Errorf("request %d: %w", n, err)
					}
					if n == 0 {
						first <- struct{}{}
					}
					if a.closes {
						return nil
					}
				}
			}()
		}()
	}
	for range clients {
		<-first
	}
	v.stop()
	for range clients {
		if err := <-ended; err != nil {
			t.Errorf("a request got no answer: %v", err)
		}
	}
}

// held counts this process's descriptors.
func held(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Whatever clients do, a server that has ended leaves no descriptor, no goroutine and no
// connection behind.
func TestNothingIsLeft(t *testing.T) {
	serve(t).stop() // what the first server of a process opens for good
	descriptors, goroutines := held(t), runtime.NumGoroutine()
	for _, workers := range []int{1, 3} {
		v := serveWith(t, func(s *settings) { s.workers = workers })
		var open []*client
		for i := range 60 {
			c := v.dial()
			switch i % 6 {
			case 0:
				c.say(simple)
				c.next("GET")
			case 1:
				c.say("nonsense\r\n\r\n")
				c.next("GET")
			case 2:
				c.say("GET /simple HTTP/1.1\r\nHost")
			case 3:
				c.say(read1 + read1)
				_ = c.SetLinger(0) // breaks off
			case 4:
				c.say(simple)
				_ = c.CloseWrite()
				if codes, _ := codesIn(t, c.ends()); !slices.Equal(codes, []int{200}) {
					t.Error(codes)
				}
			}
			if i%2 == 0 {
				c.Close()
			} else {
				open = append(open, c)
			}
		}
		v.stop()
		for _, c := range open {
			c.Close()
		}
		for _, l := range v.srv.loops {
			if l.open != 0 {
				t.Errorf("%d connections are counted", l.open)
			}
		}
	}
	deadline := time.Now().Add(patience)
	for held(t) > descriptors || runtime.NumGoroutine() > goroutines {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, before %d; %d goroutines, before %d", held(t), descriptors, runtime.NumGoroutine(),
				goroutines)
		}
		time.Sleep(time.Millisecond)
	}
}

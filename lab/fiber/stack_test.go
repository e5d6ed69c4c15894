package main

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// serveStack serves the settings' stack on a port of its own, for the duration of the
// test.
func serveStack(t *testing.T, change func(*Settings)) (v *service, url string) {
	t.Helper()
	s := defaults
	s.Prefork = false
	change(&s)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v = newService(s, roleSingle, pool(), newSource(s.Index))
	done := make(chan error, 1)
	go func() { done <- v.stack.serve(ln) }()
	t.Cleanup(func() {
		v.stack.shutdown(time.Second)
		if err := <-done; err != nil {
			t.Errorf("%s: serve: %v", s.Stack, err)
		}
	})
	return v, "http://" + ln.Addr().String()
}

// A stack counts its connections, spins for as long as it is told to, and tells clients
// that it is leaving.
func TestStacksSpinAndLeave(t *testing.T) {
	const burn = 30 * time.Millisecond
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		v, url := serveStack(t, func(s *Settings) { s.Stack, s.SpinNs = stack, int(burn) })
		client := &http.Client{Transport: &http.Transport{}}
		get := func() *http.Response {
			t.Helper()
			resp, err := client.Get(url + "/simple")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			return resp
		}
		began := time.Now()
		if resp := get(); resp.Close {
			t.Errorf("%s: closes before it leaves", stack)
		}
		if took := time.Since(began); took < burn {
			t.Errorf("%s: answered after %v, before the %v were burnt", stack, took, burn)
		}
		if n := v.stack.open(); n != 1 {
			t.Errorf("%s: %d connections open, want 1", stack, n)
		}
		v.leaving.Store(true)
		if resp := get(); !resp.Close {
			t.Errorf("%s: the client is not told that the connection closes", stack)
		}
		for deadline := time.Now().Add(20 * time.Second); v.stack.open() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the connection stays open", stack)
			}
		}
	}
}

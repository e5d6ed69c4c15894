package main

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

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
	return v, "http://" + ln.Addr().String()
}

// A stack spins for as long as it is told to.
func TestStacksSpin(t *testing.T) {
	const burn = 30 * time.Millisecond
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		_, url := serveStack(t, func(s *settings) { s.stack, s.spinNs = stack, int(burn) })
		began := time.Now()
		ask(t, url+"/simple", nil)
		if took := time.Since(began); took < burn {
			t.Errorf("%s: answered after %v, before the %v were burnt", stack, took, burn)
		}
	}
}

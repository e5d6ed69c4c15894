package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
)

func TestNoProducer(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	p := begin(t, "--producer", nobody)
	if code := p.exit(t); code != program.NotReached || p.stdout.Len() > 0 ||
		p.stderr.String() != "event_sink: no producer is there: dial tcp "+nobody+": connect: connection refused\n" {
		t.Errorf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
}

// A server that is not a producer is recognised by its answer.
func TestNotAProducer(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	addr := other.Listener.Addr().String()
	p := begin(t, "--producer", addr, "--duration", "0.1")
	if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 ||
		!strings.Contains(p.stderr.String(), "the producer at "+addr) {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
}

// Where a window has no time to judge a rate, the sink says so before it searches.
func TestAWindowTooShortForALimit(t *testing.T) {
	_, addr := producing(t, "--interval-ms", "100")
	p := begin(t, "--producer", addr, "--find-limit", "--latency-ms", "20", "--duration", "0.3")
	// What is judged is one interval and one answer long, and a window takes three of it.
	want := "event_sink: --duration 300ms is too short for a limit: judging one takes 360ms with these settings\n"
	if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || p.stderr.String() != want {
		t.Errorf("exit status %d, %q, %q; want %q", code, &p.stdout, &p.stderr, want)
	}
}

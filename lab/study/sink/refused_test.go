package main

import (
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/study/event"
)

func TestNoProducer(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	p := begin(t, "--producer", "http://"+nobody)
	if code := p.exit(t); code != program.NotReached || p.stdout.Len() > 0 ||
		p.stderr.String() != "event_sink: no producer is there: nothing listens at http://"+nobody+"\n" {
		t.Errorf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, url := producing(t)
	p := begin(t, "--producer", url, "--listen", ln.Addr().String())
	if code := p.exit(t); code != program.Failure || strings.Count(p.stderr.String(), "\n") != 1 ||
		!strings.Contains(p.stderr.String(), "--listen: ") {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
	if code, _ := asked(t, http.MethodGet, url+"/figures"); code != http.StatusConflict {
		t.Errorf("the producer was started: %d", code)
	}
}

// A server that is not a producer is recognised by its answer.
func TestNotAProducer(t *testing.T) {
	other := newReceiver(Settings{})
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: other}
	go srv.Serve(ln)
	defer srv.Close()
	p := begin(t, "--producer", "http://"+ln.Addr().String(), "--duration", "0.1")
	if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 ||
		!strings.Contains(p.stderr.String(), "refuses /start") {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
}

func TestASecondSinkIsRefused(t *testing.T) {
	_, url := producing(t, "--interval-ms", "10")
	first := begin(t, "--producer", url, "--duration", "600")
	until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
	second := begin(t, "--producer", url, "--duration", "0.1")
	if code := second.exit(t); code != program.Failure || second.stdout.Len() > 0 ||
		strings.Count(second.stderr.String(), "\n") != 1 || !strings.Contains(second.stderr.String(), "409") {
		t.Errorf("exit status %d, %q, %q", code, &second.stdout, &second.stderr)
	}
	// The refused sink has not stopped the producer, which belongs to the first one.
	_, before := asked(t, http.MethodGet, url+"/figures")
	until(t, url, "delivering still", func(f event.Figures) bool { return f.Delivered > before.Delivered })
	_ = first.Process.Signal(syscall.SIGTERM)
	first.exit(t)
}

// Where a window has no time to judge a rate, the sink says so before it searches, and
// stops the producer that it has started.
func TestAWindowTooShortForALimit(t *testing.T) {
	_, url := producing(t, "--interval-ms", "100")
	p := begin(t, "--producer", url, "--find-limit", "--latency-ms", "20", "--warmup", "0", "--duration",
		"0.3")
	if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 {
		t.Errorf("exit status %d, %q", code, &p.stdout)
	}
	// What is judged is one interval and one answer long, and a window takes three of it.
	if want := "event_sink: --duration 300ms is too short for a limit: judging one takes 360ms with these settings\n"; p.stderr.String() != want {
		t.Errorf("%q, want %q", &p.stderr, want)
	}
	if _, f := asked(t, http.MethodGet, url+"/figures"); f.Drained == nil {
		t.Errorf("the producer was not stopped: %+v", f)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"event_producer": "."}) }

func settings(t *testing.T, args ...string) Settings {
	t.Helper()
	s, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A taker is a sink that remembers the numbers of the events that came.
type taker struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[uint64]int64 // when each event was due
	size string
	gone atomic.Bool // it ends connections, even in the middle of a request
}

func takes(t *testing.T, before func() (code int)) *taker {
	t.Helper()
	s := &taker{seen: map[uint64]int64{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code := before(); code != 0 {
			w.WriteHeader(code)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil && s.gone.Load() {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.size = r.Header.Get(event.SizeHeader)
		var size int
		fmt.Sscan(s.size, &size)
		if err != nil || size == 0 || len(body)%size != 0 {
			t.Errorf("%d bytes by %q: %v", len(body), s.size, err)
			return
		}
		for ; len(body) > 0; body = body[size:] {
			n, due := event.Get(body)
			if _, twice := s.seen[n]; twice {
				t.Errorf("event %d came twice", n)
			}
			s.seen[n] = due
			if string(body[event.Header:event.Header+4]) != "qrst" {
				t.Errorf("event %d is filled with %q", n, body[event.Header:])
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func willing() int { return 0 }

// start runs the real program and returns where its control listens.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	words := append([]string{programtest.Path("event_producer"), "--addr", "127.0.0.1:0"}, args...)
	return programtest.Start(t, words...)
}

func TestDesignsMayAskForTheSizesOfEvents(t *testing.T) {
	for _, size := range setting.EventSizes {
		if s := settings(t, "--event-bytes", fmt.Sprint(size)); int64(s.EventBytes) != size {
			t.Errorf("%d: %+v", size, s)
		}
	}
}

func TestExitStatuses(t *testing.T) {
	cmd, addr := start(t)
	programtest.Calls{
		{[]string{"--addr", addr}, program.InUse, addr + " is already in use"},
		{[]string{"--addr", "0.0.0.0:8083"}, program.Refused, "loopback host"},
		{[]string{"--addr", "192.0.2.1:80"}, program.Refused, "loopback host"},
		{[]string{"--addr", "8083"}, program.Refused, "HOST:PORT"},
		{[]string{"--variant", "pool"}, program.Refused, "no variant"},
		{[]string{"--variant", "pool-0"}, program.Refused, "no variant"},
		{[]string{"--variant", "pool-1001"}, program.Refused, "no variant"},
		{[]string{"--variant", "pool-007"}, program.Refused, "no variant"},
		{[]string{"--variant", "async", "--stagger"}, program.Refused, "only pool-N"},
		{[]string{"--stagger=maybe"}, program.Refused, "invalid boolean"},
		{[]string{"--stagger", "false"}, program.Refused, "joined with ="},
		{[]string{"--event-rate", "0"}, program.Refused, "from 1 to 64000000"},
		{[]string{"--event-bytes", "100"}, program.Refused, "64 or 256 or 1024 or 4096"},
		{[]string{"--batch-size", "x"}, program.Refused, "whole number"},
		{[]string{"--interval-ms", "0"}, program.Refused, "from 1 to"},
		{[]string{"--queue", "-1"}, program.Refused, "from 0 to"},
		{[]string{"--pacing", "closed"}, program.Refused, "open or ticker"},
		{[]string{"--attempts", "0"}, program.Refused, "from 1 to"},
		{[]string{"--pprof-sockets", "/nowhere/at/all"}, program.Refused, "mkdir -p -m 700"},
		{[]string{"--nonsense"}, program.Refused, "-nonsense"},
		{[]string{"now"}, program.Refused, `"now"`},
		{[]string{"--help"}, program.OK, "event_sink is connected"},
	}.Check(t, programtest.Path("event_producer"))
	if conn, err := net.Dial("tcp", addr); err != nil {
		t.Errorf("the first one has gone: %v", err)
	} else {
		conn.Close()
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// A signal ends the program at once, even during a run, and removes its profiles' socket.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		dir, err := os.MkdirTemp("", "p") // a short path, and closed to others
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		hang := make(chan struct{})
		sink := takes(t, func() int { <-hang; return 0 })
		cmd, addr := start(t, "--variant", "pool-2", "--queue", "0", "--interval-ms", "10", "--pprof-sockets", dir)
		socket := filepath.Join(dir, fmt.Sprint(cmd.Process.Pid)+".sock")
		if _, err := os.Stat(socket); err != nil {
			t.Error(err)
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := json.NewEncoder(conn).Encode(event.Ask{Sink: sink.Listener.Addr().String()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // time to send, and to wait for the answer
		_ = cmd.Process.Signal(sig)
		late := time.AfterFunc(programtest.Patience, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("after %v: %v", sig, err)
		}
		late.Stop()
		close(hang)
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A sink is refused in a line if it is on another machine, asks for a rate that no run has, or is a second one.
func TestASinkIsRefused(t *testing.T) {
	_, addr := start(t)
	taker := takes(t, willing)
	defer taker.gone.Store(true) // what is still sent then is cut off
	sink := taker.Listener.Addr().String()
	for _, c := range []struct {
		ask  event.Ask
		want string
	}{
		{event.Ask{Sink: "192.0.2.1:80"}, "loopback host"},
		{event.Ask{Sink: sink, Rate: event.MaxRate + 1}, "from 1 to 64000000"},
		{event.Ask{Sink: sink, Rate: -1}, "from 1 to 64000000"},
		{event.Ask{Sink: sink}, ""},
		{event.Ask{Sink: sink}, "another --addr"},
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var f event.Figures
		_ = json.NewEncoder(conn).Encode(c.ask)
		if err := json.NewDecoder(conn).Decode(&f); err != nil || !strings.Contains(f.Error, c.want) || (f.Error == "") != (c.want == "") {
			t.Errorf("%+v: %q, %v", c.ask, f.Error, err)
		}
	}
}

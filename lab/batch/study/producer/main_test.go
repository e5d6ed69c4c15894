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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
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
	port int
	gone atomic.Bool // it ends connections, even in the middle of a request
	mu   sync.Mutex
	seen map[uint64]int64 // when each event was due
	size string
}

// takes starts a taker, which calls before for each batch. It refuses the batch if that gives a status.
func takes(t *testing.T, before func() (status int)) *taker {
	t.Helper()
	s := &taker{seen: map[uint64]int64{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := before(); status != 0 {
			w.WriteHeader(status)
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
	s.port = s.Listener.Addr().(*net.TCPAddr).Port
	return s
}

func willing() int { return 0 }

// start runs the real program and returns where a sink connects.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	return programtest.Start(t, append([]string{programtest.Path("event_producer"), "--addr", "127.0.0.1:0"}, args...)...)
}

func TestExitStatuses(t *testing.T) {
	_, addr := start(t)
	programtest.Calls{
		{[]string{"--addr", addr}, program.InUse, addr + " is already in use"},
		{[]string{"--addr", "0.0.0.0:8083"}, program.Refused, "loopback host"},
		{[]string{"--variant", "pool-1001"}, program.Refused, "pool-N with N from 1 to 1000"},
		{[]string{"--variant", "pool-007"}, program.Refused, "pool-N with N from 1 to 1000"},
		{[]string{"--stagger", "false"}, program.Refused, "joined with ="},
		{[]string{"--event-rate", "0"}, program.Refused, "from 1 to 64000000"},
		{[]string{"--event-bytes", "100"}, program.Refused, "64 or 256 or 1024 or 4096"},
		{[]string{"--batch-size", "x"}, program.Refused, "whole number"},
		{[]string{"--interval-ms", "0"}, program.Refused, "from 1 to"},
		{[]string{"--queue", "-1"}, program.Refused, "from 0 to"},
		{[]string{"--pacing", "closed"}, program.Refused, "open or ticker"},
		{[]string{"--pprof-sockets", "/nowhere/at/all"}, program.Refused, "mkdir -p -m 700"},
		{[]string{"--help"}, program.OK, "event_sink is connected"},
	}.Check(t, programtest.Path("event_producer"))
}

// A signal ends the program at once, even during a run, and removes its profiles' socket.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		dir, err := os.MkdirTemp("", "p") // a short path, and closed to others
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		came, hang := make(chan struct{}, 100), make(chan struct{})
		sink := takes(t, func() int { came <- struct{}{}; <-hang; return 0 })
		cmd, addr := start(t, "--variant", "pool-2", "--queue", "0", "--interval-ms", "10", "--pprof-sockets", dir)
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprint(cmd.Process.Pid)+".sock")); err != nil {
			t.Error(err)
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := json.NewEncoder(conn).Encode(event.Ask{Port: sink.port, Lasts: time.Hour}); err != nil {
			t.Fatal(err)
		}
		<-came
		sink.gone.Store(true)
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

package capture

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"fiber_server": "../../fiber"}) }

// patience ends a test that hangs; it asserts no speed.
const patience = 20 * time.Second

// A server is a real server with pprof sockets in its own directory.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string
	dir  string
}

// startServer starts a server with procs workers or processors, and waits until
// all of them listen.
func startServer(t *testing.T, procs int, prefork bool, args ...string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "p") // short enough for a socket's path, and mode 0700
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, addr: ln.Addr().String(), dir: dir}
	ln.Close()
	listeners, role := 1, ": single "
	if prefork {
		listeners, role = procs, ": worker "
	}
	args = append([]string{"--addr=" + s.addr, fmt.Sprintf("--prefork=%v", prefork), "--pprof-sockets=" + dir}, args...)
	s.cmd = exec.Command(programtest.Path("fiber_server"), args...)
	s.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up, drained := make(chan bool, 1), make(chan struct{})
	go func() {
		defer close(drained)
		seen := 0
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), role) {
				if seen++; seen == listeners {
					up <- true
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-drained // no worker is left
		_ = s.cmd.Wait()
	})
	select {
	case <-up:
	case <-time.After(patience):
		t.Fatal("the server does not listen")
	}
	return s
}

func (s *server) sources() []Source {
	s.t.Helper()
	sources, err := Sockets(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return sources
}

// load requests a route on so many connections at once until the test ends,
// with a pause after each answer. An error ends its connection, since some
// tests kill the server.
func (s *server) load(route string, connections int, pause time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+route, nil)
				if err != nil {
					return
				}
				resp, err := (&http.Client{Transport: transport}).Do(req)
				if err != nil {
					return
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil {
					return
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(pause):
				}
			}
		})
	}
	s.t.Cleanup(func() {
		stop()
		all.Wait()
		transport.CloseIdleConnections()
	})
}

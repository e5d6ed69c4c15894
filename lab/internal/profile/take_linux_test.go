package profile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"fiber_server": "../../fiber"}) }

// patience ends a test that hangs; it asserts no speed.
const patience = 20 * time.Second

// start starts a real server with so many workers, or alone, and loads it until the test ends.
func start(t *testing.T, workers int) (cmd *exec.Cmd, dir string) {
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
	addr := ln.Addr().String()
	ln.Close()
	cmd = exec.Command(programtest.Path("fiber_server"), "--addr="+addr, "--mutex-fraction=1", "--block-rate-ns=1",
		fmt.Sprintf("--prefork=%v", workers > 1), "--pprof-sockets="+dir)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", max(workers, 2)))
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for seen := 0; seen < workers && lines.Scan(); {
		if strings.Contains(lines.Text(), ": worker ") || strings.Contains(lines.Text(), ": single ") {
			seen++
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				r, err := http.Get("http://" + addr + "/compute")
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				time.Sleep(time.Millisecond)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		all.Wait()
		_ = cmd.Process.Kill()
		for lines.Scan() { // until no worker is left
		}
		_ = cmd.Wait()
	})
	return cmd, dir
}

func sources(t *testing.T, name string) []Source {
	t.Helper()
	all, err := Sources(name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// has tells whether a function that begins so is on a stack of a profile.
func has(p *pprof.Profile, start string) bool {
	return slices.ContainsFunc(p.Function, func(f *pprof.Function) bool { return strings.HasPrefix(f.Name, start) })
}

func TestAllKindsOfOneWindowAreMergedOverTheProcesses(t *testing.T) {
	_, dir := start(t, 3)
	began := time.Now()
	set, err := Take(t.Context(), sources(t, dir), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if set.Processes != 3 || set.Started.Before(began) {
		t.Errorf("%d processes, from %v after the call on", set.Processes, set.Started.Sub(began))
	}
	for _, k := range Kinds() {
		p := set.Merged[k]
		of, err := Analyse(k, p)
		if err != nil || p.CheckValid() != nil || p.DefaultSampleType != k.Doc().SampleType || len(p.SampleType) > 2 {
			t.Errorf("%s: %v, %v, %v", k, err, p.CheckValid(), p.SampleType)
		}
		// The processes ran side by side: two seconds, not six.
		if d := time.Duration(p.DurationNanos); !k.OfMoment() && (d < 2*time.Second || d > 4*time.Second) || k.OfMoment() && d != 0 {
			t.Errorf("%s lasts %v", k, d)
		}
		if of.Work["profiler"] > 0 {
			t.Errorf("%s holds the taking of profiles", k)
		}
		for _, m := range p.Mapping {
			if strings.Contains(m.File, "/") {
				t.Errorf("%s names a path of this machine: %s", k, m.File)
			}
		}
		if (k == CPU || k == Goroutine) && of.Packages["github.com/valyala/fasthttp"] == 0 {
			t.Errorf("%s is not of the server: %v", k, of.Packages)
		}
	}
	// What a process allocated at its start is in the heap, and in no window.
	const pool = "github.com/line-rate/line-rate/lab/server/catalog.NewPool"
	if !has(set.Merged[Heap], pool) || has(set.Merged[Allocs].Compact(), pool) {
		t.Error("the making of the pool is not where it belongs")
	}
}

// Whoever ends, the others are released: a process takes one window at a time.
func TestAProcessThatEndsFailsTheSetAndReleasesTheOthers(t *testing.T) {
	_, stays := start(t, 1)
	other, dir := start(t, 1)
	both := append(sources(t, stays), sources(t, dir)...)
	time.AfterFunc(time.Second, func() { _ = other.Process.Kill() })
	began := time.Now()
	_, err := Take(t.Context(), both, 300*time.Second)
	if err == nil || !strings.HasPrefix(err.Error(), dir) || !strings.Contains(err.Error(), "has probably ended") ||
		time.Since(began) > patience {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err = Take(t.Context(), both[:1], time.Second); err == nil {
			break
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "cpu profiling already in use") {
			t.Fatal(err)
		}
	}
	// Sockets that were left behind are no processes.
	if _, err := Sources(dir); err == nil || !strings.Contains(err.Error(), "start the server with --pprof-sockets "+dir) {
		t.Error(err)
	}
}

func TestWhatIsNoSourceIsRefusedInALine(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, says := range map[string]string{
		plain.URL:               "it serves no window of all profiles",
		"http://192.0.2.1:6060": "pprof is asked on loopback only; open a tunnel with ssh -N -L 127.0.0.1:6060:127.0.0.1:6060 192.0.2.1",
		"http://127.0.0.1":      "give http://HOST:PORT",
		"https://127.0.0.1:1":   "or give http://127.0.0.1:PORT",
		"/nowhere/at/all":       "no process serves pprof there",
		"http://127.0.0.1:1":    "connection refused",
	} {
		of, err := Sources(name)
		if err == nil {
			_, err = Take(t.Context(), of, time.Second)
		}
		if err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}

package profile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"fiber_server": "../../server"}) }

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
		for lines.Scan() { // until all workers have ended
		}
		_ = cmd.Wait()
	})
	return cmd, dir
}

// has tells whether a function that begins so is on a stack of a profile.
func has(p *pprof.Profile, start string) bool {
	return slices.ContainsFunc(p.Function, func(f *pprof.Function) bool { return strings.HasPrefix(f.Name, start) })
}

func TestAllKindsOfOneWindowAreMergedOverTheProcesses(t *testing.T) {
	_, dir := start(t, 3)
	set, err := Take(t.Context(), dir, 3, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		p := set[k]
		of, err := Analyse(k, p)
		if err != nil || p.CheckValid() != nil {
			t.Errorf("%s: %v, %v", k, err, p.CheckValid())
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
	if !has(set[Heap], pool) || has(set[Allocs].Compact(), pool) {
		t.Error("the making of the pool is not where it belongs")
	}
}

// The end of one releases the others: a process takes one window at a time.
func TestAProcessThatEndsFailsTheSetAndReleasesTheOthers(t *testing.T) {
	_, stays := start(t, 1)
	other, dir := start(t, 1)
	sockets, _ := filepath.Glob(filepath.Join(stays, "*.sock"))
	if len(sockets) != 1 {
		t.Fatal(sockets)
	}
	if err := os.Rename(sockets[0], filepath.Join(dir, filepath.Base(sockets[0]))); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Second, func() { _ = other.Process.Kill() })
	began := time.Now()
	_, err := Take(t.Context(), dir, 2, 300*time.Second)
	if err == nil || !strings.HasPrefix(err.Error(), dir) || !strings.Contains(err.Error(), "has probably ended") ||
		time.Since(began) > patience {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	_, _ = other.Process.Wait() // else its socket may still take a connection, and end it
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err = Take(t.Context(), dir, 1, time.Second); err == nil {
			break
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "cpu profiling already in use") {
			t.Fatal(err)
		}
	}
	// Sockets that were left behind are no processes.
	if _, err := Take(t.Context(), dir, 2, time.Second); err == nil || !strings.Contains(err.Error(), "1 processes serve profiles in") {
		t.Error(err)
	}
}

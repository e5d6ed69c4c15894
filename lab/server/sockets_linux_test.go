package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// socketDir returns a directory that the server accepts: its path is short, and only its
// owner may enter it.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // mode 0700; t.TempDir's can be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// sockets lists what is in a directory.
func sockets(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fetch makes a request to pprof on a socket.
func fetch(t *testing.T, socket, path string) (int, []byte) {
	t.Helper()
	client := http.Client{Timeout: programtest.Patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	resp, err := client.Get("http://pprof" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// eventually waits for something that takes a moment.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(programtest.Patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", programtest.Patience, what)
		}
	}
}

// serving checks that in dir each of the processes serves profiles of itself, and that no
// other process does.
func serving(t *testing.T, dir string, pids []int) {
	t.Helper()
	var want []string
	for _, pid := range pids {
		want = append(want, fmt.Sprintf("%d.sock", pid))
	}
	slices.Sort(want)
	if got := sockets(t, dir); !slices.Equal(got, want) {
		t.Fatalf("the directory has %v, want %v", got, want)
	}
	for _, name := range want {
		path := filepath.Join(dir, name)
		status, body := fetch(t, path, "/debug/pprof/goroutine")
		if status != 200 {
			t.Fatalf("%s: status %d: %s", name, status, body)
		}
		if _, err := profile.Parse(bytes.NewReader(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if status, _ := fetch(t, path, "/read"); status != 404 {
			t.Errorf("%s: /read on pprof's socket: status %d", name, status)
		}
	}
}

func TestSocketOfEachWorker(t *testing.T) {
	dir := socketDir(t)
	p := start(t, freeAddr(t), "--pprof-sockets="+dir)
	p.readLines(3, ": worker ")
	workers := children(t, p.cmd.Process.Pid)
	serving(t, dir, workers)

	// Each worker reports that pprof is up before it reports that it is up itself.
	for _, pid := range workers {
		up := slices.Index(p.all, fmt.Sprintf("fiber_server: pprof pid=%d listening addr=%s/%d.sock", pid, dir, pid))
		serves := slices.Index(p.all, fmt.Sprintf("fiber_server: worker pid=%d listening addr=%s", pid, p.addr))
		if up < 0 || serves < up {
			t.Errorf("worker %d: pprof up in line %d, listening in line %d of:\n%s", pid, up, serves, strings.Join(p.all, "\n"))
		}
	}

	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 || len(p.all) != 7 {
		t.Errorf("exit code %d, stderr:\n%s", code, strings.Join(p.all, "\n"))
	}
	if left := sockets(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSocketOfASingleProcess(t *testing.T) {
	for _, stack := range []string{"fiber", "fasthttp", "net-http"} {
		dir := socketDir(t)
		p := start(t, freeAddr(t), "--prefork=false", "--stack="+stack, "--pprof-sockets="+dir)
		pid := p.cmd.Process.Pid
		p.readLines(1, " single ")
		if want := fmt.Sprintf("fiber_server: pprof pid=%d listening addr=%s/%d.sock", pid, dir, pid); p.all[0] != want {
			t.Errorf("%s: the first line is %q, want %q", stack, p.all[0], want)
		}
		serving(t, dir, []int{pid})
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 || len(p.all) != 2 {
			t.Errorf("%s: exit code %d, stderr:\n%s", stack, code, strings.Join(p.all, "\n"))
		}
		if left := sockets(t, dir); len(left) > 0 {
			t.Errorf("%s: left behind: %v", stack, left)
		}
	}
}

func TestRatesReachWorkers(t *testing.T) {
	dir := socketDir(t)
	p := start(t, freeAddr(t), "--pprof-sockets="+dir, "--mutex-fraction=3")
	p.readLines(3, ": worker ")
	for _, name := range sockets(t, dir) {
		path := filepath.Join(dir, name)
		if _, body := fetch(t, path, "/debug/pprof/mutex?debug=1"); !strings.Contains(string(body), "sampling period=3\n") {
			t.Errorf("%s: no period of 3 in %.200q", name, body)
		}
	}
}

// A client in the middle of a profile does not hold up a stop.
func TestStopDuringAProfile(t *testing.T) {
	for _, prefork := range []string{"true", "false"} {
		dir := socketDir(t)
		p := start(t, freeAddr(t), "--pprof-sockets="+dir, "--prefork="+prefork)
		p.readLines(map[string]int{"true": 4, "false": 1}[prefork], "addr="+p.addr) // the master prints the address too
		conn, err := net.Dial("unix", filepath.Join(dir, sockets(t, dir)[0]))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(100 * time.Millisecond) // so that the server has read the request
		p.signal(syscall.SIGTERM)
		if code := p.exitCode(); code != 0 {
			t.Errorf("prefork %s: exit code %d", prefork, code)
		}
		if left := sockets(t, dir); len(left) > 0 {
			t.Errorf("prefork %s: left behind: %v", prefork, left)
		}
	}
}

package main

import (
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
func sockets(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fetch asks a server on an address or a socket.
func fetch(t *testing.T, network, addr, path string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: programtest.Patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}}
	resp, err := client.Get("http://localhost" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// profiled checks that in dir each of the processes serves profiles, and nothing else, and that no other process
// does. Package profile parses them.
func profiled(t *testing.T, dir string, pids []int, says string) {
	t.Helper()
	var want []string
	for _, pid := range pids {
		name := fmt.Sprintf("%d.sock", pid)
		want = append(want, name)
		path := filepath.Join(dir, name)
		status, body := fetch(t, "unix", path, "/debug/pprof/mutex?debug=1")
		if status != 200 || !strings.Contains(body, says) {
			t.Errorf("%s: status %d, no %q in %.200q", name, status, says, body)
		}
		if status, _ := fetch(t, "unix", path, "/read"); status != 404 {
			t.Errorf("%s: /read on pprof's socket: status %d", name, status)
		}
	}
	slices.Sort(want)
	if got := sockets(t, dir); !slices.Equal(got, want) {
		t.Errorf("the directory has %v, want %v", got, want)
	}
}

// With --pprof all requests are in the one process whose profiles are at a port of loopback, which serves nothing
// else, and the lab's port serves none.
func TestPprof(t *testing.T) {
	p := start(t, freeAddr(t), "--pprof", "--pprof-addr=localhost:0")
	p.readLines(1, " single ")
	addr, is := strings.CutPrefix(p.all[0], fmt.Sprintf("fiber_server: pprof pid=%d listening addr=", p.cmd.Process.Pid))
	if more := p.children(); len(more) > 0 || !is || !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("children: %v, first line %q", more, p.all[0])
	}
	// A worker goroutine of fasthttp that waits this long for its next connection is a
	// blocking event long enough to be always sampled.
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		keepAlive(t, p.addr).Close()
	}
	for _, c := range []struct {
		addr, path string
		status     int
		says       string
	}{
		{addr, "/debug/pprof/", 200, "mutex"},
		{addr, "/debug/pprof/mutex?debug=1", 200, "sampling period=5\n"},
		{addr, "/debug/pprof/block?debug=1", 200, "fasthttp.(*workerPool)"},
		{addr, "/debug/pprof/profile?seconds=1", 200, ""},
		{addr, "/read", 404, ""},
		{p.addr, "/debug/pprof/", 404, ""},
	} {
		if status, body := fetch(t, "tcp", c.addr, c.path); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: status %d, no %q in %.200q", c.path, status, c.says, body)
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
		p.ends(0)
		if left := sockets(t, dir); len(left) > 0 {
			t.Errorf("prefork %s: left behind: %v", prefork, left)
		}
	}
}

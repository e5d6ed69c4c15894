package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestPprof(t *testing.T) {
	p := start(t, freeAddr(t), "--pprof", "--pprof-addr=127.0.0.1:0", "--index=gofakeit")
	pid := p.cmd.Process.Pid
	line := p.readLines(1, fmt.Sprintf("fiber_server: pprof pid=%d listening addr=", pid))[0]
	addr := line[strings.LastIndexByte(line, '=')+1:]
	p.readLines(1, " single ")
	if got := children(t, pid); len(got) > 0 {
		t.Errorf("children: %v", got)
	}
	if host, _, _ := net.SplitHostPort(addr); host != "127.0.0.1" {
		t.Errorf("pprof listens on %s", addr)
	}

	// A worker goroutine of fasthttp that waits this long for its next connection is a
	// blocking event long enough to be always sampled.
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		keepAlive(t, p.addr).Close()
	}

	client := http.Client{Timeout: programtest.Patience}
	fetch := func(path string) (int, string) {
		t.Helper()
		resp, err := client.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for _, tt := range []struct{ path, want string }{
		{"/debug/pprof/", "mutex"},
		{"/debug/pprof/mutex?debug=1", "sampling period=5\n"},
		{"/debug/pprof/block?debug=1", "fasthttp.(*workerPool)"},
		{"/debug/pprof/heap?debug=1", "heap profile:"},
		{"/debug/pprof/profile?seconds=1", ""},
	} {
		if status, body := fetch(tt.path); status != 200 || !strings.Contains(body, tt.want) {
			t.Errorf("%s: status %d, no %q in %.200q", tt.path, status, tt.want, body)
		}
	}
	// The pprof address does not serve the lab's routes, and the lab's port does not
	// serve pprof.
	if status, _ := fetch("/read"); status != 404 {
		t.Errorf("/read on the pprof address: status %d", status)
	}
	resp, err := client.Get("http://" + p.addr + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("pprof on the server's own address: status %d", resp.StatusCode)
	}
}

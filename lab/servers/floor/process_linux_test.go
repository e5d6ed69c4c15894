package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"floor_server": ".", "null_server": "."})
}

// start runs a program on a free port and waits until it listens.
func start(t *testing.T, words ...string) (cmd *exec.Cmd, v *serving) {
	t.Helper()
	cmd, addr := programtest.Start(t, words...)
	return cmd, &serving{t: t, addr: addr}
}

func floor() string { return programtest.Path("floor_server") }

// refusals checks what a program says to wrong calls, in one line, and its exit status.
func refusals(t *testing.T, name, addr string, more map[string]string) {
	t.Helper()
	calls := programtest.Calls{
		{[]string{"--addr", addr}, program.InUse, addr + " is already in use; stop the other server"},
		{[]string{"--addr", "192.0.2.1:80"}, program.Failure, "--addr"}, // an address reserved for documentation
		{[]string{"--addr", "8083"}, program.Refused, "as in 127.0.0.1:8083"},
		{[]string{"--prefork"}, program.Refused, "-prefork"},
		{[]string{"serve"}, program.Refused, "serve"},
		{[]string{"--help"}, program.OK, "/simple"},
	}
	for args, says := range more {
		calls = append(calls, programtest.Calls{{strings.Fields(args), program.Refused, says}}...)
	}
	calls.Check(t, name)
}

// ended sends SIGTERM and checks that the program ends well.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestProgram(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // mode 0700; t.TempDir's can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cmd, v := start(t, floor(), "--addr", "127.0.0.1:0", "--workers", "2", "--pprof-sockets", dir)
	refusals(t, floor(), v.addr, map[string]string{
		"--workers 0":             "whole number from 1",
		"--timeout 1":             "as in 10s",
		"--pprof-sockets /dev/no": "make one with mkdir",
	})
	// A second server with workers of its own does not share the port unnoticed.
	second := exec.Command(floor(), "--addr", v.addr, "--workers", "2")
	if out, _ := second.CombinedOutput(); second.ProcessState.ExitCode() != program.InUse {
		t.Errorf("%v: %s", second.ProcessState, out)
	}
	socket := http.Client{Timeout: programtest.Patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, fmt.Sprintf("%d.sock", cmd.Process.Pid)))
		},
	}}
	resp, err := socket.Get("http://pprof/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(text), "(*loop).run") {
		t.Errorf("not a profile of the server: %.200q", text)
	}
	v.dial() // an open connection does not keep the server from ending
	ended(t, cmd)
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}

// Under its own name the program answers with canned bytes, and an open connection does not hold up its end.
func TestNullServer(t *testing.T) {
	cmd, v := start(t, programtest.Path("null_server"), "--addr", "127.0.0.1:0")
	refusals(t, programtest.Path("null_server"), v.addr, nil)
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
	if err != nil || string(comm) != "null_server\n" {
		t.Errorf("the process is called %q, %v", comm, err)
	}
	contract.Contract(t, answer.Null, v.addr)
	long := v.dial()
	go func() { _, _ = long.Write(bytes.Repeat([]byte("x"), 1<<20)) }() // ends with the connection
	if _, err := io.Copy(io.Discard, long); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a head without end: %v", err)
	}
	c := v.dial()
	c.say(simple + "POST / HTTP/1.1\r\n\r\n" + "GET /simpler HTTP/1.1\r\n\r\n")
	if a, b, last := c.next(), c.next(), c.next(); a.body != catalog.Simple || b.code != 405 || last.code != 404 {
		t.Errorf("%+v, %+v, %+v", a, b, last)
	}
	ended(t, cmd)
}

// A server that has no descriptors left answers those that it has taken, and takes others
// when some are free again.
func TestNoDescriptorsLeft(t *testing.T) {
	cmd, v := start(t, "sh", "-c", `ulimit -n 40; exec "$0" --addr 127.0.0.1:0 --workers 1 --timeout 100ms`, floor())
	var open []*client
	for range 60 {
		c := v.dial()
		c.say(simple)
		open = append(open, c)
	}
	// The first are idle at some time and make room for the others.
	for i, c := range open {
		if a := c.next(); a.code != 200 || a.body != catalog.Simple {
			t.Errorf("client %d: %+v", i, a)
		}
	}
	ended(t, cmd)
}

// The C server answers with the same bytes, except for its date, and as many requests as
// come at once.
func TestServerInC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler (cc)")
	}
	name := programtest.Path("c_floor")
	if out, err := exec.Command(cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", name,
		"c/c_floor.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var bodies bytes.Buffer
	for i := range catalog.Size {
		bodies.Write(append(bytes.Clone(pool().Body(i)), '\n'))
	}
	file := programtest.Path("read.jsonl")
	if err := os.WriteFile(file, bodies.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, v := start(t, name, "--addr", "127.0.0.1:0", "--bodies", file)
	refusals(t, name, v.addr, map[string]string{"--bodies /dev/null": "no line", "--bodies /dev/no": "No such file",
		"--bodies": "has no value", "--addr localhost:1": "IPv4", "--workers 2": "one thread"})
	contract.Server{Addr: v.addr, Name: "c_floor", Answers: answer.Fiber, GetOnly: true, Few: true}.Keeps(t)
	set, err := answer.Of(answer.Fiber, "/read")
	if err != nil {
		t.Fatal(err)
	}
	const round = simple + read1 + "GET /no HTTP/1.1\r\n\r\n" + "PUT /simple HTTP/1.1\r\n\r\n" +
		"GET /simpler HTTP/1.1\r\n\r\n"
	for _, part := range []int{1 << 20, 1000, 7} {
		rounds := 2000 // more than fit one write
		if part < 1<<20 {
			rounds = 5
		}
		c := v.dial()
		go func() { // ends with the connection
			for rest := strings.Repeat(round, rounds); rest != ""; {
				n := min(part, len(rest))
				if _, err := io.WriteString(c, rest[:n]); err != nil {
					return
				}
				if rest = rest[n:]; part < 1<<20 {
					time.Sleep(time.Millisecond)
				}
			}
			_ = c.CloseWrite()
		}()
		for i := range rounds * 5 {
			a := c.next()
			if a.code != []int{200, 200, 404, 405, 404}[i%5] || i%5 == 0 && a.body != catalog.Simple || i%5 == 1 &&
				set.Fault([]byte(a.body)) != nil {
				t.Fatalf("by %d bytes, answer %d: %d, %.80q", part, i, a.code, a.body)
			}
		}
		if rest := c.ends(); rest != "" {
			t.Errorf("behind the last answer: %.80q", rest)
		}
	}
	long := v.dial()
	go func() { _, _ = long.Write(bytes.Repeat([]byte("x"), 1<<20)) }() // ends with the connection
	if _, err := io.Copy(io.Discard, long); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a head without end: %v", err)
	}
	ended(t, cmd)
}

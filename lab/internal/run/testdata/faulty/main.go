// Command fiber_server, as the tests build it, answers as the lab's server does
// except for one fault: the first word in the file "fault" beside it. Up to
// three more words may follow: the number of right answers before the first
// wrong one, the distance from one wrong answer to the next, and the only route
// that is answered wrongly.
//
// Two faults concern connections rather than answers. "stranger" starts a
// process of another name that listens on the same port, and "one-of-two"
// starts two workers of which only one listens.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

func main() {
	self, err := os.Executable()
	check(err)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), "fault"))
	check(err)
	var fault, route string
	var right, every int64
	fmt.Sscan(string(text), &fault, &right, &every, &route)
	every = max(every, 1)

	addr := os.Args[slices.Index(os.Args, "--addr")+1]
	switch role := os.Getenv(role); {
	case fault == "one-of-two" && role == "":
		together(addr, self, "first", self, "second")
	case role == "second":
		fmt.Fprintf(os.Stderr, "fiber_server: worker pid=%d listening addr=%s\n", os.Getpid(), addr)
		for { // without cgo, select {} would be taken for a deadlock
			time.Sleep(time.Hour)
		}
	case fault == "stranger" && role == "":
		other := filepath.Join(filepath.Dir(self), "stranger")
		// The servers of a block start at the same time, and one link is enough for
		// all.
		if err := os.Link(self, other); !errors.Is(err, os.ErrExist) {
			check(err)
		}
		together(addr, self, "first", self, "first", other, "first")
	}

	pool, err := catalog.NewPool(catalog.Seed)
	check(err)
	walk := catalog.NewWalk(catalog.Seed)
	// Several processes may listen on one port, as with prefork.
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { check(unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)) })
	}}
	ln, err := shared.Listen(context.Background(), "tcp", addr)
	check(err)
	fmt.Fprintf(os.Stderr, "fiber_server: worker pid=%d listening addr=%s\n", os.Getpid(), ln.Addr())
	var answered atomic.Int64
	for {
		conn, err := ln.Accept()
		check(err)
		go func() {
			defer conn.Close()
			r := bufio.NewReader(conn)
			for {
				asked, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				body := []byte(catalog.Simple)
				if asked.RequestURI == "/read" {
					body = pool.Body(walk.Next())
				}
				n := answered.Add(1) - right - 1
				if spared := route != "" && asked.RequestURI != route; n < 0 || n%every != 0 || spared {
					conn.Write(answer("", body))
					continue
				}
				if fault == "dies" {
					os.Exit(1)
				}
				conn.Write(answer(fault, body))
				if strings.HasPrefix(fault, "cut") {
					return
				}
			}
		}()
	}
}

// role is the variable that tells a process which one of several it is.
const role = "FAULTY_ROLE"

// together starts processes, each a program with its role, and ends when the
// first of them ends.
func together(addr string, programs ...string) {
	ended := make(chan error)
	for i := 0; i < len(programs); i += 2 {
		c := exec.Command(programs[i], "--addr", addr)
		c.Env, c.Stderr = append(os.Environ(), role+"="+programs[i+1]), os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		runtime.LockOSThread() // for the kernel this thread is the parent
		check(c.Start())
		go func() { ended <- c.Wait() }()
	}
	check(<-ended)
	os.Exit(0)
}

// answer is a complete answer, changed by the fault.
func answer(fault string, body []byte) []byte {
	status, kind, length := "200 OK", "application/json", -1
	switch fault {
	case "half":
		body = body[:len(body)/2]
	case "half-of-its-length", "cut":
		length = len(body)
		body = body[:len(body)/2]
	case "107-bytes":
		body = bytes.Repeat([]byte("x"), 107)
	case "html":
		kind, body = "text/html", []byte("<!doctype html><p>It works!</p>")
	case "a-byte":
		body = bytes.Clone(body)
		body[len(body)/2] ^= 1
	case "not-found":
		status = "404 Not Found"
	case "type":
		kind = "text/plain; charset=utf-8"
	}
	if length < 0 {
		length = len(body)
	}
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nDate: Sun, 22 Nov 2026 05:00:00 GMT\r\nContent-Type: %s\r\nContent-Length: "+
		"%d\r\n\r\n%s", status, kind, length, body)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fiber_server:", err)
		os.Exit(1)
	}
}

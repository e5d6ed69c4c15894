// Command fiber_server, as the tests build it, answers as the lab's server does
// but for one fault: the first word in the file "fault" beside it. A number
// behind that says how many answers are right before the first wrong one, and a
// second one how many of them there are from one wrong one to the next.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

func main() {
	self, err := os.Executable()
	check(err)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), "fault"))
	check(err)
	var fault string
	var right, every int64
	fmt.Sscan(string(text), &fault, &right, &every)
	every = max(every, 1)

	pool, err := catalog.NewPool(catalog.Seed)
	check(err)
	walk := catalog.NewWalk(catalog.Seed)
	ln, err := net.Listen("tcp", os.Args[slices.Index(os.Args, "--addr")+1])
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
				line, err := r.ReadBytes('\n')
				if err != nil {
					return
				}
				body := []byte(catalog.Simple)
				if bytes.HasPrefix(line, []byte("GET /read ")) {
					body = pool.Body(walk.Next())
				}
				for len(line) > 2 {
					if line, err = r.ReadBytes('\n'); err != nil {
						return
					}
				}
				n := answered.Add(1) - right - 1
				if n < 0 || n%every != 0 {
					conn.Write(answer("", body))
					continue
				}
				conn.Write(answer(fault, body))
				if strings.HasPrefix(fault, "cut") {
					return
				}
			}
		}()
	}
}

// answer is a whole one, or what the fault makes of it.
func answer(fault string, body []byte) []byte {
	kind, length := "application/json", -1
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
	case "type":
		kind = "text/plain; charset=utf-8"
	}
	if length < 0 {
		length = len(body)
	}
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 05:00:00 GMT\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, length, body)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fiber_server:", err)
		os.Exit(1)
	}
}

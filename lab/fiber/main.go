// Command fiber_server is the server that the journal's experiments load: a Fiber v3
// application that answers the routes of package catalog from memory; --help lists them.
// With --stack the same routes are served by fasthttp alone, on which Fiber is built, or by
// Go's net/http.
//
//	go build -o fiber_server .
//
// A load server should be boring and say what it is. It serves the same in every process
// and every run (see package catalog). What it does on a start, on a stop and on the loss
// of a worker is decided here, and not by whichever process happens to end first: a trial
// that lost a quarter of its workers unnoticed would still yield a number.
//
// Profiles slow the server down, so pprof is off unless asked for. With prefork, each
// worker serves it on its own unix socket, so that profiles can be taken of the processes
// that are measured. It never listens beyond this machine.
//
// Limits: it is for load tests on trusted networks. It has no TLS and no read or write
// timeout, since each would cost a system call or a timer per request; so a slow client
// can hold a connection as long as it likes. It listens on loopback by default. It needs
// a Unix. Prefork has been measured on Linux only; on macOS SO_REUSEPORT does not spread
// connections.
//
// Prefork and single differ in more than the number of processes. Fiber's prefork
// listeners set TCP_DEFER_ACCEPT and TCP_FASTOPEN, and a plain Go listener does not. A
// comparison of the two includes that difference.
package main

import (
	"fmt"
	"os"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run decides what this process is: one that prints something and exits, a worker, the
// workers' master, or a single server.
func run(args []string) int {
	s, err := parseSettings(args, os.Getenv("GOMAXPROCS"))
	if status, over := self.Over(err, help()); over {
		return status
	}
	if s.Version {
		fmt.Println(version())
		return program.OK
	}

	// A worker need not check again: its master has.
	if s.PprofSockets != "" && !fiber.IsChild() {
		if err := endpoint.Check(s.PprofSockets); err != nil {
			say("--pprof-sockets: %v", err)
			return program.Refused
		}
	}

	switch {
	case fiber.IsChild():
		return runWorker(s)
	case s.Prefork:
		return runMaster(s)
	default:
		return runSingle(s)
	}
}

// Command fiber_server is the server that the journal's experiments load: a
// Fiber v3 application that answers five routes from memory. With --stack the
// same routes are served by fasthttp alone, which Fiber stands on, or by Go's
// net/http.
//
//	go build -o fiber_server ./server
//
//	/simple   a fixed 16-byte object
//	/read     one product of 500, near 4.5 kB
//	/list     a batch of 20 to 30 products, near 115 kB
//	/compute  an aggregate over 100 products, computed for each request
//	/healthz  which process answered, and what it serves
//
// Its stance is that a load server should be boring and say what it is. What it
// serves is the same in every process and every run (see package catalog); what
// it does on start, on a stop and on the loss of a worker is decided here and
// not by whichever process happens to end first, because a trial that quietly
// lost a quarter of its workers still yields a number.
//
// Profiles cost what they cost, so pprof is off unless asked for. With prefork,
// each worker serves it on a unix socket of its own: what is profiled is then
// what is measured. It never listens beyond this machine.
//
// Its limits: it is for load tests on networks one trusts. It has no TLS and no
// read or write timeout, since each would cost a system call or a timer per
// request, so a slow client can hold a connection for as long as it likes. It
// listens on loopback unless told otherwise. It needs a Unix; prefork has been
// measured on Linux only, and on macOS SO_REUSEPORT does not spread
// connections.
//
// Prefork and single differ in more than the number of processes. Fiber's
// prefork listeners set TCP_DEFER_ACCEPT and TCP_FASTOPEN, a plain Go listener
// does not. A comparison of the two compares these as well.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/pprofsock"
	"github.com/line-rate/line-rate/lab/internal/program"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run chooses what this process is: one that prints and leaves, a worker, the
// workers' master, or a server alone.
func run(args []string) int {
	s, err := parseSettings(args, os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		writeHelp(os.Stdout)
		return program.OK
	case err != nil:
		say("%v", err)
		return program.Refused
	case s.Version:
		fmt.Println(version())
		return program.OK
	}

	// A worker need not look again: its master has.
	if s.PprofSockets != "" && !fiber.IsChild() {
		if err := pprofsock.Check(s.PprofSockets); err != nil {
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

// Command fiber_server is the server that the journal's experiments load: a Fiber v3
// application that answers the routes of package catalog from memory; --help lists them.
// With --stack the same routes are served by fasthttp alone, on which Fiber is built, or by
// Go's net/http.
//
//	go install github.com/line-rate/line-rate/lab/server@latest
//
// installs it under the name server, and make build puts it into .tools/bin.
//
// A load server should be boring and say what it is. It serves the same in every process
// and every run (see package catalog). This code decides what happens on a start, on a
// stop and on the loss of a worker, and not whichever process ends first. A trial that
// lost a quarter of its workers unnoticed would still yield a number.
//
// Profiles slow the server down, so pprof is off unless asked for. With prefork, each
// worker serves it on its own unix socket, so that profiles can be taken of the processes
// that are measured. It never listens beyond this machine.
//
// Limits: it is for load tests on trusted networks. It has no TLS and no read or write
// timeout, since each would cost a system call or a timer per request; so a slow client
// can hold a connection as long as it likes. It listens on loopback by default. It needs
// a Unix. We measured prefork on Linux only; on macOS SO_REUSEPORT does not spread
// connections.
//
// Prefork and single differ in more than the number of processes. Fiber's prefork
// listeners set TCP_DEFER_ACCEPT and TCP_FASTOPEN, and a plain Go listener does not. A
// comparison of the two includes that difference.
package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

var self = program.Program{Name: "fiber_server", Out: os.Stdout, Errs: os.Stderr}

// drainTime is how long the requests under way at a stop are waited for.
const drainTime = 2 * time.Second

func main() { os.Exit(run(os.Args[1:])) }

// run decides what this process is: a worker, the workers' master, or a single server.
func run(args []string) int {
	s, err := parse(args, os.Getenv("GOMAXPROCS"))
	if status, over := self.Over(err, help()); over {
		return status
	}
	if s.prefork && !fiber.IsChild() {
		return lead(s)
	}
	return serve(s)
}

// serve answers requests in this process, alone or as one of a master's workers.
func serve(s settings) int {
	stop := program.Asked()
	var ln net.Listener
	role := "worker"
	if !fiber.IsChild() {
		var status int
		if ln, status = listen(s.addr); ln == nil {
			return status
		}
		role = "single"
	}
	// Before the server says that it listens: a caller that has read that line of every worker can take
	// profiles of each.
	stopPprof, status := startPprof(s)
	if stopPprof == nil {
		return status
	}
	defer stopPprof()
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		self.Say("%v", err)
		return program.Failure
	}
	on := newStack(s, pool)
	listening := func(addr net.Addr) { self.Say("%s pid=%d listening addr=%s", role, os.Getpid(), addr) }
	served := make(chan error, 1)
	go func() {
		if ln == nil { // a worker has a socket of its own, which Fiber opens
			served <- on.app.Listen(s.addr, fiber.ListenConfig{EnablePrefork: true, ListenerNetwork: network(s.addr),
				DisableStartupMessage: true, ListenerAddrFunc: listening})
			return
		}
		listening(ln.Addr())
		served <- on.serve(ln)
	}()
	select {
	case err := <-served:
		self.Say("%s pid=%d: serve: %v", role, os.Getpid(), err)
		return program.Failure
	case <-stop:
	}
	stopPprof()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	_ = on.shutdown(ctx) // an error says that the time is over, and then there is nothing more to do
	return program.OK
}

// listen opens an address without SO_REUSEPORT, or says why it cannot and gives the exit status.
func listen(addr string) (net.Listener, int) { return self.Listen(network(addr), addr, "addr") }

// network is the network of an address. Fiber's prefork cannot listen on both IP versions with one socket,
// so each address gets its own version.
func network(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		return fiber.NetworkTCP6
	}
	return fiber.NetworkTCP4
}

// startPprof serves profiles if the settings ask for them, until the function that it returns is called. If
// it fails, it says why and gives the exit status.
func startPprof(s settings) (stop func(), status int) {
	rates := endpoint.Rates{MutexFraction: s.mutexFraction, BlockRateNs: s.blockRateNs}
	if !s.pprof {
		return endpoint.Serve(s.sockets, rates, self)
	}
	ln, status := self.Listen(network(s.pprofAddr), s.pprofAddr, "pprof-addr")
	if ln == nil {
		return nil, status
	}
	return endpoint.ServeOn(ln, rates, self), program.OK
}

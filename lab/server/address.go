package main

import (
	"net"
	"net/netip"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// network returns the network of an address. Fiber's prefork cannot listen on
// both families with one socket, so each address has one.
func network(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		return fiber.NetworkTCP6
	}
	return fiber.NetworkTCP4
}

// listen opens addr without SO_REUSEPORT. If it fails it says so, in terms of
// the flag to change, and returns the exit code.
func listen(addr, flag string) (net.Listener, int) {
	return self.Listen(network(addr), addr, flag)
}

// probe makes sure that nobody listens on addr, and returns it as the system
// writes it.
//
// Without this a second server would start: prefork listens with SO_REUSEPORT,
// and the kernel would deal the connections out between the two. A plain listen
// fails where any socket listens already. Between this and the workers' own
// listen another server could still slip in; to close that gap the master would
// have to hold a socket, and a socket that listens is one that is dealt
// connections.
func probe(addr string) (string, int) {
	ln, code := listen(addr, "addr")
	if code != program.OK {
		return "", code
	}
	actual := ln.Addr().String()
	if err := ln.Close(); err != nil {
		say("close probe of %s: %v", actual, err)
		return "", program.Failure
	}
	return actual, program.OK
}

package main

import (
	"net"
	"net/netip"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// network returns the network of an address. Fiber's prefork cannot listen on both IP
// versions with one socket, so each address gets its own version.
func network(addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		return fiber.NetworkTCP6
	}
	return fiber.NetworkTCP4
}

// listen opens addr without SO_REUSEPORT. If it fails, it prints why, names the flag to
// change, and returns the exit code.
func listen(addr, flag string) (net.Listener, int) {
	return self.Listen(network(addr), addr, flag)
}

// probe makes sure that nothing listens on addr, and returns it as the system writes it.
//
// Without this a second server would start: prefork listens with SO_REUSEPORT, and the
// kernel would divide the connections between the two. A plain listen fails if any socket
// listens already. Another server could still start between this probe and the workers'
// own listen. To prevent that, the master would have to keep a socket that listens, and
// the kernel would then send connections to it.
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

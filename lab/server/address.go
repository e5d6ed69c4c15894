package main

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/gofiber/fiber/v3"
)

// isAddr reports whether v is a host and a numeric port. The host is not looked
// up: an address that cannot be had is reported by the listen that fails.
func isAddr(v string) bool {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

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
	ln, err := net.Listen(network(addr), addr)
	switch {
	case err == nil:
		return ln, exitOK
	case errors.Is(err, syscall.EADDRINUSE):
		say("%s is already in use; stop the other server or choose another with --%s", addr, flag)
		return nil, exitInUse
	default:
		say("--%s: %v", flag, err)
		return nil, exitFailure
	}
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
	if code != exitOK {
		return "", code
	}
	actual := ln.Addr().String()
	if err := ln.Close(); err != nil {
		say("close probe of %s: %v", actual, err)
		return "", exitFailure
	}
	return actual, exitOK
}

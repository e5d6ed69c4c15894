// Package loopback tells which addresses can be reached from this machine only.
//
// Its limit: no name is looked up, since what a name resolves to now says
// nothing of what it resolves to when listening. The name localhost is taken
// for its number.
package loopback

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// Accept is what Addr accepts, in words.
const Accept = "HOST:PORT with a loopback host: 127.0.0.1, [::1] or localhost"

// HostPort tells whether v is a host and a numeric port. An address that cannot be
// had is told by the listen that fails.
func HostPort(v string) bool {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil
}

// Addr returns a host and a port as an address to listen on, if that can be
// reached from this machine only.
func Addr(v string) (addr string, ok bool) {
	if !HostPort(v) {
		return "", false
	}
	host, port, _ := net.SplitHostPort(v)
	if host == "localhost" {
		return net.JoinHostPort("127.0.0.1", port), true
	}
	ip, err := netip.ParseAddr(host)
	return v, err == nil && ip.Unmap().IsLoopback()
}

// URL tells whether v is http://HOST:PORT/… with such an address.
func URL(v string) bool {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return false
	}
	_, ok := Addr(u.Host)
	return ok
}

package program

import (
	"net"
	"net/netip"
	"strconv"
)

// AcceptLoopback is what LoopbackAddr accepts, in words.
const AcceptLoopback = "HOST:PORT with a loopback host: 127.0.0.1, [::1] or localhost"

// HostPort tells whether v is a host and a numeric port. Whether the address
// exists only shows when listening on it.
func HostPort(v string) bool {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil
}

// LoopbackAddr returns a host and a port as an address to listen on, if only this machine
// can reach it. It makes localhost a number and refuses other names, since a name may
// resolve differently when listening.
func LoopbackAddr(v string) (addr string, ok bool) {
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

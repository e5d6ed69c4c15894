package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"syscall"
)

// FreePorts finds so many ports in a row that nothing listens on, below those from which the kernel
// takes a connection's own end: a client's connections would else take a server's port between two of
// its starts.
func FreePorts(n int) (first int, err error) {
	low, high := 20_000, 32_768
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if _, _ = fmt.Sscan(string(text), &high); high-low < 100*n {
		low, high = 1024, max(high, 1024+100*n)
	}
	for range 100 {
		if first = low + rand.IntN(high-low-n); Listenable(first, n) == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row on %s; name the first of some with --port", n, loopback)
}

// Listenable refuses so many ports if a server could not listen on one of them.
func Listenable(first, n int) error {
	if first+n > 65536 {
		return fmt.Errorf("--port %d: %d ports are needed from there on, and the last is 65535", first, n)
	}
	for p := first; p < first+n; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(p)))
		if err != nil {
			why := "is taken; stop what listens there,"
			if errors.Is(err, syscall.EACCES) {
				why = "is for root only, as low ports are;"
			}
			return fmt.Errorf("port %d %s choose another with --port, or leave it out for free ones", p, why)
		}
		l.Close()
	}
	return nil
}

package measure

import (
	"net"
	"strconv"
)

// port is the port of an address; 0 of a socket's path.
func port(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(text)
	return n
}

package programtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// nextPort is where FreePorts looks next, below the range for clients, of which some are
// always taken. No two tests of a package get the same ports.
var nextPort atomic.Int64

func init() { nextPort.Store(rand.Int64N(20_000)) }

// FreePorts gives the first of n consecutive free ports: the servers of a block listen on
// neighbouring ones.
func FreePorts(t testing.TB, n int) int {
	t.Helper()
	for range 100 {
		port := 10_000 + int(nextPort.Add(int64(n))%20_000)
		free := 0
		for ; free < n; free++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+free))
			if err != nil {
				break
			}
			l.Close()
		}
		if free == n {
			return port
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}

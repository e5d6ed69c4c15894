package telemetry

import (
	"net"
	"os"
	"testing"
)

// Of a port's connections only those are counted that the process itself holds
// on that port: neither another's nor the client's ends.
func TestCensusCountsConnectionsToThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	port := l.Addr().(*net.TCPAddr).Port
	h := Census([]int{os.Getpid()}, port)
	if h.Connections != 3 || len(h.Processes) != 1 || h.Processes[0].Threads < 1 || h.RSS <= 0 {
		t.Errorf("%+v, want three connections of one process", h)
	}
	if h := Census([]int{os.Getppid()}, port); h.Connections != 0 {
		t.Errorf("%+v: those are of another process", h)
	}
	if h := Census(nil, port); len(h.Processes) != 0 {
		t.Errorf("%+v of no process", h)
	}
}

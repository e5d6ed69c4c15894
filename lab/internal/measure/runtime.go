package measure

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"time"
)

// tick is the step in which the kernel tells how long a core was idle.
const tick = 10 * time.Millisecond

// runTime is how long some cores were not idle, to a tick and but for a constant. ok is false where
// the kernel does not tell.
func runTime(cpus []int) (all time.Duration, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil || len(cpus) == 0 {
		return 0, false
	}
	all = time.Since(epoch) * time.Duration(len(cpus))
	for _, cpu := range cpus {
		_, rest, found := bytes.Cut(text, []byte("\ncpu"+strconv.Itoa(cpu)+" "))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		fields := bytes.Fields(line)
		if !found || len(fields) < 5 {
			return 0, false
		}
		for _, n := range fields[3:5] { // idle, and waiting for a disk
			ticks, err := strconv.ParseInt(string(n), 10, 64)
			if err != nil {
				return 0, false
			}
			all -= time.Duration(ticks) * tick
		}
	}
	return all, true
}

// epoch is when the engine began.
var epoch = time.Now()

// port is the port of an address; 0 of a socket's path.
func port(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(text)
	return n
}

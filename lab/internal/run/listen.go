package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// How often a starting server's ports are looked at, and how long it may listen
// on others only: some open one for their own management first.
const (
	lookEvery   = 500 * time.Millisecond
	strayWithin = 4 * time.Second
)

// elsewhere says that a server listens, but not where it was told to; empty if
// it does not listen yet, or where it should.
func (s *server) elsewhere() string {
	on := ports(s.processes())
	if len(on) == 0 || slices.Contains(on, s.port) {
		return ""
	}
	return fmt.Sprintf("%s listens on port %s, and not on %d; its command has to take {port} or {addr}", s.calls(),
		strings.Trim(fmt.Sprint(on), "[]"), s.port)
}

// anothers is an error if what answers on the server's port is not the server. A
// server that says that it listens is believed.
func (s *server) anothers() error {
	if s.given == nil || slices.Contains(ports(s.processes()), s.port) {
		return nil
	}
	if where := s.elsewhere(); where != "" {
		return fmt.Errorf("%s, where another program answers", where)
	}
	return fmt.Errorf("%s is already in use: another program than %s answers there; stop it, or choose another port "+
		"with --port", s.addr, s.calls())
}

func ports(pids []int) []int {
	return strict.Called(proc.Listens(pids), func(l proc.Listener) int { return l.Port })
}

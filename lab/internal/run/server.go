package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// The server's exit statuses with a meaning of their own. server.sh uses the
// first as well, for a server that was not built.
const (
	addressInUse = 3
	workerLost   = 4 // a worker died unexpectedly
)

// A server is the running server of one condition.
type server struct {
	load
	proc *leash.Proc
}

// readyWithin bounds the wait for a server, even on a machine whose cores are
// busy with many workers starting at once.
const readyWithin = 20 * time.Second

// startServers starts the servers of conditions side by side. Afterwards either
// all of them run or none.
func startServers(ctx context.Context, loads []load) ([]*server, error) {
	servers, errs := make([]*server, len(loads)), make([]error, len(loads))
	done := make(chan struct{})
	for i, l := range loads {
		go func() {
			servers[i], errs[i] = l.start(ctx)
			done <- struct{}{}
		}()
	}
	for range loads {
		<-done
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		stopServers(servers)
		return nil, errs[i]
	}
	return servers, nil
}

func stopServers(servers []*server) {
	done := make(chan struct{})
	for _, s := range servers {
		go func() {
			if s != nil {
				s.stop()
			}
			done <- struct{}{}
		}()
	}
	for range servers {
		<-done
	}
}

func (l load) start(ctx context.Context) (*server, error) {
	need := int64(max(l.workers, 1))
	var listening atomic.Int64
	ready := make(chan struct{})
	proc, err := leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Server(l.server), Lines: func(line string) {
		// The profiling listeners print such a line too.
		if strings.Contains(line, " listening addr=") && !strings.Contains(line, "pprof pid=") && listening.Add(1) == need {
			close(ready)
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	s := &server{l, proc}
	select {
	case <-ready:
		if err := s.own(); err != nil {
			s.stop()
			return nil, err
		}
		return s, nil
	case <-proc.Done():
		if proc.ExitCode() == addressInUse && strings.Contains(proc.LastLine(), l.addr) {
			return nil, fmt.Errorf("%s is already in use; stop what listens there, or choose another with --port", l.addr)
		}
		return nil, fmt.Errorf("the server did not start: %s", s.lastWords())
	case <-ctx.Done():
		s.stop()
		return nil, context.Cause(ctx)
	case <-time.After(l.ready):
		s.stop()
		return nil, fmt.Errorf("the server was not listening after %v: %s", l.ready, proc.LastLine())
	}
}

// processes are the server's own, without any wrapping process, parents first.
func (s *server) processes() []int {
	return slices.DeleteFunc(telemetry.Descendants(s.proc.Pid()), func(pid int) bool { return telemetry.Command(pid) != s.program })
}

// first is the process whose end ends the others.
func (s *server) first() int {
	if own := s.processes(); len(own) > 0 {
		return own[0]
	}
	return s.proc.Pid()
}

// own is an error if a process of the server does not run the program that was
// found before the run. Not all processes may be up yet.
func (s *server) own() error {
	if s.found == nil {
		return nil
	}
	for _, pid := range s.processes() {
		if s.found.Other(s.program, pid) {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build nothing meanwhile", s.program)
		}
	}
	return nil
}

func (s *server) gone() bool {
	select {
	case <-s.proc.Done():
		return true
	default:
		return false
	}
}

func (s *server) lastWords() string {
	line := strings.TrimPrefix(s.proc.LastLine(), s.program+": ")
	if err := s.proc.Err(); err != nil {
		return strings.TrimSpace(fmt.Sprintf("%s (%v)", line, err))
	}
	return line
}

func (s *server) stop() { _ = s.proc.Stop(s.first(), 3*time.Second) }

// errWireGone ends a run: nothing more can be measured.
var errWireGone = errors.New("the wire between server and client is gone; run again")

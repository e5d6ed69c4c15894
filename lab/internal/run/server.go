package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
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
	proc  *proc.Proc
	given []probe.Given // what it answered before the trial; nil if it was not asked
	head  int           // length of its answers' heads; 0 if it was not asked
}

// readyWithin bounds the wait for a server, even on a machine whose cores are
// busy with many workers starting at once.
const readyWithin = 20 * time.Second

// Within a short budget a server that never listens is told of before the time is up, if
// it had some seconds and can still be ended.
const (
	readyLeast = 5 * time.Second
	stopWithin = 3 * time.Second
)

// patience is how long a server of this run may take to listen.
func (p Plan) patience() time.Duration {
	return min(cmp.Or(p.readyWithin, readyWithin), max(p.budget()-stopWithin, readyLeast))
}

// startServers starts the servers of conditions side by side. Afterwards either
// all of them run or none.
func startServers(ctx context.Context, loads []load) ([]*server, error) {
	servers, errs := make([]*server, len(loads)), make([]error, len(loads))
	var all sync.WaitGroup
	for i, l := range loads {
		all.Go(func() { servers[i], errs[i] = l.start(ctx) })
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		stopServers(servers)
		return nil, errs[i]
	}
	return servers, nil
}

func stopServers(servers []*server) {
	var all sync.WaitGroup
	for _, s := range servers {
		if s != nil {
			all.Go(s.stop)
		}
	}
	all.Wait()
}

// start starts the server and waits until it listens: until each worker has
// printed its line, where it prints one, and has answered, where nobody knows
// its answers.
func (l load) start(ctx context.Context) (*server, error) {
	need := int64(max(l.workers, 1))
	var listening atomic.Int64
	ready := make(chan struct{})
	said := l.serves.ReadyLine(l.at)
	argv := l.server
	if l.held() {
		argv = slices.Concat(l.lab, []string{HoldCall}, argv)
	}
	proc, err := proc.Start(proc.Spec{Dir: l.dir, Argv: l.link.Server(argv), Held: l.held(), Lines: func(line string) {
		if said != "" && strings.Contains(line, said) && listening.Add(1) == need {
			close(ready)
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	s := &server{load: l, proc: proc}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := l.ask(ctx)
	if said == "" {
		ready = nil
	}
	late := time.After(l.ready + l.grace)
	if answered == nil {
		late = time.After(l.ready)
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var strayed time.Time // since when it listens, but elsewhere
	for ready != nil || answered != nil {
		select {
		case <-ready:
			ready = nil
		case a := <-answered:
			if answered = nil; a.err != nil {
				err = fmt.Errorf("%s does not answer %s: %w", s.name(), s.route, a.err)
			}
			s.given = a.given
		case <-proc.Done():
			return nil, s.unstarted()
		case <-proc.Ended():
			<-proc.Done() // soon, since nothing of it is left running
			return nil, s.unstarted()
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-look.C:
			if where := s.elsewhere(); where == "" {
				strayed = time.Time{}
			} else if strayed.IsZero() {
				strayed = time.Now()
			} else if time.Since(strayed) > strayWithin {
				err = errors.New(where)
			}
		case <-late:
			err = fmt.Errorf("the server was not listening after %v: %s; start it by hand to see why: %s", l.ready,
				cmp.Or(strict.Line(proc.LastLine(), longestReason), "it printed nothing"), results.CommandLine(l.server))
		}
		if err != nil {
			s.stop()
			return nil, err
		}
	}
	if s.ended() { // its children are ready, and it has left them
		<-proc.Done()
		return nil, s.unstarted()
	}
	if err = s.anothers(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// held reports whether the server has a holder. Without a lab to call, as in tests,
// there is none.
func (l load) held() bool { return len(l.lab) > 0 }

// wrappers is how many processes stand before the server's first one: the
// holder, and on a wire the one that entered its namespaces.
func (l load) wrappers() (n int) {
	if l.held() {
		n++
	}
	if l.link.NetPID > 0 {
		n++
	}
	return n
}

// unstarted says why a server ended before it listened.
func (s *server) unstarted() error {
	if s.proc.ExitCode() == addressInUse && strings.Contains(s.proc.LastLine(), s.addr) {
		return fmt.Errorf("%s is already in use; stop what listens there, or choose another with --port", s.addr)
	}
	return fmt.Errorf("the server did not start: %s", s.lastWords())
}

// processes are the server's own, without any wrapping process, parents first.
func (s *server) processes() []int {
	all := proc.Descendants(s.proc.Pid())
	all = all[min(s.wrappers(), len(all)):]
	name := s.serves.Process
	if name == "" {
		return all
	}
	name = name[:min(len(name), 15)] // what the kernel keeps of it
	return slices.DeleteFunc(all, func(pid int) bool { return proc.Command(pid) != name })
}

// first is the process whose end ends the others.
func (s *server) first() int {
	if own := s.processes(); len(own) > 0 {
		return own[0]
	}
	return s.proc.Pid()
}

// ended reports whether its command has ended, whatever it left running.
func (s *server) ended() bool { return isClosed(s.proc.Ended()) }

func (s *server) gone() bool { return s.proc.Gone() }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (s *server) lastWords() string {
	line := strings.TrimPrefix(s.proc.LastLine(), s.serves.Process+": ")
	if err := s.proc.Err(); err != nil {
		return strings.TrimSpace(fmt.Sprintf("%s (%v)", line, err))
	}
	return line
}

func (s *server) stop() { _ = s.proc.Stop(s.first(), stopWithin) }

// errWireGone ends a run: nothing more can be measured.
var errWireGone = errors.New("the wire between server and client is gone; run again")

package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A client is a load generator with all that it takes to run it once.
type client struct {
	dir   string
	link  *topology.Link
	argv  []string
	limit time.Duration // after which it counts as hung
	// input is written to its standard input, which is then closed; nil: closed at
	// once.
	input []byte
	// began is called with the process id when the client has started, first when
	// it has printed a line, and held when it reports that its load is over while
	// its connections are still open.
	began func(pid int)
	first func()
	held  func()
}

// A fault is why a measurement does not count, and which condition it concerns:
// its index in the group, or -1 for all of them.
type fault struct {
	results.Reason
	of int
}

// overLine is the line with which a load generator reports that its load is
// over.
var overLine = []byte(`{"held":true}`)

// drive starts a load generator, waits for it, and returns what it printed.
// Every wait of the lab for a client is here, bounded in time and by the life
// of the servers. An error ends the run.
func (c client) drive(ctx context.Context, servers []*server) (printed []byte, faults []fault, err error) {
	fail := func(name, format string, args ...any) {
		faults = append(faults, fault{reason(name, format, args...), -1})
	}
	out := &output{first: make(chan struct{}), held: make(chan struct{})}
	spec := proc.Spec{Dir: c.dir, Argv: c.link.Client(c.argv), Stdout: out}
	var lifeline *os.File
	if c.input != nil {
		in, w, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		defer in.Close()
		defer w.Close()
		spec.Stdin, lifeline = in, w
	}
	proc, err := proc.Start(spec)
	if err != nil {
		return nil, nil, fmt.Errorf("the client did not start: %w", err)
	}
	defer proc.Stop(proc.Pid(), time.Second)
	if c.began != nil {
		c.began(proc.Pid())
	}
	if lifeline != nil {
		go func() { _, _ = lifeline.Write(c.input) }() // ends when the pipe is closed
	}
	over := make(chan struct{})
	defer close(over)
	lost := anyEnds(servers, over)
	timeout := time.NewTimer(c.limit)
	defer timeout.Stop()
	first, held := out.first, out.held
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-lost:
			proc.Stop(proc.Pid(), 0)
			waiting = false
		case <-timeout.C:
			fail(gate.ClientHung, "the client had not ended %v after its start", c.limit)
			proc.Stop(proc.Pid(), 0)
			waiting = false
		case <-first:
			if first = nil; c.first != nil {
				c.first()
			}
		case <-held:
			if held = nil; c.held != nil {
				c.held()
			}
			if lifeline != nil {
				_, _ = io.WriteString(lifeline, "end\n")
			}
		case <-proc.Done():
			waiting = false
		}
	}
	// The client may notice that its server has ended before the lab does.
	if proc.Err() != nil && len(faults) == 0 {
		awaitExit(func() bool { return slices.ContainsFunc(servers, (*server).gone) })
	}
	// If the server is gone, the client's error only follows from that, so the
	// server is named.
	more, err := died(servers)
	if faults = append(faults, more...); err != nil {
		return nil, nil, err
	}
	if c.lost(len(faults) > 0 || proc.Err() != nil) {
		return nil, nil, errWireGone
	}
	if err := proc.Err(); err != nil && len(faults) == 0 {
		switch code := proc.ExitCode(); code {
		case 2, 3, 126, 127: // a usage error of the script, or the shell's: every further trial would meet it too
			return nil, nil, fmt.Errorf("the client did not start: %s", proc.LastLine())
		default:
			fail(gate.ClientFailed, "the client failed (%v): %s", err, proc.LastLine())
		}
	}
	return out.bytes(), faults, nil
}

// anyEnds tells when one of the servers, or its command, has ended. It looks until
// over is closed.
func anyEnds(servers []*server, over <-chan struct{}) <-chan struct{} {
	lost := make(chan struct{}, len(servers))
	for _, s := range servers {
		go func() {
			select {
			case <-s.proc.Done():
			case <-s.proc.Ended():
			case <-over:
				return
			}
			lost <- struct{}{}
		}()
	}
	return lost
}

// died gives the faults of the servers that are gone. One whose command has ended
// is gone soon, though what the command left behind may answer until then.
func died(servers []*server) (faults []fault, err error) {
	for i, s := range servers {
		if s.ended() {
			<-s.proc.Done()
		}
		switch {
		case !s.gone():
		case s.proc.ExitCode() == proc.Forked: // and it would again, in the next block
			return nil, fmt.Errorf("%s cannot be measured: %s", s.name(), s.lastWords())
		case s.proc.ExitCode() == workerLost:
			faults = append(faults, fault{reason(gate.LostWorker, "%s", s.lastWords()), i})
		default:
			faults = append(faults, fault{reason(gate.ServerExited, "the server exited in mid-trial: %s", s.lastWords()), i})
		}
	}
	return faults, nil
}

// lost reports whether the wire is gone. If a process on it has ended, lost waits
// a moment, since the loss of the wire may show later.
func (c client) lost(ended bool) bool {
	if ended && c.link.NetPID > 0 {
		awaitExit(c.link.Lost)
	}
	return c.link.Lost()
}

// exitSeenWithin is how long the lab may take to see that a process has ended, after
// the process's connections have closed.
const exitSeenWithin = time.Second

// awaitExit waits until an exit is seen, but not for longer than that.
func awaitExit(seen func() bool) {
	for began := time.Now(); !seen() && time.Since(began) < exitSeenWithin; {
		time.Sleep(exitSeenWithin / 100)
	}
}

// grace is how long a client may take beyond its load before it is ended.
const grace = 15 * time.Second

// An output keeps what a client prints, and reports the first line and the one
// that says that the load is over.
type output struct {
	mu    sync.Mutex
	all   bytes.Buffer
	line  sync.Once
	first chan struct{}
	once  sync.Once
	held  chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	from := max(0, o.all.Len()-len(overLine))
	o.all.Write(b)
	if bytes.IndexByte(b, '\n') >= 0 {
		o.line.Do(func() { close(o.first) })
	}
	if bytes.Contains(o.all.Bytes()[from:], overLine) {
		o.once.Do(func() { close(o.held) })
	}
	return len(b), nil
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Bytes()
}

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
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A client is a load generator to be driven through its load.
type client struct {
	dir   string
	link  *topology.Link
	argv  []string
	limit time.Duration // when it is taken to hang
	// input is what it is told first; nil: nothing, and its input ends at once.
	input []byte
	// began is called with its process when it has been started, first when it has
	// printed a line, and held when it says that its load is over and its connections
	// are still open.
	began func(pid int)
	first func()
	held  func()
}

// A fault is why what was measured does not count, and whose it is: a condition's
// place in its group, or -1 for all of them.
type fault struct {
	results.Reason
	of int
}

// overLine is the line by which a load generator says that its load is over.
var overLine = []byte(`{"held":true}`)

// drive starts a load generator, waits for it, and returns what it printed. It is
// the one place where the lab waits for a client: bounded, and never longer than
// the servers that it loads. An error ends the run.
func (c client) drive(ctx context.Context, servers []*server) (printed []byte, faults []fault, err error) {
	fail := func(of int, name, format string, args ...any) {
		faults = append(faults, fault{reason(name, format, args...), of})
	}
	out := &output{first: make(chan struct{}), held: make(chan struct{})}
	spec := leash.Spec{Dir: c.dir, Argv: c.link.Client(c.argv), Stdout: out}
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
	proc, err := leash.Start(spec)
	if err != nil {
		return nil, nil, fmt.Errorf("the client did not start: %w", err)
	}
	defer proc.Stop(proc.Pid(), time.Second)
	if c.began != nil {
		c.began(proc.Pid())
	}
	if lifeline != nil {
		go func() { _, _ = lifeline.Write(c.input) }() // ends with the pipe
	}
	lost := make(chan int, len(servers))
	over := make(chan struct{})
	defer close(over)
	for i, s := range servers {
		go func() {
			select {
			case <-s.proc.Done():
				lost <- i
			case <-over:
			}
		}()
	}
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
			fail(-1, gate.ClientHung, "the client had not ended %v after its start", c.limit)
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
	// A client may know of its server's end before the lab does.
	gone := func() bool { return slices.ContainsFunc(servers, (*server).gone) }
	for began := time.Now(); proc.Err() != nil && len(faults) == 0 && !gone() && time.Since(began) < noticed; {
		time.Sleep(noticed / 20)
	}
	// Without a server to answer, what the client says is about that.
	for i, s := range servers {
		switch {
		case !s.gone():
		case s.proc.ExitCode() == workerLost:
			fail(i, gate.LostWorker, "%s", s.lastWords())
		default:
			fail(i, gate.ServerExited, "the server exited in mid-trial: %s", s.lastWords())
		}
	}
	if c.lost(len(faults) > 0 || proc.Err() != nil) {
		return nil, nil, errWireGone
	}
	if err := proc.Err(); err != nil && len(faults) == 0 {
		switch code := proc.ExitCode(); code {
		case 2, 3, 126, 127: // the script's own refusals, or the shell's: the next trial would meet the same
			return nil, nil, fmt.Errorf("the client did not start: %s", proc.LastLine())
		default:
			fail(-1, gate.ClientFailed, "the client failed (%v): %s", err, proc.LastLine())
		}
	}
	return out.bytes(), faults, nil
}

// lost tells whether the wire is gone. Whoever was on it may be known to have ended
// a moment earlier than the wire is.
func (c client) lost(ended bool) bool {
	for began := time.Now(); ended && c.link.NetPID > 0 && !c.link.Lost() && time.Since(began) < noticed; {
		time.Sleep(noticed / 20)
	}
	return c.link.Lost()
}

// noticed is how long it may take until the end of a process is, which its
// connections have told already.
const noticed = 200 * time.Millisecond

// grace is how long a client may take beyond its load.
const grace = 15 * time.Second

// An output keeps what a client prints, and tells when there is a line and when it
// says that it holds its connections.
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

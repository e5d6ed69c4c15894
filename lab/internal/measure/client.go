package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/load"
)

// A client is the load generator in a process of its own, on the client's side. It answers each slot
// that it is sent with what the slot measured: see load.Serve.
type client struct {
	proc  *proc.Proc
	in    *os.File
	lines chan []byte // of its output; closed at its end
}

// longestFill is the longest that a slot may wait for its first answers, and again for those in
// flight at its end; grace is what a slot may take beyond both.
const (
	longestFill = 2 * time.Second
	grace       = 15 * time.Second
)

// start starts the client with all targets.
func (b *block) start() (*client, error) {
	plan := load.Plan{Threads: b.Threads, TimeoutS: longestFill.Seconds(), Seed: b.Seed}
	for i, s := range b.Subjects {
		plan.Targets = append(plan.Targets, b.Target(i, s.Addr()))
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &client{in: ours, lines: make(chan []byte, 1)}
	argv := b.onClient(b.Loader, clientCall)
	out, w := io.Pipe()
	if c.proc, err = proc.Start(proc.Spec{Dir: b.Dir, Argv: argv, Stdin: in, Stdout: w}); err != nil {
		ours.Close()
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	go func() {
		<-c.proc.Done()
		w.Close()
	}()
	go func() {
		defer close(c.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			c.lines <- bytes.Clone(lines.Bytes())
		}
	}()
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		c.end()
		return nil, fmt.Errorf("the client did not start: %s", c.proc.LastLine())
	}
	return c, nil
}

// onClient is a call of a program on the client's side and cores.
func (b *block) onClient(program []string, call ...string) []string {
	return b.Link.Client(OnCPUs(b.Self, b.ClientCPUs, slices.Concat(program, call)...))
}

// turn has the client carry out a slot. A fault says how it failed.
func (c *client) turn(ctx context.Context, s load.Slot) (r load.SlotReport, why *Fault) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of plain fields always encodes
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		return r, c.ended()
	}
	limit := 2*longestFill + time.Duration(s.Seconds*float64(time.Second)) + grace
	return r, c.await(ctx, limit, &r)
}

// close ends the load and gives what each target answered in all slots.
func (c *client) close(ctx context.Context) (s *load.Summary, why *Fault) {
	c.in.Close()
	s = new(load.Summary)
	why = c.await(ctx, grace, s)
	return s, why
}

// await reads the next line into a value.
func (c *client) await(ctx context.Context, limit time.Duration, into any) *Fault {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-ctx.Done():
		return &Fault{gate.ClientFailed, "interrupted"}
	case <-timeout.C:
		f := fault(gate.ClientFailed, "the client gave no result within %v", limit)
		return &f
	case line, ok := <-c.lines:
		if !ok {
			return c.ended()
		}
		if err := json.Unmarshal(line, into); err != nil {
			f := fault(gate.ClientFailed, "what the client printed cannot be read: %v", err)
			return &f
		}
	}
	return nil
}

// ended says how the client ended.
func (c *client) ended() *Fault {
	f := fault(gate.ClientFailed, "the client failed (%v): %s", c.proc.Err(), c.proc.LastLine())
	return &f
}

// end ends the client, whatever it does.
func (c *client) end() {
	c.in.Close()
	_ = c.proc.Stop(c.proc.Pid(), time.Second)
	for range c.lines { // so that its reader ends
	}
}

// The calls with which a program that measures starts itself anew; their first word is no command
// of it.
const (
	clientCall = "client"     // see load.Serve
	askCall    = "ask-server" // WITHIN: asks the target on its input: see probe.Serve
	// HoldCall COMMAND… holds a server: see proc.Hold.
	HoldCall = "hold-server"
	pinCall  = "on-cpus" // LIST COMMAND…: puts the command on some cores
)

// OnCPUs is a command that puts another one on some cores, or wherever it is put if there are none.
// self is a program that answers the calls.
func OnCPUs(self []string, cpus []int, argv ...string) []string {
	if len(cpus) == 0 {
		return argv
	}
	return slices.Concat(self, []string{pinCall, cores.Format(cpus)}, argv)
}

// How long a server that listens may take to answer as is expected, before a block and beside a client
// that checks no answers.
const (
	askWithin   = 20 * time.Second
	againWithin = 5 * time.Second
)

// ask asks a target from the client's side, so that it takes no CPU time from a server.
func (b *block) ask(ctx context.Context, t load.Target, within time.Duration) (given []probe.Given, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := proc.Run(ctx, proc.Spec{Dir: b.Dir, Argv: b.onClient(b.Self, askCall, within.String()), Stdin: bytes.NewReader(text),
		Stdout: &out}); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out.Bytes(), &given); err != nil || len(given) == 0 {
		return nil, fmt.Errorf("it gave no answer (%v)", err)
	}
	return given, nil
}

package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/load"
)

// A client is the load generator in a process of its own, on the client's side. It answers each slot
// that it is sent with what the slot measured: see load.Serve. Its errors say how it failed.
type client struct {
	proc    *proc.Proc
	in, out *os.File
	said    *json.Decoder
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
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, theirs, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer theirs.Close()
	c := &client{in: ours, out: out, said: json.NewDecoder(out)}
	argv := b.Link.Client(OnCPUs(b.Self, b.ClientCPUs, append(slices.Clone(b.Loader), clientCall)...))
	if c.proc, err = proc.Start(proc.Spec{Dir: b.Dir, Argv: argv, Stdin: in, Stdout: theirs}); err != nil {
		ours.Close()
		out.Close()
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	if err := c.tell(plan); err != nil {
		c.end()
		return nil, fmt.Errorf("the client did not start: %s", c.proc.LastLine())
	}
	return c, nil
}

func (c *client) tell(v any) error { return json.NewEncoder(c.in).Encode(v) }

// turn has the client carry out a slot.
func (c *client) turn(ctx context.Context, s load.Slot) (r load.SlotReport, err error) {
	if c.tell(s) != nil {
		return r, c.ended()
	}
	return r, c.await(ctx, 2*longestFill+time.Duration(s.Seconds*float64(time.Second))+grace, &r)
}

// close ends the load and gives what each target answered in all slots.
func (c *client) close(ctx context.Context) (*load.Summary, error) {
	c.in.Close()
	s := new(load.Summary)
	return s, c.await(ctx, grace, s)
}

// await reads what the client says next.
func (c *client) await(ctx context.Context, limit time.Duration, into any) error {
	_ = c.out.SetReadDeadline(time.Now().Add(limit)) // which every pipe has
	defer context.AfterFunc(ctx, func() { _ = c.out.SetReadDeadline(time.Now()) })()
	switch err := c.said.Decode(into); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the client gave no result within %v", limit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.ended()
	default:
		return fmt.Errorf("what the client printed cannot be read: %w", err)
	}
}

func (c *client) ended() error {
	return fmt.Errorf("the client failed (%w): %s", c.proc.Err(), c.proc.LastLine())
}

// end ends the client, whatever it does.
func (c *client) end() {
	c.in.Close()
	_ = c.proc.Stop(c.proc.Pid(), time.Second)
	c.out.Close()
}

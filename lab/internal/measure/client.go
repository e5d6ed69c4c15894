package measure

import (
	"context"
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
type client struct{ *proc.Talk }

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
	argv := b.Link.Client(OnCPUs(b.Self, b.ClientCPUs, append(slices.Clone(b.Loader), clientCall)...))
	talk, err := proc.StartTalk(proc.Spec{Dir: b.Dir, Argv: argv})
	if err != nil {
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	if err := talk.Tell(plan); err != nil {
		talk.End()
		return nil, fmt.Errorf("the client did not start: %s", talk.LastLine())
	}
	return &client{talk}, nil
}

// turn has the client carry out a slot.
func (c *client) turn(ctx context.Context, s load.Slot) (r load.SlotReport, err error) {
	if c.Tell(s) != nil {
		return r, c.ended()
	}
	return r, c.await(ctx, 2*longestFill+time.Duration(s.Seconds*float64(time.Second))+grace, &r)
}

// close ends the load and gives what each target answered in all slots.
func (c *client) close(ctx context.Context) (*load.Summary, error) {
	c.Close()
	s := new(load.Summary)
	return s, c.await(ctx, grace, s)
}

// await reads what the client says next.
func (c *client) await(ctx context.Context, limit time.Duration, into any) error {
	switch err := c.Hear(ctx, limit, into); {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the client gave no result within %v", limit)
	case errors.Is(err, io.EOF):
		return c.ended()
	default:
		return fmt.Errorf("what the client printed cannot be read: %w", err)
	}
}

func (c *client) ended() error {
	return fmt.Errorf("the client failed (%w): %s", c.Err(), c.LastLine())
}

package main

import (
	"context"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A crew is one worker or several that take events from one channel.
type crew[E any] struct {
	Settings
	*account
	send   batch.Send[E]
	events chan E

	ctx     context.Context // ends when close stops waiting
	giveUp  context.CancelFunc
	running sync.WaitGroup // the workers, and their sends in the background

	spare sync.Pool // of *[]E: swap's empty buffers
}

func newCrew[E any](s Settings, a *account, send batch.Send[E]) *crew[E] {
	c := &crew[E]{Settings: s, account: a, send: send, events: make(chan E, s.Queue)}
	c.ctx, c.giveUp = context.WithCancel(context.Background())
	return c
}

// start starts n workers, each with a buffer and a ticker of its own. hand sends a buffer's events and returns
// the buffer to fill next.
func (c *crew[E]) start(n int, hand func([]E) []E) {
	for i := range n {
		var late time.Duration
		if c.Stagger {
			late = c.Interval * time.Duration(i) / time.Duration(n)
		}
		c.running.Go(func() { c.work(late, hand) })
	}
}

// work is one worker: the loop of the study's text.
func (c *crew[E]) work(late time.Duration, hand func([]E) []E) {
	ticker := time.NewTicker(c.Interval)
	defer ticker.Stop()
	if late > 0 {
		// A timer starts the ticker, because a worker that waits for an answer at that time would start it late.
		starter := time.AfterFunc(late, func() { ticker.Reset(c.Interval) })
		defer starter.Stop()
	}
	var buffer []E
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				if len(buffer) > 0 {
					hand(buffer)
				}
				return
			}
			buffer = append(buffer, e)
			if len(buffer) < c.BatchSize {
				continue
			}
		case <-ticker.C:
			if len(buffer) == 0 {
				continue
			}
		}
		buffer = hand(buffer)
	}
}

// waited sends a batch and waits for the answer.
func (c *crew[E]) waited(buffer []E) []E {
	c.deliver(buffer)
	return buffer[:0]
}

// copied sends a copy in the background.
func (c *crew[E]) copied(buffer []E) []E {
	events := deepCopy(buffer)
	c.running.Go(func() { c.deliver(events) })
	return buffer[:0]
}

// swapped sends the buffer itself in the background, and goes on with another.
func (c *crew[E]) swapped(buffer []E) []E {
	c.running.Go(func() {
		c.deliver(buffer)
		c.spare.Put(&buffer)
	})
	if empty, ok := c.spare.Get().(*[]E); ok {
		return (*empty)[:0]
	}
	return make([]E, 0, c.BatchSize)
}

// deepCopy is taken from the study's text, name and code. It is as deep as E: what events point to is shared.
func deepCopy[T any](src []T) []T {
	if src == nil {
		return nil
	}
	dst := make([]T, len(src))
	copy(dst, src)
	return dst
}

// deliver sends a batch once and accounts for it.
func (c *crew[E]) deliver(events []E) {
	if err := c.send(c.ctx, events); err != nil {
		c.failed.Add(int64(len(events)))
		return
	}
	c.log(len(events))
}

func (c *crew[E]) add(ctx context.Context, e E) error {
	// If there is room, this costs what the plain send in the study's text costs.
	select {
	case c.events <- e:
		return nil
	default:
	}
	select {
	case c.events <- e:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *crew[E]) close(ctx context.Context) {
	defer c.giveUp()
	defer context.AfterFunc(ctx, c.giveUp)()
	close(c.events)
	c.running.Wait()
}

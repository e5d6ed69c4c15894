package variants

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A crew is one worker or several that take events from one channel.
type crew[E any] struct {
	ledger
	Options
	send   batch.Send[E]
	events chan E

	gate    sync.RWMutex // read-locked by each Add, so that Close knows when none is running
	shut    bool
	closing chan struct{} // closed when no more events are taken in
	closed  atomic.Bool
	ctx     context.Context // ends when Close stops waiting
	giveUp  context.CancelFunc
	running sync.WaitGroup // the workers, and their sends in the background

	spare sync.Pool // of *[]E: swap's empty buffers
}

func newCrew[E any](o Options, send batch.Send[E]) *crew[E] {
	c := &crew[E]{Options: o, send: send, ledger: ledger{out: o.Log},
		events: make(chan E, o.Queue), closing: make(chan struct{})}
	c.ctx, c.giveUp = context.WithCancel(context.Background())
	return c
}

// start starts n workers, each with a buffer and a ticker of its own. hand sends a
// buffer's events and returns the buffer to fill next.
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
		// A timer starts the ticker, because a worker that waits for an answer at that
		// time would start it late.
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

// swapped sends the buffer itself in the background, and goes on with another. It does
// not clear a buffer that was sent, which would cost as much as a copy: data that its
// events point to stays in memory until other events take their places.
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

// deepCopy is taken from the study's text, name and code. It is as deep as E: what events
// point to is shared.
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
	n := int64(len(events))
	if c.ctx.Err() == nil {
		err := c.send(c.ctx, events)
		if err == nil {
			c.delivered.Add(n)
			c.log(len(events))
			return
		}
		if c.ctx.Err() == nil {
			c.failed.Add(n)
			return
		}
	}
	c.returned.Add(n)
}

func (c *crew[E]) Add(ctx context.Context, e E) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	if c.shut {
		return ErrClosed
	}
	// If there is room, this costs what the plain send in the study's text costs.
	select {
	case c.events <- e:
		c.added.Add(1)
		return nil
	default:
	}
	if c.WhenFull == Drop {
		c.added.Add(1)
		c.dropped.Add(1)
		return ErrFull
	}
	select {
	case c.events <- e:
		c.added.Add(1)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing:
		return ErrClosed
	}
}

func (c *crew[E]) Close(ctx context.Context) (Account, error) {
	if c.closed.Swap(true) {
		return c.Account(), ErrClosed
	}
	close(c.closing) // a caller that waits in Add returns
	c.gate.Lock()
	c.shut = true
	c.gate.Unlock()
	close(c.events)
	c.line("stopping BatchProcessor...")
	done := make(chan struct{})
	go func() {
		c.running.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		c.giveUp()
		<-done
		err = context.Cause(ctx)
	}
	c.giveUp()
	return c.Account(), err
}

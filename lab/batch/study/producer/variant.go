package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A variant takes events in, from one goroutine, and sends them in batches. Add waits until there
// is room. Close sends events until its context ends, returns the rest, and leaves no goroutine.
// The library's Batcher is one.
type variant[E any] interface {
	Add(context.Context, E) error
	Close(context.Context) ([]E, error)
}

// failures counts the events that a variant gives up. It is the library's batch.Meter.
type failures struct{ atomic.Int64 }

func (f *failures) Dropped(n int, _ batch.Reason)                 { f.Add(int64(n)) }
func (f *failures) Sent(int, time.Duration, time.Duration, error) {}
func (f *failures) InFlight(int)                                  {}
func (f *failures) Queued(int)                                    {}
func (f *failures) Delivered(int)                                 {}

// newVariant starts the variant of the settings. send gets a slice that is used again once it has returned, except
// with async.
func newVariant[E any](s Settings, failed *failures, send batch.Send[E]) (variant[E], error) {
	if s.Variant == "batch" {
		return batch.New(send, batch.MaxCount(s.BatchSize), batch.Interval(s.Interval), batch.Capacity(max(s.Queue, 1)),
			batch.InFlight(10), batch.WithRetry(batch.Backoff(20*time.Millisecond, time.Second, s.Attempts)),
			batch.WithMeter(failed), batch.WithLogger(slog.New(slog.DiscardHandler))) // the meter has the losses
	}
	c := &crew[E]{Settings: s, failed: failed, send: send, events: make(chan E, s.Queue)}
	c.ctx, c.giveUp = context.WithCancel(context.Background())
	hand := map[string]func([]E) []E{"async": c.copied, "swap": c.swapped}[s.Variant]
	if hand == nil {
		hand = c.waited
	}
	for i := range s.Workers {
		c.running.Go(func() { c.work(i, hand) })
	}
	return c, nil
}

// A crew is one worker or several that take events from one channel.
type crew[E any] struct {
	Settings
	failed *failures
	send   batch.Send[E]
	events chan E

	ctx     context.Context // ends when Close stops waiting
	giveUp  context.CancelFunc
	running sync.WaitGroup // the workers, and their sends in the background
	spare   sync.Pool      // of *[]E: swap's empty buffers
}

// work is a worker with a buffer and a ticker of its own: the loop of the study's text. hand sends a buffer's events
// and returns the buffer to fill next.
func (c *crew[E]) work(worker int, hand func([]E) []E) {
	ticker := time.NewTicker(c.Interval)
	defer ticker.Stop()
	if c.Stagger {
		// A timer starts the ticker, because a worker that waits for an answer at that time would start it late.
		late := c.Interval * time.Duration(worker) / time.Duration(c.Workers)
		defer time.AfterFunc(late, func() { ticker.Reset(c.Interval) }).Stop()
	}
	var buffer []E
	for open := true; open; {
		select {
		case e, ok := <-c.events:
			if open = ok; open {
				buffer = append(buffer, e)
			}
			if open && len(buffer) < c.BatchSize {
				continue
			}
		case <-ticker.C:
		}
		if len(buffer) > 0 {
			buffer = hand(buffer)
		}
	}
}

// waited sends a batch and waits for the answer.
func (c *crew[E]) waited(buffer []E) []E {
	if c.send(c.ctx, buffer) != nil {
		c.failed.Add(int64(len(buffer)))
	}
	return buffer[:0]
}

// copied sends a copy in the background. The copy is the study's deepCopy: what events point to is shared.
func (c *crew[E]) copied(buffer []E) []E {
	events := slices.Clone(buffer)
	c.running.Go(func() { c.waited(events) })
	return buffer[:0]
}

// swapped sends the buffer itself in the background, and goes on with another.
func (c *crew[E]) swapped(buffer []E) []E {
	c.running.Go(func() {
		empty := c.waited(buffer)
		c.spare.Put(&empty)
	})
	if empty, ok := c.spare.Get().(*[]E); ok {
		return *empty
	}
	return make([]E, 0, c.BatchSize)
}

// Add is the plain send of the study's text, which waits for a worker and for nothing else.
func (c *crew[E]) Add(_ context.Context, e E) error {
	c.events <- e
	return nil
}

func (c *crew[E]) Close(ctx context.Context) ([]E, error) {
	defer c.giveUp()
	defer context.AfterFunc(ctx, c.giveUp)()
	close(c.events)
	c.running.Wait()
	return nil, nil
}

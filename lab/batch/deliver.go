package batch

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// deliverAll sends batches until no more can come.
func (b *Batcher[E]) deliverAll() {
	for buf := range b.full {
		b.meter.Queued(-len(buf.events))
		b.deliver(buf)
		b.finish(buf)
		b.free <- buf
	}
}

// deliver sends a batch, several times if Retry says so, and accounts for its events.
func (b *Batcher[E]) deliver(buf *buffer[E]) {
	b.meter.InFlight(1)
	defer b.meter.InFlight(-1)
	for attempt := 1; b.ctx.Err() == nil; attempt++ {
		began := time.Now()
		err := b.attempt(buf.events)
		took := time.Since(began)
		rest, err := remaining(len(buf.events), err)
		b.meter.Sent(len(buf.events), took, began.Sub(buf.since), err)
		if err == nil {
			b.meter.Delivered(len(buf.events))
			return
		}
		b.shrink(buf, rest)
		if b.ctx.Err() != nil {
			break
		}
		wait, again := b.retry(attempt, err)
		if !again {
			b.drop(len(buf.events), Failed, err)
			return
		}
		if b.logger != nil {
			b.logger.Warn("batch: sending failed, to be tried again", "events", len(buf.events), "attempt", attempt, "wait",
				wait, "error", err)
		}
		select {
		case <-time.After(wait):
		case <-b.ctx.Done():
		}
	}
	b.leave(buf.events)
}

// A PanicError is the error of a Send that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("batch: send panicked: %v", p.Value) }

// attempt sends once.
func (b *Batcher[E]) attempt(events []E) (err error) {
	ctx := b.ctx
	if b.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.timeout)
		defer cancel()
	}
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return b.send(ctx, events)
}

// leave keeps events for Close to return.
func (b *Batcher[E]) leave(events []E) {
	b.left.Lock()
	defer b.left.Unlock()
	b.leftover = append(b.leftover, events...)
}

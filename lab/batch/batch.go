package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Send delivers one batch, in full or not at all. The slice is the batcher's
// and is used again once Send has returned. Send has to return soon after its
// context has ended: Close waits for it.
type Send[E any] func(ctx context.Context, events []E) error

// Errors of adding.
var (
	ErrClosed = errors.New("batch: closed")
	ErrFull   = errors.New("batch: full")
)

// A Batcher gathers events. Its methods may be called from any goroutine.
type Batcher[E any] struct {
	config
	send   Send[E]
	sizeOf func(E) int

	shards []*shard[E]
	near   sync.Pool     // of *shard: a processor mostly finds the one it used last
	next   atomic.Uint32 // shard for who finds none

	free chan *buffer[E] // empty ones; it has room for all
	full chan *buffer[E] // those that wait to be sent, oldest first; it has room for all

	gathering sync.Mutex
	open      ledger
	closing   chan struct{} // closed when no more events are taken in
	closed    atomic.Bool
	ctx       context.Context // ends when Close gives up waiting
	giveUp    context.CancelFunc
	running   sync.WaitGroup // the senders and the clock

	left     sync.Mutex
	leftover []E // what Close returns
}

// A shard is where some of the producers put their events.
type shard[E any] struct {
	mu     sync.Mutex
	filled *buffer[E] // nil until an event needs one
	shut   bool
	_      [96]byte // two shards on one cache line would be one to the processors
}

// A buffer becomes a batch.
type buffer[E any] struct {
	events []E
	bytes  int
	since  time.Time // when its first event came
	number uint64    // in the order of batches, once it is one
}

// New makes a batcher. Its goroutines end with Close.
func New[E any](send Send[E], opts ...Option) (*Batcher[E], error) {
	if send == nil {
		return nil, errors.New("batch: New: nothing to send with")
	}
	c, err := settle(opts)
	if err != nil {
		return nil, err
	}
	b := &Batcher[E]{config: c, send: send, closing: make(chan struct{})}
	if c.size != nil {
		sizeOf, ok := c.size.(func(E) int)
		if !ok {
			return nil, fmt.Errorf("batch: MaxBytes: %T does not take the batcher's events", c.size)
		}
		b.sizeOf = sizeOf
	}
	n := c.buffers()
	b.free, b.full = make(chan *buffer[E], n), make(chan *buffer[E], n)
	for range n {
		b.free <- &buffer[E]{events: make([]E, 0, c.count)}
	}
	for range c.shards {
		b.shards = append(b.shards, &shard[E]{})
	}
	b.ctx, b.giveUp = context.WithCancel(context.Background())
	for range c.inFlight {
		b.running.Go(b.deliverAll)
	}
	b.running.Go(b.tick)
	return b, nil
}

// Add takes an event in. Where there is no room it does what WhenFull says: it
// waits, until its context ends; or it drops the event and returns ErrFull; or
// it drops a batch to make room. After Close it returns ErrClosed.
func (b *Batcher[E]) Add(ctx context.Context, e E) error {
	err := b.try(&e, nil)
	for err == ErrFull && b.policy == Block {
		var room *buffer[E]
		if room, err = b.await(ctx); err == nil {
			err = b.try(&e, room)
		}
	}
	return err
}

// TryAdd is Add that does not wait: under Block it returns ErrFull, and the
// event is the caller's still, neither added nor dropped.
func (b *Batcher[E]) TryAdd(e E) error { return b.try(&e, nil) }

// try adds an event if there is room, or can be made by the policy. room is an
// empty buffer that the caller has waited for, or nil; it is used or freed.
func (b *Batcher[E]) try(e *E, room *buffer[E]) error {
	s := b.pick()
	if s.shut {
		s.mu.Unlock()
		if room != nil {
			b.free <- room
		}
		return ErrClosed
	}
	size := 0
	if b.sizeOf != nil {
		size = b.sizeOf(*e)
		if buf := s.filled; buf != nil && len(buf.events) > 0 && buf.bytes+size > b.bytes {
			b.dispatch(buf)
			s.filled = nil
		}
	}
	buf := s.filled
	if buf == nil {
		if buf, room = room, nil; buf == nil {
			buf = b.empty()
		}
		if buf == nil {
			s.mu.Unlock()
			b.keep(s)
			if b.policy == DropNewest {
				b.drop(1, Full)
			}
			return ErrFull
		}
		s.filled = buf
	}
	if len(buf.events) == 0 {
		buf.since = time.Now()
	}
	buf.events = append(buf.events, *e)
	buf.bytes += size
	if len(buf.events) == b.count || b.sizeOf != nil && buf.bytes >= b.bytes {
		b.dispatch(buf)
		s.filled = nil
	}
	s.mu.Unlock()
	b.keep(s)
	if room != nil {
		b.free <- room
	}
	return nil
}

// pick finds a shard and locks it: the one that this processor used last, and
// another where that one is taken.
func (b *Batcher[E]) pick() *shard[E] {
	if len(b.shards) == 1 {
		b.shards[0].mu.Lock()
		return b.shards[0]
	}
	if s, ok := b.near.Get().(*shard[E]); ok && s.mu.TryLock() {
		return s
	}
	s := b.shards[int(b.next.Add(1))%len(b.shards)]
	s.mu.Lock()
	return s
}

func (b *Batcher[E]) keep(s *shard[E]) {
	if len(b.shards) > 1 {
		b.near.Put(s)
	}
}

// empty finds a buffer that is free or, where the policy says so, frees one.
// The lock of a shard without one is held, so that one is neither being filled
// nor sent: it is free, or it waits, or it is on its way between.
func (b *Batcher[E]) empty() *buffer[E] {
	for {
		select {
		case buf := <-b.free:
			return buf
		default:
		}
		if b.policy != DropOldest {
			return nil
		}
		select {
		case old := <-b.full:
			b.drop(len(old.events), Full)
			b.open.finish(old.number)
			old.reset()
			return old
		default:
			runtime.Gosched()
		}
	}
}

// await waits for a buffer to be free, and takes it: put back, it would go to
// the next that waits, and round and round.
func (b *Batcher[E]) await(ctx context.Context) (*buffer[E], error) {
	select {
	case buf := <-b.free:
		return buf, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-b.closing:
		return nil, ErrClosed
	}
}

// dispatch puts a buffer among those that wait to be sent.
func (b *Batcher[E]) dispatch(buf *buffer[E]) {
	buf.number = b.open.begin()
	b.full <- buf
}

func (buf *buffer[E]) reset() {
	clear(buf.events) // what they point to is not ours to keep
	buf.events, buf.bytes = buf.events[:0], 0
}

// drop counts events that will not be delivered.
func (b *Batcher[E]) drop(events int, why Reason) {
	b.meter.Dropped(events, why)
	if b.logger != nil {
		b.logger.Warn("events dropped", "events", events, "why", string(why))
	}
}

// tick has what waits leave at the end of each interval.
func (b *Batcher[E]) tick() {
	t := time.NewTicker(b.interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			b.gather(false)
		case <-b.closing:
			return
		}
	}
}

// gather makes batches of what the shards hold: as few as possible, since there
// was one request an interval to be made and not one for each processor.
func (b *Batcher[E]) gather(shut bool) {
	b.gathering.Lock()
	defer b.gathering.Unlock()
	var into *buffer[E]
	for _, s := range b.shards {
		s.mu.Lock()
		s.shut = s.shut || shut
		buf := s.filled
		s.filled = nil
		if len(b.shards) == 1 && buf != nil && len(buf.events) > 0 {
			// Under the lock, so that no later batch can come before it.
			b.dispatch(buf)
			buf = nil
		}
		s.mu.Unlock()
		switch {
		case buf == nil:
		case len(buf.events) == 0:
			b.free <- buf
		case into == nil:
			into = buf
		default:
			into = b.merge(into, buf)
		}
	}
	if into != nil {
		b.dispatch(into)
	}
}

// merge moves events from one buffer into another, and returns the one that
// has room left. A full one is dispatched, an empty one freed.
func (b *Batcher[E]) merge(into, from *buffer[E]) *buffer[E] {
	n := 0
	for n < len(from.events) && len(into.events) < b.count {
		size := 0
		if b.sizeOf != nil {
			if size = b.sizeOf(from.events[n]); into.bytes+size > b.bytes {
				break
			}
		}
		into.events = append(into.events, from.events[n])
		into.bytes, from.bytes = into.bytes+size, from.bytes-size
		n++
	}
	if from.since.Before(into.since) {
		into.since = from.since
	}
	if n == len(from.events) {
		from.reset()
		b.free <- from
		return into
	}
	b.dispatch(into)
	rest := copy(from.events, from.events[n:])
	clear(from.events[rest:])
	from.events = from.events[:rest]
	return from
}

// deliverAll sends what waits, until there is nothing to come.
func (b *Batcher[E]) deliverAll() {
	for buf := range b.full {
		b.deliver(buf)
		b.open.finish(buf.number)
		buf.reset()
		b.free <- buf
	}
}

// deliver sends a batch, again if it is to be tried again, and accounts for it.
func (b *Batcher[E]) deliver(buf *buffer[E]) {
	n := len(buf.events)
	b.meter.InFlight(1)
	defer b.meter.InFlight(-1)
	for attempt := 1; ; attempt++ {
		if b.ctx.Err() != nil {
			b.leave(buf.events)
			return
		}
		began := time.Now()
		err := b.attempt(buf.events)
		b.meter.Sent(n, time.Since(began), began.Sub(buf.since), err)
		if err == nil {
			b.meter.Delivered(n)
			return
		}
		if b.ctx.Err() != nil {
			b.leave(buf.events)
			return
		}
		var wait time.Duration
		again := false
		if b.retry != nil {
			wait, again = b.retry(attempt, err)
		}
		if b.logger != nil {
			b.logger.Warn("a batch failed", "events", n, "attempt", attempt, "again", again, "error", err)
		}
		if !again {
			b.drop(n, Failed)
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-b.ctx.Done():
			timer.Stop()
		}
	}
}

// A PanicError is what a Send that panicked comes to.
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

// Flush has all that was added before it leave at once, and waits until it is
// delivered, or dropped, or its context ends.
func (b *Batcher[E]) Flush(ctx context.Context) error {
	if b.closed.Load() {
		return ErrClosed
	}
	b.gather(false)
	done := b.open.settled()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close takes no more events, and waits until all that were taken are delivered
// or dropped. If its context ends first, it ends the context of each Send, waits
// for those, and returns every event that was not delivered, with the context's
// error; one whose Send failed late may have been taken in all the same. When
// Close returns, no goroutine of the batcher is left. Further calls return
// ErrClosed.
func (b *Batcher[E]) Close(ctx context.Context) (undelivered []E, err error) {
	if b.closed.Swap(true) {
		return nil, ErrClosed
	}
	close(b.closing)
	b.gather(true)
	close(b.full) // every shard is shut, so nothing is dispatched any more
	done := make(chan struct{})
	go func() {
		b.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		b.giveUp()
		<-done
		err = context.Cause(ctx)
	}
	b.giveUp()
	if len(b.leftover) == 0 {
		return nil, nil
	}
	return b.leftover, err
}

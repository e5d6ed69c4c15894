package batch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Send delivers one batch, in full or not at all, or says with a PartialError
// which of its events are left. The slice is the batcher's and is used again once
// Send has returned. Send has to return soon after its context has ended: Close
// waits for it.
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

	middle   uint // how many events of a batch need nothing but to be put there
	pointers bool // whether events have any

	// What is above is read by all and written by none; what is below the hints is
	// written for each batch, and shares no cache line with it.
	shards []*shard[E]
	hints  [1 << hintBits]atomic.Pointer[shard[E]]

	free    chan *buffer[E]           // empty ones; it has room for all
	warm    atomic.Pointer[buffer[E]] // one more, of those emptied last: it may be in a cache still
	waiting atomic.Int32              // how many wait for one that is free

	full chan *buffer[E] // those that wait to be sent, oldest first; it has room for all

	gathering sync.Mutex
	open      ledger
	closing   chan struct{} // closed when no more events are taken in
	closed    atomic.Bool
	ctx       context.Context // ends when Close gives up waiting
	giveUp    context.CancelFunc
	running   sync.WaitGroup // the senders and the clock

	lost    losses
	over    chan struct{}  // closed when no more can be lost
	logging sync.WaitGroup // of losses

	left     sync.Mutex
	leftover []E // what Close returns
}

// hintBits is for several times as many hints as goroutines run at once.
const hintBits = 9

// A shard is where some of the producers put their events.
type shard[E any] struct {
	mu     sync.Mutex
	filled *buffer[E] // nil until an event needs one
	shut   bool
	place  int
	_      [96]byte // two shards on one cache line would be one to the processors
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
	b := &Batcher[E]{config: c, send: send, closing: make(chan struct{}), over: make(chan struct{}), pointers: pointers(reflect.TypeFor[E]())}
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
	for i := range c.shards {
		b.shards = append(b.shards, &shard[E]{place: i})
	}
	for i := range b.hints {
		b.hints[i].Store(b.shards[0]) // so that no more are used than goroutines get in each other's way
	}
	if b.sizeOf == nil {
		b.middle = uint(c.count - min(c.count, 2)) // all but the first and the last
	}
	b.lost.news = make(chan struct{}, 1)
	b.ctx, b.giveUp = context.WithCancel(context.Background())
	for range c.inFlight {
		b.running.Go(b.deliverAll)
	}
	b.running.Go(b.tick)
	b.logging.Go(b.logLosses)
	return b, nil
}

// Add takes an event in. Where there is no room it does what WhenFull says: it
// waits, until its context ends; or it drops the event and returns ErrFull; or
// it drops a batch to make room. After Close it returns ErrClosed.
func (b *Batcher[E]) Add(ctx context.Context, e E) error { return b.add(ctx, &e, true) }

// TryAdd is Add that does not wait: under Block it returns ErrFull, and the
// event is the caller's still, neither added nor dropped.
func (b *Batcher[E]) TryAdd(e E) error { return b.add(nil, &e, false) }

// add has a short way for an event that is neither the first nor the last of its
// batch, as nearly all are. Two atomic operations, on a cache line that is
// mostly this processor's already, and a copy: that is what adding costs. Add
// itself is inlined, so that there is no copy on the way here.
//
// The shard is the one that this goroutine's hint names, or another where that
// one is taken, which the hint then names. So goroutines that get in each other's
// way soon have a shard each, without being told on which processor they run,
// and those that do not share one that stays in a cache.
func (b *Batcher[E]) add(ctx context.Context, e *E, wait bool) error {
	hint := b.hint(e)
	s := hint.Load()
	if !s.mu.TryLock() {
		s = b.lock(hint)
	}
	if buf := s.filled; buf != nil {
		if n := len(buf.events); uint(n-1) < b.middle {
			buf.events = buf.events[:n+1]
			buf.events[n] = *e // append would copy it twice
			s.mu.Unlock()
			return nil
		}
	}
	err := b.try(s, e, nil)
	for err == ErrFull && wait && b.policy == Block {
		var room *buffer[E]
		if room, err = b.await(ctx); err == nil {
			err = b.try(b.lock(hint), e, room)
		}
	}
	return err
}

// try adds an event to a locked shard, which it unlocks, if there is room or
// can be made by the policy. room is an empty buffer that the caller has waited
// for, or nil; it is used or freed.
func (b *Batcher[E]) try(s *shard[E], e *E, room *buffer[E]) error {
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
			buf = b.take()
		}
		if buf == nil {
			s.mu.Unlock()
			if b.policy == DropNewest {
				b.refuse()
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
	if room != nil {
		b.free <- room
	}
	return nil
}

// hint is the one that this goroutine has to itself, or shares with few others.
// Goroutines are told apart by their stacks, on which e lies: an address that
// changes, since stacks move, costs no more than another hint. It is only a
// number here, and never becomes a pointer again.
func (b *Batcher[E]) hint(e *E) *atomic.Pointer[shard[E]] {
	stack := uint32(uintptr(unsafe.Pointer(e)) >> 11) // the smallest is 2 KiB
	return &b.hints[stack*0x9e3779b1>>(32-hintBits)]
}

// lock locks the shard that a hint names or, where it is taken, the next that is
// not, and changes the hint. Where all are taken it waits.
func (b *Batcher[E]) lock(hint *atomic.Pointer[shard[E]]) *shard[E] {
	named := hint.Load()
	for i := range b.shards {
		if s := b.shards[(named.place+i)%len(b.shards)]; s.mu.TryLock() {
			hint.Store(s)
			return s
		}
	}
	named.mu.Lock()
	return named
}

// dispatch puts a buffer among those that wait to be sent.
func (b *Batcher[E]) dispatch(buf *buffer[E]) {
	n := len(buf.events)
	buf.number = b.open.begin(n)
	b.meter.Queued(n)
	b.full <- buf
}

// Flush has all that was added before it leave at once, and waits until it is
// delivered or lost, or its context ends. If events were lost, by the batcher as
// a whole and since an earlier Flush returned, it returns a *LostError, with the
// context's error where that ended. So nil means that nothing was lost that no
// Flush has told of; whoever ignores what one returns hides it from the next.
func (b *Batcher[E]) Flush(ctx context.Context) error {
	if b.closed.Load() {
		return ErrClosed
	}
	before := b.lost.before()
	b.gather(false)
	done := b.open.settled()
	var ended error
	select {
	case <-done:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	}
	return with(ended, b.lost.since(before))
}

// Held is how many events are held now: added, and neither delivered nor dropped
// nor returned. It stops all adding for a moment, so ask it now and then.
func (b *Batcher[E]) Held() int {
	b.gathering.Lock() // what is being gathered is in no shard and no batch
	defer b.gathering.Unlock()
	n := 0
	for _, s := range b.shards {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.filled != nil {
			n += len(s.filled.events)
		}
	}
	return n + b.open.held()
}

// Close takes no more events, and waits until all that were taken are delivered
// or lost. If its context ends first, it ends the context of each Send, waits
// for those, and returns every event that was not delivered, with the context's
// error; one whose Send failed late may have been taken in all the same. If
// events were lost that no Flush has told of, its error is a *LostError or holds
// one, so that nil and nil say that there were none. When it returns, no
// goroutine of the batcher is left. Further calls return ErrClosed.
func (b *Batcher[E]) Close(ctx context.Context) (undelivered []E, err error) {
	if b.closed.Swap(true) {
		return nil, ErrClosed
	}
	before := b.lost.before()
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
	close(b.over)
	b.logging.Wait()
	if len(b.leftover) == 0 {
		err = nil // it was in time after all
	}
	return b.leftover, with(err, b.lost.since(before))
}

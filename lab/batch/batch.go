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

// Send delivers one batch, in full or not at all, or returns a PartialError that says
// which of its events are left. The batcher owns the slice and uses it again once Send
// has returned. Send must return soon after its context has ended: Close waits for it.
type Send[E any] func(ctx context.Context, events []E) error

// Errors of adding.
var (
	ErrClosed = errors.New("batch: closed")
	ErrFull   = errors.New("batch: full")
)

// A Batcher gathers events. Any goroutine may call its methods.
type Batcher[E any] struct {
	config
	send   Send[E]
	sizeOf func(E) int

	middle   uint // how many events of a batch take the fast path of add
	pointers bool // whether the type of events contains pointers

	// All goroutines read the fields above, and none writes them. Each batch writes those below the
	// hints; the hints keep the two on different cache lines.
	shards []*shard[E]
	hints  [1 << hintBits]atomic.Pointer[shard[E]]

	free chan *buffer[E] // empty buffers; it has room for all
	full chan *buffer[E] // buffers that wait to be sent, oldest first; it has room for all

	gathering sync.Mutex
	open      ledger
	closing   chan struct{} // closed when no more events are taken in
	closed    atomic.Bool
	ctx       context.Context // ends when Close stops waiting
	giveUp    context.CancelFunc
	running   sync.WaitGroup // the senders and the clock

	lost    losses
	over    chan struct{}  // closed when no more events can be lost
	logging sync.WaitGroup // the goroutine that logs losses

	left     sync.Mutex
	leftover []E // what Close returns
}

// hintBits allows for several times as many hints as goroutines run at once.
const hintBits = 9

// A shard is where some of the producers put their events.
type shard[E any] struct {
	mu     sync.Mutex
	filled *buffer[E] // nil until an event needs one
	shut   bool
	place  int
	_      [96]byte // keeps two shards off one cache line, where writing to one would slow down the other
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
	b := &Batcher[E]{config: c, send: send, open: ledger{open: map[uint64]struct{}{}},
		closing: make(chan struct{}), over: make(chan struct{}), pointers: pointers(reflect.TypeFor[E]())}
	if c.size != nil {
		sizeOf, ok := c.size.(func(E) int)
		if !ok {
			return nil, fmt.Errorf("batch: MaxBytes: %T does not take the batcher's events", c.size)
		}
		if sizeOf == nil {
			return nil, errors.New("batch: MaxBytes: say how large an event is")
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
		b.hints[i].Store(b.shards[0]) // all the same at first: more shards are used only once goroutines collide
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

// Add takes an event in. If there is no room it does what WhenFull says: it waits until
// its context ends, or it drops the event and returns ErrFull, or it drops a batch to
// make room. After Close it returns ErrClosed.
func (b *Batcher[E]) Add(ctx context.Context, e E) error { return b.add(ctx, &e, true) }

// TryAdd is Add without waiting. Under Block it returns ErrFull, and the event is neither
// added nor dropped: it is still the caller's.
func (b *Batcher[E]) TryAdd(e E) error { return b.add(nil, &e, false) }

// add has a fast path for an event that is neither the first nor the last of its batch,
// as nearly all are. Its cache line is usually in this processor's cache already. The
// compiler inlines Add itself, so that nothing copies the event on the way here.
//
// The shard is the one that this goroutine's hint names. If that one is locked, it is
// another, and the hint names that one from then on. So goroutines that collide soon have
// a shard each, without being told which processor they run on, and goroutines that do
// not collide share one shard, which stays in a cache.
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
	err := b.try(s, e)
	for err == ErrFull && wait && b.policy == Block {
		var room *buffer[E]
		if room, err = b.await(ctx); err != nil {
			break
		}
		if s = b.lock(hint); s.filled == nil && !s.shut {
			s.filled, room = room, nil
		}
		if err = b.try(s, e); room != nil {
			b.free <- room
		}
	}
	return err
}

// try adds an event to a locked shard and unlocks it, if there is room or the policy can
// make room.
func (b *Batcher[E]) try(s *shard[E], e *E) error {
	if s.shut {
		s.mu.Unlock()
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
	if s.filled == nil {
		s.filled = b.take()
	}
	buf := s.filled
	if buf == nil {
		s.mu.Unlock()
		if b.policy == DropNewest {
			b.refuse()
		}
		return ErrFull
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
	return nil
}

// hint returns a hint that this goroutine has to itself or shares with few others. The
// address of e, which lies on the stack, tells goroutines apart. Stacks move, and so this
// address can change; that only leads to another hint. Here the address is a number, and
// never becomes a pointer again.
func (b *Batcher[E]) hint(e *E) *atomic.Pointer[shard[E]] {
	stack := uint32(uintptr(unsafe.Pointer(e)) >> 11) // the smallest stack is 2 KiB
	return &b.hints[stack*0x9e3779b1>>(32-hintBits)]
}

// lock locks the shard that a hint names. If that one is locked already, it locks the
// next free one and changes the hint. If all are locked, it waits.
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

// Flush sends all that was added before it at once, and waits until it is delivered or
// lost, or until its context ends. If the batcher has lost events since an earlier Flush
// returned, whichever events they were, it returns a *LostError, joined with the
// context's error if that ended. So nil means that nothing was lost that no Flush has
// reported; a caller who ignores the error hides the loss from the next Flush.
func (b *Batcher[E]) Flush(ctx context.Context) error {
	if b.closed.Load() {
		return ErrClosed
	}
	before := b.lost.before()
	b.gather(false)
	ended := b.open.settle(ctx)
	return with(ended, b.lost.since(before))
}

// Held is how many events are held now: added, but not yet delivered, dropped or
// returned. It stops all adding for a moment, so call it only now and then.
func (b *Batcher[E]) Held() int {
	b.gathering.Lock() // between shard and batch, events are in neither
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

// Close takes no more events, and waits until all events that were taken are delivered or
// lost. If its context ends first, it ends the context of each Send, waits for those to
// return, and returns every event that was not delivered, with the context's error. An
// event whose Send failed late may have reached the receiver all the same. If events were
// lost that no Flush has reported, the error is a *LostError or wraps one; so if both
// results are nil, nothing was lost. When Close returns, no goroutine of the batcher is
// left. Further calls return ErrClosed.
func (b *Batcher[E]) Close(ctx context.Context) (undelivered []E, err error) {
	if b.closed.Swap(true) {
		return nil, ErrClosed
	}
	before := b.lost.before()
	close(b.closing)
	b.gather(true)
	close(b.full) // every shard is shut, so nothing is dispatched any more
	stop := context.AfterFunc(ctx, b.giveUp)
	b.running.Wait()
	if !stop() {
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

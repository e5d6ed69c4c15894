package batch

import (
	"context"
	"reflect"
	"runtime"
	"time"
)

// A buffer becomes a batch.
type buffer[E any] struct {
	events []E
	bytes  int
	since  time.Time // when its first event came
	number uint64    // in the order of batches, once it is one
}

// take finds a buffer that is free or, where the policy says so, frees one.
// The lock of a shard without one is held, so that one is neither being filled
// nor sent: it is free, or it waits, or it is on its way between.
func (b *Batcher[E]) take() *buffer[E] {
	for {
		if buf := b.warm.Swap(nil); buf != nil {
			return buf
		}
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
			b.meter.Queued(-len(old.events))
			b.drop(len(old.events), Full, nil)
			b.finish(old)
			return old
		default:
			runtime.Gosched()
		}
	}
}

// await waits for a buffer to be free, and takes it: put back, it would go to
// the next that waits, and round and round.
func (b *Batcher[E]) await(ctx context.Context) (*buffer[E], error) {
	b.waiting.Add(1) // before the look, as release looks after it has put one there
	defer b.waiting.Add(-1)
	if buf := b.warm.Swap(nil); buf != nil {
		return buf, nil
	}
	select {
	case buf := <-b.free:
		return buf, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-b.closing:
		return nil, ErrClosed
	}
}

// release makes an empty buffer free: the next to be taken, unless there is one
// or somebody waits.
func (b *Batcher[E]) release(buf *buffer[E]) {
	if !b.warm.CompareAndSwap(nil, buf) {
		b.free <- buf
	}
	if b.waiting.Load() > 0 {
		if buf := b.warm.Swap(nil); buf != nil {
			b.free <- buf
		}
	}
}

// finish makes a batch that is delivered, dropped or given back an empty buffer.
func (b *Batcher[E]) finish(buf *buffer[E]) {
	b.open.finish(buf.number, len(buf.events))
	b.empty(buf)
}

// empty forgets what is in a buffer. Without pointers there is nothing to
// forget, and writing to it would take it from the cache of who fills it next.
func (b *Batcher[E]) empty(buf *buffer[E]) {
	if b.pointers {
		clear(buf.events) // what they point to is not ours to keep
	}
	buf.events, buf.bytes = buf.events[:0], 0
}

// pointers tells whether values of a type have pointers in them.
func pointers(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return t.Len() > 0 && pointers(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if pointers(f.Type) {
				return true
			}
		}
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128
	}
}

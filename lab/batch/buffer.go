package batch

import (
	"context"
	"reflect"
	"runtime"
	"time"
)

// A buffer fills with events, and then leaves as a batch.
type buffer[E any] struct {
	events []E
	bytes  int
	since  time.Time // the time of its first event
	number uint64    // its place in the order of batches, once it is a batch
}

// take returns a free buffer or, if the policy allows it, frees one. The caller holds the
// lock of a shard that has no buffer, so at least one buffer is neither filling nor
// leaving: it is free, or waits, or is on its way between the two.
func (b *Batcher[E]) take() *buffer[E] {
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
			b.meter.Queued(-len(old.events))
			b.drop(len(old.events), Full, nil)
			b.finish(old)
			return old
		default:
			runtime.Gosched()
		}
	}
}

// await waits for a free buffer and takes it. If it put the buffer back instead, the next
// goroutine that waits would get it and do the same, again and again.
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

// finish empties and frees the buffer of a batch that is delivered, dropped or given
// back.
func (b *Batcher[E]) finish(buf *buffer[E]) {
	b.open.finish(buf.number, len(buf.events))
	b.empty(buf)
}

// empty forgets the events in a buffer. Events without pointers keep nothing alive, so
// they are left alone: clearing them would move the memory out of the cache of the
// processor that fills it next.
func (b *Batcher[E]) empty(buf *buffer[E]) {
	if b.pointers {
		clear(buf.events) // or it would keep alive what they point to
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

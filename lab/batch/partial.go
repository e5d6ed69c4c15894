package batch

import (
	"errors"
	"fmt"
	"slices"
)

// A PartialError is what a Send returns, or wraps, when its receiver took in a part of a
// batch. That part counts as delivered. Retry decides about the rest, which goes again by
// itself and in its order, or is lost or returned as a whole batch would be. Its attempts
// count from the batch's first.
//
// Rest has the places, in the slice that Send got, of the events that were not taken in,
// in any order. If a receiver takes events from the front up to some place, Rest has all
// from there on. A Rest that is empty, or names a place that the batch does not have, is
// invalid: the batch then counts as not taken in at all, and the error says so.
type PartialError struct {
	Rest []int
	Err  error // the reason for refusing them; may be nil
}

func (p *PartialError) Error() string {
	s := fmt.Sprintf("batch: %d of a batch's events not taken in", len(p.Rest))
	if p.Err != nil {
		s += fmt.Sprintf(": %v", p.Err)
	}
	return s
}

// Unwrap returns the reason for refusing them.
func (p *PartialError) Unwrap() error { return p.Err }

// remaining returns which of so many events are left after an attempt that failed,
// ascending; nil means all. If Rest is invalid, all are left: a mistake may cause a
// second delivery, but must not lose an event.
func remaining(events int, err error) ([]int, error) {
	partial, ok := errors.AsType[*PartialError](err)
	if !ok || partial == nil {
		return nil, err
	}
	rest := slices.Clone(partial.Rest)
	slices.Sort(rest)
	rest = slices.Compact(rest)
	if len(rest) == 0 || rest[0] < 0 || rest[len(rest)-1] >= events {
		return nil, fmt.Errorf("batch: a PartialError with an impossible Rest, for a batch of %d, so the whole batch is left: %w",
			events, err)
	}
	return rest, err
}

// shrink keeps the events that are left in a batch, and accounts for the others.
func (b *Batcher[E]) shrink(buf *buffer[E], rest []int) {
	taken := len(buf.events) - len(rest)
	if rest == nil || taken == 0 {
		return
	}
	for i, place := range rest {
		buf.events[i] = buf.events[place]
	}
	if b.pointers {
		clear(buf.events[len(rest):])
	}
	buf.events = buf.events[:len(rest)]
	b.open.part(taken)
	b.meter.Delivered(taken)
}

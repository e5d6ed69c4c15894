package batch

import "time"

// tick sends the events that wait, at the end of each interval.
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

// gather makes as few batches as possible of what the shards hold: an interval should end
// in one request, not in one for each processor.
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
			// Under the lock, so that no later batch can overtake this one.
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

// merge moves events from one buffer into another, and returns the one that has room
// left. It dispatches a full buffer and frees an empty one.
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
		b.empty(from)
		b.free <- from
		return into
	}
	b.dispatch(into)
	rest := copy(from.events, from.events[n:])
	clear(from.events[rest:])
	from.events = from.events[:rest]
	return from
}

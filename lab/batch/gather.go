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

// gather makes few batches of what the shards hold: an interval should end in one
// request, not in one for each processor.
func (b *Batcher[E]) gather(shut bool) {
	b.gathering.Lock()
	defer b.gathering.Unlock()
	var into *buffer[E]
	for _, s := range b.shards {
		s.mu.Lock()
		s.shut = s.shut || shut
		buf := s.filled
		s.filled = nil
		if len(b.shards) == 1 && buf != nil {
			// Under the lock, so that no later batch can overtake this one.
			b.dispatch(buf)
			buf = nil
		}
		s.mu.Unlock()
		switch {
		case buf == nil:
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

// merge moves the events of one buffer into another that has room for all of them, and
// frees the first. If it has not, it is dispatched, and the other is the one to fill.
func (b *Batcher[E]) merge(into, from *buffer[E]) *buffer[E] {
	if len(into.events)+len(from.events) > b.count || b.sizeOf != nil && into.bytes+from.bytes > b.bytes {
		b.dispatch(into)
		return from
	}
	into.events = append(into.events, from.events...)
	into.bytes += from.bytes
	if from.since.Before(into.since) {
		into.since = from.since
	}
	b.empty(from)
	b.free <- from
	return into
}

package peers

import (
	"sync"
	"time"
)

// own is a slice, for one producer.
type own struct {
	sink
	events []event
}

func openSlice(s sink) queue { return &own{s, make([]event, 0, count)} }

func (o *own) add(from, to uint64) {
	for n := from; n < to; n++ {
		if o.events = append(o.events, event{n: n}); len(o.events) == count {
			o.close()
		}
	}
}

func (o *own) close() {
	o.take(len(o.events), encode(o.events, same))
	o.events = o.events[:0]
}

// bare is one mutex and one slice.
type bare struct {
	mu     sync.Mutex
	events []event
}

func openBare(sink) queue { return &bare{events: make([]event, 0, count)} }

func (b *bare) add(from, to uint64) {
	for n := from; n < to; n++ {
		b.put(event{n: n})
	}
}

func (b *bare) put(e event) {
	b.mu.Lock()
	if len(b.events) == count {
		b.events = b.events[:0]
	}
	b.events = append(b.events, e)
	b.mu.Unlock()
}

func (b *bare) close() {}

// swap has one mutex, a slice that is exchanged for an empty one when it is full, and
// senders. It holds the mutex while it waits for an empty slice.
type swap struct {
	mu         sync.Mutex
	events     []event
	free, full chan []event
	senders    sync.WaitGroup
}

func openSwap(s sink) queue {
	const n = capacity / count
	w := &swap{free: make(chan []event, n), full: make(chan []event, n)}
	for range n {
		w.free <- make([]event, 0, count)
	}
	w.events = <-w.free
	for range inFlight {
		w.senders.Go(func() {
			for events := range w.full {
				s.take(len(events), encode(events, same))
				w.free <- events[:0]
			}
		})
	}
	return w
}

func (w *swap) add(from, to uint64) {
	for n := from; n < to; n++ {
		w.put(event{n: n})
	}
}

func (w *swap) put(e event) {
	w.mu.Lock()
	w.events = append(w.events, e)
	if len(w.events) == count {
		w.full <- w.events
		w.events = <-w.free
	}
	w.mu.Unlock()
}

func (w *swap) close() {
	w.full <- w.events
	close(w.full)
	w.senders.Wait()
}

// A pool is a channel and workers, each with a buffer and a ticker.
type pool struct {
	events  chan event
	workers sync.WaitGroup
}

func openPool(s sink) queue {
	p := &pool{events: make(chan event, capacity)}
	for range 10 {
		p.workers.Go(func() {
			p.gather(func(events []event) { s.take(len(events), encode(events, same)) })
		})
	}
	return p
}

// openCopying is the pool of one worker that copies its batches and sends them in the
// background.
func openCopying(s sink) queue {
	p := &pool{events: make(chan event, capacity)}
	p.workers.Go(func() {
		p.gather(func(events []event) {
			events = append([]event(nil), events...)
			p.workers.Go(func() { s.take(len(events), encode(events, same)) })
		})
	})
	return p
}

func (p *pool) gather(send func([]event)) {
	buffer := make([]event, 0, count)
	flush := func() {
		if len(buffer) > 0 {
			send(buffer)
			buffer = buffer[:0]
		}
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case e, open := <-p.events:
			if !open {
				flush()
				return
			}
			if buffer = append(buffer, e); len(buffer) == count {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

func (p *pool) add(from, to uint64) {
	for n := from; n < to; n++ {
		p.events <- event{n: n}
	}
}

func (p *pool) close() {
	close(p.events)
	p.workers.Wait()
}

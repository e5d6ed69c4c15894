package batch

import "sync"

// A ledger knows which batches are under way, by number.
type ledger struct {
	mu      sync.Mutex
	last    uint64
	open    map[uint64]struct{}
	events  int // in those
	waiting []wait
}

// A wait is for all batches up to a number.
type wait struct {
	upTo uint64
	done chan struct{}
}

// begin gives a batch of so many events its number.
func (l *ledger) begin(events int) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[uint64]struct{}{}
	}
	l.last++
	l.open[l.last] = struct{}{}
	l.events += events
	return l.last
}

// finish says that a batch is delivered, dropped or given back.
func (l *ledger) finish(number uint64, events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, number)
	l.events -= events
	kept := l.waiting[:0]
	for _, w := range l.waiting {
		if l.through(w.upTo) {
			close(w.done)
		} else {
			kept = append(kept, w)
		}
	}
	l.waiting = kept
}

// part says that events of a batch under way are delivered, and the others not.
func (l *ledger) part(events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events -= events
}

// held is how many events are in batches under way.
func (l *ledger) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// settled returns a channel that is closed when all batches that have a number
// now are finished.
func (l *ledger) settled() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := wait{l.last, make(chan struct{})}
	if l.through(w.upTo) {
		close(w.done)
	} else {
		l.waiting = append(l.waiting, w)
	}
	return w.done
}

// through tells whether no batch up to a number is open.
func (l *ledger) through(upTo uint64) bool {
	for n := range l.open {
		if n <= upTo {
			return false
		}
	}
	return true
}

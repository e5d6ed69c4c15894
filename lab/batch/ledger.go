package batch

import "sync"

// A ledger knows by number which batches are neither delivered, dropped nor given back.
type ledger struct {
	mu      sync.Mutex
	last    uint64
	open    map[uint64]struct{}
	events  int // in the batches of open
	waiting []wait
}

// A wait is for all batches up to a number to be finished.
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

// part says that so many events of an unfinished batch are delivered, and the others are
// not.
func (l *ledger) part(events int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events -= events
}

// held is how many events are in unfinished batches.
func (l *ledger) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// settled returns a channel that is closed when all batches that have a number by now are
// finished.
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

// through tells whether all batches up to a number are finished.
func (l *ledger) through(upTo uint64) bool {
	for n := range l.open {
		if n <= upTo {
			return false
		}
	}
	return true
}

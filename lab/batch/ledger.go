package batch

import (
	"context"
	"sync"
)

// A ledger knows by number which batches are neither delivered, dropped nor given back.
type ledger struct {
	mu       sync.Mutex
	last     uint64
	open     map[uint64]struct{}
	events   int           // in the batches of open
	finished chan struct{} // closes when one finishes; nil: nobody waits for that
}

// begin gives a batch of so many events its number.
func (l *ledger) begin(events int) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	if l.finished != nil {
		close(l.finished)
		l.finished = nil
	}
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

// settle waits until all batches that have a number by now are finished.
func (l *ledger) settle(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for upTo := l.last; l.unfinished(upTo); {
		if l.finished == nil {
			l.finished = make(chan struct{})
		}
		finished := l.finished
		l.mu.Unlock()
		select {
		case <-finished:
		case <-ctx.Done():
		}
		l.mu.Lock()
		if ctx.Err() != nil && l.unfinished(upTo) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// unfinished tells whether a batch up to a number is.
func (l *ledger) unfinished(upTo uint64) bool {
	for n := range l.open {
		if n <= upTo {
			return true
		}
	}
	return false
}

package batch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// A LostError says how many of the events that Add took in were lost, and why. Flush and
// Close return it.
type LostError struct {
	Full   int   // DropOldest dropped them to make room
	Failed int   // sending them failed, and was not to be tried again
	Err    error // the last error of sending; nil if Failed is 0
}

func (l *LostError) Error() string {
	n := l.Full + l.Failed
	said := fmt.Sprintf("batch: %d events lost", n)
	if n == 1 {
		said = "batch: 1 event lost"
	}
	switch {
	case l.Failed == 0:
		return said + " to make room"
	case l.Full == 0:
		return said + fmt.Sprintf(": sending failed: %v", l.Err)
	}
	return said + fmt.Sprintf(": %d to make room, and %d since sending failed: %v", l.Full, l.Failed, l.Err)
}

// Unwrap returns the last error of sending.
func (l *LostError) Unwrap() error { return l.Err }

// with joins an error and a loss, either of which may be nil, in one line; errors.Join
// would make two.
func with(err error, lost *LostError) error {
	switch {
	case lost == nil:
		return err
	case err == nil:
		return lost
	}
	return fmt.Errorf("%w; %w", err, lost)
}

// since is the loss after an earlier count, or nil.
func (l LostError) since(earlier LostError) *LostError {
	l.Full -= earlier.Full
	if l.Failed -= earlier.Failed; l.Failed == 0 {
		l.Err = nil
	}
	if l.Full+l.Failed == 0 {
		return nil
	}
	return &l
}

// losses counts the events that were lost, until Flush or Close has reported them and
// they are logged.
type losses struct {
	mu     sync.Mutex
	all    LostError
	said   LostError // what Flush has reported
	logged LostError

	// Events refused with ErrFull, and not logged yet: their callers know, so only the log reports
	// them. DropNewest refuses them one by one, so each costs only an atomic operation.
	refused atomic.Int64

	news chan struct{} // holds a value if there may be something to log
}

// tell wakes the goroutine that logs losses.
func (l *losses) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// before is the loss reported up to now.
func (l *losses) before() LostError {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said
}

// since is the loss since before, or nil. Two callers that ask at the same time get the same
// answer: if only one heard, the other would take lost events for delivered.
func (l *losses) since(before LostError) *LostError {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = l.all
	return l.all.since(before)
}

// logEvery is the least time between two lines of the log: a receiver that is gone for an
// hour makes one line in that time, and not one for each batch.
const logEvery = 10 * time.Second

// drop counts events that Add took in and that will not be delivered. Its call comes before the
// batch finishes, so that a Flush that waits for the batch reports the loss.
func (b *Batcher[E]) drop(events int, why Reason, err error) {
	b.meter.Dropped(events, why)
	b.lost.mu.Lock()
	if why == Full {
		b.lost.all.Full += events
	} else {
		b.lost.all.Failed += events
		b.lost.all.Err = err
	}
	b.lost.mu.Unlock()
	b.lost.tell()
}

// refuse counts an event that Add does not take in under DropNewest.
func (b *Batcher[E]) refuse() {
	b.meter.Dropped(1, Full)
	b.lost.refused.Add(1)
	b.lost.tell()
}

// logLosses logs the first loss at once, and then sums of later ones. It runs in a
// goroutine of its own: a handler may be slow, or may add its records to this very
// batcher, and no event must wait for it.
func (b *Batcher[E]) logLosses() {
	defer b.logLoss()
	for {
		select {
		case <-b.lost.news:
		case <-b.over:
			return
		}
		b.logLoss()
		select {
		case <-time.After(logEvery):
		case <-b.over:
			return
		}
	}
}

// logLoss logs the rest of the loss.
func (b *Batcher[E]) logLoss() {
	l := &b.lost
	l.mu.Lock()
	lost, refused := l.all.since(l.logged), l.refused.Swap(0)
	l.logged = l.all
	l.mu.Unlock()
	if lost == nil && refused == 0 {
		return
	}
	lost = cmp.Or(lost, &LostError{})
	attrs := []slog.Attr{
		slog.String("type", reflect.TypeFor[E]().String()), slog.Int("failed", lost.Failed), slog.Int("full", lost.Full),
		slog.Int64("refused", refused),
	}
	if lost.Failed > 0 {
		attrs = append(attrs, slog.Any("error", lost.Err))
	}
	// It looks up the default logger now, since a service may set it after New.
	cmp.Or(b.logger, slog.Default()).LogAttrs(context.Background(), slog.LevelWarn, "batch: events lost", attrs...)
}

package batch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An event says who added it, and its place among that producer's events.
type event struct{ producer, n int32 }

// tally sums what a Meter is told.
type tally struct {
	delivered, full, failed, sent, queued, inFlight, most atomic.Int64
}

func (t *tally) Queued(d int)                                  { t.queued.Add(int64(d)) }
func (t *tally) Sent(int, time.Duration, time.Duration, error) { t.sent.Add(1) }
func (t *tally) Delivered(n int)                               { t.delivered.Add(int64(n)) }
func (t *tally) Dropped(n int, why Reason) {
	if why == Full {
		t.full.Add(int64(n))
	} else {
		t.failed.Add(int64(n))
	}
}
func (t *tally) InFlight(d int) {
	if now := t.inFlight.Add(int64(d)); now > t.most.Load() {
		t.most.Store(now)
	}
}

func made[E any](t testing.TB, send Send[E], opts ...Option) *Batcher[E] {
	t.Helper()
	b, err := New(send, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A sink takes events in, and can fail in all the ways that a service can.
type sink struct {
	mu   sync.Mutex
	seen [][]uint8              // how often each event came, by producer and place
	fail func(call int64) error // before the batch is taken in
	late func(call int64) error // after it
	call atomic.Int64
}

func (s *sink) send(ctx context.Context, events []event) error {
	call := s.call.Add(1)
	if s.fail != nil {
		if err := s.fail(call); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	for _, e := range events {
		s.seen[e.producer][e.n]++
	}
	s.mu.Unlock()
	if s.late != nil {
		return s.late(call)
	}
	return nil
}

var errSink = errors.New("made up")

func slow(int64) error {
	time.Sleep(200 * time.Microsecond)
	return nil
}

package batch

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// tally sums what a Meter hears.
type tally struct{ delivered, full, failed, sent, queued, inFlight atomic.Int64 }

func (t *tally) Queued(d int)                                  { t.queued.Add(int64(d)) }
func (t *tally) Sent(int, time.Duration, time.Duration, error) { t.sent.Add(1) }
func (t *tally) Delivered(n int)                               { t.delivered.Add(int64(n)) }
func (t *tally) InFlight(d int)                                { t.inFlight.Add(int64(d)) }
func (t *tally) Dropped(n int, why Reason) {
	if why == Full {
		t.full.Add(int64(n))
	} else {
		t.failed.Add(int64(n))
	}
}

var (
	errSink = errors.New("made up")
	quiet   = WithLogger(slog.New(slog.DiscardHandler))
)

func always(int, error) (time.Duration, bool) { return 0, true }

func made[E any](t testing.TB, send Send[E], opts ...Option) *Batcher[E] {
	t.Helper()
	b, err := New(send, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func addAll(t *testing.T, b *Batcher[int], events int) {
	t.Helper()
	for n := range events {
		if err := b.Add(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}

// closes closes a batcher, which has to return nothing, and gives what was lost.
func closes[E any](t *testing.T, b *Batcher[E]) LostError {
	t.Helper()
	left, err := b.Close(t.Context())
	lost, ok := errors.AsType[*LostError](err)
	if len(left) > 0 || ok != (err != nil) {
		t.Errorf("Close: %v, %v", left, err)
	}
	if !ok {
		return LostError{}
	}
	return *lost
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

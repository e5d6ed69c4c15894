package batch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPanicsAndFailuresAreSaid(t *testing.T) {
	var log bytes.Buffer
	m := &tally{}
	calls := 0
	b := made(t, func(context.Context, []int) error {
		calls++
		if calls == 1 {
			panic("made up")
		}
		return errSink
	}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithMeter(m),
		WithRetry(Backoff(time.Microsecond, time.Millisecond, 3)))
	if err := b.Add(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Close(t.Context()); !errors.Is(err, errSink) {
		t.Fatal(err)
	}
	if calls != 3 || m.failed.Load() != 1 || m.sent.Load() != 3 {
		t.Errorf("%d calls, %d sent, %d failed", calls, m.sent.Load(), m.failed.Load())
	}
	for _, want := range []string{"send panicked: made up", "attempt=2", "events lost", "failed=1", "made up"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &log)
		}
	}
}

func TestATimeoutEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		b := made(t, func(ctx context.Context, _ []int) error {
			attempts++
			<-ctx.Done()
			return ctx.Err()
		}, Timeout(time.Second), WithRetry(Backoff(time.Second, time.Second, 2)), MaxCount(1))
		_ = b.Add(t.Context(), 1)
		began := time.Now()
		if left, err := b.Close(t.Context()); !errors.Is(err, context.DeadlineExceeded) || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
		if took := time.Since(began); attempts != 2 || took < 2*time.Second || took > 4*time.Second {
			t.Errorf("%d attempts in %v", attempts, took)
		}
	})
}

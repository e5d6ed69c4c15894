package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// defaultLog captures the log of slog.Default.
func defaultLog(t *testing.T) *logbook {
	t.Helper()
	var buf logbook
	before, flags := slog.Default(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(&buf, nil)))
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr) // slog.SetDefault redirected it
		log.SetFlags(flags)
	})
	return &buf
}

// A logbook is a log that can be read while it is written.
type logbook struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// logged sums the losses of a kind in the log, and counts their lines.
func logged(log, kind string) (events, lines int) {
	for _, m := range regexp.MustCompile(`events lost.* `+kind+`=(\d+)`).FindAllStringSubmatch(log, -1) {
		n, _ := strconv.Atoi(m[1])
		events += n
		lines++
	}
	return events, lines
}

// With no option set, each event that was lost is reported by Flush, by Close and by the
// log.
func TestALossIsNeverSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := defaultLog(t)
		b := made(t, func(context.Context, []int) error { return errSink })
		addAll(t, b, 3000)
		err := b.Flush(t.Context())
		if fmt.Sprint(err) != "batch: 3000 events lost: sending failed: made up" || !errors.Is(err, errSink) {
			t.Errorf("Flush: %v", err)
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Errorf("Flush, again: %v", err)
		}
		addAll(t, b, 300)
		left, err := b.Close(t.Context())
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Failed != 300 || lost.Full != 0 || len(left) > 0 {
			t.Errorf("Close: %d, %v", len(left), err)
		}
		if events, lines := logged(out.String(), "failed"); events != 3300 || lines > 2 {
			t.Errorf("the log has %d lost in %d lines:\n%s", events, lines, out)
		}
	})
}

// A Flush whose context ends reports that as well as what was lost.
func TestAFlushThatIsCutShortSaysWhatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		b := made(t, func(ctx context.Context, _ []int) error {
			if calls++; calls > 1 {
				<-ctx.Done()
			}
			return errSink
		}, MaxCount(10), Ordered(), quiet)
		addAll(t, b, 25)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := b.Flush(ctx)
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Failed != 10 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v", err)
		}
		left, err := b.Close(ctx)
		if _, ok := errors.AsType[*LostError](err); ok || err != context.DeadlineExceeded || len(left) != 15 {
			t.Errorf("Close: %d returned, %v", len(left), err)
		}
	})
}

// Two Flushes at once both report the loss: one must not return nil because the other was
// first.
func TestAllThatFlushAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan bool)
		b := made(t, func(context.Context, []int) error { <-answer; return errSink },
			quiet)
		addAll(t, b, 7)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if lost, ok := errors.AsType[*LostError](b.Flush(t.Context())); !ok || lost.Failed != 7 {
					t.Errorf("Flush: %v", lost)
				}
			})
		}
		synctest.Wait()
		answer <- true
		all.Wait()
		if left, err := b.Close(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("Close: %v, %v", left, err)
		}
	})
}

// The log has the first loss at once, and then a sum by kind every ten seconds, however
// many batches were lost.
func TestTheLogIsSparing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out logbook
		hold := make(chan bool)
		b := made(t, func(context.Context, []int) error { <-hold; return errSink }, MaxCount(1), Capacity(3), Ordered(),
			WhenFull(DropNewest),
			WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		check := func(after string, failed, refused, lines int) {
			t.Helper()
			synctest.Wait()
			f, n := logged(out.String(), "failed")
			r, _ := logged(out.String(), "refused")
			if f != failed || r != refused || n != lines {
				t.Errorf("%s: %d failed and %d refused in %d lines, want %d, %d and %d:\n%s", after, f, r, n, failed, refused,
					lines, &out)
			}
		}
		addAll(t, b, 3)
		hold <- true
		check("a batch failed", 1, 0, 1)
		hold <- true
		hold <- true
		check("two more", 1, 0, 1)
		time.Sleep(logEvery)
		check("ten seconds later", 3, 0, 2)
		time.Sleep(time.Hour)
		check("nothing new", 3, 0, 2)
		addAll(t, b, 3)
		refuse := func(n int) {
			for range n {
				if err := b.Add(t.Context(), 0); err != ErrFull {
					t.Fatal(err)
				}
			}
		}
		refuse(1)
		check("one refused", 3, 1, 3)
		refuse(49)
		check("fifty refused", 3, 1, 3)
		time.Sleep(logEvery)
		check("ten seconds later", 3, 50, 4)
		close(hold)
		left, err := b.Close(t.Context())
		// Callers of refused events know: only what Add took in counts.
		if lost, ok := errors.AsType[*LostError](err); !ok || *lost != (LostError{Failed: 6, Err: errSink}) || len(left) > 0 {
			t.Errorf("Close: %v, %v", left, err)
		}
		check("Close", 6, 50, 5)
	})
}

// addingHandler is a log that goes through a batcher, as a service's may.
type addingHandler struct {
	slog.Handler
	add func() error
}

func (h addingHandler) Handle(context.Context, slog.Record) error { return h.add() }

// A batcher to which its own losses are logged does not wait for itself.
func TestALogThatGoesThroughItsBatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *Batcher[int]
		told := 0
		b = made(t, func(context.Context, []int) error { return errSink }, MaxCount(1), Ordered(),
			WithLogger(slog.New(addingHandler{slog.NewTextHandler(io.Discard, nil), func() error {
				told++
				return b.Add(context.Background(), 0)
			}})))
		addAll(t, b, 1000)
		time.Sleep(time.Minute)
		_, err := b.Close(t.Context())
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Failed < 1001 || told < 2 || told > 10 {
			t.Errorf("told %d times, %v", told, err)
		}
	})
}

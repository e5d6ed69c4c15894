package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// With each size and each pacing, every event that was added arrives, with its number and
// the time when it was due.
func TestWhatIsAddedArrives(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		for _, size := range setting.EventSizes {
			for _, variant := range []string{"pool-3", "async", "swap", "batch"} {
				t.Run(fmt.Sprint(pacing, size, variant), func(t *testing.T) {
					t.Parallel()
					sink := takes(t, willing)
					s := settings(t, "--variant", variant, "--event-bytes", fmt.Sprint(size), "--pacing", pacing, "--batch-size", "50",
						"--interval-ms", "20")
					began := time.Now().UnixNano()
					r, err := begin(s, event.Ask{Sink: sink.Listener.Addr().String()})
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond)
					// A busy machine may have given the producer nothing of a core so far.
					for by := time.Now().Add(programtest.Patience); r.figures().Added == 0 && time.Now().Before(by); {
						time.Sleep(10 * time.Millisecond)
					}
					f := r.stop()
					if f.Added == 0 || f.Logged != f.Added || f.Failed != 0 || f.Offered == 0 {
						t.Errorf("%+v", f)
					}
					if f.Interval != 0.02 {
						t.Errorf("%+v", f)
					}
					if int64(len(sink.seen)) != f.Added || sink.size != fmt.Sprint(size) {
						t.Errorf("%d came, of %s bytes: %+v", len(sink.seen), sink.size, f)
					}
					last := began
					for n := range uint64(f.Added) {
						due, ok := sink.seen[n]
						if !ok || due < last || due > time.Now().UnixNano() {
							t.Fatalf("event %d: %v, due at %d after %d", n, ok, due, last)
						}
						last = due
					}
				})
			}
		}
	}
}

// An open pacer later adds all events that became due while an Add waited; a ticker does
// not.
func TestWhoWaitsIsOwed(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		release := make(chan struct{})
		sink := takes(t, func() int { <-release; return 0 })
		s := settings(t, "--variant", "pool-1", "--batch-size", "1", "--queue", "0", "--pacing", pacing, "--event-rate",
			"1000")
		r, err := begin(s, event.Ask{Sink: sink.Listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		for by := time.Now().Add(programtest.Patience); r.figures().Offered < 300 && time.Now().Before(by); {
			time.Sleep(10 * time.Millisecond)
		}
		if f := r.figures(); f.Added > 2 {
			t.Errorf("%s: one worker that waits took %d events", pacing, f.Added)
		}
		before := r.figures()
		close(release)
		owed := func(f event.Figures) bool { return f.Added >= before.Offered }
		by := time.Now().Add(programtest.Patience)
		for !owed(r.figures()) && time.Now().Before(by) && pacing == pacingOpen {
			time.Sleep(10 * time.Millisecond)
		}
		f := r.figures()
		if pacing == pacingOpen && !owed(f) || pacing == pacingTicker && f.Offered-f.Added < before.Offered-before.Added-1 {
			t.Errorf("%s: %+v, and before %+v", pacing, f, before)
		}
		if f := r.stop(); f.Added != f.Logged || int64(len(sink.seen)) != f.Added {
			t.Errorf("%s: %d came: %+v", pacing, len(sink.seen), f)
		}
	}
}

// The run's clock stops with its pacer and not before: otherwise more events could be
// added than were offered.
func TestNoMoreIsAddedThanWasOffered(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		sink := takes(t, willing)
		for range 50 {
			r, err := begin(settings(t, "--pacing", pacing, "--event-rate", "500000", "--batch-size", "1000", "--queue",
				"100000"), event.Ask{Sink: sink.Listener.Addr().String()})
			if err != nil {
				t.Fatal(err)
			}
			for by := time.Now().Add(programtest.Patience); r.figures().Added < 2000 && time.Now().Before(by); {
				time.Sleep(100 * time.Microsecond)
			}
			if f := r.stop(); f.Added > f.Offered {
				t.Fatalf("%s: %d added of %d offered", pacing, f.Added, f.Offered)
			}
			sink.mu.Lock()
			clear(sink.seen)
			sink.mu.Unlock()
		}
	}
}

// A sink can set the rate, and for how long events fall due.
func TestARateIsAsked(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		sink := takes(t, willing)
		r, err := begin(settings(t, "--event-rate", "1", "--interval-ms", "10", "--pacing", pacing),
			event.Ask{Sink: sink.Listener.Addr().String(), Rate: 1000, Lasts: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		for by := time.Now().Add(programtest.Patience); r.figures().Logged < 100 && time.Now().Before(by); {
			time.Sleep(time.Millisecond)
		}
		if f := r.stop(); f.Logged < 100 || f.Offered != 100 || pacing == pacingOpen && f.Added != 100 {
			t.Errorf("%s: %+v", pacing, f)
		}
	}
}

// A sink that goes away in the middle does not end the producer, which counts what it
// cannot deliver.
func TestASinkThatGoesAway(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		sink := takes(t, willing)
		r, err := begin(settings(t, "--variant", variant, "--interval-ms", "5", "--attempts", "2"),
			event.Ask{Sink: sink.Listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		until := func(what string, ok func(event.Figures) bool) {
			for by := time.Now().Add(programtest.Patience); !ok(r.figures()); time.Sleep(time.Millisecond) {
				if time.Now().After(by) {
					t.Fatalf("%s: not %s: %+v", variant, what, r.figures())
				}
			}
		}
		until("delivered", func(f event.Figures) bool { return f.Logged > 0 })
		sink.gone.Store(true)
		sink.CloseClientConnections()
		sink.Close()
		until("failed", func(f event.Figures) bool { return f.Failed > 0 })
		f := r.stop()
		if f.Added != f.Logged+f.Failed {
			t.Errorf("%s: %+v", variant, f)
		}
	}
}

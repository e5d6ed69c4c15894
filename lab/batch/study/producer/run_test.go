package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// A course is a run under test.
type course struct {
	t      *testing.T
	answer func(event.Ask) event.Figures
}

func begun(t *testing.T, ask event.Ask, args ...string) course {
	t.Helper()
	s := settings(t, args...)
	answer, err := begins[s.EventBytes](s, ask)
	if err != nil {
		t.Fatal(err)
	}
	return course{t, answer}
}

func (c course) figures() event.Figures { return c.answer(event.Ask{}) }
func (c course) stop() event.Figures    { return c.answer(event.Ask{Stop: true}) }

// until waits until the figures are as they have to become.
func (c course) until(what string, ok func(event.Figures) bool) {
	c.t.Helper()
	for by := time.Now().Add(programtest.Patience); !ok(c.figures()); time.Sleep(time.Millisecond) {
		if time.Now().After(by) {
			c.t.Fatalf("not %s: %+v", what, c.figures())
		}
	}
}

// With each size and each pacing, every event that was added arrives, with its number and
// the time when it was due.
func TestWhatIsAddedArrives(t *testing.T) {
	for _, pacing := range []string{"open", "ticker"} {
		for size := range begins {
			for _, variant := range []string{"pool-3", "async", "swap", "batch"} {
				t.Run(fmt.Sprint(pacing, size, variant), func(t *testing.T) {
					t.Parallel()
					sink := takes(t, willing)
					began := time.Now().UnixNano()
					c := begun(t, event.Ask{Port: sink.port, Lasts: time.Hour}, "--variant", variant, "--event-bytes",
						fmt.Sprint(size), "--pacing", pacing, "--batch-size", "50", "--interval-ms", "20")
					c.until("added", func(f event.Figures) bool { return f.Added > 100 })
					f := c.stop()
					if f.Logged != f.Added || f.Failed != 0 || f.Offered < f.Added || f.Interval != 0.02 ||
						int64(len(sink.seen)) != f.Added || sink.size != fmt.Sprint(size) {
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
	for _, pacing := range []string{"open", "ticker"} {
		release := make(chan struct{})
		sink := takes(t, func() int { <-release; return 0 })
		c := begun(t, event.Ask{Port: sink.port, Lasts: time.Hour}, "--variant", "pool-1", "--batch-size", "1", "--queue",
			"0", "--pacing", pacing, "--event-rate", "1000")
		c.until("offered", func(f event.Figures) bool { return f.Offered >= 300 })
		before := c.figures()
		if before.Added > 2 {
			t.Errorf("%s: one worker that waits took %d events", pacing, before.Added)
		}
		close(release)
		if pacing == "open" {
			c.until("owed", func(f event.Figures) bool { return f.Added >= before.Offered })
		} else {
			c.until("added", func(f event.Figures) bool { return f.Added > 10 })
		}
		f := c.stop()
		if lost := f.Offered - f.Added; pacing == "ticker" && lost < before.Offered-before.Added-2 {
			t.Errorf("only %d were lost: %+v, and before %+v", lost, f, before)
		}
		if f.Added != f.Logged || int64(len(sink.seen)) != f.Added {
			t.Errorf("%s: %d came: %+v", pacing, len(sink.seen), f)
		}
	}
}

// A sink can set the rate, and for how long events fall due.
func TestARateIsAsked(t *testing.T) {
	c := begun(t, event.Ask{Port: takes(t, willing).port, Rate: 1000, Lasts: 100 * time.Millisecond}, "--event-rate", "1",
		"--interval-ms", "10")
	c.until("sent", func(f event.Figures) bool { return f.Logged == 100 })
	if f := c.stop(); f.Offered != 100 || f.Added != 100 {
		t.Errorf("%+v", f)
	}
}

// A sink that goes away in the middle does not end the producer, which counts what it
// cannot deliver.
func TestASinkThatGoesAway(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		sink := takes(t, willing)
		c := begun(t, event.Ask{Port: sink.port, Lasts: time.Hour}, "--variant", variant, "--interval-ms", "5")
		c.until("delivered", func(f event.Figures) bool { return f.Logged > 0 })
		sink.gone.Store(true)
		sink.CloseClientConnections()
		sink.Close()
		c.until("failed", func(f event.Figures) bool { return f.Failed > 0 })
		if f := c.stop(); f.Added != f.Logged+f.Failed {
			t.Errorf("%s: %+v", variant, f)
		}
	}
}

// If a batch is refused before it was read, nothing reads it any more when post returns:
// the variant may use its events again.
func TestPostGivesTheEventsBack(t *testing.T) {
	n := 0
	sink := takes(t, func() int { n++; return []int{503, 0}[n%2] })
	r := &run[[4096]byte]{ask: event.Ask{Port: sink.port}, client: &http.Client{Transport: &http.Transport{}}}
	defer r.client.CloseIdleConnections()
	events := make([][4096]byte, 500)
	for i := range 20 {
		for j := range events {
			copy(events[j][:], bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 158))
			event.Put(events[j][:], uint64(i*len(events)+j), 1)
		}
		if err := r.post(t.Context(), events); (err != nil) != (i%2 == 1) {
			t.Errorf("batch %d: %v", i, err)
		}
		clear(events) // the race detector sees any reader that goes on
	}
	if len(sink.seen) != 10*len(events) {
		t.Errorf("%d came", len(sink.seen))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.post(ctx, events); err == nil {
		t.Error("posted after its context's end")
	}
}

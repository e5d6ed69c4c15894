package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A variant takes events in, from one goroutine, and sends them in batches.
type variant[E any] struct {
	// add takes an event in. If there is no room, it waits until its context ends.
	add func(context.Context, E) error
	// close sends what the variant holds, until its context ends; the rest counts as failed. Nothing may be
	// added after it. No goroutine is left.
	close func(context.Context)
}

// An account says what became of the events that were taken in.
type account struct{ logged, failed atomic.Int64 }

// log makes the line, by which the study's text counts, for a batch that was sent. It makes it as a service's
// logger would, and writes it nowhere: a disk or a pipe is not part of the question.
func (a *account) log(events int) {
	_, _ = fmt.Fprintf(io.Discard, "%s INF count=%d\n", time.Now().UTC().Format(time.RFC3339), events)
	a.logged.Add(int64(events))
}

// maxWorkers bounds a pool, so that a typing error is reported at once.
const maxWorkers = 1000

// workers is the number of workers of a pool, by its name; 0 if it is no pool.
func workers(name string) int {
	digits, ok := strings.CutPrefix(name, "pool-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > maxWorkers || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// newVariant starts the variant of the settings. send gets a slice that is used again once it has returned,
// except with async.
func newVariant[E any](s Settings, a *account, send batch.Send[E]) (variant[E], error) {
	if s.Variant == "batch" {
		return newLibrary(s, a, send)
	}
	c := newCrew(s, a, send)
	switch s.Variant {
	case "async":
		c.start(1, c.copied)
	case "swap":
		c.start(1, c.swapped)
	default:
		c.start(workers(s.Variant), c.waited)
	}
	return variant[E]{c.add, c.close}, nil
}

// More settings of the library, fixed here.
const (
	inFlight  = 10
	leastWait = 20 * time.Millisecond
	mostWait  = time.Second
)

// newLibrary starts lab/batch.
func newLibrary[E any](s Settings, a *account, send batch.Send[E]) (variant[E], error) {
	b, err := batch.New(func(ctx context.Context, events []E) error {
		err := send(ctx, events)
		if err == nil {
			a.log(len(events))
		}
		return err
	}, batch.MaxCount(s.BatchSize), batch.Interval(s.Interval), batch.Capacity(max(s.Queue, 1)), batch.InFlight(inFlight),
		batch.WithRetry(batch.Backoff(leastWait, mostWait, s.Attempts)), batch.WithMeter(a),
		batch.WithLogger(slog.New(slog.DiscardHandler))) // losses are in the account
	if err != nil {
		return variant[E]{}, err
	}
	return variant[E]{b.Add, func(ctx context.Context) {
		left, _ := b.Close(ctx) // the error tells of losses that the account has
		a.failed.Add(int64(len(left)))
	}}, nil
}

// These methods are the library's batch.Meter.

func (a *account) Sent(int, time.Duration, time.Duration, error) {}
func (a *account) InFlight(int)                                  {}
func (a *account) Queued(int)                                    {}
func (a *account) Delivered(int)                                 {}
func (a *account) Dropped(n int, _ batch.Reason)                 { a.failed.Add(int64(n)) }

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
type variant[E any] interface {
	// Add takes an event in. If there is no room, it waits until its context ends.
	Add(ctx context.Context, e E) error
	// close sends what the variant holds, until its context ends; the rest counts as failed. No Add may
	// come after it. No goroutine is left.
	close(ctx context.Context)
}

// Options are what the variants have in common.
type Options struct {
	Queue     int           // the most events that wait for a worker; 0: they are handed over directly
	BatchSize int           // how many make a batch
	Interval  time.Duration // of the ticker by which waiting events are sent
	Stagger   bool          // worker i of n starts its ticker i/n of the interval later; pools only
	Attempts  int           // of the library; the others try once
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

// check says what is wrong with a variant's name or its options.
func check(name string, o Options) error {
	n := workers(name)
	switch {
	case n == 0 && name != "async" && name != "swap" && name != "batch":
		return fmt.Errorf("there is no variant %q; use pool-N with N from 1 to %d, async, swap or batch", name, maxWorkers)
	case o.Stagger && n == 0:
		return fmt.Errorf("%s has one ticker, and nothing to stagger; only pool-N has", name)
	}
	return nil
}

// newVariant starts a variant whose name was checked. send gets a slice that is used again once it has
// returned, except with async.
func newVariant[E any](name string, o Options, a *account, send batch.Send[E]) (variant[E], error) {
	if name == "batch" {
		return newLibrary(o, a, send)
	}
	c := newCrew(o, a, send)
	switch name {
	case "async":
		c.start(1, c.copied)
	case "swap":
		c.start(1, c.swapped)
	default:
		c.start(workers(name), c.waited)
	}
	return c, nil
}

// More settings of the library, fixed here.
const (
	inFlight  = 10
	leastWait = 20 * time.Millisecond
	mostWait  = time.Second
)

// A library is lab/batch as a variant.
type library[E any] struct {
	*batch.Batcher[E]
	*account
}

func newLibrary[E any](o Options, a *account, send batch.Send[E]) (variant[E], error) {
	batcher, err := batch.New(func(ctx context.Context, events []E) error {
		err := send(ctx, events)
		if err == nil {
			a.log(len(events))
		}
		return err
	}, batch.MaxCount(o.BatchSize), batch.Interval(o.Interval), batch.Capacity(max(o.Queue, 1)), batch.InFlight(inFlight),
		batch.WithRetry(batch.Backoff(leastWait, mostWait, o.Attempts)), batch.WithMeter(a),
		batch.WithLogger(slog.New(slog.DiscardHandler))) // losses are in the account
	return library[E]{batcher, a}, err
}

func (l library[E]) close(ctx context.Context) {
	left, _ := l.Close(ctx) // the error tells of losses that the account has
	l.failed.Add(int64(len(left)))
}

// These methods are the library's batch.Meter.

func (a *account) Sent(int, time.Duration, time.Duration, error) {}
func (a *account) InFlight(int)                                  {}
func (a *account) Queued(int)                                    {}
func (a *account) Delivered(int)                                 {}
func (a *account) Dropped(n int, _ batch.Reason)                 { a.failed.Add(int64(n)) }

package variants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// A Processor takes events in and sends them in batches.
type Processor[E any] interface {
	// Add takes an event in. If there is no room, it waits until its context ends, or
	// drops the event and returns ErrFull. After Close it returns ErrClosed.
	Add(ctx context.Context, e E) error
	// Close takes no more events and sends those that it holds, until its context ends.
	// The rest then counts as returned. When Close returns, no goroutine is left.
	Close(ctx context.Context) (Account, error)
	// Account says what has happened to the events so far.
	Account() Account
}

// Errors of adding.
var (
	ErrClosed = batch.ErrClosed
	ErrFull   = batch.ErrFull
)

// What Add does if there is no room.
const (
	Block = "block"
	Drop  = "drop"
)

// MaxWorkers bounds a pool, so that a typing error is reported at once.
const MaxWorkers = 1000

// Options are what the variants have in common.
type Options struct {
	Queue     int           // the most events that wait for a worker; 0: they are handed over directly
	BatchSize int           // how many make a batch
	Interval  time.Duration // of the ticker by which waiting events are sent
	WhenFull  string        // Block, which is the default, or Drop
	Stagger   bool          // worker i of n starts its ticker i/n of the interval later; pools only
	Attempts  int           // of the library, 1 if not given; the others try once
	Log       io.Writer     // gets a line for each batch; nil: lines are written nowhere
}

// More settings of the library, fixed here.
const (
	inFlight  = 10
	leastWait = 20 * time.Millisecond
	mostWait  = time.Second
)

// workers is the number of workers of a pool, by its name; 0 if it is no pool.
func workers(name string) int {
	digits, ok := strings.CutPrefix(name, "pool-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > MaxWorkers || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// Check says what is wrong with a variant's name or its options.
func Check(name string, o Options) error {
	n := workers(name)
	switch {
	case n == 0 && name != "async" && name != "swap" && name != "batch":
		return fmt.Errorf("there is no variant %q; use pool-N with N from 1 to %d, async, swap or batch", name, MaxWorkers)
	case o.Stagger && n == 0:
		return fmt.Errorf("%s has one ticker, and nothing to stagger; only pool-N has", name)
	}
	return nil
}

// New starts a variant. send gets a slice that is used again once it has returned, except
// with async. It delivers a batch in full or not at all: the study's text has no
// batch.PartialError.
func New[E any](name string, o Options, send batch.Send[E]) (Processor[E], error) {
	if err := Check(name, o); err != nil {
		return nil, fmt.Errorf("variants: %w", err)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if name == "batch" {
		return newLibrary(o, send)
	}
	c := newCrew(o, send)
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

// library is lab/batch behind this package's interface.
type library[E any] struct {
	ledger
	batcher *batch.Batcher[E]
}

func newLibrary[E any](o Options, send batch.Send[E]) (Processor[E], error) {
	l := &library[E]{ledger: ledger{out: o.Log}}
	policy := batch.Block
	if o.WhenFull == Drop {
		policy = batch.DropNewest
	}
	options := []batch.Option{
		batch.MaxCount(o.BatchSize), batch.Interval(o.Interval), batch.Capacity(max(o.Queue, 1)),
		batch.InFlight(inFlight), batch.WhenFull(policy), batch.WithMeter(l),
		batch.WithLogger(slog.New(slog.DiscardHandler)), // losses are in the account
	}
	if attempts := cmp.Or(o.Attempts, 1); attempts > 1 {
		options = append(options, batch.WithRetry(batch.Backoff(leastWait, mostWait, attempts)))
	}
	var err error
	l.batcher, err = batch.New(func(ctx context.Context, events []E) error {
		err := send(ctx, events)
		if err == nil {
			l.log(len(events))
		}
		return err
	}, options...)
	return l, err
}

func (l *library[E]) Add(ctx context.Context, e E) error {
	err := l.batcher.Add(ctx, e)
	if err == nil || err == ErrFull {
		l.added.Add(1)
	}
	return err
}

func (l *library[E]) Close(ctx context.Context) (Account, error) {
	left, err := l.batcher.Close(ctx)
	l.returned.Add(int64(len(left)))
	if _, lost := errors.AsType[*batch.LostError](err); lost && len(left) == 0 {
		err = nil // the loss is in the account, as with the other variants
	}
	return l.Account(), err
}

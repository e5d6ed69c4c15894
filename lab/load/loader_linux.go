package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// heapLimit is the size of the heap from which on Go collects garbage. The load itself
// makes no garbage; its output between slots and the comparing of /compute bodies make
// some.
const heapLimit = 256 << 20

// A Loader holds the connections of a plan, and loads its targets in turns. One goroutine uses it.
type Loader struct {
	load    *load
	begin   time.Time
	garbage int   // what was set before
	limit   int64 // likewise
	cores   int
	failure error // after which there are no more turns
}

// New opens all connections of a plan. An error is one of the plan, in one line that names the
// field, or ErrNotReached where nothing listens.
func New(ctx context.Context, p *Plan, o Options) (*Loader, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	l := &load{plan: p, options: o, clock: newClock(), pid: os.Getpid(), timeout: int64(p.Timeout())}
	if err := l.open(ctx); err != nil {
		l.close()
		return nil, err
	}
	r := &Loader{load: l, garbage: debug.SetGCPercent(-1), limit: debug.SetMemoryLimit(heapLimit),
		cores: runtime.GOMAXPROCS(0)}
	if n := len(l.threads); r.cores < n {
		runtime.GOMAXPROCS(n)
	}
	// The garbage made so far must not count towards the limit.
	runtime.GC()
	for _, w := range l.threads {
		go w.run()
		<-w.done // it knows its own number
	}
	r.begin = time.Now().Round(0)
	return r, nil
}

// Turn loads one target: it fills the slot, counts, and drains. When it returns nothing is in
// flight, and the connections stay open. Servers that stall, die or answer wrongly are no
// error: the report and the summary have their faults. After an error, such as that ctx was
// done, there are no more turns.
func (r *Loader) Turn(ctx context.Context, s Slot) (SlotReport, error) {
	l, b := r.load, r.load.leader
	if err := s.check(len(l.targets)); err != nil {
		return SlotReport{}, fmt.Errorf("the slot: %w", err)
	}
	if r.failure != nil {
		return SlotReport{}, r.failure
	}
	if !b.start(s) {
		b.report(SlotReport{Failed: "passed over: " + b.failed[s.Target]})
	} else {
		stop := context.AfterFunc(ctx, func() {
			l.stopped.Store(true)
			l.threads[0].wake()
		})
		for _, w := range l.threads {
			w.turns <- struct{}{}
		}
		var errs []error
		for _, w := range l.threads {
			errs = append(errs, <-w.done)
		}
		stop()
		if r.failure = errors.Join(errs...); r.failure == nil {
			r.failure = l.failure
		}
		if r.failure != nil {
			return SlotReport{}, r.failure
		}
	}
	b.slot++
	return b.reports[len(b.reports)-1], nil
}

// Close closes the connections, and adds up what came of all turns.
func (r *Loader) Close() Summary {
	for _, w := range r.load.threads {
		close(w.turns)
		<-w.done
	}
	sum := r.load.summary(r.begin, time.Now().Round(0))
	r.load.close()
	debug.SetMemoryLimit(r.limit)
	debug.SetGCPercent(r.garbage)
	runtime.GOMAXPROCS(r.cores)
	return *sum
}

// Run carries out a plan. It returns when all slots have ended, or with an error: one of the
// plan, in one line that names the field; ErrNotReached where nothing listens; or that ctx was
// done, after which nothing is reported. Servers that stall, die or answer wrongly are no
// error: the report has their faults.
func Run(ctx context.Context, p *Plan, o Options) (*Report, error) {
	l, err := New(ctx, p, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Held: o.Hold != nil}
	for _, s := range p.Slots {
		var slot SlotReport
		if slot, err = l.Turn(ctx, s); err == nil && o.Each != nil {
			err = o.Each(slot)
		}
		if err != nil {
			break
		}
		r.Slots = append(r.Slots, slot)
	}
	if err == nil && o.Hold != nil {
		err = o.Hold()
	}
	if r.Summary = l.Close(); err != nil {
		return nil, err
	}
	return r, nil
}

// Serve carries out what a program on its input asks: the first value of JSON is a plan, and
// each further one a Slot. It answers each slot with a line of JSON, a SlotReport, and the end
// of the input with another, the Summary.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	var p Plan
	input := json.NewDecoder(in)
	if err := input.Decode(&p); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	l, err := New(ctx, &p, o)
	if err != nil {
		return err
	}
	slots := make(chan Slot)
	ended := make(chan error, 1)
	go func() { // reading cannot be told to stop
		for {
			var s Slot
			if err := input.Decode(&s); err != nil {
				ended <- err
				return
			}
			select {
			case slots <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	output := json.NewEncoder(out)
	for {
		select {
		case <-ctx.Done():
			l.Close()
			return errStopped
		case err := <-ended:
			s := l.Close()
			if !errors.Is(err, io.EOF) {
				return fmt.Errorf("a slot: %w", err)
			}
			return output.Encode(s)
		case s := <-slots:
			r, err := l.Turn(ctx, s)
			if err == nil {
				err = output.Encode(r)
			}
			if err != nil {
				l.Close()
				return err
			}
		}
	}
}

package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/load"
)

// A block is one that is being measured.
type block struct {
	*Plan
	trials  []Trial
	client  *client
	sampler *machine.Sampler
	began   time.Time
	last    reading
	turns   [][]turn // by subject
	held    []proc.Held
	summary *load.Summary
	shared  bool // whether both sides have a core in common
}

// A reading is what the engine reads between two slots.
type reading struct {
	subjects []Clocks
	at       time.Time
	cores    time.Duration // for which the servers' cores were not idle
	seen     bool          // whether that is known
	wire     slots.Passed
}

// A turn is one slot of a subject, with what the engine read before and after it.
type turn struct {
	load.SlotReport
	server    []time.Duration // CPU time by process; where processes came or went, their sum
	idle      time.Duration   // CPU time of the other servers
	strangers time.Duration   // of others on the servers' cores
	took      time.Duration   // from one reading to the next
	wire      slots.Passed
}

// up starts all subjects side by side.
func (b *block) up(ctx context.Context) error {
	return each(ctx, len(b.Subjects), func(ctx context.Context, i int) error { return b.Subjects[i].Up(ctx) })
}

// down ends the client and all servers.
func (b *block) down() {
	if b.client != nil {
		b.client.end()
	}
	if b.sampler != nil {
		b.sampler.Stop()
	}
	var all sync.WaitGroup
	for _, s := range b.Subjects {
		all.Go(s.Down)
	}
	all.Wait()
}

// agree asks the servers and refuses those that differ, unless the plan allows it or all right answers are
// known: then the client compares with these. What the first of them answers counts as right.
func (b *block) agree(ctx context.Context) error {
	known := true
	for i, s := range b.Subjects {
		known = known && b.Target(i, s.Addr()).Answers != ""
	}
	if known {
		return nil
	}
	given := make([][]probe.Given, len(b.Subjects))
	if err := each(ctx, len(b.Subjects), func(ctx context.Context, i int) (err error) {
		t := b.Target(i, b.Subjects[i].Addr())
		if given[i], err = b.ask(ctx, t, cmp.Or(b.Ready, askWithin)); err != nil {
			err = fmt.Errorf("%s does not answer %s: %w", b.Subjects[i].Name(), t.URL, err)
		}
		return err
	}); err != nil || b.Unlike {
		return err
	}
	for i, ours := range given[1:] {
		for of := range ours[len(ours)-1].Of + 1 {
			if why := probe.Differ(probe.To(of, given[0]), probe.To(of, ours)).String(); why != "" {
				return fmt.Errorf("%s answers otherwise than %s: to request %d: %s", b.Subjects[i+1].Name(), b.Subjects[0].Name(), of+1, why)
			}
		}
	}
	return nil
}

// measure carries out all slots.
func (b *block) measure(ctx context.Context, order []int) (err error) {
	if b.client, err = b.start(); err != nil {
		return err
	}
	pair := machine.Pair{Client: b.client.proc.Pid()}
	for _, s := range b.Subjects {
		pair.Servers = append(pair.Servers, first(s.CPU().PIDs)...)
	}
	if err := b.watch(b.Slot*time.Duration(b.Rounds*len(b.Subjects)), pair); err != nil {
		return err
	}
	b.began = time.Now()
	b.turns = make([][]turn, len(b.Subjects))
	b.last = b.read()
	for _, i := range members(order) {
		if b.Warmup[i] > 0 {
			if _, ok, err := b.turn(ctx, load.Slot{Target: i, Seconds: b.Warmup[i].Seconds()}); !ok || err != nil {
				return err
			}
		}
	}
	for _, i := range order {
		t, ok, err := b.turn(ctx, load.Slot{Target: i, Seconds: b.Slot.Seconds(), Counts: true})
		if !ok || err != nil {
			return err
		}
		b.turns[i] = append(b.turns[i], t)
	}
	b.held = b.census()
	b.sampler.Stop()
	for _, x := range b.Extras {
		for _, i := range members(order) {
			if !x.Due(i) {
				continue
			}
			if ok, err := b.extra(ctx, x, i); !ok || err != nil {
				return err
			}
		}
	}
	summary, why := b.client.close(ctx)
	if why != nil {
		return b.failed(ctx, *why)
	}
	b.summary = summary
	return nil
}

// members are the subjects of an order, each once, by its first slot.
func members(order []int) (all []int) {
	for _, i := range order {
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

// settling is the time in which a server goes to sleep after its last answer. One that works on, as
// a collector does, has up to longestSettling for it, so that its own slot pays for it.
const (
	settling        = 300 * time.Microsecond
	longestSettling = 30 * time.Millisecond
)

// settle waits until a server sleeps.
func (b *block) settle(i int) {
	for began := time.Now(); time.Since(began) < longestSettling; {
		before := b.Subjects[i].CPU()
		time.Sleep(settling)
		if !before.Known || b.Subjects[i].CPU().Total()-before.Total() < settling/20 {
			return
		}
	}
}

// turn carries out one slot, with readings before and after it. ok is false if a fault ended the
// block.
func (b *block) turn(ctx context.Context, s load.Slot) (t turn, ok bool, err error) {
	r, why := b.client.turn(ctx, s)
	if why == nil && r.Failed != "" && b.gone(exitSeenWithin/10) >= 0 {
		f := fault(gate.NoRequests, "%s", r.Failed)
		why = &f
	}
	if why != nil {
		return t, false, b.failed(ctx, *why)
	}
	b.settle(s.Target)
	before := b.last
	b.last = b.read()
	t = turn{SlotReport: r, wire: b.last.wire.Since(before.wire), took: b.last.at.Sub(before.at)}
	known := time.Duration(0)
	for i, after := range b.last.subjects {
		spent := after.Total() - before.subjects[i].Total()
		switch {
		case i == s.Target:
			t.server = after.since(before.subjects[i])
		case b.Subjects[i].Addr() == b.Subjects[s.Target].Addr(): // the same server under another name
			continue
		default:
			t.idle += spent
		}
		known += spent
	}
	if b.shared {
		known += time.Duration(r.ClientCPUS * float64(time.Second))
	}
	if b.last.seen {
		t.strangers = b.last.cores - before.cores - known // negative by a tick at times
	}
	return t, true, b.wireLost()
}

// read reads everything that is read between two slots.
func (b *block) read() (r reading) {
	r.at = time.Now()
	for _, s := range b.Subjects {
		r.subjects = append(r.subjects, s.CPU())
	}
	r.cores, r.seen = cores.RunTime(b.ServerCPUs)
	r.wire, _ = b.Link.Read() // a wire that is gone is told of by Lost
	return r
}

// extra loads a subject once more while something is done.
func (b *block) extra(ctx context.Context, x Extra, i int) (ok bool, err error) {
	wait := meanwhile(ctx, lead, func(ctx context.Context) error { return x.Do(ctx, i) })
	r, why := b.client.turn(ctx, load.Slot{Target: i, Seconds: (lead + x.Window + rest).Seconds()})
	if why != nil {
		_ = wait(0)
		return false, b.failed(ctx, *why)
	}
	err = wait(written)
	if err == nil && r.Failed != "" {
		err = errors.New(r.Failed)
	}
	if err != nil && ctx.Err() != nil {
		return false, err
	}
	if err != nil {
		b.fault(i, gate.ProfileFailed, "in the profiled window: %v", err)
	}
	b.trials[i].Extra = append(b.trials[i].Extra, r)
	b.last = b.read()
	return true, nil
}

// meanwhile calls do after a while, beside a load. Whoever calls it has to call wait once the load is
// over: it gives do so long to end by itself, and then ends it.
func meanwhile(ctx context.Context, after time.Duration, do func(ctx context.Context) error) (wait func(within time.Duration) error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		select {
		case <-time.After(after):
			done <- do(ctx)
		case <-ctx.Done():
			done <- context.Cause(ctx)
		}
	}()
	return func(within time.Duration) error {
		defer cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(within):
		}
		cancel()
		if err := <-done; err != nil {
			return fmt.Errorf("it did not end within %v after the load (%w)", within, err)
		}
		return nil
	}
}

// A window that is profiled is loaded for lead before it begins and for rest after its end, since a
// busy server begins and ends it late; what was recorded may come for so long after the load.
const (
	lead    = 50 * time.Millisecond
	rest    = 600 * time.Millisecond
	written = 5 * time.Second
)

// ExtraTime is what an extra takes beyond its window.
const ExtraTime = lead + rest

// failed turns the end of a client into faults of the trials, or into an error where nothing more can
// be measured.
func (b *block) failed(ctx context.Context, why Fault) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for began := time.Now(); b.Link.PID() > 0 && !b.Link.Lost() && time.Since(began) < exitSeenWithin/2; {
		time.Sleep(exitSeenWithin / 100) // what ran on a wire may end before its loss is seen
	}
	if err := b.wireLost(); err != nil {
		return err
	}
	gone := b.gone(exitSeenWithin)
	for i := range b.Subjects {
		switch {
		case i == gone:
			b.fault(i, gate.ServerExited, "the server exited in mid-trial: %v", b.Subjects[i].Gone())
		case gone >= 0:
			b.fault(i, gate.ServerExited, "beside it, %s exited in mid-trial", b.Subjects[gone].Name())
		default:
			b.fault(i, why.Name, "%s", why.Detail)
		}
	}
	return nil
}

// gone is a server that has ended; below 0 if there is none. The client may notice its end before the
// engine does.
func (b *block) gone(within time.Duration) (at int) {
	for began := time.Now(); ; time.Sleep(within / 100) {
		at = slices.IndexFunc(b.Subjects, func(s Subject) bool { return s.Gone() != nil })
		if at >= 0 || time.Since(began) > within {
			return at
		}
	}
}

// exitSeenWithin is how long the engine may take to see that a process has ended, after the
// process's connections have closed.
const exitSeenWithin = time.Second

func (b *block) wireLost() error {
	if b.Link.Lost() {
		return errWireLost
	}
	return nil
}

func (b *block) fault(i int, name, format string, args ...any) {
	b.trials[i].Faults = append(b.trials[i].Faults, fault(name, format, args...))
}

// watch begins to sample both sides and the machine.
func (b *block) watch(window time.Duration, pairs ...machine.Pair) (err error) {
	b.sampler, err = machine.Start(machine.Targets{Pairs: pairs, ServerCPUs: b.ServerCPUs, ClientCPUs: b.ClientCPUs,
		Window: window})
	return err
}

// census looks at the servers while the client still holds its connections.
func (b *block) census() []proc.Held {
	var all []proc.Listening
	for _, s := range b.Subjects {
		all = append(all, proc.Listening{PIDs: s.CPU().PIDs, Port: port(s.Addr())})
	}
	return proc.Census(all...)
}

// each calls do for 0 to n-1 at the same time. The first error cancels the others and is returned.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := do(within, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if within.Err() != nil {
		return context.Cause(within)
	}
	return nil
}

package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A block is one that is being measured.
type block struct {
	*Plan
	trials  []Trial
	client  *client
	others  proc.Others
	sampler *machine.Sampler
	began   time.Time
	last    reading
	turns   [][]turn // by subject
	held    []proc.Held
	summary *load.Summary
	given   [][]probe.Given // what each subject answered last,
	asked   time.Time       // and when
}

// A reading is what the engine reads between two slots.
type reading struct {
	subjects []Clocks
	at       time.Time
	cores    time.Duration         // for which the servers' cores were not idle
	seen     bool                  // whether that is known
	others   map[int]time.Duration // CPU time of other processes; nil where not all can be seen
	wire     slots.Passed
}

// A turn is one slot of a subject, with what the engine read before and after it.
type turn struct {
	load.SlotReport
	server []time.Duration // CPU time by process; where processes came or went, their sum
	idle   time.Duration   // CPU time of the other servers
	rest   time.Duration   // for which the servers' cores ran something else than servers and client
	others time.Duration   // CPU time of other processes, on any core; rest where not all can be seen
	took   time.Duration   // from one reading to the next
	wire   slots.Passed
}

// errEnded ends a block whose trials have a fault that says why.
var errEnded = errors.New("a fault ended the block")

// errWireLost ends a run.
var errWireLost = errors.New("the wire between server and client is gone; run again")

// with has all subjects up, started side by side, while do is called. Then it ends them and the client.
func (p *Plan) with(ctx context.Context, do func(*block) error) error {
	b := &block{Plan: p, trials: make([]Trial, len(p.Subjects)), turns: make([][]turn, len(p.Subjects))}
	for i := range b.trials {
		b.trials[i] = Trial{StartedAt: p.Clock.Now(), Metrics: map[string]float64{}}
	}
	defer func() {
		if b.client != nil {
			b.client.End()
		}
		if b.sampler != nil {
			b.sampler.Stop()
		}
		_ = b.each(context.WithoutCancel(ctx), func(_ context.Context, i int) error {
			p.Subjects[i].Down()
			return nil
		})
	}()
	if err := b.each(ctx, func(ctx context.Context, i int) error { return p.Subjects[i].Up(ctx) }); err != nil {
		return err
	}
	b.others.Roots = []int{os.Getpid()}
	for _, s := range p.Subjects {
		b.others.Roots = append(b.others.Roots, s.CPU().PIDs...)
	}
	return do(b)
}

// each calls do for all subjects at the same time. The first error cancels the others and is returned.
func (b *block) each(ctx context.Context, do func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range b.Subjects {
		all.Go(func() {
			if err := do(within, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(within)
}

// measure carries out all slots.
func (b *block) measure(ctx context.Context, order []int) (err error) {
	if b.client, err = b.start(); err != nil {
		return err
	}
	pair := machine.Pair{Client: b.client.Pid()}
	for _, s := range b.Subjects {
		pair.Servers = append(pair.Servers, first(s.CPU().PIDs)...)
	}
	if err := b.watch(b.Slot*time.Duration(b.Rounds*len(b.Subjects)), pair); err != nil {
		return err
	}
	b.began, b.last = time.Now(), b.read()
	var members []int // each once, by its first slot
	for _, i := range order {
		if slices.Contains(members, i) {
			continue
		}
		members = append(members, i)
		if b.Warmup[i] > 0 {
			if _, err := b.turn(ctx, load.Slot{Target: i, Seconds: b.Warmup[i].Seconds()}); err != nil {
				return err
			}
		}
	}
	for _, i := range order {
		t, err := b.turn(ctx, load.Slot{Target: i, Seconds: b.Slot.Seconds(), Counts: true})
		if err != nil {
			return err
		}
		b.turns[i] = append(b.turns[i], t)
	}
	var all []proc.Listening // while the client still holds its connections
	for i, s := range b.Subjects {
		on := proc.Listening{PIDs: s.CPU().PIDs}
		if b.Asked[i].Connections > 0 { // a rule needs them
			on.Port = port(s.Addr())
		}
		all = append(all, on)
	}
	b.held = proc.Census(all...)
	b.sampler.Stop()
	for _, x := range b.Extras {
		for _, i := range members {
			if err := b.extra(ctx, x, i); err != nil {
				return err
			}
		}
	}
	if b.summary, err = b.client.close(ctx); err != nil {
		return b.failed(ctx, gate.ClientFailed, err)
	}
	return nil
}

// watch begins to sample both sides and the machine.
func (b *block) watch(window time.Duration, pairs ...machine.Pair) (err error) {
	b.sampler, err = machine.Start(machine.Targets{Pairs: pairs, ServerCPUs: b.ServerCPUs, ClientCPUs: b.ClientCPUs,
		Window: window})
	return err
}

func first(pids []int) []int { return pids[:min(1, len(pids))] }

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

// turn carries out one slot, with readings before and after it.
func (b *block) turn(ctx context.Context, s load.Slot) (t turn, err error) {
	r, err := b.client.turn(ctx, s)
	switch {
	case err != nil:
		return t, b.failed(ctx, gate.ClientFailed, err)
	case r.Failed != "" && b.gone(exitSeenWithin/10) >= 0:
		return t, b.failed(ctx, gate.NoRequests, errors.New(r.Failed))
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
	if slices.ContainsFunc(b.ServerCPUs, func(cpu int) bool { return slices.Contains(b.ClientCPUs, cpu) }) {
		known += time.Duration(r.ClientCPUS * float64(time.Second))
	}
	if b.last.seen {
		t.rest = b.last.cores - before.cores - known // negative by a tick at times
	}
	if t.others = t.rest; before.others != nil && b.last.others != nil {
		t.others = 0
		for pid, cpu := range b.last.others {
			t.others += max(0, cpu-before.others[pid])
		}
	}
	if b.Link.Lost() {
		err = errWireLost
	}
	return t, err
}

// read reads everything that is read between two slots.
func (b *block) read() (r reading) {
	r.at = time.Now()
	for _, s := range b.Subjects {
		r.subjects = append(r.subjects, s.CPU())
	}
	r.cores, r.seen = machine.RunTime(b.ServerCPUs)
	r.others, _ = b.others.Read()
	r.wire, _ = b.Link.Read() // Lost speaks of a lost wire
	return r
}

// The load begins lead before a profile's window and ends rest after it, since a busy server begins
// and ends the window late. The profile may come for so long after the load.
const (
	lead    = 50 * time.Millisecond
	rest    = 600 * time.Millisecond
	written = 5 * time.Second
)

// ExtraTime is what an extra takes beyond its window.
const ExtraTime = lead + rest

// extra loads a subject once more while something is done.
func (b *block) extra(ctx context.Context, x Extra, i int) error {
	return b.beside(ctx, x, i, lead, func() error {
		r, err := b.client.turn(ctx, load.Slot{Target: i, Seconds: (lead + x.Window + rest).Seconds()})
		if err != nil {
			return b.failed(ctx, gate.ClientFailed, err)
		}
		if r.Failed != "" {
			b.fault(i, gate.ProfileFailed, "in the profiled window: %s", r.Failed)
		}
		b.trials[i].Extra = append(b.trials[i].Extra, r)
		b.last = b.read()
		return nil
	})
}

// beside does what an extra does of a subject that has one, some time after the begin of a load.
func (b *block) beside(ctx context.Context, x Extra, i int, after time.Duration, load func() error) error {
	if !x.Due(i) {
		return nil
	}
	most := after + x.Window + rest + written
	within, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it did not end within %v", most))
	defer cancel()
	done := make(chan error, 1)
	go func() {
		select {
		case <-time.After(after):
			done <- x.Do(within, i)
		case <-within.Done():
			done <- context.Cause(within)
		}
	}()
	if err := load(); err != nil {
		cancel()
		<-done
		return err
	}
	err := <-done
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		b.fault(i, gate.ProfileFailed, "in the profiled window: %v", cmp.Or(context.Cause(within), err))
	}
	return nil
}

// failed turns the end of a client into faults of the trials, or into an error where nothing more can
// be measured.
func (b *block) failed(ctx context.Context, name string, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for began := time.Now(); b.Link.PID() > 0 && !b.Link.Lost() && time.Since(began) < exitSeenWithin/2; {
		time.Sleep(exitSeenWithin / 100) // what ran on a wire may end before its loss is seen
	}
	if b.Link.Lost() {
		return errWireLost
	}
	gone := b.gone(exitSeenWithin)
	for i := range b.Subjects {
		switch {
		case i == gone:
			b.fault(i, gate.ServerExited, "the server exited in mid-trial: %v", b.Subjects[i].Gone())
		case gone >= 0:
			b.fault(i, gate.ServerExited, "beside it, %s exited in mid-trial", b.Subjects[gone].Name())
		default:
			b.fault(i, name, "%v", why)
		}
	}
	return errEnded
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

// longestDetail is the longest detail of a fault, in characters.
const longestDetail = 500

func (b *block) fault(i int, name, format string, args ...any) {
	b.trials[i].Faults = append(b.trials[i].Faults, Fault{name, strict.Line(fmt.Sprintf(format, args...), longestDetail)})
}

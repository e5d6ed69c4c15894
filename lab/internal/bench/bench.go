// Package bench measures, for linerate compare, whether one HTTP server costs more than another:
// two builds of a program, or any programs that answer the same request. Package measure carries
// out the blocks, and package compare says what they tell.
//
//	parse what is asked
//	look: start all servers side by side, compare what they answer, load each until its cost is steady
//	block after block, in an order drawn by lot, until the budget or the verdict
//	assess, and print
//
// One server is in each block twice, under two names, as the A/A control. A comparison bets on each of its blocks, and
// says what was seen in that minute. The look refuses a server that it cannot measure, with a way out. Afterwards only
// a fault refuses a block; a disturbance of the machine becomes a note, and widens the intervals.
//
// Servers that run already are not started afresh for each block, so what differs between two
// starts is not seen. Servers known by their addresses alone get no verdict on cost.
package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/profile/why"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Bench is a comparison on this machine.
type Bench struct {
	Flags
	probe.Requests
	Servers    []*Server
	Way        load.Target // how all are spoken to
	Dir        string      // where the commands start
	Self       []string    // the command that starts this program anew: see measure.Answer
	ServerCPUs []int       // empty: wherever the servers are
	ClientCPUs []int
	Say        func(format string, args ...any) // a line that stays
	Show       func(text string)                // of how far it is

	vary  bool          // bodies change by themselves
	warm  time.Duration // that each server is loaded after each start before anything counts
	notes []string      // about what came before the first block
}

const (
	loopback    = "127.0.0.1"           // where servers listen that are started here
	leastWarmup = 10 * time.Millisecond // has each connection of a server used before anything counts
)

// subject is a server as the engine starts or finds it, at the nth place of a block.
func (b *Bench) subject(s *Server, place int) measure.Subject {
	if s.running != nil {
		return s.running
	}
	addr := net.JoinHostPort(loopback, strconv.Itoa(b.Port+place))
	prepare, _ := strict.Words(b.Prepare) // New has refused what is none
	return &measure.Command{Label: s.Name, Argv: s.fill(addr), Dir: s.Dir, On: b.ServerCPUs, At: addr, Within: b.Ready,
		Prepare: prepare, Quiet: s.chatty, Self: b.Self, Link: measure.Loopback{}}
}

// target is the load of a server at an address.
func (b *Bench) target(name, addr string) load.Target {
	t, host := b.Way, addr
	t.Name, t.Connections, t.Pipelining, t.Rate = name, b.Connections, b.Pipelining, float64(b.Rate)
	if !b.IsPlain() {
		t.Requests = b.Requests
	}
	if socket, ok := strings.CutPrefix(addr, "unix:"); ok {
		t.Unix, host = socket, "localhost"
	}
	// The slash between keeps any path on this server.
	t.URL += host + "/" + strings.TrimPrefix(b.Requests[0].Path, "/")
	return t
}

// plan is what all plans of the engine share. It does not judge faults by connections, of which
// there may be none between two requests. Nor by slots, since in a short one a busy machine may
// answer nothing.
func (b *Bench) plan(subjects []measure.Subject) *measure.Plan {
	p := &measure.Plan{Subjects: subjects, Link: measure.Loopback{}, Self: b.Self, Loader: b.Self, Clock: measure.NewClock(),
		ServerCPUs: b.ServerCPUs, ClientCPUs: b.ClientCPUs, Seed: b.Seed, Unlike: true, Ready: b.Ready,
		Target: func(i int, addr string) load.Target { return b.target(subjects[i].Name(), addr) }}
	for range subjects {
		p.Asked = append(p.Asked, gate.Asked{Generator: gate.HTTPLoad, Pipelining: b.Pipelining, Rate: float64(b.Rate)})
		p.Warmup = append(p.Warmup, max(b.warm, leastWarmup))
	}
	return p
}

// subjects are the servers as the engine has them, each once, at the places of the first block.
func (b *Bench) subjects() (all []measure.Subject) {
	for i, s := range b.Servers {
		all = append(all, b.subject(s, i))
	}
	return all
}

// place finds the servers that run already, or free ports for those that are started.
func (b *Bench) place() (err error) {
	for _, s := range b.Servers {
		s.Dir = b.Dir
		if s.URL != "" {
			s.running = &measure.Running{Label: s.Name, At: s.address()}
		}
		if s.Subject != "" {
			if err := s.running.Find(s.Subject); err != nil {
				return err
			}
		}
	}
	if b.Running() {
		b.ServerCPUs = nil
		for _, s := range b.Servers {
			b.ServerCPUs = append(b.ServerCPUs, s.running.Cores()...)
		}
		slices.Sort(b.ServerCPUs)
		b.ServerCPUs = slices.Compact(b.ServerCPUs)
	}
	n := len(b.Servers) + 1 // what runs beside them in the look, or the control
	if b.Port > 0 {
		return listenable(b.Port, n)
	}
	b.Port, err = freePorts(n)
	return err
}

// Compare looks at the servers and compares them until the answer is known. There may be an outcome and an error.
func (b *Bench) Compare(ctx context.Context) (*compare.Outcome, error) {
	if err := b.place(); err != nil {
		return nil, err
	}
	release, err := b.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	measure.Settle()
	if b.Base != "" {
		remove, err := b.checkout(ctx)
		if err != nil {
			return nil, err
		}
		defer remove()
	}
	r := &Run{Bench: b, Began: time.Now()}
	b.Say("looking at %s", words.Count(len(b.Servers), "server"))
	beside, err := b.look(ctx)
	if err == nil {
		err = r.prepare(beside)
	}
	if err == nil {
		err = r.Measure(ctx)
	}
	if len(r.Blocks) == 0 {
		return nil, err
	}
	out := r.Assess()
	if err == nil {
		err = b.Curve(ctx, out)
	}
	if err == nil {
		err = b.explain(ctx, out)
	}
	return out, err
}

// lock takes the lock of the machine, or waits for it if that is asked for.
func (b *Bench) lock(ctx context.Context) (release func(), err error) {
	for said := false; ; said = true {
		release, err = proc.LockMachine()
		held, is := errors.AsType[proc.Locked](err)
		switch {
		case !is:
			return release, err
		case !b.Wait:
			return nil, fmt.Errorf("%s (process %d); --wait", held.Says, held.PID)
		case !said:
			b.Say("waiting: %s (process %d)", held.Says, held.PID)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// explain adds which system calls requests make, and with Why of what kind of work the difference is.
func (b *Bench) explain(ctx context.Context, o *compare.Outcome) error {
	told := func(c compare.Comparison) bool { return c.Verdict != compare.Invalid && c.Verdict != compare.Failing }
	if !b.Costed() || !slices.ContainsFunc(o.Comparisons, told) {
		return nil
	}
	p := b.plan(b.subjects())
	p.Slot, p.Rounds = b.slot(), 8
	if err := why.Calls(ctx, *p, o, b.Show); err != nil || !b.Why {
		return err
	}
	return why.Add(ctx, *p, o, b.Show)
}

package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/calls"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// What a request uses besides CPU time is read once the comparison is over, so that it slows
// nothing that is measured: of one server at a time, which is started afresh.
//
// A server has two loads that differ in length alone, and a figure is what the longer one has
// more, divided by the answers that it has more. Both are read where nothing is in flight. So
// what each connection takes drops out, and what each request takes is counted exactly. It has
// them once traced, for its system calls, and once as it is, for its switches.
const (
	shortUse = 100 * time.Millisecond
	longUse  = 400 * time.Millisecond
	mostUse  = time.Second // so long of each load, and of the warm-up before them
)

// Use adds what requests of each server use. Where that cannot be told a note says why: it
// describes, and decides nothing. An error is that ctx is done.
func (b Bench) Use(ctx context.Context, o *compare.Outcome) error {
	told := func(c compare.Comparison) bool { return c.Verdict != compare.Invalid }
	if !b.Costed() || !slices.ContainsFunc(o.Comparisons, told) {
		return nil
	}
	var whys []string
	of := map[string][]string{} // servers, by what is to be known of them
	for i, s := range b.Servers {
		b.Tell("what a request of " + s.Name + " uses")
		for _, why := range b.use(ctx, i, &o.Servers[i]) {
			if of[why] = append(of[why], s.Name); len(of[why]) == 1 {
				whys = append(whys, why)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, why := range whys {
		o.Notes = append(o.Notes, words.List(of[why])+": "+why)
	}
	return nil
}

// A user is a server whose use is read, on a bench that has no other.
type user struct {
	Bench
	*started
}

// use gives what is to be known of a server's figures.
func (b Bench) use(ctx context.Context, i int, m *compare.Measured) (notes []string) {
	on, err := b.start(i)
	b.Servers, b.Looks = b.Servers[i:i+1], b.Looks[i:i+1]
	if err == nil {
		defer on.stop()
		notes, err = user{b, on}.read(ctx, m)
		err = b.or([]*started{on}, err)
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), b.Servers[0].Name+": ")
		notes = append(notes, "what a request uses is not all known: "+why)
	}
	return notes
}

func (u user) read(ctx context.Context, m *compare.Measured) (notes []string, err error) {
	if err := u.ready(ctx, u.Ready); err != nil {
		return nil, err
	}
	m.MemoryRest = u.rss()
	if _, err := u.ask(ctx, max(min(u.Looks[0].Warmup, mostUse), shortUse), nil); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, *compare.Measured) (string, error){u.calls, u.switches} {
		note, err := read(ctx, m)
		if note != "" {
			notes = append(notes, note)
		}
		if err != nil {
			return notes, err
		}
	}
	return notes, nil
}

func (u user) rss() float64 {
	return float64(proc.Census(proc.Listening{PIDs: u.pids()})[0].RSS)
}

// ask loads the server for so long, and gives how many answers that were, counted or not. held is
// called before the connections are closed.
func (u user) ask(ctx context.Context, length time.Duration, held func()) (answers int64, err error) {
	p := load.Plan{TimeoutS: answerWithin.Seconds(), Targets: []load.Target{u.target(u.Server, u.addr)},
		Slots: []load.Slot{{Seconds: length.Seconds(), Counts: true}}}
	r, err := run.CarryOut(ctx, u.Lab, u.CPUs, p, held)
	if err != nil {
		return 0, err
	}
	if why := cmp.Or(r.Slots[0].Failed, fault(r.Summary.Targets[0])); why != "" {
		return 0, errors.New(why)
	}
	return r.Summary.Targets[0].Answered, nil
}

// fewestMore is how many answers more tell anything.
const fewestMore = 10

// both has one carry out the shorter load and the longer one, and gives what was used in each, and
// how many answers the second has more.
func both[T any](u user, one func(length time.Duration) (int64, T, error)) (short, long T, more float64, err error) {
	few, short, err := one(shortUse)
	if err != nil {
		return short, long, 0, err
	}
	for length := min(max(longUse, Slot(u.Options, u.Looks)), mostUse); ; length = mostUse {
		var many int64
		many, long, err = one(length)
		if more = float64(many - few); err != nil || more >= fewestMore {
			return short, long, more, err
		}
		if length == mostUse {
			return short, long, 0, fmt.Errorf("%d answers in %v and %d in %v are too few", few, shortUse, many, length)
		}
	}
}

// Threads and processes that end within a load take their switches with them, unseen. So many may be
// started, beside one for each hundred answers: a runtime begins some threads that stay.
const mostBegun = 16

func (u user) switches(ctx context.Context, m *compare.Measured) (note string, err error) {
	type used struct {
		switches [2]int64
		begun    int // that are still there
		forks    int64
		ended    int
	}
	short, long, answers, err := both(u, func(length time.Duration) (n int64, is used, err error) {
		forks, before := telemetry.Forks(), telemetry.SwitchesOf(u.pids())
		n, err = u.ask(ctx, length, func() {
			is.switches, is.begun, is.ended = telemetry.SwitchesOf(u.pids()).Since(before)
			is.forks = telemetry.Forks() - forks
			if u.proc == nil { // else it has been read in each block
				m.MemoryLoad = u.rss()
			}
		})
		return n, is, err
	})
	if err != nil {
		return "", err
	}
	begun := float64(long.forks - short.forks - int64(long.begun-short.begun)) // others' as well
	if by := m.CallsBy; by != nil {
		begun = answers * (by["clone"] + by["clone3"] + by["fork"] + by["vfork"])
	}
	if short.ended+long.ended > 0 || begun > mostBegun+answers/100 {
		return "its context switches are not known: threads or processes ended under load, and their counts with them", nil
	}
	each := func(which int) *float64 {
		return new(words.Significant(max(0, float64(long.switches[which]-short.switches[which])/answers), 6))
	}
	m.Slept, m.Displaced = each(0), each(1)
	return "", nil
}

// rarest is the least share of requests that a call is told of.
const rarest = 0.001

func (u user) calls(ctx context.Context, m *compare.Measured) (note string, err error) {
	tracer, err := calls.Trace(u.pids, u.proc != nil)
	if err != nil {
		return "system calls were not counted: " + err.Error(), nil
	}
	defer tracer.Stop()
	before, err := tracer.Counts()
	if err != nil {
		return "", err
	}
	short, long, answers, err := both(u, func(length time.Duration) (n int64, is calls.Counts, err error) {
		if n, err = u.ask(ctx, length, nil); err != nil {
			return 0, nil, err
		}
		now, err := tracer.Counts()
		is, before = now.Minus(before), now
		return n, is, err
	})
	if err != nil {
		return "", err
	}
	m.CallsBy = map[string]float64{}
	for name, n := range long.Minus(short) {
		v := max(0, float64(n)/answers) // of a call that depends on time alone it may be less than none
		if m.Calls += v; v >= rarest {
			m.CallsBy[name] = words.Significant(v, 6)
		}
	}
	m.Calls = words.Significant(m.Calls, 6)
	return "", nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A bench is this machine while it is reserved for measuring.
type bench struct {
	options
	j       *archive.Journal
	profile *host.Profile
	split   cores.Split
	self    string // the lab's own program
	had     int    // how many runs the journal had before this call

	clients []*host.Profile // of a fleet
	address string          // where they reach this host

	// Replaced in tests, so that all the rest can be tested without measuring.
	ready  func(run.Plan) error
	do     func(context.Context, run.Plan, run.Watcher) (*run.Made, error)
	now    func() time.Time
	report *reporter
}

// newBench reserves this machine until release is called.
func newBench(j *archive.Journal, o options) (b *bench, release func(), err error) {
	split, release, err := claim(j)
	if err != nil {
		return nil, nil, err
	}
	b = &bench{options: o, j: j, had: len(j.Runs), split: split, ready: run.Plan.Ready, do: run.Do, now: time.Now, report: newReporter(os.Stderr)}
	if b.self, err = os.Executable(); err == nil {
		b.profile, err = o.profile(j, "/", b.report.Say)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return b, release, nil
}

// claim reserves this machine for a load, or says why it cannot, and divides its cores.
func claim(j *archive.Journal) (split cores.Split, release func(), err error) {
	if runtime.GOOS != "linux" {
		return split, nil, errors.New("the lab measures on Linux only: it reads /proc and pins cores; the site can be built anywhere")
	}
	release, err = takeLock(j.Root.Scratch())
	if why := syscall.Errno(0); errors.As(err, &why) {
		err = results.Unwritable(j.Root.Scratch(), why)
	}
	if err != nil {
		return split, nil, err
	}
	if split, err = divide(); err != nil {
		release()
	}
	return split, release, err
}

// divide splits the cores this process may use.
func divide() (cores.Split, error) {
	allowed, err := allowedCPUs()
	if err != nil {
		return cores.Split{}, err
	}
	groups, err := cores.Groups("/sys/devices/system/cpu", allowed)
	if err != nil {
		return cores.Split{}, err
	}
	return cores.Divide(groups), nil
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// An outcome is what came of one experiment.
type outcome struct {
	x      *experiment.Experiment
	record *record
	least  int             // blocks that are made whatever the verdicts are
	made   []*results.File // by this call
	says   *verdict.File   // the verdicts now; nil while there are none
	unmade string          // why nothing was measured
}

// tally counts the claims that are decided, all claims, and those that do not apply here.
func tally(outcomes []*outcome) (decided, claims, inapplicable int) {
	for _, o := range outcomes {
		claims += len(o.x.Claims)
		if o.says == nil {
			continue
		}
		for _, c := range o.says.Claims {
			switch c.Verdict {
			case verdict.Reproduced, verdict.Refuted:
				decided++
			case verdict.NotApplicable:
				inapplicable++
			}
		}
	}
	return decided, claims, inapplicable
}

func (b *bench) plan(x *experiment.Experiment) run.Plan {
	p := run.Plan{Root: b.j.Root, Experiment: x, Port: b.first(), Split: b.split, Host: b.profile, Lab: []string{b.self}}
	if b.server != nil {
		p.Clients, p.Address = b.server, b.address
	}
	return p
}

// asks checks before the first run whether a run could be made and kept.
func (b *bench) asks(x *experiment.Experiment) error {
	err := b.ready(b.plan(x))
	if err == nil && b.server != nil {
		err = opens(x, b.server.Hellos()[1:])
	}
	if err == nil {
		err = writable(b.j.Root.Scratch(), b.into(), x, b.profile)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	return nil
}

// measure spends the budget on the outcomes, prints what came of them, and returns the
// worst exit status.
func (b *bench) measure(ctx context.Context, outcomes []*outcome, budget time.Duration, failed error, out io.Writer) (int, error) {
	switch commit, differ := host.Differ(string(b.j.Root)); {
	case commit == host.UnknownCommit:
		b.report.Say("the results will name no commit, since this is no checkout of the journal's own")
	case len(differ) > 0:
		b.report.Say("the results will say that the lab differs from its commit: %s%s", differ[0], andMore(len(differ)-1))
	}
	settle()
	b.report.Whole(budget, func() (decided, claims int) {
		decided, claims, inapplicable := tally(outcomes)
		return decided, claims - inapplicable
	})
	failed = errors.Join(failed, b.spend(ctx, outcomes, budget))
	b.report.End()
	made := len(b.j.Runs) > b.had || slices.ContainsFunc(outcomes, func(o *outcome) bool { return len(o.made) > 0 })
	if !made && failed != nil {
		return exitFailed, failed // there is nothing to print
	}
	if !b.Scratch {
		if err := derive.Write(b.j); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	report(out, b.j.Root, b.into(), outcomes)
	if failed != nil {
		return exitFailed, failed
	}
	return status(outcomes), nil
}

// settle has the lab disturb what it measures as little as it can: using more memory
// costs less than a collector that runs during a trial, and one thread that samples costs
// less than several that wake each other.
func settle() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(math.MaxInt64) // whatever GOMEMLIMIT the caller has
	runtime.GOMAXPROCS(1)
}

// spend measures whatever is worth most, until the budget is spent.
func (b *bench) spend(ctx context.Context, outcomes []*outcome, budget time.Duration) (failed error) {
	s := &spend{left: budget}
	for _, o := range outcomes {
		p := &part{block: b.plan(o.x).BlockTime(), claims: len(o.x.Claims), clear: clearCase(o.x, b.profile.Cores), most: b.Blocks, over: o.unmade != ""}
		if b.plan(o.x).Unreachable() != "" {
			p.block = time.Millisecond // saying why it is not measured takes no time
		}
		s.parts = append(s.parts, p)
	}
	for {
		next, ok := s.next()
		if !ok {
			break
		}
		o := outcomes[next.part]
		began := b.now()
		f, err := b.make(ctx, o, s.left, next.blocks)
		blocks := 0
		if f != nil {
			o.made = append(o.made, f)
			o.record.add(f, o.x)
			blocks = f.Provenance.Blocks
		}
		o.says = o.record.said() // without a run that could not be kept
		s.took(next.part, blocks, b.now().Sub(began))
		if f != nil {
			s.parts[next.part].say(o.says, f)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", o.x.Name, err))
			s.parts[next.part].over = true
			if f == nil {
				o.unmade = "the run failed"
			}
			if ctx.Err() != nil || !b.KeepGoing {
				break
			}
		}
	}
	for i, o := range outcomes {
		switch p := s.parts[i]; {
		case p.over || p.made > 0:
		case failed != nil:
			o.unmade = "something else failed before"
		default:
			o.unmade = fmt.Sprintf("it takes about %s, for which the budget has no room", (time.Duration(p.clear) * p.block).Round(time.Second))
		}
	}
	return failed
}

// say updates a part with the verdicts after a run.
func (p *part) say(says *verdict.File, f *results.File) {
	if says == nil || verdict.Decided(says) || f.Provenance.Ended == results.Failing {
		p.over = true
		return
	}
	var needs []int
	for _, c := range says.Claims {
		if c.Open {
			needs = append(needs, c.VisitsNeeded)
		}
	}
	p.open(needs)
}

// make makes one run and keeps it. It can return a run together with an error: an
// interrupted run with the blocks that were complete.
func (b *bench) make(ctx context.Context, o *outcome, budget time.Duration, blocks int) (*results.File, error) {
	p := b.plan(o.x)
	p.Budget, p.MaxBlocks = budget, blocks
	if p.Seed = b.Seed + uint64(len(o.made)); b.Seed == 0 {
		p.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	p.Decided = func(f *results.File) bool {
		o.says = o.record.with(f)
		return f.Provenance.Blocks >= o.least && verdict.Decided(o.says)
	}
	var complete *results.File
	p.Keep = func(made *run.Made) error {
		if complete = made.File; b.Scratch {
			return nil
		}
		return setAside(b.j.Root, b.profile, o.x, made, b.clients...)
	}
	made, err := b.do(ctx, p, b.report)
	switch {
	case made != nil:
		if failed := b.keep(o, made); failed != nil {
			return nil, errors.Join(err, unkept(failed))
		}
		f := made.File
		b.offer(ctx, b.into(), f)
		if failed := b.forget(f); failed != nil {
			return f, errors.Join(err, failed)
		}
		if ctx.Err() != nil && f.Provenance.Ended == results.Interrupted {
			return f, fmt.Errorf("interrupted; %s kept%s", count(f.Provenance.Blocks, "complete block is", "complete blocks are"), unrestored(err))
		}
		return f, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("interrupted; %w", leftBehind(err))
	}
	f, err := b.rescue(o, complete, err)
	b.offer(ctx, b.into(), f)
	return f, err
}

// rescue keeps the blocks that were complete before a run failed, unless nothing was
// measured in them.
func (b *bench) rescue(o *outcome, complete *results.File, err error) (*results.File, error) {
	if complete == nil || b.Scratch {
		return nil, err
	}
	if !slices.ContainsFunc(complete.Trials, func(t results.Trial) bool { return t.Valid }) {
		return nil, errors.Join(err, forget(b.j.Root, complete, ""))
	}
	added, failed := adopt(b.j, o.x.Name, b.report.Say)
	if len(added) == 0 {
		return nil, errors.Join(err, failed)
	}
	return added[len(added)-1], errors.Join(err, failed)
}

// unrestored says, after a semicolon, which settings were not restored; it is empty if
// all were.
func unrestored(err error) string {
	if left, ok := errors.AsType[run.Unrestored](err); ok {
		return "; " + left.Error()
	}
	return ""
}

// leftBehind says what an interrupted run left behind; files are never left.
func leftBehind(err error) error {
	if left, ok := errors.AsType[run.Unrestored](err); ok {
		return left
	}
	return errors.New("this experiment left nothing behind")
}

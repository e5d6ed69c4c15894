// Package session spends one budget of time on the runs of many experiments.
//
// A session reserves the machine, gathers what the journal already has of it, and then goes
// round its experiments: one block of this, one of that, each where the time decides most
// claims. It never loses a block. Each complete block is set aside on the disk before the
// next begins; a run that is over, interrupted or failed is kept with the blocks that it
// has, and what a killed lab set aside is kept by the next session. A session for trial
// does the same outside the journal, and counts for nothing.
package session

import (
	"cmp"
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
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Options are what the caller of a session asks for.
type Options struct {
	Port   int           // of the first server; others of a block have those above
	Budget time.Duration // 0: what the experiment says
	Seed   uint64        // of the first run of an experiment; 0: drawn
	Host   string        // name of this machine; empty: its own
	Blocks int           // at most, of each experiment; 0: as many as the budget holds

	Trial     bool // nothing is added to the journal
	Again     bool // what this clone measured earlier does not count
	KeepGoing bool // after an experiment that failed
}

// A Session is this machine while it is reserved for measuring.
type Session struct {
	Options
	*Progress
	j       *archive.Journal
	profile *host.Profile
	split   cores.Split
	self    string // the lab's own program
	had     int    // how many runs the journal had before
	release func()

	boot     string // tells this start of the machine
	known    bool   // whether the mark of the profile was read
	kernel   map[string]string
	binaries map[string]host.Binary // programs as they are here now
	begins   map[string][]string    // experiments whose record begins anew, by the reason

	// Replaced in tests, so that all the rest can be tested without measuring.
	ready func(run.Plan) error
	do    func(context.Context, run.Plan, run.Watcher) (*run.Made, error)
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// Open reserves this machine until the session is closed.
func Open(j *archive.Journal, o Options) (*Session, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("the lab measures on Linux only: it reads /proc and pins cores; the site can be built anywhere")
	}
	release, err := proc.Lock(j.Root.Scratch())
	if why := syscall.Errno(0); errors.As(err, &why) {
		err = results.Unwritable(j.Root.Scratch(), why)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{
		Options: o, Progress: newProgress(os.Stderr), j: j, had: len(j.Runs), release: release,
		boot: host.Boot("/"), kernel: host.Kernel("/"), ready: run.Plan.Ready, do: run.Do, now: time.Now, sleep: sleep,
	}
	if s.split, _, err = cores.Here(); err == nil {
		err = RestoreSettings(o.Trial, s.Say)
	}
	if err == nil {
		s.self, err = os.Executable()
	}
	if err == nil {
		s.profile, err = Profile(j, "/", o.Host, s.Say)
	}
	if err != nil {
		release()
		return nil, err
	}
	s.known = s.profile.Mark != "" && s.profile.Mark == host.Mark("/")
	return s, nil
}

// Close gives the machine back.
func (s *Session) Close() { s.release() }

// Settle has the lab disturb what it measures as little as it can: using more memory
// costs less than a collector that runs during a trial, and one thread that samples costs
// less than several that wake each other.
func Settle() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(math.MaxInt64) // whatever GOMEMLIMIT the caller has
	runtime.GOMAXPROCS(1)
}

// Plan is how a run of an experiment is made here, without its budget and its seed.
func (s *Session) Plan(x *experiment.Experiment) run.Plan {
	return run.Plan{Root: s.j.Root, Experiment: x, Port: s.Port, Split: s.split, Host: s.profile, Lab: []string{s.self}}
}

// check reports before the first run why none could be made or kept.
func (s *Session) check(x *experiment.Experiment) error {
	err := s.ready(s.Plan(x))
	if err == nil {
		err = checkRoom(s.j.Root.Scratch(), s.destination(), x, s.profile)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	return nil
}

// An Outcome is what came of one experiment.
type Outcome struct {
	Experiment *experiment.Experiment
	Runs       []*results.File // made by this session
	Verdicts   *verdict.File   // now; nil while there are none
	Unmade     string          // why nothing was measured
	Unable     bool            // whether this machine cannot measure it; its claims are not applicable

	record *record
	least  int      // blocks that are made whatever the verdicts are
	open   *openRun // nil if none is under way
}

// leastBlocks is how many blocks a run has at least if it was asked for by name, even if
// its claims are decided already.
const leastBlocks = 2

// Run makes one run of an experiment without breaks; its claims are decided on all runs of
// this host.
func (s *Session) Run(ctx context.Context, x *experiment.Experiment, out io.Writer) (Standing, error) {
	if s.Trial {
		s.Say("for trial: the run goes to %s, is not added to the journal, and its verdicts rest on it alone",
			s.j.Root.Rel(string(s.destination())))
	} else if err := s.adopt(); err != nil {
		return Invalid, err
	}
	if err := s.check(x); err != nil {
		return Invalid, err
	}
	o := &Outcome{Experiment: x, least: leastBlocks, record: s.record(x, func(*results.File) bool { return !s.Trial })}
	s.sayNewRecords()
	budget := cmp.Or(s.Budget, budgetOf(x))
	if o.Verdicts = o.record.verdicts(); o.Verdicts != nil && verdict.Decided(o.Verdicts) {
		s.Say("further blocks are not needed to decide %s on %s; %s are made all the same", x.Name, s.profile.ID,
			words.Count(leastBlocks, "block"))
	}
	s.Say("on %s, for %s at the most", s.profile.Name, budget.Round(time.Second))
	return s.measure(ctx, []*Outcome{o}, budget, true, nil, out)
}

// adopt adds runs that were cut short here.
func (s *Session) adopt() error {
	_, err := Adopt(s.j, "", s.Say)
	return err
}

// Try measures an experiment for trial. What went wrong is in the outcome too.
func (s *Session) Try(ctx context.Context, x *experiment.Experiment, budget time.Duration) (*Outcome, error) {
	o := &Outcome{Experiment: x, least: leastBlocks,
		record: recordOf(s.j, x, s.profile, func(*results.File) bool { return false })}
	if err := s.check(x); err != nil {
		o.Unmade = "it cannot be run here"
		return o, err
	}
	s.Say("%s, for %s at the most", x.Name, budget.Round(time.Second))
	_, err := s.measure(ctx, []*Outcome{o}, budget, true, nil, io.Discard)
	return o, err
}

// Reproduce measures the chosen experiments within one budget. Their claims are decided only
// on runs that this clone made.
func (s *Session) Reproduce(ctx context.Context, xs []*experiment.Experiment, out io.Writer) (Standing, error) {
	if err := s.adopt(); err != nil {
		return Invalid, err
	}
	counts := madeHere(s.j.Root)
	if s.Again {
		counts = func(*results.File) bool { return false }
	}
	var failed error
	var outcomes []*Outcome
	var earlier, decided []string
	for _, x := range xs {
		o := &Outcome{Experiment: x, record: s.record(x, counts)}
		outcomes = append(outcomes, o)
		if o.Verdicts = o.record.verdicts(); o.Verdicts != nil {
			earlier = append(earlier, fmt.Sprintf("%s %d", x.Name, len(o.record.runs)))
			if verdict.Decided(o.Verdicts) {
				decided = append(decided, x.Name)
				o.Unmade = "decided by runs made here earlier"
				continue
			}
		}
		// What every run needs is checked before the first one.
		if err := s.check(x); err != nil {
			if failed = errors.Join(failed, err); !s.KeepGoing {
				return Invalid, failed
			}
			o.Unmade = "the run failed"
		}
	}
	s.sayNewRecords()
	if len(earlier) > 0 {
		s.Say("runs that this clone made earlier count: %s (--again leaves them out)", strings.Join(earlier, ", "))
	}
	if len(decided) > 0 {
		s.Say("passed over, since further blocks are not needed: %s", strings.Join(decided, ", "))
	}
	s.Say("on %s, for %s at the most", s.profile.Name, s.Budget.Round(time.Second))
	return s.measure(ctx, outcomes, s.Budget, false, failed, out)
}

// measure spends the budget on the outcomes, prints what came of them, and returns how
// their claims stand. With single, the only experiment is measured without a break.
func (s *Session) measure(
	ctx context.Context, outcomes []*Outcome, budget time.Duration, single bool, failed error, out io.Writer,
) (Standing, error) {
	switch commit, differ := host.Differ(string(s.j.Root)); {
	case commit == host.UnknownCommit:
		s.Say("the results will name no commit, since this is no checkout of the journal's own")
	case len(differ) > 0:
		s.Say("the results will say that the lab differs from its commit: %s%s", differ[0], AndMore(len(differ)-1))
	}
	Settle()
	s.Whole(budget, func() (int, int) {
		of, claims := tally(outcomes)
		return decisions(of), claims - of[verdict.NotApplicable]
	})
	failed = errors.Join(failed, s.spend(ctx, outcomes, budget, single))
	s.End()
	made := len(s.j.Runs) > s.had || slices.ContainsFunc(outcomes, func(o *Outcome) bool { return len(o.Runs) > 0 })
	if !made && failed != nil {
		return Invalid, failed // there is nothing to print
	}
	report(out, s.j.Root, s.destination(), outcomes)
	return standing(outcomes), failed
}

// make makes one run and keeps it. It can return a run together with an error: an
// interrupted run with the blocks that were complete.
func (s *Session) make(ctx context.Context, o *Outcome, budget time.Duration, blocks int,
	turn func() results.Ended) (*results.File, error) {
	x := o.Experiment
	p := s.Plan(x)
	p.Budget, p.MaxBlocks, p.Turn = budget, blocks, turn
	if p.Seed = s.Seed + uint64(len(o.Runs)); s.Seed == 0 {
		p.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	p.Decided = func(f *results.File) bool {
		o.Verdicts = o.record.with(f)
		return f.Provenance.Blocks >= o.least && verdict.Decided(o.Verdicts)
	}
	var complete *results.File
	p.Keep = func(made *run.Made) error {
		if complete = made.File; s.Trial {
			return nil
		}
		return setAside(s.j.Root, s.profile, made)
	}
	made, err := s.do(ctx, p, s.Progress)
	none, unable := errors.AsType[run.Unable](err)
	switch {
	case unable:
		s.Say("nothing of %s can be measured here, and no results file is written: %s", x.Name, none.Why)
		o.Unmade, o.Unable = none.Why, true
		return nil, nil
	case made != nil:
		if failed := s.keep(x, made); failed != nil {
			return nil, errors.Join(err, failed)
		}
		f := made.File
		if !s.Trial {
			if failed := forget(s.j.Root, f, ""); failed != nil {
				return f, errors.Join(err, failed)
			}
		}
		if err != nil && ctx.Err() != nil && f.Provenance.Ended == results.Interrupted {
			kept := words.Count(f.Provenance.Blocks, "complete block is", "complete blocks are")
			if left, ok := errors.AsType[run.Unrestored](err); ok {
				return f, fmt.Errorf("interrupted; %s kept; %w", kept, left)
			}
			return f, fmt.Errorf("interrupted; %s kept", kept)
		}
		return f, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("interrupted; %w", leftBehind(err))
	}
	return s.rescue(x.Name, complete, err)
}

// rescue keeps the blocks that were complete before a run failed, unless nothing was
// measured in them.
func (s *Session) rescue(name string, complete *results.File, err error) (*results.File, error) {
	if complete == nil || s.Trial {
		return nil, err
	}
	if !slices.ContainsFunc(complete.Trials, func(t results.Trial) bool { return t.Valid }) {
		return nil, errors.Join(err, forget(s.j.Root, complete, ""))
	}
	added, failed := Adopt(s.j, name, s.Say)
	if len(added) == 0 {
		return nil, errors.Join(err, failed)
	}
	return added[len(added)-1], errors.Join(err, failed)
}

// leftBehind says what an interrupted run left behind; files are never left.
func leftBehind(err error) error {
	if left, ok := errors.AsType[run.Unrestored](err); ok {
		return left
	}
	return errors.New("this experiment left nothing behind")
}

// sleep waits, unless the session is interrupted.
func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(length):
		return nil
	}
}

// AndMore ends a list of which so many are not named.
func AndMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

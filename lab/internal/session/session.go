// Package session spends one budget of time on many experiments.
//
// A session reserves the machine and gathers its earlier blocks from the journal. Then it goes round its experiments,
// one block of this, one of that, until their claims are decided or the time is over. It never loses a block: after
// each, the run is written with the blocks that it has. A session for trial keeps its runs outside the journal, where
// they count for nothing.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Options are what the caller of a session asks for; all but the last are flags of lab run.
type Options struct {
	Budget  time.Duration `placeholder:"DURATION" help:"The longest that it goes on, as 90s or 20m (default: what the experiments say together; 225s for the core set, 24m for all)."`
	Blocks  int           `placeholder:"N" help:"N blocks of each, whether its claims are decided or not."`
	Scratch bool          `help:"For trial: the runs stay out of data/, their verdicts rest on them alone, and they count for nothing."`
	Port    int           `default:"8083" placeholder:"N" help:"Port of the first server; others of a block have those above."`
	Host    string        `placeholder:"NAME" help:"Call this machine NAME in data/hosts (default: a name made from what stays the same on it)."`
	Client  []string      `sep:"none" placeholder:"HOST" help:"A machine that loads, as ssh knows it, for experiments on several; may be given several times."`

	Anew bool `kong:"-"` // only runs that this clone made count
}

// A Session is this machine while it is reserved for measuring.
type Session struct {
	Options
	*cli.Line // of the progress; its clock is the session's
	j         *archive.Journal
	profile   *host.Profile
	split     machine.Split
	self      string // the lab's own program
	fleet     *fleet.Fleet
	release   func()

	here   results.Provenance // what a run that is made now has in common with others that count with it
	begins []string           // experiments whose record begins anew, and why

	began, until time.Time  // of the budget
	outcomes     []*outcome // of this call, in the order of the report

	// Replaced in tests, so that all the rest can be tested without measuring.
	ready func(run.Plan) error
	start func(run.Plan) (*run.Run, error)
	block func(*run.Run, context.Context) ([]results.Trial, error)
	sleep func(context.Context, time.Duration) error
}

// Open reserves this machine until the session is closed, and checks what every run needs.
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
		Options: o, Line: cli.NewLine(os.Stderr), j: j, release: release,
		here:  results.Provenance{Boot: host.Boot("/"), Kernel: host.Kernel("/"), Binaries: map[string]host.Binary{}},
		ready: run.Plan.Ready, start: run.Start, block: (*run.Run).Block, sleep: sleep,
	}
	if s.split, err = machine.Here(); err == nil {
		err = errors.Join(s.restoreSettings(), s.tidy())
	}
	if err == nil {
		s.self, err = os.Executable()
	}
	if err == nil && len(o.Client) > 0 {
		if s.fleet, err = fleet.Open(context.Background(), o.Client); err == nil {
			s.here.Clients = run.ClientsOf(s.fleet)
		}
	}
	if err == nil {
		s.profile, err = Profile(j, "/", o.Host, s.Say)
	}
	if err != nil {
		release()
		return nil, err
	}
	return s, nil
}

// Close gives the machine back.
func (s *Session) Close() { s.release() }

// restoreSettings restores the kernel settings that a run that was killed left turned. What it cannot
// restore, and what somebody turned by hand, ends the call; with a run that counts for nothing, the
// latter is only said. A service that was stopped by hand stays so, since experiments need that.
func (s *Session) restoreSettings() error {
	restored, left, err := tune.Settle()
	for _, l := range restored {
		s.Say("restored %s, which a run that was killed had left at %q", l.Path, strings.TrimSpace(l.Now))
	}
	for _, l := range left {
		if l.Service() || s.Scratch && l.ByHand() {
			s.Say("%v, and stays so for this run", l)
			continue
		}
		way := "restore it first: " + tune.Restore
		if l.Held() {
			way = "wait for its end, or end it"
		}
		return fmt.Errorf("nothing was measured: %v; %s", l, way)
	}
	return err
}

// plan says how a run of an experiment is made here, without its budget and its seed.
func (s *Session) plan(x *experiment.Experiment) run.Plan {
	return run.Plan{Root: s.j.Root, Port: s.Port, Split: s.split, Host: s.profile, Lab: []string{s.self}, Fleet: s.fleet}.Of(x)
}

// Measure measures the experiments within the budget, prints the verdicts, and tells whether each
// claim is confirmed or not applicable. What runs made earlier have decided is passed over, unless
// a number of blocks was asked for.
func (s *Session) Measure(ctx context.Context, xs []*experiment.Experiment, out io.Writer) (held bool, err error) {
	s.Budget = cmp.Or(s.Budget, timeFor(xs))
	counts := s.counted()
	var earlier []string
	for _, x := range xs {
		o := &outcome{experiment: x, record: s.record(x, counts), told: map[string]bool{}}
		s.outcomes = append(s.outcomes, o)
		if n := len(o.record.runs); n > 0 { // in whole seconds
			o.left = o.record.runs[n-1].File.Provenance.FinishedAt.Add(time.Second)
		}
		if o.verdicts = o.record.verdicts(); o.verdicts != nil {
			earlier = append(earlier, fmt.Sprintf("%s %d", x.Name, len(o.record.runs)))
			if o.over = s.Blocks == 0 && verdict.Decided(o.verdicts); o.over {
				earlier[len(earlier)-1] += " (decided)"
				continue
			}
			for _, c := range o.verdicts.Claims {
				o.told[x.Name+"/"+c.ID] = decided(c)
			}
		}
		err := s.ready(s.plan(x)) // before the first block of any
		if none, unable := errors.AsType[run.Unable](err); unable {
			s.Say("nothing of %s can be measured here, and no results file is written: %s", x.Name, none.Why)
			o.over, o.unable, o.unmade = true, true, none.Why
		} else if err != nil {
			return false, fmt.Errorf("%s: %w", x.Name, err)
		}
		s.estimate(o)
	}
	if len(s.begins) > 0 {
		s.Say("new records begin, and earlier runs stay on the pages and count apart: %s", strings.Join(s.begins, ", "))
	}
	if len(earlier) > 0 {
		s.Say("runs made earlier count: %s", strings.Join(earlier, ", "))
	}
	if s.Scratch {
		s.Say("for trial: runs go to %s, are not added to the journal, and verdicts rest on them alone",
			s.j.Root.Rel(string(s.destination())))
	}
	for i, name := range s.Client {
		s.Say("client %d is %s", i+1, name)
	}
	s.Say("on %s, for at most %s", s.profile.Name, s.Budget.Round(time.Second))
	if _, differ := host.Differ(string(s.j.Root)); len(differ) > 0 {
		s.Say("the results will say that the lab differs from its commit in %s, as %s", words.Count(len(differ), "file"),
			differ[0])
	}
	measure.Settle()
	s.began = s.Now()
	s.until = s.began.Add(s.Budget)
	failed := s.spend(ctx)
	s.End()
	if failed != nil && !slices.ContainsFunc(s.outcomes, func(o *outcome) bool { return len(o.runs) > 0 }) {
		return false, failed // there is nothing to print
	}
	s.report(out)
	return s.count(verdict.Refuted, verdict.Open) == 0, failed
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

// Profile describes the machine whose files are below a root, as the journal has it, if it does. Its name is the one
// that the caller gave or, without one, made from the machine itself.
func Profile(j *archive.Journal, root, given string, say func(format string, args ...any)) (*host.Profile, error) {
	m, err := host.Probe(root)
	if err != nil {
		return nil, err
	}
	if given != "" {
		m.ID, m.Drawn = given, ""
	}
	if known, ok := j.Hosts[m.ID]; ok && known.Same(m.Profile) {
		return known, nil
	} else if ok {
		return nil, fmt.Errorf("%s describes another machine; choose another name with --host", j.Root.Rel(j.Root.Host(m.ID)))
	}
	data, err := results.Encode(m.Profile)
	if err = cmp.Or(err, results.Decode(data, new(host.Profile))); err != nil {
		return nil, fmt.Errorf("this machine's profile: %w", err)
	}
	if m.Drawn != "" {
		say("nothing tells this machine apart from others of its kind for good, because %s: %s is its name until it starts "+
			"again; if data/hosts has it by another one, stop and add --host with that", m.Drawn, m.ID)
	}
	return &m.Profile, nil
}

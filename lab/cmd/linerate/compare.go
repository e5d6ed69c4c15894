package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/curve"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/revision"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type compareCall struct {
	Servers []string `arg:"" name:"server" help:"NAME=COMMAND, with {port} or {addr} where it has to listen, or NAME=http://HOST:PORT (or https) or NAME=unix:/PATH of one that runs. The first is what the others are compared with."`
	URL     string   `name:"url" placeholder:"PATH" help:"Path that is asked of each server, as /read or '/find?q=a%20b'."`
	Data    *string  `name:"data" short:"d" placeholder:"TEXT|@FILE" help:"Body of the request, or @ and the file that holds it, byte by byte. As with curl its type is application/x-www-form-urlencoded, unless -H says otherwise."`
	scenario.Asking
	TLS         bool           `name:"tls" help:"The servers speak TLS at {port}, or on their sockets. Of an address https:// says so."`
	Connections int            `default:"32" placeholder:"N" help:"Open connections to each server (default 32)."`
	Pipelining  int            `default:"1" placeholder:"N" help:"Requests in flight on each connection (default 1)."`
	Rate        int            `placeholder:"N" help:"Ask for N requests a second, however long the answers take (default: a closed loop, as fast as it goes)."`
	Budget      time.Duration  `default:"60s" placeholder:"DURATION" help:"The longest that it goes on while the answer is open (default 60s)."`
	Margin      string         `default:"3%" placeholder:"SHARE" help:"What counts as the same (default 3%)."`
	LineRate    string         `placeholder:"RATE" help:"Over a wire of this rate between two network namespaces, as 500mbit (default: loopback)."`
	Warmup      *time.Duration `placeholder:"DURATION" help:"Load on each server after each fresh start that does not count (default: as long as it takes until its CPU a request is steady)."`
	Base        string         `placeholder:"REVISION" help:"Compare this git revision with another one. The server is then one command behind --, such as -- ./server --addr {addr}."`
	Head        string         `placeholder:"REVISION" help:"With --base: the other revision (default: the working tree as it stands)."`
	Build       string         `placeholder:"COMMAND" help:"With --base: what builds each of the two, by sh in a worktree of its own, such as 'make server'."`
	Ready       time.Duration  `default:"20s" placeholder:"DURATION" help:"How long a server may take to listen (default 20s)."`
	FailAbove   *float64       `placeholder:"RATIO" help:"Exit with 4 if CPU a request is above so many times that of the first, as 1.05."`
	Different   bool           `name:"allow-different-answers" help:"Go on although the answers differ."`
	Rates       string         `placeholder:"RATES" help:"Also measure the latency at these fixed rates, as 10%..90% of the slowest server's closed loop, or 1000,2000,5000."`
	Why         bool           `help:"Also profile all servers afterwards, and say of what kind of work the difference in CPU a request is."`
	Port        int            `placeholder:"N" help:"Port of the first server; others have those above (default: free ones)."`
	Seed        uint64         `placeholder:"N" help:"Seed of the order of slots (default: drawn anew)."`
	outputs
}

// options checks the flags.
func (c *compareCall) options() (o contest.Options, err error) {
	asked, err := c.Asked(c.URL, c.Data)
	if err != nil {
		return o, err
	}
	o = contest.Options{Path: asked.Requests[0].Path, Close: asked.Close || c.NoKeepalive,
		Connections: c.Connections, Pipelining: c.Pipelining, Rate: c.Rate, Budget: c.Budget,
		Steady: c.Warmup == nil, Different: c.Different, Ready: c.Ready, Why: c.Why}
	if c.Warmup != nil {
		o.Warmup = *c.Warmup
	}
	if !asked.IsPlain() {
		o.Requests = asked.Requests
	}
	if err := c.check(); err != nil {
		return o, err
	}
	if c.Rates != "" {
		if o.Rates, err = curve.ParseRates(c.Rates); err != nil {
			return o, fmt.Errorf("--rates %w", err)
		}
	}
	if c.FailAbove != nil {
		if o.FailAbove = *c.FailAbove; o.FailAbove == 0 {
			return o, errors.New("--fail-above 0: each ratio is above it; give one such as 1.05")
		}
	}
	switch {
	case c.Base != "":
		o.Servers, err = contest.ParseRevisions(c.Servers)
	case c.Head != "" || c.Build != "":
		err = errors.New("--head and --build go with --base, which names the revision to compare with")
	default:
		o.Servers, err = contest.ParseServers(c.Servers)
	}
	if err != nil {
		return o, err
	}
	tls, err := contest.Secure(o.Servers, c.TLS)
	if err != nil {
		return o, err
	}
	if o.Way, err = c.Way(tls, asked); err != nil {
		return o, err
	}
	if o.Margin, err = contest.ParseShare(c.Margin); err != nil {
		return o, fmt.Errorf("--margin %w", err)
	}
	if c.LineRate != "" {
		if o.LineRate, err = contest.ParseRate(c.LineRate); err != nil {
			return o, fmt.Errorf("--line-rate %w", err)
		}
	}
	return o, o.Check()
}

func (c *compareCall) do(ctx context.Context, out io.Writer) (int, error) {
	o, err := c.options()
	if err != nil {
		return cli.Failed, err
	}
	made, err := c.measured(ctx, o)
	if made == nil {
		return cli.Failed, err
	}
	made.Typed = typed(os.Args)
	if failed := c.print(out, made); err == nil {
		err = failed
	}
	if err != nil {
		return cli.Failed, err
	}
	return made.Exit, nil
}

// measured compares the servers, for options that have been checked. There may be an outcome and an error.
func (c *compareCall) measured(ctx context.Context, o contest.Options) (*compare.Outcome, error) {
	s, err := newComparison(o, c)
	if err != nil {
		return nil, err
	}
	defer s.release()
	made, err := s.measure(ctx, c)
	switch {
	case ctx.Err() != nil:
		err = errors.New("interrupted; nothing was left behind")
	case err != nil:
		err = errors.New(o.Named(err.Error()))
	}
	return made, err
}

// typed is the command line for a shell, without what says how to print and without the path of
// linerate itself.
func typed(args []string) string {
	said := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool {
		return slices.Contains([]string{"--json", "-json", "--markdown", "-markdown"}, word)
	})
	return contest.Shell(append([]string{filepath.Base(args[0])}, said...))
}

// A comparison has this machine while it is reserved for it.
type comparison struct {
	contest.Bench // in the directory where the caller stands
	scratch       string
	split         cores.Split
	machine       *host.Machine
	line          *terminal.Line
	release       func()
	notes         []string
}

func newComparison(o contest.Options, c *compareCall) (s *comparison, err error) {
	if err := onLinux(); err != nil {
		return nil, err
	}
	s = &comparison{Bench: contest.Bench{Options: o, Port: c.Port, Seed: c.Seed}, line: terminal.NewLine(os.Stderr)}
	s.Tell = func(text string) { s.line.Show("  "+text, false) }
	if s.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if s.machine, err = host.Probe("/"); err != nil {
		return nil, err
	}
	if s.split, _, err = cores.Here(); err != nil {
		return nil, err
	}
	_, on := s.split.On()
	if o.Running() {
		s.split = cores.Split{Client: on}
	}
	s.Client = contest.Client{Lab: []string{self}, CPUs: on, ServerCPUs: s.split.Server}
	revision.Sweep()
	if s.Seed == 0 {
		s.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	switch n := len(o.Servers) + 1; {
	case o.Running():
	case s.Port == 0:
		if s.Port, err = contest.FreePorts(n); err != nil {
			return nil, err
		}
	case s.Port+n > 65536:
		return nil, fmt.Errorf("--port %d: %d ports are needed from there on, and the last is 65535", s.Port, n)
	default:
		if err := contest.Listenable(s.Port, n); err != nil {
			return nil, err
		}
	}
	if s.scratch, s.release, err = proc.LockMachine(); err != nil {
		return nil, err
	}
	if err = session.RestoreSettings(true, s.line.Say); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// measure looks at the servers and compares them until the answer is known.
func (s *comparison) measure(ctx context.Context, c *compareCall) (*compare.Outcome, error) {
	began := time.Now()
	var err error
	if s.Servers, err = contest.Find(s.Servers); err != nil {
		return nil, err
	}
	if s.Running() {
		s.split.Server = contest.Affinity(s.Servers)
	}
	if c.Base != "" {
		trees, err := s.build(ctx, c)
		if err != nil {
			return nil, err
		}
		defer trees.Close()
		began = time.Now() // the budget is for measuring
	}
	s.line.Say("looking at %s", words.Count(len(s.Servers), "server"))
	var notes []string
	s.Looks, notes, err = contest.LookAt(ctx, s.Options, s.Client, s.Dir, s.Port)
	if err != nil {
		return nil, err
	}
	s.notes = append(s.notes, slices.Concat(notes, s.shared())...)
	slot := contest.Slot(s.Options, s.Looks)
	x, err := s.Design(s.Dir, slot, s.Looks)
	if err != nil {
		return nil, err
	}
	// What is left of the budget, after looking.
	left := s.Budget - time.Since(began)
	block := run.Plan{Experiment: x, Starts: s.Starts(s.Looks)}.BlockTime() + contest.Starting(s.Looks, len(s.split.Server))
	if err := contest.Room(s.Options, block, left); err != nil {
		return nil, err
	}
	session.Settle()
	assess := func(f *results.File) *compare.Outcome {
		return contest.Assess(s.Options, x, &s.machine.Profile, f, time.Since(began).Seconds())
	}
	f, err := s.blocks(ctx, x, left, &watched{comparison: s, began: began, block: block, assess: assess, told: map[string]bool{}})
	s.line.End()
	if f == nil {
		return nil, err
	}
	out := assess(f)
	out.Notes = append(s.notes, out.Notes...)
	out.Machine, out.Kernel = s.machine.Name, host.Kernel("/")["osrelease"]
	if err == nil {
		err = s.Use(ctx, out)
	}
	if err == nil {
		err = s.Add(ctx, out)
	}
	if err == nil && s.Why {
		err = contest.Why{Bench: s.Bench, Scratch: s.scratch}.Add(ctx, out)
	}
	s.line.End()
	contest.Seal(out)
	return out, err
}

// blocks measures until the answer is known.
func (s *comparison) blocks(ctx context.Context, x *experiment.Experiment, left time.Duration, w *watched) (*results.File,
	error) {
	p := run.Plan{Dir: s.Dir, Scratch: s.scratch, Experiment: x, Seed: s.Seed, Port: s.Port, Split: s.split,
		Host: &s.machine.Profile, Lab: s.Lab, Path: s.Path, Requests: s.Requests, Close: s.Close, Way: s.Way,
		Running: s.Addresses(), Starts: s.Starts(s.Looks), Budget: left,
		AnswersMayDiffer: s.Different,
		Decided:          func(f *results.File) bool { return w.assess(f).Settled() }}
	if err := p.Ready(); err != nil {
		return nil, err
	}
	made, err := run.Do(ctx, p, w)
	if none, ok := errors.AsType[run.Unable](err); ok {
		return nil, fmt.Errorf("nothing was measured: %s", none.Why)
	}
	if made == nil {
		return nil, err
	}
	return made.File, err
}

// build builds both revisions, whose servers then start in their worktrees.
func (s *comparison) build(ctx context.Context, c *compareCall) (*revision.Trees, error) {
	trees, err := revision.Checkout(ctx, s.Dir, c.Base, c.Head)
	if err != nil {
		return nil, err
	}
	if trees.Same() {
		s.notes = append(s.notes, "base and head are the same files")
	}
	if c.Build != "" {
		err = trees.Build(ctx, append(slices.Clone(s.Lab), run.HoldCall), c.Build, s.line.Say)
	}
	if err != nil {
		trees.Close()
		return nil, err
	}
	for i, tree := range []*revision.Tree{trees.Base, trees.Head} {
		s.Servers[i].Dir, s.Servers[i].Commit = tree.Dir, tree.Commit
	}
	return trees, nil
}

// shared is what to know of the cores that the servers share.
func (s *comparison) shared() []string {
	n := len(s.split.Server)
	switch {
	case s.Running() && !s.Costed():
		return nil
	case s.Running():
		return []string{fmt.Sprintf("the servers ran where they were put, on CPU %s, and the client on CPU %s; a server "+
			"that has a core to itself is disturbed least (taskset -cp)", cores.Format(s.split.Server), cores.Format(s.split.Client))}
	case n == 0:
		return []string{"server and client share one core here: throughput and latency are of both together, and each " +
			"request costs what sharing adds"}
	case n == 1:
		return []string{s.where() + ": on one core, more workers or threads gain no throughput, whatever they gain on more"}
	}
	return []string{fmt.Sprintf("%s: what more than %d workers or threads gain elsewhere is not seen here", s.where(), n)}
}

// where names the cores of both sides.
func (s *comparison) where() string {
	return fmt.Sprintf("all servers ran on CPU %s, in turns, and the client on CPU %s", cores.Format(s.split.Server),
		cores.Format(s.split.Client))
}

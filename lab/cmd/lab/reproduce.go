package main

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/session"
)

type runCall struct {
	Experiment string `arg:"" help:"Its name, as lab list has it."`
	Blocks     int    `placeholder:"N" help:"N blocks at the most."`
	Scratch    bool   `help:"For trial: the run is kept out of data/, its verdicts rest on it alone, and it counts for nothing."`
	options
}

// do makes one run; its claims are decided on all runs of this host.
func (c *runCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.session()
	o.Blocks, o.Trial = c.Blocks, c.Scratch
	pick := func(j *archive.Journal) (*experiment.Experiment, error) { return j.Experiment(c.Experiment) }
	return reserve(ctx, o, out, pick, (*session.Session).Run)
}

type reproduceCall struct {
	Entries   []string `arg:"" optional:"" name:"entry" help:"Entries, as 11, or experiments, as 11-threads (default: the core set)."`
	All       bool     `help:"All experiments."`
	Again     bool     `help:"What this clone measured earlier does not count."`
	KeepGoing bool     `help:"On a failed experiment go on with the next."`
	options
}

// do measures the chosen experiments within one budget. Their claims are decided only on
// runs that this clone made.
func (c *reproduceCall) do(ctx context.Context, out io.Writer) (int, error) {
	o := c.session()
	o.Again, o.KeepGoing = c.Again, c.KeepGoing
	pick := func(j *archive.Journal) ([]*experiment.Experiment, error) {
		return choose(j.Experiments, c.Entries, c.All)
	}
	return reserve(ctx, o, out, pick, func(s *session.Session, ctx context.Context, xs []*experiment.Experiment,
		out io.Writer) (session.Standing, error) {
		s.Budget = cmp.Or(s.Budget, budgetOf(xs, c.Entries, c.All))
		return s.Reproduce(ctx, xs, out)
	})
}

// reserve has a session carry out a call on what is picked of the journal's experiments.
func reserve[T any](ctx context.Context, o session.Options, out io.Writer, pick func(*archive.Journal) (T, error),
	call func(*session.Session, context.Context, T, io.Writer) (session.Standing, error)) (int, error) {
	j, picked, err := openFor(pick)
	if err != nil {
		return exitFailed, err
	}
	s, err := session.Open(j, o)
	if err != nil {
		return exitFailed, err
	}
	defer s.Close()
	status, err := call(s, ctx, picked, out)
	if err != nil {
		return exitFailed, err
	}
	return int(status), nil
}

// longest is the longest budget: a day.
const longest = 24 * time.Hour

// ports are where the servers of a block listen. profile does not have them for a server
// that runs already.
type ports struct {
	Port int `xor:"from" placeholder:"N" help:"Port of the first server; others of a block have those above (default 8083)."`
}

func (p ports) first() int { return cmp.Or(p.Port, 8083) }

// options are the flags of run and reproduce.
type options struct {
	ports
	Budget time.Duration `placeholder:"DURATION" help:"The longest that it goes on, as 90s or 20m (default: what the experiments say together; reproduce takes no more than 225 s for the core set and 24m for --all)."`
	Seed   uint64        `placeholder:"N" help:"Seed of the order of slots; further runs take N+1 and so on (default: drawn anew)."`
	Host   string        `placeholder:"NAME" help:"Call this machine NAME in data/hosts (default: the name in .lab-host, or one made from what stays the same on it)."`
}

// session is what they ask of one.
func (o options) session() session.Options {
	return session.Options{Port: o.first(), Budget: o.Budget, Seed: o.Seed, Host: o.Host}
}

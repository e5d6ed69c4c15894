package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// leastBlocks is how many blocks a run has at least if it was asked for by name, even if
// its claims are decided already.
const leastBlocks = 2

type runCall struct {
	Experiment string `arg:"" help:"Its name, as lab list has it."`
	Blocks     int    `placeholder:"N" help:"N blocks at the most."`
	Scratch    bool   `help:"For trial: the run is kept out of data/, its verdicts rest on it alone, and it counts for nothing."`
	fleetFlags
	options
}

// do makes one run; its claims are decided on all runs of this host.
func (c *runCall) do(ctx context.Context, out io.Writer) (int, error) {
	c.options.Blocks, c.options.Scratch = c.Blocks, c.Scratch
	if away, err := c.away(); away || err != nil {
		if err != nil {
			return exitFailed, err
		}
		return c.afar(ctx, c.words(), c.options, out)
	}
	ctx, leave := c.served(ctx, &c.options)
	defer leave()
	j, x, err := named(c.Experiment)
	if err != nil {
		return exitFailed, err
	}
	b, release, err := newBench(j, c.options)
	if err != nil {
		return exitFailed, err
	}
	defer release()
	if out, err = b.meet(ctx, out); err != nil {
		return exitFailed, err
	}
	status, err := b.run(ctx, x, out)
	return status, why(ctx, err)
}

// words are the call as the lab on the server's host of a fleet is given it.
func (c *runCall) words() []string {
	words := []string{"run", c.Experiment}
	if c.Blocks > 0 {
		words = append(words, "--blocks", strconv.Itoa(c.Blocks))
	}
	if c.Scratch {
		words = append(words, "--scratch")
	}
	return words
}

func (b *bench) run(ctx context.Context, x *experiment.Experiment, out io.Writer) (int, error) {
	counts := func(*results.File) bool { return !b.Scratch }
	if b.Scratch {
		b.report.Say("for trial: the run goes to %s, is not added to the journal, and its verdicts rest on it alone", b.j.Root.Rel(string(b.into())))
	} else if err := b.adopt(ctx); err != nil {
		return exitFailed, err
	}
	if err := b.asks(x); err != nil {
		return exitFailed, err
	}
	o := &outcome{x: x, record: b.record(x, counts), least: leastBlocks}
	b.sayAnew()
	budget := b.Budget
	if budget == 0 {
		budget = time.Duration(x.BudgetS * float64(time.Second))
	}
	if o.says = o.record.said(); o.says != nil && verdict.Decided(o.says) {
		b.report.Say("further blocks are not needed to decide %s on %s; %s are made all the same", x.Name, b.profile.ID, count(leastBlocks, "block", "blocks"))
	}
	b.report.Say("on %s, for %s at the most", b.profile.Name, budget.Round(time.Second))
	return b.measure(ctx, []*outcome{o}, budget, true, nil, out)
}

type reproduceCall struct {
	Entries   []string `arg:"" optional:"" name:"entry" help:"Those whose experiments are meant (default: the core set)."`
	All       bool     `help:"All experiments."`
	Again     bool     `help:"What this clone measured earlier does not count."`
	KeepGoing bool     `help:"On a failed experiment go on with the next."`
	fleetFlags
	options
}

// do measures the chosen experiments within one budget. Their claims are decided only on
// runs that this clone made.
func (c *reproduceCall) do(ctx context.Context, out io.Writer) (int, error) {
	c.options.Again, c.options.KeepGoing = c.Again, c.KeepGoing
	if away, err := c.away(); away || err != nil {
		if err != nil {
			return exitFailed, err
		}
		return c.afar(ctx, c.words(), c.options, out)
	}
	ctx, leave := c.served(ctx, &c.options)
	defer leave()
	some, err := listed()
	if err == nil {
		_, err = choose(some.Experiments, c.Entries, c.All)
	}
	if err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	xs, err := choose(j.Experiments, c.Entries, c.All)
	if err != nil {
		return exitFailed, err
	}
	b, release, err := newBench(j, c.options)
	if err != nil {
		return exitFailed, err
	}
	defer release()
	if c.Budget == 0 {
		b.Budget = budgetOf(runnable(xs), c.Entries, c.All)
	}
	if out, err = b.meet(ctx, out); err != nil {
		return exitFailed, err
	}
	status, err := b.reproduce(ctx, xs, out)
	return status, why(ctx, err)
}

// words are the call as the lab on the server's host of a fleet is given it.
func (c *reproduceCall) words() []string {
	words := append([]string{"reproduce"}, c.Entries...)
	for name, is := range map[string]bool{"--all": c.All, "--again": c.Again, "--keep-going": c.KeepGoing} {
		if is {
			words = append(words, name)
		}
	}
	return words
}

func (b *bench) reproduce(ctx context.Context, xs []*experiment.Experiment, out io.Writer) (int, error) {
	for _, x := range xs {
		if x.Planned != "" {
			b.report.Say("passed over: %s", planned(x))
		}
	}
	if xs = runnable(xs); len(xs) == 0 {
		return exitFailed, errors.New("nothing to run: all that was asked for is planned")
	}
	if err := b.adopt(ctx); err != nil {
		return exitFailed, err
	}
	counts := madeHere(b.j.Root)
	if b.Again {
		counts = func(*results.File) bool { return false }
	}
	var failed error
	var outcomes []*outcome
	var earlier, decided []string
	for _, x := range xs {
		o := &outcome{x: x, record: b.record(x, counts)}
		if o.says = o.record.said(); o.says != nil {
			earlier = append(earlier, fmt.Sprintf("%s %d", x.Name, len(o.record.runs)))
			if verdict.Decided(o.says) {
				decided = append(decided, x.Name)
				o.unmade = "decided by runs made here earlier"
				outcomes = append(outcomes, o)
				continue
			}
		}
		// What every run needs is checked before the first one.
		if err := b.asks(x); err != nil {
			if failed = errors.Join(failed, err); !b.KeepGoing {
				return exitFailed, failed
			}
			o.unmade = "the run failed"
		}
		outcomes = append(outcomes, o)
	}
	b.sayAnew()
	if len(earlier) > 0 {
		b.report.Say("runs that this clone made earlier count: %s (--again leaves them out)", strings.Join(earlier, ", "))
	}
	if len(decided) > 0 {
		b.report.Say("passed over, since further blocks are not needed: %s", strings.Join(decided, ", "))
	}
	b.report.Say("on %s, for %s at the most", b.profile.Name, b.Budget.Round(time.Second))
	return b.measure(ctx, outcomes, b.Budget, false, failed, out)
}

// clearCase is how many visits of one block decide the claims of a question's first
// design, on a host with so many cores, if all of them agree.
func clearCase(x *experiment.Experiment, cores int) int {
	nth, claims := verdict.Asked(nil).Part(x, cores)
	if claims == 0 {
		return stats.MinSamples
	}
	return stats.Fewest(stats.Level(nth, claims))
}

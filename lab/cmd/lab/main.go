// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; lab help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// Exit statuses, from good to bad. That of a run is how its claims stand.
const (
	exitHeld   = int(session.Held)
	exitFailed = cli.Failed // a run failed, a check found faults, or the call was wrong
)

func main() { cli.Main(command, fleet.Called, wire.Called, measure.Answer) }

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	if err := experiment.Faulty(); err != nil {
		fmt.Fprintf(errs, "lab: %s\n", strict.Lines(err.Error()))
		return exitFailed
	}
	p := cli.Program{Name: "lab", Commands: &subcommands{}, Help: helps,
		Hints: map[string]string{`expected "<experiment>"`: "%s takes one experiment; lab/experiments has a file for each"}}
	return p.Run(args, out, errs, func(command any) (int, error) { return command.(subcommand).do(ctx, out) })
}

// A subcommand is one call of the lab, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

// The subcommands.
type subcommands struct {
	Run       runCall       `cmd:"" help:"Run one experiment, until its claims are decided or its budget is spent."`
	Reproduce reproduceCall `cmd:"" help:"Run the experiments of entries within one budget; without any, the core set. It passes over those that runs made in this clone have decided."`
	Site      siteCall      `cmd:"" help:"Build the pages into public/ from the data: verdicts, figures, charts, CSV."`
	New       newCall       `cmd:"" help:"Write a file to start from: an entry or an experiment."`
	Check     checkCall     `cmd:"" help:"Check every data file."`
	Doctor    doctorCall    `cmd:"" help:"Say what keeps this machine from measuring, and how to mend it."`
	Wire      wireCall      `cmd:"" help:"Hold a wire of known line rate between two network namespaces, for commands of yours."`
	Machines  machinesCall  `cmd:"" help:"Make machines ready that are to load, and say what they are."`
	Tune      tuneCall      `cmd:"" help:"Turn a knob of the kernel, and back."`
}

//go:embed help
var helps embed.FS

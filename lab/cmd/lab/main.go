// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; lab help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"embed"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// Exit statuses, from good to bad.
const (
	exitHeld    = 0          // no claim refuted or open
	exitNotHeld = 1          // some claim refuted or open
	exitFailed  = cli.Failed // a run failed, a check found faults, or the call was wrong
)

func main() { cli.Main(command, fleet.Called, wire.Called, measure.Answer) }

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	p := cli.Program{Name: "lab", Commands: &subcommands{}, Help: helps}
	return p.Run(args, out, errs, func(command any) (int, error) { return command.(subcommand).do(ctx, out) })
}

// A subcommand is one call of the lab, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

// The subcommands.
type subcommands struct {
	Run    runCall    `cmd:"" help:"Measure experiments until their claims are decided."`
	Check  checkCall  `cmd:"" help:"Check every data file."`
	Site   siteCall   `cmd:"" help:"Build the pages from the data, or serve them."`
	New    newCall    `cmd:"" help:"Write a file to start from."`
	Tune   tuneCall   `cmd:"" help:"Turn a knob of the kernel, and back."`
	Doctor doctorCall `cmd:"" help:"Say what keeps this machine from measuring."`
	Wire   wireCall   `cmd:"" help:"Hold a wire of known rate, for commands of yours."`
}

//go:embed help
var helps embed.FS

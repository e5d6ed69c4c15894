package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
)

// A subcommand is one call of the lab, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

// The subcommands. Only the lab itself calls the hidden ones.
type subcommands struct {
	Run          runCall       `cmd:"" help:"Run one experiment, until its claims are decided or its budget is spent."`
	Reproduce    reproduceCall `cmd:"" help:"Run the experiments of entries within one budget; without any, the core set. It passes over those that runs made in this clone have decided."`
	Profile      profileCall   `cmd:"" help:"Profile the server of an experiment, or one that runs; adds nothing to the journal."`
	Derive       deriveCall    `cmd:"" help:"Derive what follows from the data into derived/, from which the site is built: verdicts, CSV, audits, pages' figures. Only what has changed."`
	Audit        auditCall     `cmd:"" help:"Recompute what printed figures imply."`
	New          newCall       `cmd:"" help:"Write a file to start from: an entry, an experiment, a text or a host."`
	Preview      previewCall   `cmd:"" help:"Show an entry, or a draft, as it will look."`
	Table        tableCall     `cmd:"" help:"Print the table of ratios that experiments ask for, from what the journal has of this machine, or from new runs for trial."`
	Report       reportCall    `cmd:"" help:"Sum up what a change moves, for whoever judges it."`
	Check        checkCall     `cmd:"" help:"Check every data file."`
	Doctor       doctorCall    `cmd:"" help:"Say what this machine can decide; it watches for five seconds."`
	Tune         tuneCall      `cmd:"" passthrough:"" help:"Turn a knob of the kernel, and back."`
	List         listCall      `cmd:"" help:"List experiments and their claims."`
	Fleet        fleetCall     `cmd:"" help:"Look at the hosts of a fleet, or fetch the runs that it kept."`
	CheckAnswers answersCall   `cmd:"" hidden:""`
	AskServer    askCall       `cmd:"" hidden:""`
	FleetClient  agentCall     `cmd:"" hidden:""`
	FleetFiles   offerCall     `cmd:"" hidden:""`
}

const description = `The journal's experiments, on this machine.

Verdicts of run count all blocks that the journal has of this host; those of
reproduce only blocks that were measured in this clone and that git does not
track. An interrupted run keeps its complete blocks. So does one that was killed:
the next run or reproduce adds them.

Exit status
  0  every claim holds here (reproduced or confirmed), or is not applicable
  1  some claim was refuted, or is not decided
  2  some claim is invalid: its trials cannot bear a verdict
  3  a run failed, a check found faults, or the call was wrong

lab --version says what this program was built from.`

// program is the lab's command line.
func program() cli.Program {
	return cli.Program{Name: "lab", Description: description, Commands: &subcommands{},
		Hints: map[string]string{`expected "<experiment>"`: "%s takes one experiment; lab list names them"}}
}

// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; lab help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Exit statuses, from good to bad. A run that had several outcomes exits with
// the worst.
const (
	exitHeld    = 0          // every claim holds or is not applicable
	exitNotHeld = 1          // some claim refuted or inconclusive
	exitInvalid = 2          // the trials of some claim allow no verdict
	exitFailed  = cli.Failed // a run failed, a check found faults, or the call was wrong
)

func main() {
	if status, is := run.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	context.AfterFunc(ctx, stop) // a second signal ends the lab at once
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	if err := experiment.Faulty(); err != nil {
		fmt.Fprintf(errs, "lab: %s\n", strict.Lines(err.Error()))
		return exitFailed
	}
	return program().Run(args, out, errs, func(command any) (int, error) { return command.(subcommand).do(ctx, out) })
}

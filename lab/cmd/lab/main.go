// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; lab help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Exit statuses, from good to bad. A run that had several outcomes exits with
// the worst.
const (
	exitHeld    = 0 // every claim holds or is not applicable
	exitNotHeld = 1 // some claim refuted or inconclusive
	exitInvalid = 2 // the trials of some claim allow no verdict
	exitFailed  = 3 // a run failed, a check found faults, or the call was wrong
)

func main() {
	// The words behind it are another program's, so none of them is read here.
	if len(os.Args) > 2 && os.Args[1] == run.HoldCall {
		os.Exit(leash.Hold(os.Args[2:], os.Stdin, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	context.AfterFunc(ctx, stop) // a second signal ends the lab at once
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	err := experiment.Faulty()
	var call *kong.Context
	if err == nil {
		call, err = read(args, out)
	}
	if err == nil && call == nil {
		return exitHeld // help was asked for and printed
	}
	status := exitFailed
	if err == nil {
		status, err = call.Selected().Target.Addr().Interface().(subcommand).do(ctx, out)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		_ = call.PrintUsage(false)
		return exitHeld
	case err != nil:
		fmt.Fprintf(errs, "lab: %s\n", strict.Lines(err.Error()))
		return exitFailed
	}
	return status
}

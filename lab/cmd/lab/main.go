// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; usage lists it. Standard output carries
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
)

// Exit statuses, from good to bad. A run that had several outcomes exits with
// the worst.
const (
	exitHeld     = 0 // every claim reproduced or not applicable
	exitNotHeld  = 1 // some claim refuted or inconclusive
	exitInvalid  = 2 // some claim's trials cannot bear a verdict
	exitFailed   = 3 // a run failed, a check found faults, or the call was wrong
	usageMessage = `lab: the journal's experiments, on this machine

  lab run EXPERIMENT              run one experiment, until its claims are decided or its budget is spent
  lab reproduce [ENTRY…|--all]    run the experiments of entries within one budget; without any, the core
                                  set. It passes over those that runs made in this clone have decided
  lab syscalls EXPERIMENT         system calls a request, with a tracer on the server; keeps nothing
  lab profile EXPERIMENT [--out DIR]
                                  load each condition once without profiles and once with, and print what
                                  they show; adds nothing to the journal
  lab profile --from SOURCE --out DIR [--seconds N]
                                  profiles of a server that runs, all kinds over one window of N seconds
                                  (default 30). SOURCE is http://127.0.0.1:PORT or the directory of the
                                  server's --pprof-sockets; more --from, more processes, merged
  lab verdicts [--check]          derive data/verdicts, data/csv and data/audits, and sum up over hosts;
                                  --check only compares
  lab audit [--all] [ENTRY…]      recompute what printed figures imply; --all shows agreement too
  lab check                       check every data file, and that nothing derived has drifted
  lab doctor [--no-watch]         say what this machine can decide; it watches for five seconds
  lab tune KNOB [ACTION]          turn a knob of the kernel, and back; see lab tune -h
  lab list                        list experiments and their claims

run and reproduce take (syscalls and profile EXPERIMENT: --port)
  --budget DURATION   the longest that it goes on, as 90s or 20m (default: what the experiments say
                      together; reproduce takes no more than 200 s for the core set and 24m for --all)
  --blocks N          of run: N blocks at the most
  --again             of reproduce: what this clone measured earlier does not count
  --keep-going        of reproduce: on a failed experiment go on with the next
  --seed N            seed of the order of slots; further runs of one call take N+1 and so on
                      (default: drawn anew)
  --port N            port of the first server; others of a block have those above (default 8083)
  --host NAME         call this machine NAME in data/hosts (default: made of its CPU)
Verdicts of run count all blocks that the journal has of this host; those of reproduce only blocks
that were measured in this clone and that git does not track. An interrupted run keeps its complete
blocks. So does one that was killed: the next run or reproduce adds them.

Exit status
  0  every claim was reproduced or is not applicable here
  1  some claim was refuted, or is not decided
  2  some claim is invalid: its trials cannot bear a verdict
  3  a run failed, a check found faults, or the call was wrong
`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the lab at once
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A subcommand reads its own arguments and returns an exit status.
type subcommand func(ctx context.Context, args []string, out io.Writer) (int, error)

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	subcommands := map[string]subcommand{
		"run": runExperiment, "reproduce": reproduce, "verdicts": verdicts,
		"check": check, "audit": auditTexts, "doctor": examine, "list": list, "syscalls": syscalls,
		"profile": profileCommand, "tune": tuneKernel,
		"watch-shaper": watchShaper, "watch-answers": watchAnswers,
	}
	if len(args) == 0 {
		fmt.Fprint(errs, usageMessage)
		return exitFailed
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(out, usageMessage)
		return exitHeld
	}
	sub, ok := subcommands[args[0]]
	if !ok {
		fmt.Fprintf(errs, "lab: no command %q; see lab help\n", args[0])
		return exitFailed
	}
	status, err := sub(ctx, args[1:], out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usageMessage)
		return exitHeld
	case err != nil:
		fmt.Fprintf(errs, "lab: %v\n", err)
		return exitFailed
	}
	return status
}

// flags makes a flag set whose complaints are returned, not printed.
func flags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse parses flags that may stand before, between and after arguments.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w; see lab help", err)
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}

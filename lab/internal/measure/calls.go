package measure

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

// notFound is a shell's exit status for a command that cannot be started.
const notFound = 127

// askedTimes is how often a server is asked for each request before it is loaded.
const askedTimes = 4

// Enter carries out the calls of a wire; nil in a program that makes none.
var Enter func(args []string) (status int, is bool)

// Answer carries out a call of the program to itself; false for any other. The words behind it may
// be another program's, so main asks here before it reads any.
func Answer(args []string) (status int, is bool) {
	if Enter != nil {
		if status, is := Enter(args); is {
			return status, true
		}
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	var err error
	switch {
	case len(args) > 1 && args[0] == HoldCall:
		cancel()
		return proc.Hold(args[1:], os.Stdin, os.Stderr), true
	case len(args) == 1 && args[0] == clientCall:
		load.Begin()
		err = load.Serve(ctx, os.Stdin, os.Stdout, load.Options{HTTP2: h2.New})
	case len(args) == 2 && args[0] == askCall:
		var within time.Duration
		if within, err = time.ParseDuration(args[1]); err == nil {
			err = probe.Serve(ctx, os.Stdin, os.Stdout, within, askedTimes)
		}
	case len(args) > 2 && args[0] == pinCall:
		cpus, err := cores.Parse(args[1])
		if err == nil {
			err = proc.Become(cpus, args[2:])
		}
		fmt.Fprintln(os.Stderr, err)
		return notFound, true
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strict.Lines(err.Error()))
		return 1, true
	}
	return 0, true
}

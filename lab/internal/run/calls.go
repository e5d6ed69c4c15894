package run

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/loader"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// Calls with which the program that makes a run starts itself anew.
const (
	HoldCall   = "hold-server" // COMMAND…: see proc.Hold
	pinCall    = "on-cpus"     // LIST COMMAND…: puts the command on some cores
	askCall    = "ask-server"  // WITHIN: asks the target on its input: see probe.Asking
	ClientCall = "client"      // loads in turns, told on its input: see loader.Serve
	// HOST:PORT: serves there, the same to each request
	ReferenceCall = "serve-reference"
)

// loadCall carries out the plan on its input: see loader.Input. linerate has it as a command.
var loadCall = []string{"load", "--plan", "-"}

// Called carries out such a call; false for any other. The words behind it may be another
// program's, so main asks here before it reads any.
func Called(args []string) (status int, is bool) {
	if status, is := wire.Called(args); is {
		return status, true
	}
	switch {
	case len(args) > 1 && args[0] == HoldCall:
		return proc.Hold(args[1:], os.Stdin, os.Stderr), true
	case slices.Equal(args, loadCall), slices.Equal(args, []string{ClientCall}):
		loader.Begin()
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer cancel()
		carry := loader.Input
		if args[0] == ClientCall {
			carry = loader.Serve
		}
		err := carry(ctx, os.Stdin, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return loader.Status(err), true
	case len(args) == 2 && args[0] == askCall:
		within, err := time.ParseDuration(args[1])
		if err == nil {
			ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer cancel()
			err = probe.Asking{Within: within, Times: askedTimes}.Run(ctx, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s\n", askCall, strict.Lines(err.Error()))
			return 1, true
		}
		return 0, true
	case len(args) == 2 && args[0] == ReferenceCall:
		answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "an answer") })
		fmt.Fprintln(os.Stderr, http.ListenAndServe(args[1], answer))
		return notFound, true
	case len(args) > 2 && args[0] == pinCall:
		cpus, err := cores.Parse(args[1])
		if err == nil {
			err = proc.Become(cpus, args[2:])
		}
		fmt.Fprintln(os.Stderr, err)
		return notFound, true
	}
	return 0, false
}

// askedTimes is how often a server is asked for each request before it is loaded.
const askedTimes = 4

// notFound is a shell's exit status for a command that cannot be started.
const notFound = 127

// OnCPUs is a command that puts another one on some cores, or wherever it is put if there are
// none. lab is one that knows Called.
func OnCPUs(lab []string, cpus []int, argv ...string) []string {
	if len(cpus) == 0 {
		return argv
	}
	return slices.Concat(lab, []string{pinCall, cores.Format(cpus)}, argv)
}

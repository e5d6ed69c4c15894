// Command linerate tells whether one HTTP server costs more than another, anywhere on Linux: it
// needs no clone of the journal and no other program beside it.
//
// Its exit status is for scripts; each command's help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// A subcommand is one call of linerate, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

// The subcommands. Only linerate itself calls the hidden ones.
type subcommands struct {
	Compare   compareCall `cmd:"" help:"Tell whether one server costs more than another: your own two builds, or any."`
	Combine   combineCall `cmd:"" help:"Make one verdict of several runs of one comparison."`
	AskServer askCall     `cmd:"" hidden:""`
}

const description = `Whether one HTTP server costs more than another, on this machine.

It measures on Linux only.

linerate --version says what this program was built from.`

func main() {
	if status, is := run.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	return cli.Program{Name: "linerate", Description: description, Commands: &subcommands{}}.Run(args, out, errs,
		func(command any) (int, error) { return command.(subcommand).do(ctx, out) })
}

// An askCall waits for a server's first answer and asks it a few times more, on the client's side
// of a wire.
type askCall struct {
	probe.Asking
}

func (c *askCall) do(ctx context.Context, out io.Writer) (int, error) {
	if err := c.Run(ctx, out); err != nil {
		return cli.Failed, err
	}
	return 0, nil
}

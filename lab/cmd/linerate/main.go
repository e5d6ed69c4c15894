// Command linerate tells whether one HTTP server costs more than another, anywhere on Linux: it
// needs no clone of the journal and no other program beside it.
//
// Its exit status is for scripts; each command's help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"embed"
	"errors"
	"io"
	"log"
	"runtime"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
)

// A subcommand is one call of linerate, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

type subcommands struct {
	Compare compareCall `cmd:"" help:"Tell whether one server costs more than another: your own two builds, or any."`
	Load    loadCall    `cmd:"" help:"Load one server, and print what came."`
	Judge   judgeCall   `cmd:"" help:"Say what cannot be in a published table of load tests, row by row."`
	Doctor  doctorCall  `cmd:"" help:"Say what a comparison can do on this machine, and the way out of what it cannot."`
	Version struct{}    `cmd:"" help:"Say which version this is, and what it was built from."` // package cli does
}

//go:embed help
var helps embed.FS

func main() {
	log.SetOutput(io.Discard) // net/http writes there about servers that are refused in a line
	cli.Main(command, measure.Answer)
}

func command(ctx context.Context, args []string, out, errs io.Writer) int {
	p := cli.Program{Name: "linerate", Commands: &subcommands{}, Help: helps,
		Report: "a message that does not help is a fault: https://github.com/line-rate/line-rate/issues"}
	return p.Run(args, out, errs, func(called any) (int, error) {
		if _, judges := called.(*judgeCall); !judges && runtime.GOOS != "linux" {
			return cli.Failed, errors.New("linerate measures on Linux only: it reads /proc, waits by epoll and pins cores")
		}
		return called.(subcommand).do(ctx, out)
	})
}

type doctorCall struct{}

func (doctorCall) do(_ context.Context, out io.Writer) (int, error) {
	findings, err := machine.Examine(nil)
	if err != nil {
		return cli.Failed, err
	}
	return 0, machine.Print(out, findings)
}

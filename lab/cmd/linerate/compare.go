package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/bench"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type compareCall struct {
	bench.Flags
	outputs
}

func (c *compareCall) do(ctx context.Context, out io.Writer) (int, error) {
	b, err := bench.New(c.Flags)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return cli.Failed, err
	}
	line := cli.NewLine(os.Stderr)
	b.Say, b.Show = line.Say, func(text string) { line.Show("  "+text, false) }
	made, err := measured(ctx, b)
	line.End()
	if ctx.Err() != nil {
		err = errors.New("interrupted, and nothing was left behind")
	}
	if made == nil {
		return cli.Failed, err
	}
	made.Typed, made.Says, made.Exit = typed(os.Args), tell.Lines(made, true), made.Status()
	return made.Exit, cmp.Or(err, c.print(out, made))
}

// typed is the command line for a shell, without what says how to print and without the path of
// linerate itself.
func typed(args []string) string {
	said := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool {
		return slices.Contains([]string{"--json", "-json", "--markdown", "-markdown"}, word)
	})
	return strict.Shell(append([]string{filepath.Base(args[0])}, said...))
}

// measured compares the servers. There may be an outcome and an error.
func measured(ctx context.Context, b *bench.Bench) (*compare.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b.Self = []string{self}
	if b.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	split, err := machine.Here()
	if err != nil {
		return nil, err
	}
	b.ServerCPUs, b.ClientCPUs = split.On()
	out, err := b.Compare(ctx)
	built, modified := cli.Commit()
	if out != nil {
		out.Machine, out.Kernel = cpu()
		if out.Lab = cmp.Or(built, "unknown"); modified {
			out.Lab = "unknown"
		}
		out.Notes = append([]string{where(b)}, out.Notes...)
	}
	return out, err
}

// cpu names the CPU as the kernel does, with its cores, and the kernel's version.
func cpu() (name, kernel string) {
	name = runtime.GOARCH + " processor" // as on arm64, whose kernel names none
	text := machine.Read("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(text, "model name"); ok {
		name, _, _ = strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	}
	return fmt.Sprintf("%s, %d cores", name, strings.Count(text, "processor\t:")), machine.Read("/proc/sys/kernel/osrelease")
}

// where is what to know of the cores that the servers share.
func where(b *bench.Bench) string {
	server, client := machine.Format(b.ServerCPUs), machine.Format(b.ClientCPUs)
	switch n := len(b.ServerCPUs); {
	case b.Running() && !b.Costed():
		return "the client ran on CPU " + client
	case b.Running():
		return fmt.Sprintf("the servers ran where they were put, on CPU %s, and the client on CPU %s; a server that has a core to "+
			"itself is disturbed least (taskset -cp)", server, client)
	case server == client:
		return "server and client share CPU " + client + " here: throughput and latency are of both together, and each request costs what " +
			"sharing adds"
	default:
		return fmt.Sprintf("all servers ran on CPU %s, in turns, and the client on CPU %s: what more than %s gain elsewhere is not "+
			"seen here", server, client, words.Count(n, "worker or thread", "workers or threads"))
	}
}

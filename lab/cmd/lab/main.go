// Command lab runs the journal's experiments and says which of its claims
// hold on this machine.
//
// Its exit status is for scripts; lab help lists it. Standard output carries
// results, standard error progress and complaints.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/tune"
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

// A wireCall holds a wire for a person until Ctrl-C, or until standard input ends.
type wireCall struct {
	Rate  float64 `default:"500000000" help:"Line rate each way, in bits a second."`
	Burst int64   `default:"262144" help:"Bucket of the shaper, in bytes."`
	Queue float64 `default:"0.02" help:"Longest wait in the shaper, in seconds."`
}

func (c wireCall) do(ctx context.Context, out io.Writer) (int, error) {
	s := wire.Spec{LineRateBps: c.Rate, BurstBytes: c.Burst, QueueS: c.Queue}
	w, err := wire.Make(s)
	if err != nil {
		return exitFailed, err
	}
	defer w.Down()
	fmt.Fprintf(out, `The wire is up until Ctrl-C, or until this program's input ends. In another terminal:

  SERVER=%d CLIENT=%d
  .tools/bin/lab %[3]s $SERVER -- COMMAND    # to listen on %s
  .tools/bin/lab %[3]s $CLIENT -- COMMAND    # linerate load http://%[4]s:PORT/, for example

These commands of root make the same wire, whose sides "ip netns exec server" and "ip netns exec client" enter:

  %s
`, w.PID(), w.ClientPID(), wire.EnterCall, wire.ServerAddress, strings.ReplaceAll(strings.TrimSpace(s.Same()), "\n", "\n  "))
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	case <-w.Gone():
		return exitFailed, fmt.Errorf("the wire has ended by itself; make it again")
	}
	return exitHeld, nil
}

// A tuneCall turns a knob of the kernel, or prints what turning it would write.
type tuneCall struct {
	Action string `arg:"" enum:"plan,show,apply,restore,hold" help:"One of these."`
	Knob   string `arg:"" optional:"" help:"Which; without one, show and restore are of all."`
	tune.Options
}

func (c tuneCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := tune.Do(c.Action, c.Knob, c.Options, out); err != nil {
		return exitFailed, err
	}
	return exitHeld, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type machinesCall struct {
	Client []string `required:"" sep:"none" placeholder:"HOST" help:"A machine, as ssh knows it; may be given several times."`
}

// digits is how much of the program's digest is printed.
const digits = 12

// do copies this program to each machine that lacks it, and prints what they are.
func (c machinesCall) do(ctx context.Context, out io.Writer) (int, error) {
	f, err := fleet.Open(ctx, c.Client)
	if err != nil {
		return exitFailed, err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tcores\tlink\tround trip\tprogram")
	for _, h := range f.Hosts {
		link := "unknown"
		if bps := h.Machine.LinkBps; bps > 0 {
			link = words.Figure("", bps/1e6) + " Mbit/s"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", h.Name, h.Machine.Cores, link, words.Time(h.Trip.Seconds()), path.Base(h.Path)[:digits])
	}
	fmt.Fprintf(t, "\nThey reach this machine as %s.\n", f.Host())
	return exitHeld, t.Flush()
}

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

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

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

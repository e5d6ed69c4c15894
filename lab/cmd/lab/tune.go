package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A tuneCall turns a knob of the kernel, or says what turning it would write. What
// its arguments mean is the knob's.
type tuneCall struct {
	Call []string `arg:"" optional:"" name:"argument"`
}

func (tuneCall) Help() string {
	return `Called as:

  lab tune KNOB [ACTION] [ARGUMENT…]
  lab tune show|restore [--state DIR]     of all knobs

Actions:

  plan     print every write that apply would make; changes nothing, needs no root (the default)
  show     print the values as they are, and whether originals are held
  apply    save every original, then write and read back
  verify   compare with what the same arguments would set; exit status 1 where they differ
  restore  write the originals back and forget them
  hold     apply, print "tune ready", and restore when standard input closes or on SIGTERM
  reach    say in one line why the knob cannot be turned here, or nothing

Knobs:

  rps         --dev D [--cpus LIST]           cores that every receive queue hands packets on to (default: all)
  rfs         --dev D [--entries N]           flow table, and each queue's share of it (default 32768)
              [--table-only|--queues-only]    one half, where the other is in another namespace
  xps         --dev D [--cpus LIST]           cores shared out over the transmit queues (default: all)
  irq-pin     --dev D --cpus LIST             each queue's interrupt on a core, in turn
  irqbalance                                  stop the service
  crond                                       stop the service
  sysctl      [NAME=VALUE…]                   (default: what entry 02 sets)
  nofile      [--pid PID] [--limit N]         open files (default: the calling shell, 1048576)
  queues      --dev D --count N               number of queues, as ethtool -L
  mtu         --dev D --mtu N

Of all of them:

  --state DIR  where originals are kept (default: $LINE_RATE_STATE, or /var/lib/line-rate
               for root, or ~/.local/state/line-rate)

Exit status: 0 done, 1 verify found a difference, 3 refused or failed
`
}

func (c tuneCall) do(_ context.Context, out io.Writer) (int, error) {
	call, err := tune.Read(c.Call)
	if errors.Is(err, flag.ErrHelp) {
		return exitFailed, err
	}
	if err != nil {
		return exitFailed, fmt.Errorf("tune: %w; see lab tune -h", err)
	}
	var ended tune.Ended
	switch err := call.Run(out, os.Stderr); {
	case errors.Is(err, tune.ErrDiffers):
		return exitNotHeld, nil
	case errors.As(err, &ended) && ended.Status > 0:
		return ended.Status, nil // it has said why
	case err != nil:
		return exitFailed, err
	}
	return exitHeld, nil
}

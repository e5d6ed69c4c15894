package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/fleet"
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
			link = words.Plain(bps/1e6) + " Mbit/s"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", h.Name, h.Machine.Cores, link, words.Time(h.Trip.Seconds()), path.Base(h.Path)[:digits])
	}
	fmt.Fprintf(t, "\nThey reach this machine as %s.\n", f.Host())
	return exitHeld, t.Flush()
}

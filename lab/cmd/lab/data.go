package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/doctor"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

func verdicts(_ context.Context, args []string, out io.Writer) (int, error) {
	fs := flags("verdicts")
	compare := fs.Bool("check", false, "")
	if err := none(parse(fs, args)); err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	if *compare {
		return drift(j, out)
	}
	if err := j.Derive(); err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(out, "verdicts of %d runs are up to date\n", len(j.Runs))
	return exitHeld, nil
}

func drift(j *journal.Journal, out io.Writer) (int, error) {
	lines, err := j.Drift()
	if err != nil {
		return exitFailed, err
	}
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	if len(lines) > 0 {
		return exitFailed, fmt.Errorf("%d derived files have drifted; run lab verdicts and commit what it writes", len(lines))
	}
	return exitHeld, nil
}

func check(_ context.Context, args []string, out io.Writer) (int, error) {
	if err := none(parse(flags("check"), args)); err != nil {
		return exitFailed, err
	}
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	j, faults, err := journal.Open(root)
	if err != nil {
		return exitFailed, err
	}
	for _, f := range faults {
		fmt.Fprintf(out, "%s: %v\n", f.Path, f.Err)
	}
	if len(faults) > 0 {
		return exitFailed, fmt.Errorf("%d data files have faults", len(faults))
	}
	if status, err := drift(j, out); err != nil {
		return status, err
	}
	fmt.Fprintf(out, "%d experiments, %d hosts and %d runs are in order\n", len(j.Experiments), len(j.Hosts), len(j.Runs))
	return exitHeld, nil
}

func examine(_ context.Context, args []string, out io.Writer) (int, error) {
	if err := none(parse(flags("doctor"), args)); err != nil {
		return exitFailed, err
	}
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	split, err := divide()
	if err != nil {
		return exitFailed, err
	}
	wire := experiment.Topology{Kind: "netns", LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02}
	status := exitHeld
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range doctor.Examine(string(root), split, wire) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.About, f.Seen)
		if f.Means != "" {
			fmt.Fprintf(w, "\t\t%s\n", f.Means)
		}
		if f.Mend != "" {
			fmt.Fprintf(w, "\t\tto mend it: %s\n", f.Mend)
		}
		if f.Level == doctor.Fault {
			status = exitFailed
		}
	}
	return status, w.Flush()
}

func list(_ context.Context, args []string, out io.Writer) (int, error) {
	if err := none(parse(flags("list"), args)); err != nil {
		return exitFailed, err
	}
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	xs, err := experiment.LoadDir(root.Experiments())
	if err != nil {
		return exitFailed, err
	}
	for _, x := range xs {
		core := ""
		if x.Core {
			core = ", core"
		}
		fmt.Fprintf(out, "%s (entry %s, %s%s): %s\n", x.Name, x.Entry, x.Topology.Kind, core, x.Question)
		for _, c := range x.Claims {
			fmt.Fprintf(out, "    %s (%s): %s\n", c.ID, c.Kind, c.Text)
		}
	}
	return exitHeld, nil
}

// none refuses arguments where a command takes no more than flags.
func none(rest []string, err error) error {
	if err == nil && len(rest) > 0 {
		return errors.New("unexpected argument " + rest[0] + "; see lab help")
	}
	return err
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/run"
)

type syscallsCall struct {
	Experiment string `arg:"" help:"Its name, as lab list has it."`
	ports
}

// do prints what a request costs the server in system calls, by condition. It
// writes no results: tracing slows the server.
func (c *syscallsCall) do(ctx context.Context, out io.Writer) (int, error) {
	j, x, err := named(c.Experiment)
	if err != nil {
		return exitFailed, err
	}
	split, release, err := claim(j)
	if err != nil {
		return exitFailed, err
	}
	defer release()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONDITION\tREQUESTS\tCALLS A REQUEST\tMOST OF THEM\tCOUNTED BY")
	self, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	plan := run.Plan{Root: j.Root, Experiment: x, Port: c.first(), Split: split, Host: &host.Profile{}, Lab: []string{self}}
	if err := plan.Ready(); err != nil {
		return exitFailed, fmt.Errorf("%s: %w", x.Name, err)
	}
	err = run.Syscalls(ctx, plan, func(c run.Calls) {
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%s\t%s\n", c.Levels.Key(), c.Requests, float64(c.Counts.Total())/c.Requests, dearest(c), c.Tracer)
	})
	w.Flush()
	if err != nil {
		return exitFailed, fmt.Errorf("%s: %w", x.Name, err)
	}
	return exitHeld, nil
}

// dearest names the four calls that are made most.
func dearest(c run.Calls) string {
	var names []string
	for name := range c.Counts {
		names = append(names, name)
	}
	sort.Slice(names, func(a, b int) bool {
		if c.Counts[names[a]] != c.Counts[names[b]] {
			return c.Counts[names[a]] > c.Counts[names[b]]
		}
		return names[a] < names[b]
	})
	var parts []string
	for _, name := range names[:min(4, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %.2f", name, float64(c.Counts[name])/c.Requests))
	}
	return strings.Join(parts, ", ")
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

type diffCall struct {
	A          string `arg:"" help:"A run (its id, EXPERIMENT/RUN, or its file) or a host's id."`
	B          string `arg:"" help:"Another of the same kind."`
	Experiment string `placeholder:"NAME" help:"Of two hosts, compare this experiment only; of two runs, take those of this experiment."`
	JSON       bool   `name:"json" help:"Print JSON, for programs."`
}

func (diffCall) Help() string {
	return `Compares two runs, or the records of two hosts, condition by condition: each metric of
the experiment and of its claims as B over A, with an interval of 95 %. A condition is
the same if all of its settings are. Invalid trials are left out. It decides nothing:
claims compare conditions within a block, where the machine is the same.

  lab diff 20260801t101500z-my-host 20260802t090000z-my-host
  lab diff --experiment 11-threads my-host another-host`
}

func (c diffCall) do(_ context.Context, out io.Writer) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	if c.Experiment != "" {
		if _, err := j.Experiment(c.Experiment); err != nil {
			return exitFailed, err
		}
	}
	diffs, err := c.compare(j)
	if err != nil {
		return exitFailed, err
	}
	if c.JSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return exitHeld, e.Encode(diffs)
	}
	for i, d := range diffs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := showDiff(out, d); err != nil {
			return exitFailed, err
		}
	}
	return exitHeld, showHow(out, diffs)
}

func (c diffCall) compare(j *archive.Journal) ([]*verdict.Diff, error) {
	if c.A == c.B {
		return nil, fmt.Errorf("%s is compared with itself; name two runs or two hosts", strict.Visible(c.A, 120))
	}
	hostA, hostB := j.Hosts[c.A] != nil, j.Hosts[c.B] != nil
	switch {
	case hostA && hostB:
		return c.hosts(j)
	case hostA || hostB:
		host, other := c.A, c.B
		if hostB {
			host, other = c.B, c.A
		}
		if _, err := c.run(j, other); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is a host and %s is a run; name two runs or two hosts", host, strict.Visible(other, 120))
	}
	a, err := c.run(j, c.A)
	if err != nil {
		return nil, err
	}
	b, err := c.run(j, c.B)
	if err != nil {
		return nil, err
	}
	if a == b {
		return nil, fmt.Errorf("%s and %s are the same run", strict.Visible(c.A, 120), strict.Visible(c.B, 120))
	}
	x, err := j.Experiment(a.Experiment)
	if err != nil {
		return nil, err
	}
	y, err := j.Experiment(b.Experiment)
	if err != nil {
		return nil, err
	}
	return []*verdict.Diff{verdict.Compare([]verdict.Run{{File: a, Then: j.Then(x, a)}}, []verdict.Run{{File: b, Then: j.Then(y, b)}}, x, y)}, nil
}

// run finds a run by its id or its file, which may lie anywhere.
func (c diffCall) run(j *archive.Journal, name string) (*results.File, error) {
	var found []*results.File
	for _, f := range j.Runs {
		if (f.Run == name || f.Experiment+"/"+f.Run == name) && (c.Experiment == "" || c.Experiment == f.Experiment) {
			found = append(found, f)
		}
	}
	shown := strict.Visible(name, 120)
	if len(found) > 1 {
		return nil, fmt.Errorf("%d experiments have a run %s; write %s/%s, or say --experiment", len(found), shown, found[0].Experiment, shown)
	}
	var f *results.File
	if len(found) == 1 {
		f = found[0]
	} else {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("no run, host or file \"%s\"; data/results and data/hosts have them", shown)
		}
		if f, err = c.file(j, name); err != nil {
			return nil, err
		}
	}
	if c.Experiment != "" && c.Experiment != f.Experiment {
		return nil, fmt.Errorf("%s is a run of %s, not of %s", shown, f.Experiment, c.Experiment)
	}
	if len(f.Trials) == 0 {
		return nil, fmt.Errorf("%s has no trials: %s", shown, strict.Visible(f.NotApplicable, 200))
	}
	return f, nil
}

// file reads a run by its path: the journal's own if it lies there.
func (c diffCall) file(j *archive.Journal, path string) (*results.File, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	for _, f := range j.Runs {
		if j.Root.Result(f.Experiment, f.Run) == whole {
			return f, nil
		}
	}
	f, err := j.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s", strict.Visible(err.Error(), 400))
	}
	return f, nil
}

// hosts compares what two hosts have of each experiment.
func (c diffCall) hosts(j *archive.Journal) ([]*verdict.Diff, error) {
	var out []*verdict.Diff
	var missing []string
	for _, x := range j.Experiments {
		if c.Experiment != "" && x.Name != c.Experiment {
			continue
		}
		a, b := newest(j, x, c.A), newest(j, x, c.B)
		if a != nil && b != nil {
			out = append(out, verdict.Compare(j.Record(x, a), j.Record(x, b), x))
		}
		for host, f := range map[string]*results.File{c.A: a, c.B: b} {
			if f == nil {
				missing = append(missing, host)
			}
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case c.Experiment != "":
		return nil, fmt.Errorf("%s has no trials of %s", missing[0], c.Experiment)
	}
	return nil, fmt.Errorf("%s and %s have no experiment in common", c.A, c.B)
}

// newest is the last run of an experiment on a host that has trials, a measured one if
// there is any; nil if there is none. Those of a fleet are not the host's own.
func newest(j *archive.Journal, x *experiment.Experiment, host string) (out *results.File) {
	when := func(f *results.File) string {
		if f.Provenance == nil {
			return "published " + f.Text.Date
		}
		return "taken " + f.Provenance.StartedAt.UTC().Format("20060102150405") + f.Run // sorted after published
	}
	for _, f := range j.Runs {
		if f.Experiment == x.Name && f.Hosts.Server == host && !f.OnFleet() && len(f.Trials) > 0 && (out == nil || when(f) > when(out)) {
			out = f
		}
	}
	return out
}

func showDiff(out io.Writer, d *verdict.Diff) error {
	for _, of := range []struct {
		name string
		verdict.Compared
	}{{"A", d.A}, {"B", d.B}} {
		runs := of.Runs[len(of.Runs)-1]
		if n := len(of.Runs); n > 1 {
			runs = fmt.Sprintf("%s and %s before it", runs, count(n-1, "run", "runs"))
		}
		left := "none invalid"
		if of.Invalid > 0 {
			left = "left out: " + strict.Visible(of.Why, 300)
		}
		fmt.Fprintf(out, "%s  %s on %s: %s; %s, %s\n", of.name, of.Experiment, of.Host, runs, count(of.Trials, "trial", "trials"), left)
	}
	if len(d.Designs) > 0 {
		fmt.Fprintf(out, "Different designs: %s.\n", strict.Visible(strings.Join(d.Designs, "; "), 600))
	}
	if len(d.Conditions) == 0 {
		_, err := fmt.Fprintln(out, "They have no condition in common, so nothing is compared.")
		return err
	}
	for _, only := range []struct {
		side  string
		names []string
	}{{"A", d.OnlyA}, {"B", d.OnlyB}} {
		if len(only.names) > 0 {
			fmt.Fprintf(out, "Only %s has: %s.\n", only.side, strict.Visible(strings.Join(only.names, "; "), 600))
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nCONDITION\tMETRIC\tA\tB\tB/A\tINTERVAL\tBLOCKS\t")
	labels := map[string]string{}
	for _, m := range d.Metrics {
		labels[m.Name] = m.Label
	}
	for _, m := range d.Conditions {
		name := strict.Visible(m.Name, 60)
		if wall := clientWalls(m); wall != "" {
			name += " (" + wall + ")"
		}
		for _, r := range m.Ratios {
			ratio := r.Text
			if r.Ratio == 0 && r.RatioLow == 0 && r.RatioHigh == 0 {
				ratio = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d, %d\t%s\n", name, labels[r.Metric], cell(r.A), cell(r.B), ratio, r.Interval, r.BlocksA, r.BlocksB, r.Says)
			name = ""
		}
	}
	return w.Flush()
}

// clientWalls says in which of the two the client was the wall.
func clientWalls(m verdict.Matched) string {
	switch {
	case m.WallA && m.WallB:
		return "the client was the wall"
	case m.WallA:
		return "the client was A's wall"
	case m.WallB:
		return "the client was B's wall"
	}
	return ""
}

func cell(f verdict.Figure) string {
	text := strings.ReplaceAll(f.Text, "\u00a0", " ")
	if f.Printed != "" {
		text = strict.Visible(f.Printed, 40)
	}
	if text == "" {
		return "-"
	}
	return text
}

// showHow says what the intervals are, and how many may miss.
func showHow(out io.Writer, diffs []*verdict.Diff) error {
	n := 0
	for _, d := range diffs {
		for _, m := range d.Conditions {
			for _, r := range m.Ratios {
				if r.Interval != "" {
					n++
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	missing := ""
	if n >= 20 {
		missing = fmt.Sprintf(" Chance alone may put %d of these %d beside the true ratio.", n/20, n)
	}
	_, err := fmt.Fprintf(out, `
B/A is of the medians over blocks; the interval is of 95 %%, by Mann and Whitney's test of
two independent samples (Hodges and Lehmann).%s It knows the noise between
blocks, and not what was different throughout a run: the hour, other machines nearby.
`, missing)
	return err
}

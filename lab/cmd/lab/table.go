package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

type tableCall struct {
	Experiments []string `arg:"" name:"experiment" help:"Experiments with a [relative], a column each."`
	Measure     bool     `help:"First measure them for trial, as run --scratch does; --budget is for all together."`
	options
}

// A column is one experiment's part of the table.
type column struct {
	x    *experiment.Experiment
	says *verdict.File // nil where nothing was measured
	left []results.LeftOut
	none string // why it has no figures
}

func (c *tableCall) do(ctx context.Context, out io.Writer) (int, error) {
	j, xs, err := openFor(func(j *archive.Journal) ([]*experiment.Experiment, error) { return forTable(j, c.Experiments) })
	if err != nil {
		return exitFailed, err
	}
	var columns []column
	if c.Measure {
		o := c.session()
		o.Trial = true
		s, err := session.Open(j, o)
		if err != nil {
			return exitFailed, err
		}
		defer s.Close()
		columns, err = c.measure(ctx, s, xs)
		return exitHeld, errors.Join(err, showTable(out, columns))
	}
	if columns, err = c.recorded(j, xs); err != nil {
		return exitFailed, err
	}
	return exitHeld, showTable(out, columns)
}

// forTable finds the experiments, which must be of one table.
func forTable(j *archive.Journal, names []string) (xs []*experiment.Experiment, err error) {
	for _, name := range names {
		x, err := j.Experiment(name)
		switch {
		case err != nil:
			return nil, err
		case x.Planned != "":
			return nil, errors.New(planned(x))
		case x.Relative == nil:
			return nil, fmt.Errorf("%s asks for no table: its file has no [relative]", x.Name)
		case slices.Contains(xs, x):
			return nil, fmt.Errorf("%s is named twice", x.Name)
		}
		if xs = append(xs, x); *x.Relative != *xs[0].Relative {
			return nil, fmt.Errorf("%s and %s have no table in common: their [relative] differ", xs[0].Name, x.Name)
		}
	}
	return xs, nil
}

// recorded gives the columns of the runs that the journal has of this host.
func (c *tableCall) recorded(j *archive.Journal, xs []*experiment.Experiment) (columns []column, err error) {
	w, err := session.Identify(j, "/", c.Host)
	if err != nil {
		return nil, err
	}
	if c.Host != "" && j.Hosts[c.Host] == nil {
		return nil, fmt.Errorf("--host %q: %s", strict.Visible(c.Host, 60),
			strict.Instead(c.Host, slices.Sorted(maps.Keys(j.Hosts))))
	}
	for _, x := range xs {
		one := column{x: x, none: fmt.Sprintf("no run of this machine (%s) is in the journal; lab run %s makes one", w.ID,
			x.Name)}
		if h := j.Hosts[w.ID]; h != nil {
			var newest *results.File
			if one.says, newest = session.Recorded(j, x, h); newest != nil {
				one.left, one.none = newest.Provenance.LeftOut, newest.NotApplicable
			}
		}
		columns = append(columns, one)
	}
	return columns, nil
}

// A trier measures an experiment for trial.
type trier interface {
	Try(ctx context.Context, x *experiment.Experiment, budget time.Duration) (*session.Outcome, error)
}

// measure measures the experiments one after the other, each for its part of the budget.
// Verdicts have no place in it.
func (c *tableCall) measure(ctx context.Context, s trier, xs []*experiment.Experiment) (columns []column,
	failed error) {
	asked := 0.0
	for _, x := range xs {
		asked += x.BudgetS
	}
	whole := cmp.Or(c.Budget, time.Duration(asked*float64(time.Second)))
	for _, x := range xs {
		one := column{x: x, none: "an experiment before it was interrupted"}
		if ctx.Err() == nil {
			o, err := s.Try(ctx, x, time.Duration(float64(whole)*x.BudgetS/asked))
			failed = errors.Join(failed, err)
			one.says, one.none = o.Verdicts, o.Unmade
			for _, f := range o.Runs {
				one.left = f.Provenance.LeftOut
				if f.NotApplicable != "" {
					one.none = f.NotApplicable
				}
			}
		}
		columns = append(columns, one)
	}
	return columns, failed
}

func (c column) rows() []verdict.RelativeRow {
	if c.says == nil || c.says.Relative == nil {
		return nil
	}
	return c.says.Relative.Rows
}

// notes say what is missing from a column, and what limits its figures.
func (c column) notes() (notes []string) {
	say := func(format string, args ...any) { notes = append(notes, c.x.Name+fmt.Sprintf(format, args...)) }
	if len(c.rows()) == 0 {
		why := c.none
		if why == "" && c.says != nil && len(c.says.Claims) > 0 {
			why = c.says.Claims[0].Reason // each claim says the same where no block is complete
		}
		say(" has no figures: %s", why)
	}
	for _, l := range c.left {
		say(" leaves out %s: %s", l.Levels[c.x.Relative.Over], l.Why)
	}
	if c.says != nil && c.says.Control != nil && c.says.Control.Outcome == verdict.Differs {
		say(" is suspect: %s", c.says.Control.Reason)
	}
	for _, r := range c.rows() {
		if r.Walls != "" {
			say(", %s: the server's CPU was not the wall, or not alone, in all trials (%s)", r.Level, r.Walls)
		}
	}
	return notes
}

// cheapest lists the levels by their ratio in the first column that has one.
func cheapest(columns []column) []string {
	at := map[string]float64{}
	for _, c := range columns {
		for _, r := range c.rows() {
			if _, ok := at[r.Level]; !ok {
				at[r.Level] = r.Ratio
				if r.Base {
					at[r.Level] = -1
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(at), func(a, b string) int {
		return cmp.Or(cmp.Compare(at[a], at[b]), strings.Compare(a, b))
	})
}

// showTable prints a row for each level, and below them what a reader must know.
func showTable(out io.Writer, columns []column) error {
	asked, levels := columns[0].x.Relative, cheapest(columns)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(levels) > 0 {
		fmt.Fprint(w, strings.ToUpper(asked.Over))
		for _, c := range columns {
			fmt.Fprintf(w, "\t%s", c.x.Name)
		}
		fmt.Fprintln(w)
	}
	for _, level := range levels {
		fmt.Fprint(w, strict.Visible(level, 60))
		for _, c := range columns {
			fmt.Fprintf(w, "\t%s", c.cell(level))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(levels) > 0 {
		m, _ := metric.Lookup(asked.Metric)
		fmt.Fprintf(out, "\n%s, over that of %s: the median of the blocks' ratios, with an interval of\n95 %%, each taken "+
			"alone. The table decides nothing; claims do.\n", m.Label, asked.Level())
		if asked.OwnWork {
			fmt.Fprintln(out, "\"own\" is the ratio without the time in which the kernel handed packets to the client on the "+
				"server's core.")
		}
	}
	for _, c := range columns {
		for _, n := range c.notes() {
			fmt.Fprintln(out, strict.Visible(n, 500))
		}
	}
	if len(levels) == 0 {
		return errors.New("there is nothing to compare")
	}
	return nil
}

// cell has a level's ratio.
func (c column) cell(level string) string {
	r, ok := strict.First(c.rows(), func(r verdict.RelativeRow) bool { return r.Level == level })
	switch {
	case !ok:
		return "-"
	case r.Base:
		return "1"
	}
	cell := r.Text()
	if r.Interval() != "" {
		cell += fmt.Sprintf(" (%s)", r.Interval())
	}
	if r.OwnText != "" {
		cell += ", own " + r.OwnText
	}
	return cell
}

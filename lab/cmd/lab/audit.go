package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

type auditCall struct {
	Entries []string `arg:"" optional:"" name:"entry" help:"Those whose figures are meant (default: all)."`
	All     bool     `help:"Show agreement too."`
}

// do prints what was found in the figures of texts. Findings are results, so they do not
// change the exit status.
func (c *auditCall) do(_ context.Context, out io.Writer) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	entries := strict.Called(j.Audits, func(a *audit.File) string { return a.Entry })
	for _, entry := range c.Entries {
		if !slices.Contains(entries, entry) {
			return exitFailed, fmt.Errorf("no figures of an entry %q; %s", entry, strict.Instead(entry, entries))
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, a := range j.Audits {
		if len(c.Entries) == 0 || slices.Contains(c.Entries, a.Entry) {
			show(w, a, c.All)
		}
	}
	return exitHeld, w.Flush()
}

func show(w io.Writer, a *audit.File, all bool) {
	n := map[string]int{}
	for _, f := range a.Findings {
		n[f.Verdict]++
	}
	fmt.Fprintf(w, "entry %s: %d figures disagree with what others make of them, %d agree\n", a.Entry, n[audit.Disagrees],
		n[audit.Agrees])
	fmt.Fprintln(w, "  place\tprinted\trecomputed\trounding allows\tverdict\tlaw")
	for _, f := range a.Findings {
		if f.Verdict == audit.Agrees && !all {
			continue
		}
		printed := cmp.Or(f.Printed, amount(f.Stands.Value, f.Unit))
		sign := map[law.Relation]string{law.Equals: "", law.AtMost: "≤ ", law.AtLeast: "≥ "}[f.Relation]
		fmt.Fprintf(w, "  %s\t%s\t%s%s\t%s to %s\t%s\t%s\n", f.Place, printed, sign, amount(f.Recomputed.Value, f.Unit),
			amount(f.Stands.Low, f.Unit), amount(f.Stands.High, f.Unit), f.Verdict, f.Kind)
	}
	fmt.Fprintln(w)
}

// amount writes a figure in its base unit, to five digits.
func amount(v float64, unit metric.Unit) string {
	text := strconv.FormatFloat(v, 'g', 5, 64)
	if v >= 1e5 || v <= -1e5 {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	switch unit {
	case metric.Ratio, metric.Count:
		return text
	}
	return text + " " + string(unit)
}

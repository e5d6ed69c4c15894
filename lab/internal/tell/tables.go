package tell

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// lines are a table in the terminal, in columns.
func (t Table) lines() []string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Name, t.Says)
	columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(t.Rows) > 0 {
		fmt.Fprintln(columns, "  "+strings.Join(t.Head, "\t"))
	}
	for _, row := range t.Rows {
		fmt.Fprintln(columns, "  "+strings.Join(row, "\t"))
	}
	columns.Flush()
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// A Table is what has more figures than a row holds.
type Table struct {
	Name string
	Head []string
	Rows [][]string
	Says string // what to know of it
}

// Tables are the latency curve, the system calls and why
// servers differ, if there are any.
func Tables(o *compare.Outcome) (all []Table) {
	if c := o.Curve; c != nil {
		t := Table{Name: "Latency at fixed rates", Head: []string{"requests/s", "server", "p50", "p90", "p99", "p999"},
			Says: fmt.Sprintf("open loop, %s of %s s at each rate", words.Count(c.Blocks, "block"), words.Number(c.SlotS))}
		if c.ClosedLoopRPS > 0 {
			t.Says += fmt.Sprintf("; shares are of %s requests/s, the closed loop of %s", words.Grouped(c.ClosedLoopRPS, 0),
				c.Slowest)
		}
		for _, p := range c.Points {
			row := []string{words.Grouped(p.RateRPS, 0), p.Server}
			for _, l := range p.Percentiles() {
				row = append(row, latency(*l))
			}
			if p.Refused != "" {
				row = append(row[:2], "refused: "+p.Refused)
			}
			t.Rows = append(t.Rows, row)
		}
		all = append(all, t)
	}
	if len(o.Asked) > 1 {
		t := Table{Name: "Requests", Head: []string{"request", "weight", "server", "answers", "p50", "p99", "faults"},
			Says: "asked in their shares; the verdict and the budget of faults are of all together"}
		for i, r := range o.Asked {
			for _, s := range o.Servers {
				if i >= len(s.ByRequest) {
					continue
				}
				c := s.ByRequest[i]
				row := []string{c.Name, words.Number(r.Weight), s.Name, words.Thousands(int(c.Requests)), "–", "–",
					words.Thousands(int(c.Faults))}
				if c.P50 > 0 {
					row[4], row[5] = words.Time(c.P50), words.Time(c.P99)
				}
				t.Rows = append(t.Rows, row)
			}
		}
		all = append(all, t)
	}
	return slices.Concat(all, callsTable(o), whys(o))
}

func latency(l *compare.Latency) string {
	switch {
	case l == nil:
		return "–"
	case l.High == 0:
		return words.Time(l.Seconds)
	}
	return fmt.Sprintf("%s (%s to %s)", words.Time(l.Seconds), words.Time(l.Low), words.Time(l.High))
}

package tell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// lines are a table in the terminal, in columns.
func (t Table) lines() []string {
	var wide []int
	rows := append([][]string{t.Head}, t.Rows...)
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			if len(row) < len(t.Head) && i == len(row)-1 {
				break // its last cell reaches to the end
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	out := []string{t.Name + ": " + t.Says}
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			line += " " + cell + strings.Repeat(" ", max(0, wide[i]-utf8.RuneCountInString(cell))+1)
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// A Table is what was measured at fixed rates.
type Table struct {
	Name string
	Head []string
	Rows [][]string
	Says string // what to know of it
}

// Tables are the runs that were combined, the latency curve and the highest rates, if there are any.
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
	if len(o.Parts) > 0 {
		t := Table{Name: "Runs", Head: []string{"run", "machine", "says alone", "CPU a request", "blocks", "seconds"},
			Says: "each stopped by itself, and the verdict is that of all together"}
		for _, p := range o.Parts {
			for _, c := range p.Comparisons {
				row := []string{p.File, p.Machine, c.Brief(o.Margin), "", fmt.Sprint(p.Blocks), fmt.Sprintf("%.0f", p.DurationS)}
				if c.CPUPerRequest != nil {
					row[3] = c.CPUPerRequest.String()
				}
				t.Rows = append(t.Rows, row)
			}
		}
		all = append(all, t)
	}
	if len(o.Highest) > 0 {
		t := Table{Name: fmt.Sprintf("Highest rate with a p99 of %s", words.Time(o.Highest[0].P99S)),
			Head: []string{"server", "kept at", "in", "not kept at", "in"}}
		var says []string
		for _, h := range o.Highest {
			t.Rows = append(t.Rows, append(append([]string{h.Server}, shown(h.Kept)...), shown(h.NotKept)...))
			says = append(says, h.Says)
		}
		t.Says = strings.Join(says, "; ")
		all = append(all, t)
	}
	return all
}

func shown(s compare.Shown) []string {
	if s.RateRPS == 0 {
		return []string{"not shown", ""}
	}
	return []string{words.Grouped(s.RateRPS, 0) + " requests/s", fmt.Sprintf("%d of %d slots", s.Kept, s.Slots)}
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

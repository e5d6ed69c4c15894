// Package tell lays out what came of a comparison: as lines for a terminal, and as Markdown
// for a comment.
//
// Both have their figures from Rows, so a new metric is one row there. Neither judges: the verdict and its sentence are those of package compare.
package tell

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Row is one metric of a server beside the first's.
type Row struct {
	Name string // of its line in the terminal
	Part string // of several rows in one line, as p50; empty: the row has a line of its own
	// Ratio is nil where there is none: then Words stand for the figures, or both stand alone.
	Ratio *compare.Ratio
	Words string
	// Other and Base are both figures with their units, and Unit what they share, written once.
	Other, Base, Unit string
	// Bounded tells whether what limited the load belongs beside it.
	Bounded bool
}

// Rows are the metrics of one comparison, those that decide first. i is its index.
func Rows(o *compare.Outcome, i int) (rows []Row) {
	c, base, other := o.Comparisons[i], o.BaseOf(i), o.Servers[i+1]
	add := func(row Row, r *compare.Ratio, print func(float64) string, other, base float64) {
		if r != nil {
			row.Ratio, row.Other, row.Base = r, print(other), print(base)
			rows = append(rows, row)
		}
	}
	whole := func(v float64) string { return words.Grouped(v, 0) }
	add(Row{Name: "CPU a request", Bounded: true}, c.CPUPerRequest, words.Time, other.CPUPerRequest, base.CPUPerRequest)
	add(Row{Name: "throughput", Unit: " requests/s", Bounded: true}, c.Throughput, whole, other.Throughput,
		base.Throughput)
	add(Row{Name: "latency", Part: "p50", Bounded: true}, c.P50, words.Time, other.P50, base.P50)
	add(Row{Name: "latency", Part: "p99", Bounded: true}, c.P99, words.Time, other.P99, base.P99)
	return append(rows, uses(other, base)...)
}

// Label is a row's name where it has a line of its own.
func (r Row) Label() string { return strings.TrimSpace(strings.TrimSpace(r.Name) + " " + r.Part) }

// Against are both figures, this server's first.
func (r Row) Against() string { return r.Other + " against " + r.Base + r.Unit }

// line is a row in the terminal, without its name.
func (r Row) line() string {
	switch {
	case r.Words != "":
		return r.Words
	case r.Ratio == nil:
		return strings.TrimSpace(r.Part + " " + r.Against())
	case r.Part != "":
		return r.Part + " " + r.Ratio.String() + ", " + r.Against()
	}
	return r.Ratio.String() + "; " + r.Against()
}

// Lines are what the call prints: for each server but the first one line of verdict and those
// of its figures, then what was measured at fixed rates, and the notes.
func Lines(o *compare.Outcome) (out []string) {
	for i, c := range o.Comparisons {
		out = append(out, c.Says)
		bound := "; " + bound(o, i)
		rows := Rows(o, i)
		for n, r := range rows {
			same := n > 0 && r.Part != "" && rows[n-1].Name == r.Name
			line := fmt.Sprintf("  %-13s  %s", r.Name, r.line())
			if same {
				line = strings.TrimSuffix(out[len(out)-1], bound) + "; " + r.line()
				out = out[:len(out)-1]
			}
			if r.Bounded {
				line += bound
			}
			out = append(out, line)
		}
	}
	for _, t := range Tables(o) {
		out = append(out, t.lines()...)
	}
	for _, n := range o.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// bound says what limited the trials of a comparison's two servers.
func bound(o *compare.Outcome, i int) string {
	base, other := o.BaseOf(i), o.Servers[i+1]
	if base.Bound == other.Bound {
		return "bound: " + wall(base)
	}
	return fmt.Sprintf("bound: %s %s, %s %s", other.Name, wall(other), base.Name, wall(base))
}

// wall is a bound in words. A client that was full is said to be what was measured.
func wall(m compare.Measured) string {
	if m.Bound == "unknown" {
		return "unknown"
	}
	names := map[string]string{"server-cpu": "server CPU",
		"client-cpu": "client CPU, so throughput and latency are the client's", "wire": "the wire"}
	return strings.Join(strict.Called(strings.Split(m.Bound, "+"), func(b string) string { return names[b] }), " and ")
}

// Package tell lays out what came of a comparison: as lines for a terminal, and as Markdown for a comment.
//
// Both print what Tables gives, so a new metric is one row there. Neither judges: the verdict and its
// sentence are those of package compare.
package tell

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Table is figures with what to know of them.
type Table struct {
	Name  string // of a comparison: its verdict
	Head  []string
	Rows  [][]string
	Says  string
	Right int  // so many of the last columns are plain numbers
	Asked bool // it is of what a flag asked for
}

// Tables are a comparison's: for each server but the first the verdict with its figures, and then the latency
// curve, the system calls and why servers differ, where these are known.
func Tables(o *compare.Outcome) (all []Table) {
	for i := range o.Comparisons {
		all = append(all, compared(o, i))
	}
	if o.Curve != nil {
		all = append(all, curve(o.Curve))
	}
	if t := calls(o.Servers); len(t.Rows) > 0 {
		all = append(all, t)
	}
	if o.Why != nil {
		for _, r := range o.Why.Comparisons {
			all = append(all, why(r))
		}
	}
	return all
}

// verdict is a comparison's sentence, with the figures where it is decided, and with what failed. A figure of the other
// server is the first's times the ratio, which is of pairs: medians of each alone may contradict it.
func verdict(o *compare.Outcome, i int) string {
	c := o.Comparisons[i]
	says := c.Says
	switch c.Verdict {
	case compare.Dearer, compare.Cheaper, compare.Same:
		base := o.Servers[0].CPUPerRequest
		says += fmt.Sprintf("; %s against %s", words.Time(base*c.CPUPerRequest.Ratio), words.Time(base))
	}
	if c.Failed != "" {
		says += "; " + c.Failed
	}
	return says
}

// because says in a line why a server costs more or less than the first: by which kind of work, or
// by which system calls the more expensive one makes more often. It is empty where nothing is to be
// explained.
func because(o *compare.Outcome, i int) string {
	c, base, other := o.Comparisons[i], o.Servers[0].CallsBy, o.Servers[i+1].CallsBy
	switch {
	case o.Why != nil && i < len(o.Why.Comparisons):
		says, _, _ := strings.Cut(o.Why.Comparisons[i].Says, "; ")
		return says
	case c.Verdict != compare.Dearer && c.Verdict != compare.Cheaper:
		return ""
	case base == nil || other == nil:
		return "not known, since system calls were not counted; a note of -v says why"
	}
	more, sum := map[string]float64{}, 0.0 // calls of the one that costs more
	both := maps.Clone(base)
	maps.Copy(both, other)
	for name := range both {
		by := other[name] - base[name]
		if c.Verdict == compare.Cheaper {
			by = -by
		}
		if by >= leastCalls*max(1, base[name]) && !slices.Contains(waits, profile.WorkOfCall(name)) {
			more[name], sum = by, sum+by
		}
	}
	if math.Abs(c.CPUPerRequest.Ratio-1)*o.Servers[0].CPUPerRequest > sum*mostOfCall {
		return "not its system calls, so its own code or what the calls do; --why says which kind of work"
	}
	names := slices.SortedFunc(maps.Keys(more), func(a, b string) int { return cmp.Or(cmp.Compare(more[b], more[a]), cmp.Compare(a, b)) })
	for n, name := range names {
		names[n] = fmt.Sprintf("%s %s against %s", name, each(other[name]), each(base[name]))
	}
	return "system calls a request: " + strings.Join(names[:min(len(names), mostNamed)], ", ")
}

// It does not name calls as a cause that the more expensive server makes only a little more often,
// as a share or a request. Nor does it name more than so many, nor any where the difference is more
// than so many seconds for each.
const (
	leastCalls = 0.25
	mostNamed  = 3
	mostOfCall = 20e-6
)

// waits are the kinds of calls of which it depends on time how often they are made.
var waits = []profile.Work{"lock", "wait", "scheduler"}

// each prints a number of times a request.
func each(v float64) string { return words.Grouped(v, -2) }

func whole(v float64) string { return words.Grouped(v, 0) }

func size(v float64) string { return strings.Replace(words.Size(int(v)), "\u00a0", " ", 1) }

// compared are the metrics of one server beside the first's, those that decide first.
func compared(o *compare.Outcome, i int) Table {
	c, base, other := o.Comparisons[i], o.Servers[0], o.Servers[i+1]
	t := Table{Name: verdict(o, i), Head: []string{"", c.Name + " over " + c.Base, c.Name, c.Base}, Right: 2,
		Asked: c.Verdict == compare.Uncosted}
	for _, row := range []struct {
		name        string
		ratio       *compare.Ratio // nil of a figure without a verdict
		print       func(float64) string
		other, base float64
	}{
		{"CPU a request", c.CPUPerRequest, words.Time, other.CPUPerRequest, base.CPUPerRequest},
		{"throughput, requests/s", c.Throughput, whole, other.Throughput, base.Throughput},
		{"latency p50", c.P50, words.Time, other.P50, base.P50},
		{"latency p99", c.P99, words.Time, other.P99, base.P99},
		{"memory under load", nil, size, other.MemoryLoad, base.MemoryLoad},
		{"bytes of an answer", nil, whole, other.ResponseBytes, base.ResponseBytes},
		{"system calls a request", nil, each, other.Calls, base.Calls},
	} {
		if row.other == 0 || row.base == 0 { // not known
			continue
		}
		over := ""
		if row.ratio != nil {
			over, row.other = row.ratio.String(), row.base*row.ratio.Ratio
		}
		t.Rows = append(t.Rows, []string{row.name, over, row.print(row.other), row.print(row.base)})
	}
	if len(t.Rows) > 0 {
		t.Says = "bound: " + walls.Replace(base.Bound)
		if base.Bound != other.Bound {
			t.Says = fmt.Sprintf("bound: %s by %s, %s by %s", other.Name, walls.Replace(other.Bound), base.Name, walls.Replace(base.Bound))
		}
		if strings.Contains(base.Bound+other.Bound, "client-cpu") {
			t.Says += "; where the client was full, throughput and latency are the client's"
		}
	}
	return t
}

// walls name what limited a server's load.
var walls = strings.NewReplacer("server-cpu", "server CPU", "wire", "the wire", "+", " and ", "client-cpu", "client CPU")

func curve(c *compare.Curve) Table {
	t := Table{Name: "Latency at fixed rates", Head: []string{"requests/s", "server", "p50", "p90", "p99", "p999"}, Asked: true,
		Says: fmt.Sprintf("open loop, %s of %s s at each rate; shares are of %s requests/s, the closed loop of %s",
			words.Count(c.Blocks, "block"), words.Number(c.SlotS), whole(c.ClosedLoopRPS), c.Slowest)}
	for _, p := range c.Points {
		row := []string{whole(p.RateRPS), p.Server}
		for _, l := range p.Percentiles() {
			row = append(row, latency(*l))
		}
		if p.Refused != "" {
			row = append(row[:2], "refused: "+p.Refused)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// latency is a percentile with its interval, where these are known.
func latency(l *compare.Latency) string {
	switch {
	case l == nil:
		return "–"
	case l.High == 0:
		return words.Time(l.Seconds)
	}
	return within(l.Seconds, l.Low, l.High)
}

// within is a time with its interval. Each figure has three digits, so no end becomes 0 that is
// not.
func within(s, low, high float64) string {
	return fmt.Sprintf("%s (%s to %s)", words.Time(s), words.Time(low), words.Time(high))
}

// mostCalls is how many calls have their names printed.
const mostCalls = 8

// calls has the calls that differ most between servers, and then those that are made most.
func calls(servers []compare.Measured) Table {
	t := Table{Name: "System calls a request", Head: []string{"call"}, Says: "counted by tracing each server after the " +
		"comparison; those that differ most come first. What each request needs is exact. Waits, locks and wake-ups, as by epoll, " +
		"futex or an eventfd, depend on time, and tracing changes how often they are made"}
	by := map[string][]float64{} // of the servers whose calls are known
	for _, s := range servers {
		t.Head = append(t.Head, s.Name)
		for name := range s.CallsBy {
			by[name] = nil
		}
	}
	for name := range by {
		row := []string{name}
		for _, s := range servers {
			if s.CallsBy == nil {
				row = append(row, "–")
			} else {
				row, by[name] = append(row, each(s.CallsBy[name])), append(by[name], s.CallsBy[name])
			}
		}
		if slices.Max(by[name]) >= 0.005 {
			t.Rows = append(t.Rows, row)
		}
	}
	slices.SortFunc(t.Rows, func(a, b []string) int {
		x, y := by[a[0]], by[b[0]]
		return cmp.Or(cmp.Compare(slices.Max(y)-slices.Min(y), slices.Max(x)-slices.Min(x)),
			cmp.Compare(slices.Max(y), slices.Max(x)), cmp.Compare(a[0], b[0]))
	})
	t.Rows = t.Rows[:min(len(t.Rows), mostCalls)]
	return t
}

// why is of what kind of work the difference is.
func why(r compare.Reasons) Table {
	t := Table{Name: fmt.Sprintf("Why %s differs from %s", r.Name, r.Base), Says: r.Says, Asked: true,
		Head: []string{"CPU a request", r.Base, r.Name, "difference", "its share"}}
	for _, k := range append(slices.Clone(r.Kinds), r.All) {
		share := "–"
		if k.Share != 0 {
			share = words.Grouped(100*k.Share, 0) + " %"
		}
		t.Rows = append(t.Rows, []string{k.Kind, words.Time(k.Base), words.Time(k.Other), Difference(k), share})
	}
	return t
}

// Difference is that of a kind of work with its interval.
func Difference(r compare.Reason) string { return within(r.Difference, r.Low, r.High) }

// Lines are what the call prints: of each comparison its verdict, why and what bounded it; the tables that were asked for;
// and with all, the other tables and the notes.
func Lines(o *compare.Outcome, all bool) []string {
	var b strings.Builder
	for i := range o.Comparisons {
		fmt.Fprintln(&b, verdict(o, i))
		if why := because(o, i); why != "" {
			fmt.Fprintln(&b, "why: "+why)
		}
		if t := compared(o, i); t.Says != "" {
			fmt.Fprintln(&b, t.Says)
		}
	}
	for i, t := range Tables(o) {
		if i < len(o.Comparisons) {
			t.Name, t.Says = "All figures", "" // the verdict and the bound are above
		}
		if !t.Asked && !all || len(t.Rows) == 0 {
			continue
		}
		fmt.Fprintln(&b, t.Name)
		columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{t.Head}, t.Rows...) {
			fmt.Fprintln(columns, "  "+strings.Join(row, "\t"))
		}
		columns.Flush()
		if t.Says != "" {
			fmt.Fprintln(&b, "  "+t.Says)
		}
	}
	if !all {
		fmt.Fprintf(&b, "-v prints all figures, and %s\n", words.Count(len(o.Notes), "note"))
	} else {
		for _, n := range o.Notes {
			fmt.Fprintln(&b, "note: "+n)
		}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// Markdown is a comment for a pull request: the tables, and the rest folded. Nothing in it that others wrote is markup.
func Markdown(o *compare.Outcome) string {
	var b strings.Builder
	for _, t := range Tables(o) {
		fmt.Fprintf(&b, "**%s**\n\n", inline(t.Name))
		if n := len(t.Head) - t.Right; len(t.Rows) > 0 {
			fmt.Fprintf(&b, "%s|%s%s\n", line(t.Head), strings.Repeat(":--|", n), strings.Repeat("--:|", t.Right))
			for _, row := range t.Rows {
				b.WriteString(line(row))
			}
			b.WriteString("\n")
		}
		if t.Says != "" {
			b.WriteString(inline(t.Says) + "\n\n")
		}
	}
	fmt.Fprintf(&b, "<details><summary>%s, %s</summary>\n\n%s\n\n</details>\n", words.Count(len(o.Servers), "server"),
		words.Count(o.Blocks, "block"), fenced(o))
	return b.String()
}

// line is a row of a table in Markdown.
func line(row []string) string {
	return "| " + strings.Join(strict.Map(row, inline), " | ") + " |\n"
}

// harmless is text that means nothing in Markdown.
var harmless = regexp.MustCompile(`^[A-Za-z0-9 .,;:%×−–µ'()/+-]*$`)

// inline is text of others within a line of Markdown: as code, where GitHub looks for no names of people, issues or
// commits. There only the backquote has a meaning, and the sign at which a cell of a table ends.
func inline(text string) string {
	const longest = 1000 // letters that are shown
	if harmless.MatchString(text) && !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return text
	}
	return "`" + strings.NewReplacer("`", `\u0060`, "|", `\u007c`).Replace(strict.Visible(text, longest)) + "`"
}

// fenced is the request, the machine and the notes, as lines of code.
func fenced(o *compare.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "typed: %s\nload: %s, %d in flight on each", o.Typed, words.Count(o.Connections, "connection"), o.Pipelining)
	if o.Protocol != "" {
		b.WriteString(", " + o.Protocol)
	}
	fmt.Fprintf(&b, "; margin %s %%\nmachine: %s, Linux %s\nmeasured: %s in %.0f s, %s; faults refused %d of %d trials\nlab: %s, seed %d\n",
		words.Number(100*o.Margin), o.Machine, o.Kernel, words.Count(o.Blocks, "block"), o.DurationS, o.StartedAt, o.Refused, o.Trials, o.Lab, o.Seed)
	for _, n := range o.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	text, fence := strict.Lines(b.String()), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + fence
}

package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// The columns of a report: at the most, whatever a terminal has, and at the least.
const (
	widest      = 100
	narrowest   = 60
	levelColumn = 7
	aboutColumn = 13 // or more, for longer names
	aboutMost   = 24
)

// Print writes summary and findings for a reader, as wide as the terminal is: first how much
// can be decided, then what prevents or disturbs it, the worst first, and last what is
// in order. Of each finding the first line says what was seen, and those below it what
// it means and how to mend it. A command to type is never broken over lines.
func Print(w io.Writer, fs []Finding, summary []string) error {
	width := widest
	if has := terminal.Columns(w); has > 0 {
		width = min(width, max(has, narrowest))
	}
	var b strings.Builder
	for _, s := range summary {
		b.WriteString(strings.Join(terminal.Wrap(s, width-2), "\n  ") + "\n")
	}
	if len(summary) > 0 {
		b.WriteString("\n")
	}
	about := aboutColumn
	for _, f := range fs {
		about = max(about, min(len(f.About)+2, aboutMost))
	}
	left := levelColumn + about
	column := func(head, text string) {
		for _, line := range terminal.Wrap(text, width-left) {
			fmt.Fprintf(&b, "%-*s%s\n", left, head, line)
			head = ""
		}
	}
	for _, f := range inOrder(fs) {
		column(fmt.Sprintf("%-*s%-*s ", levelColumn, f.Level, about-1, f.About), f.Seen)
		if f.Means != "" {
			column("", f.Means)
		}
		if f.Mend != "" {
			fmt.Fprintf(&b, "%*sto mend it: %s\n", left, "", f.Mend)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inOrder puts faults first, then what spoils every trial, then the other limits.
func inOrder(fs []Finding) []Finding {
	rank := func(f Finding) int {
		switch {
		case f.Level == Fault:
			return 0
		case f.Level == Limit && f.Spoils:
			return 1
		case f.Level == Limit:
			return 2
		}
		return 3
	}
	return slices.SortedStableFunc(slices.Values(fs), func(a, b Finding) int { return rank(a) - rank(b) })
}

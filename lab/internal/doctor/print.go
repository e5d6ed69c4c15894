package doctor

import (
	"fmt"
	"io"
	"strings"
)

// Width is the largest number of columns of a report.
const Width = 100

const (
	levelColumn = 7
	aboutColumn = 13
)

// Print writes findings and summary for a reader: what was seen in the first
// line, below it what it means and how to mend it. A command to type is never
// broken over lines.
func Print(w io.Writer, fs []Finding, summary []string) error {
	var b strings.Builder
	for _, f := range fs {
		column(&b, fmt.Sprintf("%-*s%-*s", levelColumn, f.Level, aboutColumn, f.About), f.Seen)
		if f.Means != "" {
			column(&b, "", f.Means)
		}
		if f.Mend != "" {
			fmt.Fprintf(&b, "%*sto mend it: %s\n", levelColumn+aboutColumn, "", f.Mend)
		}
	}
	if len(summary) > 0 {
		b.WriteString("\n")
	}
	for _, s := range summary {
		for i, line := range wrap(s, Width-2) {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func column(b *strings.Builder, head, text string) {
	const left = levelColumn + aboutColumn
	for _, line := range wrap(text, Width-left) {
		fmt.Fprintf(b, "%-*s%s\n", left, head, line)
		head = ""
	}
}

// wrap breaks a text between words. A word longer than the width stays whole.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

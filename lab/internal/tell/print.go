package tell

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

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

// inline is text of others within a line of Markdown.
func inline(text string) string {
	const longest = 1000 // letters that are shown
	if harmless.MatchString(text) && !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return text
	}
	// In a table a cell ends at each of these, also within code.
	return strings.ReplaceAll(strict.Markdown(text, longest), "|", `\u007c`)
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

package tell

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Fact is something that was asked, or what it was measured on.
type Fact struct{ Name, Says string }

// Facts are what to know of a comparison besides its figures.
func Facts(o *compare.Outcome) []Fact {
	loop := "as fast as it goes"
	if o.RateRPS > 0 {
		loop = words.Grouped(float64(o.RateRPS), 0) + " requests a second"
	}
	load := fmt.Sprintf("%s, %s, %d in flight on each", loop, words.Count(o.Connections, "connection"), o.Pipelining)
	if o.LineRateBps > 0 {
		load += fmt.Sprintf(", over a wire of %s Mbit/s", words.Grouped(o.LineRateBps/1e6, 0))
	}
	facts := []Fact{{"typed", o.Typed}, {"path", o.Path}, {"load", load}}
	for _, m := range o.Servers {
		facts = append(facts, Fact{m.Name, cmp.Or(m.URL, strings.Join(m.Command, " "))})
	}
	machine := o.Machine
	if o.Kernel != "" {
		machine += ", Linux " + o.Kernel
	}
	if o.ClientCPUs != "" {
		machine += fmt.Sprintf("; servers on CPU %s, client on CPU %s", cmp.Or(o.ServerCPUs, o.ClientCPUs), o.ClientCPUs)
	}
	return append(facts, Fact{"machine", machine}, Fact{"measured", Measured(o)},
		Fact{"margin", words.Number(100*o.Margin) + " %"}, Fact{"lab", fmt.Sprintf("%s, seed %d", o.Lab, o.Seed)})
}

// Measured says how much was measured, and when.
func Measured(o *compare.Outcome) string {
	return fmt.Sprintf("%s in %.0f s, %s; gates refused %d of %d trials", words.Count(o.Blocks, "block"), o.DurationS,
		cmp.Or(o.StartedAt, "at no time"), o.Refused, o.Trials)
}

// harmless is text that means nothing in Markdown.
var harmless = regexp.MustCompile(`^[A-Za-z0-9 .,;:%×−–µ'()/+-]*$`)

// inline is text of others within a line of Markdown.
func inline(text string) string {
	if harmless.MatchString(text) && !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return text
	}
	// In a table a cell ends at each of these, also within code.
	return strings.ReplaceAll(strict.Markdown(text, longest), "|", `\u007c`)
}

// longest is how many letters of one text are shown.
const longest = 1000

// Markdown is a comment for a pull request: the verdict, a table, and the rest folded. Nothing in
// it that others wrote is markup.
func Markdown(o *compare.Outcome) string {
	var b strings.Builder
	for i, c := range o.Comparisons {
		fmt.Fprintf(&b, "**%s**\n\n", inline(c.Says))
		if rows := Rows(o, i); len(rows) > 0 {
			fmt.Fprintf(&b, "| | %s over %s | %s | %s |\n|:--|:--|--:|--:|\n", inline(c.Name), inline(c.Base), inline(c.Name),
				inline(c.Base))
			for _, r := range rows {
				of := r.Words
				if r.Ratio != nil {
					of = r.Ratio.String()
				}
				unit := strings.TrimSpace(r.Unit)
				if unit != "" {
					unit = ", " + unit
				}
				fmt.Fprintf(&b, "| %s%s | %s | %s | %s |\n", inline(r.Label()), unit, inline(of), inline(r.Other), inline(r.Base))
			}
			fmt.Fprintf(&b, "\n%s\n\n", inline(Bound(o.Servers[0], o.Servers[i+1])))
		}
	}
	for _, t := range Tables(o) {
		fmt.Fprintf(&b, "**%s**\n\n| %s |\n|%s\n", inline(t.Name), strings.Join(t.Head, " | "), strings.Repeat(":--|", len(t.Head)))
		for _, row := range t.Rows {
			cells := make([]string, len(t.Head)) // a refused point has fewer
			for i, cell := range row {
				cells[i] = inline(cell)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		fmt.Fprintf(&b, "\n%s\n\n", inline(t.Says))
	}
	var details strings.Builder
	for _, f := range Facts(o) {
		fmt.Fprintf(&details, "%s: %s\n", f.Name, f.Says)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&details, "note: %s\n", n)
	}
	text := strict.Lines(details.String())
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(&b, "<details><summary>%s, asked of %s</summary>\n\n%stext\n%s%s\n\n</details>\n",
		words.Count(o.Blocks, "block"), words.Count(len(o.Servers), "server"), fence, text, fence)
	return b.String()
}

// A Badge is JSON for the endpoint of shields.io.
type Badge struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
}

// BadgeOf says the verdicts and nothing beyond them.
func BadgeOf(o *compare.Outcome) Badge {
	b := Badge{SchemaVersion: 1, Label: "CPU a request", Color: "brightgreen"}
	var says []string
	rank := map[string]int{"brightgreen": 0, "lightgrey": 1, "orange": 2, "red": 3}
	for _, c := range o.Comparisons {
		color := "lightgrey"
		switch {
		case c.Above == compare.AboveYes:
			color = "red"
		case c.Verdict == compare.Dearer:
			color = "orange"
		case c.Verdict == compare.Same || c.Verdict == compare.Cheaper:
			color = "brightgreen"
		}
		if rank[color] > rank[b.Color] {
			b.Color = color
		}
		brief := c.Brief(o.Margin)
		if len(o.Comparisons) > 1 {
			brief = c.Name + ": " + brief
		}
		says = append(says, brief)
	}
	b.Message = strings.Join(says, "; ")
	return b
}

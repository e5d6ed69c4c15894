package tell

import (
	"bytes"
	"cmp"
	_ "embed" // the template
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Fact is something that was asked, or what it was measured on.
type Fact struct{ Name, Says string }

// Facts are what to know of a comparison besides its figures.
func Facts(o *compare.Outcome) []Fact {
	machine := o.Machine
	if o.Kernel != "" {
		machine += ", Linux " + o.Kernel
	}
	if o.ClientCPUs != "" {
		machine += fmt.Sprintf("; servers on CPU %s, client on CPU %s", cmp.Or(o.ServerCPUs, o.ClientCPUs), o.ClientCPUs)
	}
	load := fmt.Sprintf("%s, %d in flight on each", words.Count(o.Connections, "connection"), o.Pipelining)
	if o.Protocol != "" {
		load += ", " + o.Protocol
	}
	load += fmt.Sprintf("; margin %s %%", words.Number(100*o.Margin))
	return []Fact{{"typed", o.Typed}, {"load", load}, {"machine", machine},
		{"measured", fmt.Sprintf("%s in %.0f s, %s; faults refused %d of %d trials", words.Count(o.Blocks, "block"),
			o.DurationS, cmp.Or(o.StartedAt, "at no time"), o.Refused, o.Trials)},
		{"lab", fmt.Sprintf("%s, seed %d", o.Lab, o.Seed)}}
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

//go:embed comment.tmpl
var commentText string

var comment = template.Must(template.New("comment").Funcs(template.FuncMap{"inline": inline, "fenced": fenced,
	"rows": Rows, "tables": Tables, "bound": bound, "count": words.Count}).Parse(commentText))

// Markdown is a comment for a pull request: the verdict, a table, and the rest folded. Nothing in
// it that others wrote is markup.
func Markdown(o *compare.Outcome) ([]byte, error) {
	var b bytes.Buffer
	err := comment.Execute(&b, o)
	return b.Bytes(), err
}

// fenced is what was asked and what to know, as lines of code.
func fenced(o *compare.Outcome) string {
	var lines strings.Builder
	for _, f := range Facts(o) {
		fmt.Fprintf(&lines, "%s: %s\n", f.Name, f.Says)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(&lines, "note: %s\n", n)
	}
	text, fence := strict.Lines(lines.String()), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + fence
}

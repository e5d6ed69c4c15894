package judge

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A column is what a table's column has, as far as its head says.
type column struct {
	head    string
	figure  law.Figure
	unit    string // that the head gives; empty: none
	doubt   string // why it may be another figure; empty: its head says which it is
	guessed bool   // its cells have no unit
	unread  int    // cells that are no such figure
}

// What a column has that is no figure.
const (
	unused law.Figure = -1 - iota
	names             // of rows
	due               // a rate that is kept, so that latencies begin when a request was due
)

// known tells whether a column has a figure.
func (c *column) known() bool { return c.figure >= 0 }

func (c *column) latency() bool { return c.figure.Unit() == metric.Second && c.figure != law.Duration }

// same tells whether two columns would have one figure.
func (c *column) same(o column) bool { return c.figure == o.figure }

// A head is a way to name a figure in a table's head; tools.toml has all.
type head struct {
	Figure, Called, Doubt string
	called                *regexp.Regexp
}

// later compiles a pattern when it is first needed: every call of linerate and the lab would pay for it else.
func later(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	inside = later(`[\[(]([^\])]*)[\])]`)
	better = later(`(?i)(higher|lower|more|less) is better|[↑↓*]`)
	// needed is what looks like a unit at the end, and is none: "requests per s", "99 %", "latency min".
	needed  = later(`((per|requests|/) \S+|\d %| min)$`)
	decimal = later(`(\d)_(\d)`)
)

// columnOf reads a head: "p99 latency (ms)", "Latency (avg, ms)", "latency_p99_us", "Req/s", "totalRequests".
func columnOf(text string) column {
	c := column{head: text}
	text = spaced(inside().ReplaceAllStringFunc(better().ReplaceAllString(text, ""), func(within string) string {
		rest := " "
		for part := range strings.SplitSeq(within[1:len(within)-1], ",") {
			part = strings.ToLower(strings.TrimSpace(part))
			if _, ok := law.UnitOf(part); ok && c.unit == "" {
				c.unit = part
			} else {
				rest += part + " "
			}
		}
		return rest
	}))
	at := strings.LastIndexByte(text, ' ')
	switch u, ok := law.UnitOf(text[at+1:]); {
	case c.unit != "" || !ok:
	case at < 0 && (u.Of == metric.BytesPerSecond || u.Of == metric.BitsPerSecond):
		c.unit, text = text, "transfer"
	case at > 0 && u.Of != metric.Count && u.Of != metric.PerSecond && !needed().MatchString(text):
		c.unit, text = text[at+1:], text[:at]
	}
	unit, _ := law.UnitOf(c.unit)
	for _, h := range tools().Heads {
		m := h.called.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		switch c.figure, _ = law.FigureOf(h.Figure); h.Figure {
		case "due":
			c.figure = due
		case "quantile":
			c.figure, _ = law.FigureOf("p" + cmp.Or(strings.Join(m[1:], ""), "50"))
		}
		if h.Doubt != "" {
			c.doubt = c.head + " " + h.Doubt
		}
		if c.figure == due || c.unit == "" || fits(unit.Of, c.figure) > 0 {
			return c
		}
		c.doubt = ""
	}
	return column{head: c.head, figure: unused}
}

// spaced gives a head's words in lower case: of "latency_p99", "totalRequests", "Req/Sec".
func spaced(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range decimal().ReplaceAllString(text, "$1.$2") {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		case strings.ContainsRune("_:,-`#", r) || r == '.' && !unicode.IsDigit(last):
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// columnsOf reads a table's heads. Of two columns that would have the same figure, the first has it whose head leaves
// no doubt, unless they add up. What stands before the first figure names the rows.
func columnsOf(heads []string) []column {
	var all []column
	for _, head := range heads {
		c := columnOf(head)
		at := slices.IndexFunc(all, c.same)
		switch {
		case !c.known() || at < 0 || c.figure.Adds():
		case all[at].doubt != "" && c.doubt == "":
			all[at] = column{head: all[at].head, figure: unused}
		default:
			c = column{head: head, figure: unused}
		}
		all = append(all, c)
	}
	for i := 0; i < len(all) && all[i].figure == unused; i++ {
		all[i].figure = names
	}
	return all
}

// known is how many columns have figures.
func known(columns []column) int {
	return strict.Count(columns, func(c column) bool { return c.known() })
}

// fits tells how many of a figure's base unit one of another is; 0 if it cannot be printed in it.
func fits(of metric.Unit, in law.Figure) float64 {
	want := in.Unit()
	switch {
	case of == want,
		of == metric.Ratio && in == law.Busy, // a share is one of a core
		of == metric.Count && (want == metric.PerSecond || want == metric.BytesPerSecond || want == metric.Bytes), // "12k"
		of == metric.Bytes && want == metric.BytesPerSecond:                                                       // of a head such as "transfer/s"
		return 1
	case of == metric.BitsPerSecond && want == metric.BytesPerSecond:
		return 1.0 / 8
	}
	return 0
}

package judge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// A column is what a table's column has, as far as its head says.
type column struct {
	head     string
	is       use
	figure   law.Figure
	share    float64 // of a quantile
	unit     string  // that the head gives; empty: none
	guessed  string  // what cells without a unit were taken for
	unread   int     // cells that are no such figure
	quantity metric.Unit
	doubt    string // why it may be another figure; empty: its head says which it is
}

// A use is what a column is for.
type use int

const (
	unused use = iota
	names      // of rows
	due        // a rate that is kept, so that latencies begin when a request was due
	figure
	quantile
)

// A head is a way to name a figure in a table's head.
type head struct {
	Figure, Called string
	Doubt          string // why what is called so may be another figure
	called         *regexp.Regexp
}

// later compiles a pattern when it is first needed: every call of linerate and the lab would pay for it else.
func later(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	nth    = later(`(?:^|\b)(?:p ?(\d{1,5}(?:\.\d+)?)|(\d{1,2}(?:\.\d+)?) ?(?:th|st|nd|rd|%|pct|percentile)(?: percentile)?|percentiles? ?(\d{1,3}(?:\.\d+)?)|(median|med|p med))(?:\b|\s|$)`)
	inside = later(`[\[(]([^\])]*)[\])]`)
	better = later(`(?i)(higher|lower|more|less) is better|[↑↓]`)
	named  = later(`^(?:(name|framework|server|tool|language|implementation|variant|config(uration)?|case|test|profile|title|id|label|run)( name| id)?)$`)
	// needed is what looks like a unit at the end, and is none: "requests per s", "99 %".
	needed  = later(`((per|requests|/) \S+|\d %)$`)
	kept    = later(`^(?:(target|offered|requested|attempted|set|arrival) (rate|rps|qps|load|throughput)( rps)?)$`)
	decimal = later(`(\d)_(\d)`)
	// ofLatency is what may stand beside the number of a quantile of latency.
	ofLatency = later(`^( |latenc(y|ies)|lat|resp(onse)?|times?|delay|duration|http|req(uest)?s?|total|overall|e2e|` +
		`results?|metrics?|summary|stats?|values?|figures|percentiles?|quantiles?|distribution|line)*$`)
)

// columnOf reads a head: "p99 latency (ms)", "Latency (avg, ms)", "latency_p99_us", "Req/s", "totalRequests".
func columnOf(head string) column {
	c := column{head: head}
	text := spaced(inside().ReplaceAllStringFunc(better().ReplaceAllString(head, ""), func(within string) string {
		var rest []string
		for part := range strings.SplitSeq(within[1:len(within)-1], ",") {
			part = strings.ToLower(strings.TrimSpace(part))
			if _, ok := units()[part]; ok && c.unit == "" {
				c.unit = part
			} else {
				rest = append(rest, part)
			}
		}
		return " " + strings.Join(rest, " ") + " "
	}))
	if at := strings.LastIndexByte(text, ' '); c.unit == "" {
		u, ok := units()[text[at+1:]]
		switch {
		case at < 0 && (u.of == metric.BytesPerSecond || u.of == metric.BitsPerSecond):
			c.unit, text = text, "transfer"
		case at > 0 && ok && u.of != metric.Count && u.of != metric.PerSecond && !needed().MatchString(text):
			c.unit, text = text[at+1:], text[:at]
		}
	}
	if all := nth().FindAllStringSubmatch(text, 2); len(all) > 0 && !strings.Contains(text, "xx") {
		m := all[0]
		if len(all) > 1 || !ofLatency().MatchString(strings.Replace(text, m[0], " ", 1)) {
			return column{head: head}
		}
		c.is, c.quantity, c.share = quantile, metric.Second, 0.5
		for _, digits := range m[1:4] {
			if v, err := strconv.ParseFloat(digits, 64); err == nil {
				if v >= 100 && !strings.Contains(digits, ".") && digits != "100" { // p999
					v, _ = strconv.ParseFloat(digits[:2]+"."+digits[2:], 64)
				}
				c.share = v / 100
			}
		}
		if c.share > 0 && c.share <= 1 {
			return c
		}
		return column{head: head}
	}
	if kept().MatchString(text) {
		c.is = due
		return c
	}
	for _, h := range tools().Heads {
		f := groups[h.Figure]
		_, fit := fits(units()[c.unit].of, law.Units[f], f == law.Busy)
		if h.called.MatchString(text) && (c.unit == "" || fit) {
			c.is, c.figure, c.quantity = figure, f, law.Units[f]
			if h.Doubt != "" {
				c.doubt = head + " " + h.Doubt
			}
			return c
		}
	}
	if named().MatchString(text) {
		c.is = names
	}
	return c
}

// spaced gives a head's words in lower case: of "latency_p99", "totalRequests", "Req/Sec".
func spaced(text string) string {
	var b strings.Builder
	text = decimal().ReplaceAllString(text, "$1.$2")
	var last rune
	for _, r := range text {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		case r == '_' || r == ':' || r == ',' || r == '-' || r == '*' || r == '`' || r == '#' || r == '.' && !unicode.IsDigit(last):
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// columnsOf reads a table's heads. Of two columns that would have the same figure, the first has it whose head leaves
// no doubt. Failures add up.
func columnsOf(heads []string) []column {
	var all []column
	for _, head := range heads {
		c := columnOf(head)
		adds := c.is == figure && (c.figure == law.Bad || c.figure == law.Fails || c.figure == law.Good)
		at := slices.IndexFunc(all, func(o column) bool { return o.is == c.is && o.figure == c.figure && o.share == c.share })
		switch {
		case c.is <= due || adds || at < 0:
		case all[at].doubt != "" && c.doubt == "":
			all[at] = column{head: all[at].head}
		default:
			c = column{head: head}
		}
		all = append(all, c)
	}
	if len(all) > 0 && all[0].is == unused && !slices.ContainsFunc(all, func(c column) bool { return c.is == names }) {
		all[0].is = names
	}
	return all
}

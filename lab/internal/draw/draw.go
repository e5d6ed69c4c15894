// Package draw makes the figures of pages as SVG: plain structs in, a fragment of HTML out.
//
// Text keeps its size on every screen. So places across are shares of the width: a chart is a
// thousand units wide, and letter is the room of one letter on the narrowest screen, where 320
// pixels are the width. Strokes are drawn in a nested svg that is stretched to the width.
// Pictures of panels are drawn for 328 units and scaled as a whole.
//
// Colours come from the page's style sheet by class, and each mark has a shape of its own, so
// that nothing is shown by colour alone. Each drawing has a title and a description.
package draw

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Frame has what every chart has: the id of its element, its name, its figures as a
// sentence, and the words at its axis across.
type Frame struct {
	ID, Title, Desc, XLabel string
}

// Group has the rows under one name, which may be empty.
type Group[R any] struct {
	Name string
	Rows []R
}

// Figure is a metric's median with its interval; a missing part is nil. Below is a limit, of a
// figure that is known only to be less.
type Figure struct {
	Median, Low, High, Below *float64
}

// Most is the largest value that a figure needs room for.
func (f Figure) Most() float64 { return known(f.High, f.Median, f.Below) }

// Value is the median, or else the limit.
func (f Figure) Value() float64 { return known(f.Median, f.Below) }

// known is the first value that is there, or 0.
func known(all ...*float64) float64 {
	if v := cmp.Or(all...); v != nil {
		return *v
	}
	return 0
}

// whisker reports whether the figure has an interval with a width.
func (f Figure) whisker() bool { return f.Low != nil && f.High != nil && *f.Low != *f.High }

// letter is one letter's room on the narrowest screen, in thousandths of the width.
const letter = 21.5

// A pen writes a drawing.
type pen struct{ strings.Builder }

func (p *pen) add(format string, args ...any) { fmt.Fprintf(p, format, args...) }
func (p *pen) ln(format string, args ...any)  { fmt.Fprintf(p, "\n"+format, args...) }

// path draws a stroke.
func (p *pen) path(class, d string) {
	p.add(`<path class="%s" fill="none" stroke="currentColor" d="%s"/>`, class, d)
}

// open begins a chart of so many pixels in height, with its name and description.
func (p *pen) open(f Frame, class string, height int) {
	p.ln(`<svg width="100%%" height="%d" class="%s" role="img" aria-labelledby="%s-t %s-d">`, height, class, f.ID, f.ID)
	p.named(f.ID, f.Title, f.Desc)
}

// named writes a drawing's name and description.
func (p *pen) named(id, title, desc string) {
	p.ln(`<title id="%s-t">%s</title>`, id, esc(title))
	p.ln(`<desc id="%s-d">%s</desc>`, id, esc(desc))
}

// plot begins the nested svg that is stretched to the width.
func (p *pen) plot(height int) {
	p.ln(`<svg viewBox="0 0 1000 %d" preserveAspectRatio="none" class="plot">`, height)
}

// patterns defines the fills of a drawing, each under a name of its own that begins with its id.
func (p *pen) patterns(id, svg string) {
	p.ln("%s", strings.ReplaceAll(strings.TrimSpace(svg), "ID-", id+"-"))
}

// below writes the words at the foot of a chart.
func (p *pen) below(words, x string, y int) {
	p.ln(`<text class="axis" x="%s" y="%d" text-anchor="middle">%s</text>`, x, y, esc(words))
}

func esc(s string) string { return html.EscapeString(s) }

// across is a place in thousandths as SVG writes a share of the width.
func across(px float64) string { return fmt.Sprintf("%.4g%%", px/10) }

// tenth rounds a place to a tenth of a unit.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

func letters(s string) int { return utf8.RuneCountInString(s) }

// cut shortens text to so many letters, at a blank if there is one.
func cut(s string, n int) string {
	if letters(s) <= n {
		return s
	}
	runes := []rune(s)[:n+1]
	head := string(runes[:n])
	if i := strings.LastIndex(string(runes), " "); i > 0 {
		head = string(runes)[:i]
	}
	return strings.TrimRight(head, " ") + " …"
}

// wrap is a name in one line or two of at most n letters: SVG text does not wrap by itself.
func wrap(text string, n int) []string {
	a, b := "", ""
	for _, word := range strings.Split(text, " ") {
		try := strings.TrimSpace(a + " " + word)
		if b == "" && (a == "" || letters(try) <= n) {
			a = try
		} else {
			b = strings.TrimSpace(b + " " + word)
		}
	}
	if b == "" {
		return []string{cut(a, n)}
	}
	return []string{cut(a, n), cut(b, n)}
}

// A mark is the sign of a series. Shapes differ, so that nothing is shown by colour alone.
var shapes = [5]string{2: "M0-5l5 9h-10z", 3: "M0-5l5 5-5 5-5-5z", 4: "M0 5l5-9h-10z"}

func mark(series int, open bool, x, y float64) string {
	is := ""
	if open {
		is = " open"
	}
	switch k := series % 5; k {
	case 0:
		return fmt.Sprintf(`<circle class="mark s0%s" cx="%.4g%%" cy="%v" r="4"/>`, is, x/10, y)
	case 1:
		return fmt.Sprintf(`<rect class="mark s1%s" x="%.4g%%" y="%v" width="8" height="8" transform="translate(-4)"/>`,
			is, x/10, y-4)
	default:
		return fmt.Sprintf(`<svg class="mark s%d%s" x="%.4g%%" y="%v" overflow="visible"><path d="%s"/></svg>`,
			k, is, x/10, y, shapes[k])
	}
}

// step is a round part of a span, of which about n make the whole: 1, 2 or 5 times a power of
// ten.
func step(span, n float64) float64 {
	raw := span / n
	pow := math.Pow(10, math.Floor(1e-9+math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw/pow <= m {
			return m * pow
		}
	}
	return 10 * pow
}

// A tick is a value written at an axis.
type tick struct {
	px   float64
	text string
}

// An axis says where values lie: px = at + by × value, or × its logarithm.
type axis struct {
	at, by float64
	log    bool
	cut    bool // whether it starts above zero
	places int  // digits after the point of its ticks
	ticks  []tick
}

func (a axis) px(v float64) float64 {
	if a.log {
		v = math.Log(v)
	}
	return tenth(a.at + a.by*v)
}

// span is an axis from one value to another, without ticks. One value alone is in its middle.
func span(from, to, start, end float64, log bool) axis {
	a := axis{log: log}
	if log {
		from, to = math.Log(from), math.Log(to)
	}
	if to <= from {
		return axis{at: (start + end) / 2}
	}
	a.by = (end - start) / (to - from)
	a.at = start - a.by*from
	return a
}

// linear lays out an axis from zero; where it may be cut, it starts higher if all values are in
// its upper half. Its ticks are values times a factor.
func linear(lo, hi, factor, start, end float64, mayCut bool) axis {
	lo, hi = lo*factor, hi*factor
	if hi <= 0 {
		hi = 1
	}
	cut := mayCut && lo > 0.5*hi
	whole := hi
	if cut {
		whole = max(hi-lo, 0.02*hi)
	}
	by := step(whole, 4)
	first := 0.0
	if cut {
		first = math.Floor(lo / by)
	}
	// A figure slightly above the last tick is drawn above it; the axis gets no further step.
	last := max(math.Ceil(hi/by-0.03), first+1)
	a := span(by*first/factor, by*last/factor, start, end, false)
	a.cut, a.places = cut, int(max(0, -math.Floor(1e-9+math.Log10(by))))
	for i := first; i <= last; i++ {
		text := "0"
		if i != 0 {
			text = words.Grouped(by*i, -a.places)
		}
		a.ticks = append(a.ticks, tick{a.px(by * i / factor), text})
	}
	return a
}

// decades lays out a log axis that ends at values of 1, 2 or 5 times a power of ten.
func decades(lo, hi, factor, start, end float64) axis {
	var round []float64
	for pow := math.Pow(10, math.Floor(math.Log10(lo*factor))); len(round) == 0 || round[len(round)-1] < hi*factor; pow *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := m * pow; 2.5*v > lo*factor && (len(round) == 0 || round[len(round)-1] < hi*factor) {
				round = append(round, v)
			}
		}
	}
	a := span(round[0]/factor, round[len(round)-1]/factor, start, end, true)
	for _, v := range round {
		a.ticks = append(a.ticks, tick{a.px(v / factor), words.Grouped(v, int(min(0, math.Floor(1e-9+math.Log10(v)))))})
	}
	return a
}

// logarithmic lays out an axis of ratios, with room at its ends. It has 1 on it, and other round
// ratios where they have room.
func logarithmic(lo, hi, start, end float64) axis {
	lo, hi = min(lo, 1), max(hi, 1)
	if hi/lo < 1.02 {
		lo, hi = lo*0.98, hi*1.02
	}
	pad := math.Pow(hi/lo, 0.08)
	lo, hi = lo/pad, hi*pad
	a := span(lo, hi, start, end, true)
	a.ticks = []tick{{a.px(1), "1"}}
	var round []float64
	if hi/lo <= 3 {
		by := step(hi-lo, 6)
		for i := math.Ceil(lo / by); i <= math.Floor(hi/by); i++ {
			round = append(round, i*by)
		}
	} else {
		by := 2.0
		for ; math.Log(hi/lo) > 6*math.Log(by); by *= 2 {
		}
		for v := by; v < max(hi, 1/lo); v *= by {
			round = append(round, 1/v, v)
		}
	}
	for _, v := range round {
		t := tick{a.px(v), strconv.FormatFloat(v, 'g', 4, 64)}
		near := func(o tick) bool { return math.Abs(t.px-o.px) < 11.5*float64(2+len(t.text)+len(o.text)) }
		if v >= lo && v <= hi && t.px < 970 && !slices.ContainsFunc(a.ticks, near) {
			a.ticks = append(a.ticks, t)
		}
	}
	return a
}

// Box is a figure around one or more charts, with its caption. Several stand side by side where
// there is room, unless they are stacked.
func Box(id, title, note string, charts []string, stacked bool) string {
	p := &pen{}
	p.caption("chartbox", id, title, note)
	side := len(charts) > 1 && !stacked
	if side {
		p.WriteString(`<div class="multiples">`)
	}
	for _, c := range charts {
		p.WriteString(c)
	}
	if side {
		p.WriteString("</div>")
	}
	p.WriteString("\n</figure>\n")
	return p.String()
}

func (p *pen) caption(class, id, title, note string) {
	p.add("<figure id=\"figure-%s\" class=\"%s\">\n<figcaption><a href=\"#figure-%s\">%s</a>", id, class, id, esc(title))
	if note != "" {
		p.add(" <span>%s</span>", esc(note))
	}
	p.WriteString("</figcaption>\n")
}

// Named is one of several small charts, under the name of its run.
func Named(name, chart string) string {
	return `<div class="multiple"><p>` + esc(name) + "</p>" + chart + "</div>\n"
}

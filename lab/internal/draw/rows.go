package draw

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// lineRoom is how many letters fit on a line of the narrowest screen.
const lineRoom = 43

// Rows lie one below the other, each with its label on the left and its figure on the right, and
// its marks under them. A label that would touch the figure gets a second line.
type rows struct {
	axis
	top, y int
	short  bool // whether figures are in short, since not all have room in full
	// What is under the words is stretched to the width, as is what lies over them.
	under, words, over pen
}

// crowd makes figures short if one has no room beside its label.
func (r *rows) crowd(label, text string) {
	r.short = r.short || letters(label)+letters(text) > lineRoom
}

func (r *rows) group(name string) {
	if name != "" {
		r.words.ln(`<text class="group" y="%d">%s</text>`, r.y+15, esc(cut(name, 44)))
		r.y += 24
	}
}

// head writes the words of a row; its marks are below them.
func (r *rows) head(label, text, short string) {
	if r.short {
		text = short
	}
	r.words.ln(`<text class="over value" x="100%%" y="%d" text-anchor="end">%s</text>`, r.y+14, esc(text))
	for _, line := range wrap(label, lineRoom-letters(text)) {
		r.words.add(`<text class="over" y="%d">%s</text>`, r.y+14, esc(line))
		r.y += 16
	}
}

// chart draws the rows, with the lines and the words of their axis.
func (r *rows) chart(f Frame, defs string) string {
	p := &pen{}
	p.open(f, "chart strip", r.y+44)
	p.WriteString(defs)
	p.plot(r.y + 44)
	grid := ""
	for _, t := range r.ticks {
		grid += fmt.Sprintf("M%v %dV%d", t.px, r.top, r.y)
	}
	p.path("grid", grid)
	p.add("%s</svg>\n<g class=\"tick\" text-anchor=\"middle\">", r.under.String())
	for _, t := range r.ticks {
		anchor := ""
		switch {
		case t.px < 9*float64(len(t.text)): // its half would leave the drawing
			anchor = ` text-anchor="start"`
		case t.px > 970:
			anchor = ` text-anchor="end"`
		}
		p.add(`<text x="%s" y="%d"%s>%s</text>`, across(t.px), r.y+17, anchor, t.text)
	}
	p.add("</g>")
	p.below(f.XLabel, "50%", r.y+38)
	p.WriteString(r.words.String())
	if r.over.Len() > 0 {
		p.plot(r.y + 44)
		p.path("bar ink", r.over.String())
		p.add("</svg>")
	}
	p.add("\n</svg>\n")
	return p.String()
}

// interval is the path of a bar with two ends.
func interval(from, to float64, y int) string {
	return fmt.Sprintf("M%v %dH%vM%v %dv8M%v %dv8", from, y, to, from, y-4, to, y-4)
}

// Bars begin at zero, one for each level of a factor, with whiskers for intervals: hollow if a
// figure is a published single run, hatched if the client was the wall, dashed if a figure is
// only known to be less.
type Bars struct {
	Frame
	Groups []Group[Bar]
	// Hi is the largest value, and Factor is from the base unit to the axis.
	Hi, Factor float64
	// Wall is a line down, with its words; 0 for none.
	Wall      float64
	WallWords string
}

// Bar is one figure, with its text in full and in short.
type Bar struct {
	Figure
	Label, Text, Short string
	Open, Client       bool
}

// hatched is the pattern of a bar in which the client was the wall.
const hatched = `<defs>
<pattern id="%s-client" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<path class="hatch s0" stroke="currentColor" d="M3 0v6"/></pattern></defs>`

// SVG draws the bars.
func (b Bars) SVG() string {
	r := &rows{axis: linear(0, max(b.Hi, b.Wall), b.Factor, 3, 960, false), top: 4, y: 4}
	if b.Wall > 0 {
		r.top, r.y = 20, 20
		r.words.ln(`<text class="walltext" x="100%%" y="14" text-anchor="end">%s</text>`, esc(b.WallWords))
	}
	defs := ""
	for _, g := range b.Groups {
		for _, bar := range g.Rows {
			r.crowd(bar.Label, bar.Text)
			if bar.Client && defs == "" {
				defs = fmt.Sprintf(hatched, b.ID)
			}
		}
	}
	for _, g := range b.Groups {
		r.group(g.Name)
		for _, bar := range g.Rows {
			r.head(bar.Label, bar.Text, bar.Short)
			wide, class := across(r.px(bar.Value())-3), ""
			switch {
			case bar.Median == nil:
				class = " below"
			case bar.Open:
				class = " open"
			case bar.Client:
				class = " client"
			}
			const block = `<rect class="block%s" stroke="currentColor" x="0.3%%" y="%d" width="%s" height="15"/>`
			r.words.add(block, class, r.y+5, wide)
			if bar.Client {
				r.words.add(`<rect x="0.3%%" y="%d" width="%s" height="15" fill="url(#%s-client)"/>`, r.y+5, wide, b.ID)
			}
			if bar.whisker() {
				r.over.WriteString(interval(r.px(*bar.Low), r.px(*bar.High), r.y+12))
			}
			r.y += 26
		}
	}
	if b.Wall > 0 {
		r.under.path("wall", fmt.Sprintf("M%v %dV%d", r.px(b.Wall), r.top, r.y))
	}
	return r.chart(b.Frame, defs)
}

// Dots show every trial of a run, one strip per condition, over its median and interval. Within
// a strip the blocks go downwards, so that dots do not overlap at random, and a drift over the
// run shows as a slope. Trials that do not count are crosses, and trials in which the client was
// the wall are hollow. A dot is a stroke of no length, so it stays round when its drawing is
// stretched.
type Dots struct {
	Frame
	Rows []Strip
	// Lo and Hi are the ends of all trials, and Factor is from the base unit to the axis.
	Lo, Hi, Factor float64
	Blocks         int
}

// Strip is one condition, or its control, which has no figure.
type Strip struct {
	Figure
	Label, Text, Short string
	Control            bool
	Trials             []Dot
}

// Valid is how many of its trials count.
func (s Strip) Valid() int { return strict.Count(s.Trials, func(t Dot) bool { return t.Valid }) }

// Dot is one trial.
type Dot struct {
	Block         int
	V             float64
	Valid, Client bool
}

// SVG draws the dots.
func (d Dots) SVG() string {
	r := &rows{axis: linear(d.Lo, d.Hi, d.Factor, 40, 950, true), top: 4, y: 4}
	for _, s := range d.Rows {
		r.crowd(s.Label, s.Text)
	}
	down := 16 / float64(max(1, d.Blocks-1))
	for _, s := range d.Rows {
		r.head(s.Label, s.Text, s.Short)
		var dots, holes strings.Builder
		for _, t := range s.Trials {
			x, y := r.px(t.V), tenth(float64(r.y)+9+down*float64(t.Block-1))
			switch {
			case !t.Valid:
				r.words.add(`<svg class="dot" x="%s" y="%v" overflow="visible">`, across(x), y)
				r.words.path("void", "M-3.5-3.5l7 7m0-7l-7 7")
				r.words.add("</svg>")
				continue
			case t.Client:
				fmt.Fprintf(&holes, "M%v %vh0", x, y)
			}
			fmt.Fprintf(&dots, "M%v %vh0", x, y)
		}
		class := ""
		if s.Control {
			class = " control"
		}
		r.under.ln(`<g class="dot%s" fill="none" stroke="currentColor" stroke-linecap="round"><path d="%s"/>`,
			class, dots.String())
		if holes.Len() > 0 {
			r.under.add(`<path class="hole" d="%s"/>`, holes.String())
		}
		r.under.add("</g>")
		if s.Median != nil {
			if s.Low != nil && s.High != nil {
				r.under.path("bar ink", interval(r.px(*s.Low), r.px(*s.High), r.y+38))
			}
			r.words.add(`<svg x="%s" y="%d" overflow="visible"><path class="mark ink" d="M0-6l5 6-5 6-5-6z"/></svg>`,
				across(r.px(*s.Median)), r.y+38)
		}
		r.y += 48
	}
	if r.cut {
		d.XLabel += "; not from 0"
	}
	return r.chart(d.Frame, "")
}

package draw

import "fmt"

// Bars begin at zero, one for each level of a factor, with whiskers for intervals: hollow if a
// figure is a published single run, hatched if the client was the wall, dashed if a figure is
// only known to be less.
type Bars struct {
	Frame
	Groups []BarGroup
	// Hi is the largest value, and Factor is from the base unit to the axis.
	Hi, Factor float64
}

// BarGroup has the bars under one name, which may be empty.
type BarGroup struct {
	Name string
	Rows []Bar
}

// Bar is one figure, with its text in full and in short.
type Bar struct {
	Figure
	Label, Text, Short string
	Open, Client       bool
}

// SVG draws the bars.
func (b Bars) SVG() string {
	a := axisOf(0, b.Factor*b.Hi, 3, 960, false)
	by := a.by * b.Factor
	client, whole := false, true
	for _, g := range b.Groups {
		for _, r := range g.Rows {
			client, whole = client || r.Client, whole && letters(r.Label)+letters(r.Text) <= lineRoom
		}
	}
	var rows, whiskers pen
	y := 4
	for _, g := range b.Groups {
		if g.Name != "" {
			rows.ln(`<text class="group" y="%d">%s</text>`, y+15, esc(cut(g.Name, 44)))
			y += 24
		}
		for _, r := range g.Rows {
			if !whole {
				r.Text = r.Short
			}
			h := headOf(r.Label, r.Text)
			rows.add("\n<g>")
			rows.head(h, y)
			at := y + 21 + h.down
			v := 0.0
			for _, f := range []*float64{r.Below, r.Median} {
				if f != nil {
					v = *f
				}
			}
			wide, class := across(a.at+by*v-3), ""
			switch {
			case r.Median == nil:
				class = " below"
			case r.Open:
				class = " open"
			case r.Client:
				class = " client"
			}
			rows.ln(`<rect class="block%s" stroke="currentColor" x="0.3%%" y="%d" width="%s" height="15"/>`, class, at, wide)
			if r.Client {
				rows.add(`<rect x="0.3%%" y="%d" width="%s" height="15" fill="url(#%s-client)"/>`, at, wide, b.ID)
			}
			rows.add("</g>")
			if r.whisker() {
				whiskers.WriteString(interval0(tenth(a.at+by**r.Low), tenth(a.at+by**r.High), at+7))
			}
			y += 42 + h.down
		}
	}
	p := &pen{}
	p.open(b.Frame, "chart strip", y+44)
	if client {
		p.add("<defs>")
		p.pattern(b.ID, "client", 6, 45, `<path class="hatch s0" stroke="currentColor" d="M3 0v6"/>`)
		p.add("</defs>")
	}
	p.grid(a, y)
	p.add("</svg>\n<g class=\"tick\" text-anchor=\"middle\">")
	for i, t := range a.ticks {
		anchor := ""
		if i == 0 {
			anchor = ` text-anchor="start"`
		}
		p.add(`<text x="%s" y="%d"%s>%s</text>`, across(t.px), y+17, anchor, t.text)
	}
	p.add("</g>")
	p.below(b.XLabel, "50%", y+38)
	p.WriteString(rows.String())
	if whiskers.Len() > 0 {
		p.plot(y + 44)
		p.add(`<path class="bar ink" fill="none" stroke="currentColor" d="%s"/></svg>`, whiskers.String())
	}
	p.add("\n</svg>\n")
	return p.String()
}

// interval0 is the path of a whisker over a bar.
func interval0(from, to float64, y int) string {
	return fmt.Sprintf("M%v %dH%vM%v %dv9M%v %dv9", from, y, to, from, y-4, to, y-4)
}

// grid begins the stretched drawing of rows with the lines of their axis.
func (p *pen) grid(a axis, bottom int) {
	p.plot(bottom + 44)
	p.add(`<path class="grid" fill="none" stroke="currentColor" d="`)
	for _, t := range a.ticks {
		p.add("M%v 4V%d", t.px, bottom)
	}
	p.add(`"/>`)
}

// Dots show every trial of a run, one strip per condition, over its median and interval. Within
// a strip the blocks go downwards, so that dots do not overlap at random, and a drift over the
// run shows as a slope. Trials that do not count are crosses, and trials in which the client was
// the wall are hollow. Up to a hundred dots name their block; more are drawn as one path per
// strip. A dot is a stroke of no length, so it stays round when its drawing is stretched.
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
func (s Strip) Valid() (n int) {
	for _, t := range s.Trials {
		if t.Valid {
			n++
		}
	}
	return n
}

// Dot is one trial.
type Dot struct {
	Block         int
	V             float64
	Valid, Client bool
}

// SVG draws the dots.
func (d Dots) SVG() string {
	a := axisOf(d.Factor*d.Lo, d.Factor*d.Hi, 40, 950, true)
	by := a.by * d.Factor
	px := func(v float64) float64 { return tenth(a.at + by*v) }
	n, whole := 0, true
	for _, r := range d.Rows {
		n += len(r.Trials)
		whole = whole && letters(r.Label)+letters(r.Text) <= lineRoom
	}
	each := n <= 100
	down := 16 / float64(max(1, d.Blocks-1))
	var strips, void, heads pen
	y := 4
	for _, r := range d.Rows {
		if !whole {
			r.Text = r.Short
		}
		h := headOf(r.Label, r.Text)
		class := ""
		if r.Control {
			class = " control"
		}
		strips.ln(`<g class="dot%s" fill="none" stroke="currentColor" stroke-linecap="round">`, class)
		var dots, holes pen
		for _, t := range r.Trials {
			x, cy := px(t.V), tenth(float64(y+h.down)+25+down*float64(t.Block-1))
			shown := number(d.Factor*t.V, a.places+1)
			if !t.Valid {
				void.add(`<svg x="%.4g%%" y="%v" overflow="visible"><path class="void" d="M-3.5-3.5l7 7m0-7l-7 7">`, x/10, cy)
				if each {
					void.add("<title>Block %d, not valid: %s</title>", t.Block, shown)
				}
				void.add("</path></svg>")
				continue
			}
			wall := ""
			if t.Client {
				wall = ", the client was the wall"
				holes.add("M%v %vh0", x, cy)
			}
			if each {
				strips.add(`<path d="M%v %vh0"><title>Block %d: %s%s</title></path>`, x, cy, t.Block, shown, wall)
			} else {
				dots.add("M%v %vh0", x, cy)
			}
		}
		if dots.Len() > 0 {
			strips.add(`<path d="%s"/>`, dots.String())
		}
		if holes.Len() > 0 {
			strips.add(`<path class="hole" d="%s"/>`, holes.String())
		}
		strips.add("</g>")
		cy := y + h.down + 54
		if r.Median != nil && r.Low != nil && r.High != nil {
			strips.path("bar ink", interval(px(*r.Low), px(*r.High), cy, 4))
		}
		heads.add("\n<g>")
		heads.head(h, y)
		if r.Median != nil {
			heads.add(`<svg x="%s" y="%d" overflow="visible"><path class="mark ink" d="M0-6l5 6-5 6-5-6z"/></svg>`,
				across(a.at+by**r.Median), cy)
		}
		heads.add("</g>")
		y += 64 + h.down
	}
	p := &pen{}
	p.open(d.Frame, "chart strip", y+44)
	p.grid(a, y)
	p.add("%s\n</svg>", strips.String())
	if void.Len() > 0 {
		p.ln(`<g class="dot" fill="none" stroke="currentColor" stroke-linecap="round">%s</g>`, void.String())
	}
	p.ln(`<g class="tick" text-anchor="middle">`)
	for _, t := range a.ticks {
		p.add(`<text x="%s" y="%d">%s</text>`, across(t.px), y+17, t.text)
	}
	p.add("</g>")
	if a.cut {
		d.XLabel += "; not from 0"
	}
	p.below(d.XLabel, "50%", y+38)
	p.WriteString(heads.String())
	p.add("\n</svg>\n")
	return p.String()
}

// Wire is what a wire carried each way, against its line rate, drawn as a wall: one row per
// condition, with a line towards the wall for each direction. A line's words stand beside its
// end, or above it if it is too long.
type Wire struct {
	Frame
	Rows []WireRow
	// Rate is the line rate in bit/s, Factor from there to the axis, and Wall the words at it.
	Rate, Factor float64
	Wall         string
}

// WireRow is one condition.
type WireRow struct {
	Label string
	Lanes []Lane
}

// Lane is what went one way; Open marks a text's own share.
type Lane struct {
	Figure
	Way, Share, Text string
	Open, Client     bool
}

// SVG draws the wire.
func (w Wire) SVG() string {
	const left, end, top = 3.0, 985.0, 26
	most := w.Rate // more than the line rate can be counted in a short time; the axis has room for it
	for _, r := range w.Rows {
		for _, l := range r.Lanes {
			most = max(most, l.Most())
		}
	}
	by := (end - left) / most
	px := func(v float64) float64 { return tenth(left + by*v) }
	wall := px(w.Rate)
	var words, strokes, marks pen
	y := top
	for _, r := range w.Rows {
		for i, line := range wrap(r.Label, 27) {
			if i > 0 {
				y += 16
			} else {
				words.add("\n")
			}
			words.add(`<text class="over" y="%d">%s</text>`, y+16, esc(line))
		}
		y += 22
		for i, l := range r.Lanes {
			at, to := px(*l.Median), px(l.Most())
			said := l.Share + " " + l.Way
			beside := to+50+22*float64(letters(said)) < wall
			if !beside && i > 0 {
				y += 15
			}
			cy, series, open := y+8, "s2", ""
			if l.Way == "sent" {
				series = "s0"
			}
			if l.Open {
				open = " open"
			}
			strokes.add(`<path class="lane %s%s" fill="none" stroke="currentColor" d="M%v %dH%v"/>`, series, open, left, cy, at)
			if l.whisker() {
				strokes.path("bar ink", interval(px(*l.Low), to, cy, 4))
			}
			if l.Client {
				open = " open"
			}
			sign := fmt.Sprintf(`<circle class="mark %s%s" cx="%s" cy="%d" r="4"/>`, series, open, across(at), cy)
			if l.Way != "sent" {
				sign = fmt.Sprintf(`<rect class="mark %s%s" x="%s" y="%d" width="7" height="7" transform="translate(-3.5 -3.5)"/>`,
					series, open, across(at), cy)
			}
			spot := fmt.Sprintf(`x="%s" y="%d" text-anchor="end"`, across(wall-20), y-6)
			if beside {
				spot = fmt.Sprintf(`x="%s" dx="10" y="%d"`, across(to), cy+5)
			}
			marks.ln(`<g><title>%s</title>%s<text class="value" %s>%s</text></g>`, esc(l.Text), sign, spot, esc(said))
			y += 18
		}
		y += 4
	}
	p := &pen{}
	p.open(w.Frame, "chart strip", y+44)
	p.plot(y + 44)
	p.ln(`<path class="grid" fill="none" stroke="currentColor" d="`)
	var ticks pen
	by1 := step(w.Rate*w.Factor, 4)
	for i := 0.0; i <= w.Rate*w.Factor/by1+1e-9; i++ {
		at, anchor := px(i*by1/w.Factor), ""
		switch {
		case i == 0:
			anchor = ` text-anchor="start"`
		case at > 950:
			anchor = ` text-anchor="end"`
		}
		p.add("M%v %dV%d", at, top, y)
		ticks.add(`<text x="%s" y="%d"%s>%s</text>`, across(at), y+17, anchor, number(i*by1, 0))
	}
	p.add("\"/>%s\n", strokes.String())
	p.path("wall", fmt.Sprintf("M%v %dV%d", wall, top-6, y))
	p.ln("</svg>")
	p.ln(`<g class="tick" text-anchor="middle">%s</g>`, ticks.String())
	p.below(w.XLabel, "50%", y+38)
	p.ln(`<text class="walltext" x="100%%" y="14" text-anchor="end">%s</text>`, esc(w.Wall))
	p.add("%s%s\n</svg>\n", words.String(), marks.String())
	return p.String()
}

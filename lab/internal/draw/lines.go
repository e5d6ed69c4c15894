package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines are figures over the levels of a factor, with bars for intervals and a mark for each,
// on a log axis of levels if none is zero. Words have no order, so figures over words are marks
// without a line. The y axis starts at zero: if it were cut off below, the noise of a plateau
// would look like a slope. Short names stand at the ends of their lines, others above the
// chart. A single line has its figures at its marks.
type Lines struct {
	Frame
	Series []Series
	YLabel string
	// Factor is from the base unit to the axis.
	Factor float64
	// Wall is a line across, with its words; 0 for none.
	Wall      float64
	WallWords string
	// LogY gives the y axis a log scale, for figures that differ by orders of magnitude.
	LogY bool
	// Named reports whether words above the chart name its only series.
	Named bool
}

// Series is one line.
type Series struct {
	Name   string
	Points []Point
}

// Point is a figure at a level.
type Point struct {
	Figure
	X    float64
	Word bool // whether the level is one
	// Level and Text are as pages print them, and Short is the figure at its mark.
	Level, Text, Short string
	// Client reports whether the client was the wall.
	Client bool
}

// Top is the largest value of all series.
func Top(series []Series) (top float64) {
	for _, s := range series {
		for _, q := range s.Points {
			top = max(top, q.Most())
		}
	}
	return top
}

// least is the smallest value of all series.
func least(series []Series) float64 {
	least := math.Inf(1)
	for _, s := range series {
		for _, q := range s.Points {
			least = min(least, known(q.Low, q.Median))
		}
	}
	return least
}

// SVG draws the lines.
func (l Lines) SVG() string {
	several := len(l.Series) > 1
	longest, ends := 0, several
	for _, s := range l.Series {
		for _, word := range strings.Split(s.Name, " ") {
			longest = max(longest, letters(word))
		}
	}
	width := max(8, longest)
	ends = ends && longest <= 9
	for _, s := range l.Series {
		ends = ends && !strings.Contains(strings.Join(wrap(s.Name, width), ""), "…")
	}
	above := 0
	if !ends && !l.Named {
		above = 18 * len(l.Series)
	}
	top := 40 + above
	bottom := top + 190
	height := bottom + 44

	texts, said, ymax := map[float64]string{}, 1, max(Top(l.Series), l.Wall)
	var xs []float64
	for _, s := range l.Series {
		for _, q := range s.Points {
			xs = append(xs, q.X)
			texts[q.X], said = q.Level, max(said, len(q.Level))
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	x0, x1 := xs[0], xs[len(xs)-1]
	y := linear(0, ymax, l.Factor, float64(bottom), float64(top), false)
	if l.LogY {
		y = decades(least(l.Series), ymax, l.Factor, float64(bottom), float64(top))
	}
	wide := 1
	for _, t := range y.ticks {
		wide = max(wide, letters(t.text))
	}
	left, right := float64(int(22+letter*float64(wide))), 990.0
	half := 0.5 * letter * float64(max(6, said))
	if several {
		half = 0.5 * letter * float64(max(4, said))
	}
	end := right - half
	if ends {
		right = float64(int(935 - letter*float64(width)))
		end = right - 34
	}
	log := x0 > 0 // a level of zero has no logarithm: such a factor gets a linear axis
	over := span(x0, x1, left+half, end, log)
	words := l.XLabel
	if log && len(xs) > 2 {
		words += ", log scale"
	}

	p := &pen{}
	p.open(l.Frame, "chart", height)
	p.ln(`<g class="axis"><text y="13">%s</text><text x="%s" y="%d" text-anchor="middle">%s</text></g>`,
		esc(l.YLabel), across((left+right)/2), height-8, esc(words))
	if above > 0 {
		p.ln(`<g class="name">`)
		for i, s := range l.Series {
			y := 33 + 18*i
			p.add(`<g transform="translate(6)">%s</g><text x="16" y="%d">%s</text>`,
				mark(i, false, 0, float64(y-4)), y, esc(cut(s.Name, 44)))
		}
		p.add("</g>")
	}
	p.ln(`<g class="tick" text-anchor="end">`)
	for _, t := range y.ticks {
		p.add(`<text x="%s" y="%v">%s</text>`, across(left-18), 4.5+t.px, t.text)
	}
	p.add("</g>\n<g class=\"tick\" text-anchor=\"middle\">")
	// The last level is always written; those before it only if there is room.
	lastx, edge := 0.0, over.px(x1)-0.5*letter*float64(len(texts[x1]))
	for _, x := range xs {
		at, half := over.px(x), 0.5*letter*float64(len(texts[x]))
		if x == x1 || at-half-15 > lastx && at+half+15 < edge {
			p.add(`<text x="%s" y="%d">%s</text>`, across(at), bottom+18, esc(texts[x]))
			lastx = at + half
		}
	}
	p.add("</g>")
	strokes, marks, labels, figures := l.strokes(over, y)
	p.plot(height)
	p.ln(`<path class="grid" fill="none" stroke="currentColor" d="`)
	for _, t := range y.ticks {
		p.add("M%v %vH%v", left, t.px, right)
	}
	p.add(`"/>`)
	wall := y.px(l.Wall)
	if l.Wall > 0 {
		p.add(`<path class="wall" fill="none" stroke="currentColor" d="M%v %vH%v"/>`, left, wall, right)
	}
	p.add("%s\n</svg>", strokes)
	if l.Wall > 0 {
		p.add(`<text class="walltext" x="%s" y="%v" text-anchor="end">%s</text>`, across(right), wall-7, esc(l.WallWords))
	}
	p.WriteString(marks)
	switch {
	case ends:
		p.names(labels, right, float64(height-6), width)
	case !several:
		p.figures(figures, l.Wall > 0, float64(bottom-4))
	}
	p.add("\n</svg>\n")
	return p.String()
}

// A label is a series' name at the end of its line, or a figure at its mark.
type label struct {
	x, y, peak, v float64
	series        int
	text          string
}

// strokes draws lines, intervals and marks, and lists the names and figures to write.
func (l Lines) strokes(over, y axis) (strokes, marks string, names, figures []label) {
	var s, m pen
	for i, series := range l.Series {
		var line, bars pen
		at := 0.0
		points := slices.Clone(series.Points)
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		for _, q := range points {
			x, v := over.px(q.X), cmp.Or(q.Median, q.Below)
			if v == nil {
				continue
			}
			at = y.px(*v)
			if !q.Word {
				line.add("%s%v %v", map[bool]string{true: "M", false: "L"}[line.Len() == 0], x, at)
			}
			peak := at
			if q.Low != nil && q.High != nil {
				peak = y.px(*q.High)
				bars.add("M%v %vV%v", x, y.px(*q.Low), peak)
			}
			under := ""
			if q.Median == nil {
				under = fmt.Sprintf(`<svg class="bar s%d" x="%.4g%%" y="%v" overflow="visible">`, i%5, x/10, at) +
					`<path stroke="currentColor" d="M0 5v11m-4-4l4 4 4-4"/></svg>`
			}
			said := fmt.Sprintf("%s, %s %s: %s", series.Name, l.XLabel, q.Level, q.Text)
			m.ln("<g><title>%s</title>%s%s</g>", esc(said), mark(i, q.Client, x, at), under)
			if len(l.Series) == 1 && q.Median != nil {
				figures = append(figures, label{x: x, y: at, peak: peak, v: *q.Median, text: q.Short})
			}
		}
		if line.Len() > 0 {
			s.WriteString("\n")
			s.path(fmt.Sprintf("line s%d", i%5), line.String())
		}
		if bars.Len() > 0 {
			s.path(fmt.Sprintf("bar s%d", i%5), bars.String())
		}
		names = append(names, label{y: at, series: i, text: series.Name})
	}
	return s.String(), m.String(), names, figures
}

// names writes names at the ends of their lines, pushed down if they would touch, and all
// pushed up if the last would leave the chart.
func (p *pen) names(labels []label, right, last float64, width int) {
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	at := -99.0
	for i, n := range labels {
		labels[i].y = max(n.y, at)
		at = labels[i].y + 17*float64(len(wrap(n.text, width)))
	}
	up := max(0, at-last)
	p.ln(`<g class="name">`)
	for _, n := range labels {
		y, lines := tenth(n.y-up), wrap(n.text, width)
		p.ln(`<g transform="translate(8)">%s</g><text x="%s" dx="17" y="%v">%s`,
			mark(n.series, false, right, y), across(right), y+4, esc(lines[0]))
		if len(lines) > 1 {
			p.add(`<tspan x="%s" dx="17" dy="15">%s</tspan>`, across(right), esc(lines[1]))
		}
		p.add("</text>")
	}
	p.add("\n</g>")
}

// figures writes figures at their marks: the last first, then the greatest, then as many as
// have room. Words at the wall leave room only below it.
func (p *pen) figures(figures []label, wall bool, bottom float64) {
	if len(figures) == 0 {
		return
	}
	order := slices.Clone(figures)
	slices.SortStableFunc(order, func(a, b label) int { return cmp.Compare(b.v, a.v) })
	order = append([]label{figures[len(figures)-1]}, order...)
	var taken []label
	p.ln(`<g class="figures halo" text-anchor="middle">`)
	for _, f := range order {
		room := func(o label) bool { return math.Abs(f.x-o.x) >= 0.5*letter*float64(letters(f.text)+letters(o.text))+12 }
		if slices.ContainsFunc(taken, func(o label) bool { return !room(o) }) {
			continue
		}
		taken = append(taken, f)
		y := f.peak - 9
		if wall && f.y+19 < bottom {
			y = f.y + 19
		}
		p.ln(`<text x="%s" y="%v">%s</text>`, across(f.x), y, esc(f.text))
	}
	p.add("</g>")
}

package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Ratios are a claim's comparisons on a log axis, one row each, in groups, over the band that
// the claim wants. Each group has its mark, or each row that of its series. If only a range is
// known of a ratio, it has its interval and no mark; an open end is drawn to the edge. The axis
// always has the marks, the band's edges and 1 on it.
type Ratios struct {
	Frame
	Groups []RatioGroup
	// BandLow and BandHigh are 0 where the band is open.
	BandLow, BandHigh float64
}

// RatioGroup has the rows under one name.
type RatioGroup struct {
	Name string
	Rows []Ratio
}

// Ratio is one comparison. A missing end is open.
type Ratio struct {
	Label, Text, Interval string
	// Seen reports whether any block has both levels, Exact whether the ratio is one figure.
	Seen, Exact bool
	// V is the ratio; Low and High are the ends of its interval, or of the range that is known.
	V         float64
	Low, High *float64
	// Series is that of the row, counted from 1, where rows of a group have marks of their own.
	Series int
}

// A ratioAxis is logarithmic: px = at + by × log of the ratio.
type ratioAxis struct {
	lo, hi, at, by float64
	left, right    int
	stacked        bool // long labels and figures stand above their marks, short ones beside them
}

func (a ratioAxis) px(v float64) float64 { return tenth(a.at + a.by*math.Log(v)) }

func (r Ratios) axis() ratioAxis {
	a := ratioAxis{left: 14, right: 986}
	a.lo, a.hi = r.ends()
	label, text := 0, 0
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			label, text = max(label, letters(row.Label)), max(text, letters(row.Text))
		}
	}
	if a.hi/a.lo < 1.02 {
		a.lo, a.hi = a.lo*0.98, a.hi*1.02
	}
	pad := math.Pow(a.hi/a.lo, 0.08)
	a.lo, a.hi = a.lo/pad, a.hi*pad
	if a.stacked = label+text > 19; !a.stacked {
		a.left, a.right = int(38+letter*float64(label)), int(962-letter*float64(text))
	}
	a.by = float64(a.right-a.left) / (math.Log(a.hi) - math.Log(a.lo))
	a.at = float64(a.left) - a.by*math.Log(a.lo)
	return a
}

// ends are the smallest and the largest ratio that need room.
func (r Ratios) ends() (lo, hi float64) {
	lo, hi = 1, 1
	reach := func(v float64) { lo, hi = min(lo, v), max(hi, v) }
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if !row.Seen {
				continue
			}
			// An open end of a range is drawn with some room beyond the other end.
			low, high := row.Low, row.High
			switch {
			case low != nil:
				reach(*low)
			case high != nil:
				reach(*high / 2)
			}
			switch {
			case high != nil:
				reach(*high)
			case low != nil:
				reach(*low * 2)
			}
		}
	}
	for _, edge := range []float64{r.BandLow, r.BandHigh} {
		if edge > 0 {
			reach(edge)
		}
	}
	return lo, hi
}

// ticks writes 1 always, and other round ratios if they have room.
func (a ratioAxis) ticks() []tick {
	out := []tick{{a.px(1), "1"}}
	round := []float64{0.5, 2, 0.25, 4, 0.125, 8, 0.0625, 16, 32, 64, 128, 256, 512, 1024}
	if a.hi/a.lo <= 3 {
		by := step(a.hi-a.lo, 4)
		round = nil
		for i := math.Ceil(a.lo / by); i <= math.Floor(a.hi/by); i++ {
			round = append(round, i*by)
		}
	}
	for _, v := range round {
		t := tick{a.px(v), strconv.FormatFloat(v, 'g', 4, 64)}
		near := func(o tick) bool { return math.Abs(t.px-o.px) < 11.5*float64(2+len(t.text)+len(o.text)) }
		if v >= a.lo && v <= a.hi && t.px < 970 && !slices.ContainsFunc(out, near) {
			out = append(out, t)
		}
	}
	return out
}

// SVG draws the ratios.
func (r Ratios) SVG() string {
	a := r.axis()
	one, from, to := a.px(1), float64(a.left), float64(a.right)
	claimed := "claimed"
	if r.BandLow > 0 {
		from, claimed = a.px(r.BandLow), fmt.Sprintf("claimed: %.4g or more", r.BandLow)
	}
	if r.BandHigh > 0 {
		to, claimed = a.px(r.BandHigh), fmt.Sprintf("claimed: %.4g or less", r.BandHigh)
	}
	if r.BandLow > 0 && r.BandHigh > 0 {
		claimed = fmt.Sprintf("claimed: %.3g to %.4g", r.BandLow, r.BandHigh)
	}
	var band, edges, ones, bars, marks, words pen
	y := 24
	for i, g := range r.Groups {
		if g.Name != "" {
			words.ln(`<text class="group" y="%d">%s</text>`, y+16, esc(cut(g.Name, 46)))
			y += 24
		}
		for _, row := range g.Rows {
			cy, base, high := y+12, y+16, 24
			if a.stacked {
				cy, base, high = y+32, y+14, 47
			}
			band.add("M%v %dH%vV%dH%vz", from, cy-12, to, cy+12, from)
			if r.BandLow > 0 {
				edges.add("M%v %dV%d", from, cy-12, cy+12)
			}
			if r.BandHigh > 0 {
				edges.add("M%v %dV%d", to, cy-12, cy+12)
			}
			ones.add("M%v %dV%d", one, cy-12, cy+12)
			series := i
			if row.Series > 0 {
				series = row.Series - 1
			}
			if row.Seen && (!row.Exact || row.Interval != "") {
				bars.path(fmt.Sprintf("bar s%d", series%5), a.whisker(row, cy))
			}
			dot := ""
			if row.Exact {
				dot = mark(series, row.Interval == "", a.at+a.by*math.Log(row.V), float64(cy))
			}
			said := row.Label + ": " + row.Text
			if g.Name != "" {
				said = g.Name + ", " + said
			}
			marks.ln(`<g><title>%s</title><text class="tick" y="%d">%s</text>%s`,
				esc(said), base, esc(cut(row.Label, 50-len(row.Text))), dot)
			marks.add(`<text class="value" x="100%%" y="%d" text-anchor="end">%s</text></g>`, base, esc(row.Text))
			y += high
		}
	}
	p := &pen{}
	height := y + 44
	p.open(r.Frame, "chart strip", height)
	p.plot(height)
	p.ln(`<path class="band" fill="currentColor" fill-opacity="0.1" d="%s"/>`, band.String())
	if edges.Len() > 0 {
		p.path("bandedge", edges.String())
	}
	p.add("<path class=\"one\" fill=\"none\" stroke=\"currentColor\" d=\"%s\"/>%s\n</svg>", ones.String(), bars.String())
	// The words stand over the band, or at the edge of the chart if they would leave it.
	half, mid, anchor := 10.5*float64(len(claimed)), (from+to)/2, "middle"
	switch {
	case mid+half > 1000:
		mid, anchor = 1000, "end"
	case mid < half:
		mid, anchor = 0, "start"
	}
	p.ln(`<text class="walltext" x="%s" y="14" text-anchor="%s">%s</text>`, across(mid), anchor, claimed)
	p.ln(`<g class="tick" text-anchor="middle">`)
	for _, t := range a.ticks() {
		p.add(`<text x="%s" y="%d">%s</text>`, across(t.px), height-26, t.text)
	}
	p.add("</g>")
	p.below(r.XLabel, "50%", height-7)
	p.add("%s%s\n</svg>\n", words.String(), marks.String())
	return p.String()
}

// whisker is the path of an interval; an open end has an arrow.
func (a ratioAxis) whisker(row Ratio, cy int) string {
	from, to := float64(a.left), float64(a.right)
	first, last := fmt.Sprintf("M%v %dl-15 4l15 4", from+15, cy-4), fmt.Sprintf("M%v %dl15 4l-15 4", to-15, cy-4)
	if row.Low != nil {
		from = a.px(*row.Low)
		first = fmt.Sprintf("M%v %dv8", from, cy-4)
	}
	if row.High != nil {
		to = a.px(*row.High)
		last = fmt.Sprintf("M%v %dv8", to, cy-4)
	}
	return fmt.Sprintf("M%v %dH%v%s%s", from, cy, to, first, last)
}

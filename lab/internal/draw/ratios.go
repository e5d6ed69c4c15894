package draw

import "fmt"

// Ratios lie on a log axis, one row each, in groups, over the band that a claim wants. Each
// group has its mark. If only a range is known of a ratio, it has its interval and no mark; an
// open end is drawn to the edge. The axis always has the marks, the band's edges and 1 on it.
type Ratios struct {
	Frame
	Groups []Group[Ratio]
	// BandLow and BandHigh are 0 where the band is open.
	BandLow, BandHigh float64
}

// Ratio is one comparison. V is the ratio, or 0 if only a range is known. Low and High are the
// ends of its interval or range; a missing end is open, and nothing is known without any.
type Ratio struct {
	Label, Text string
	V           float64
	Low, High   *float64
}

// Known reports whether anything is known of the ratio.
func (r Ratio) Known() bool { return r.V > 0 || r.Low != nil || r.High != nil }

// whisker reports whether the ratio has an interval with a width.
func (r Ratio) whisker() bool {
	return r.Known() && (r.Low == nil || r.High == nil || *r.Low != *r.High)
}

// ends are the smallest and the largest ratio that need room.
func (r Ratios) ends() (lo, hi float64) {
	lo, hi = 1, 1
	reach := func(v *float64, by float64) {
		if v != nil && *v > 0 {
			lo, hi = min(lo, *v*by), max(hi, *v*by)
		}
	}
	reach(&r.BandLow, 1)
	reach(&r.BandHigh, 1)
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			reach(&row.V, 1)
			reach(row.Low, 1)
			reach(row.High, 1)
			// An open end is drawn with some room beyond the other end.
			if row.Low == nil {
				reach(row.High, 0.5)
			}
			if row.High == nil {
				reach(row.Low, 2)
			}
		}
	}
	return lo, hi
}

// SVG draws the ratios.
func (r Ratios) SVG() string {
	lo, hi := r.ends()
	banded := r.BandLow > 0 || r.BandHigh > 0
	c := &rows{axis: logarithmic(lo, hi, 14, 986), top: 4, y: 4}
	if banded {
		c.top, c.y = 24, 24
	}
	for i, g := range r.Groups {
		c.group(g.Name)
		for _, row := range g.Rows {
			c.head(row.Label, row.Text, "")
			c.ratio(row, i)
		}
	}
	marks := c.under.String()
	c.under.Reset()
	if banded {
		c.band(r.BandLow, r.BandHigh)
	}
	c.under.path("one", fmt.Sprintf("M%v %dV%d", c.px(1), c.top, c.y))
	c.under.WriteString(marks)
	return c.chart(r.Frame, "")
}

// band is what a claim wants.
func (r *rows) band(low, high float64) {
	from, to, claimed, edges := 14.0, 986.0, "", ""
	if low > 0 {
		from, claimed = r.px(low), fmt.Sprintf("claimed: %.4g or more", low)
		edges += fmt.Sprintf("M%v %dV%d", from, r.top, r.y)
	}
	if high > 0 {
		to, claimed = r.px(high), fmt.Sprintf("claimed: %.4g or less", high)
		edges += fmt.Sprintf("M%v %dV%d", to, r.top, r.y)
	}
	if low > 0 && high > 0 {
		claimed = fmt.Sprintf("claimed: %.3g to %.4g", low, high)
	}
	r.under.add(`<path class="band" fill="currentColor" fill-opacity="0.1" d="M%v %dH%vV%dH%vz"/>`,
		from, r.top, to, r.y, from)
	r.under.path("bandedge", edges)
	// The words stand over the band, or at the edge of the chart if they would leave it.
	half, mid, anchor := 10.5*float64(len(claimed)), (from+to)/2, "middle"
	switch {
	case mid+half > 1000:
		mid, anchor = 1000, "end"
	case mid < half:
		mid, anchor = 0, "start"
	}
	r.words.ln(`<text class="walltext" x="%s" y="14" text-anchor="%s">%s</text>`, across(mid), anchor, claimed)
}

// ratio draws a mark and its interval; an open end has an arrow.
func (r *rows) ratio(row Ratio, series int) {
	class, y := fmt.Sprintf("s%d", series%5), r.y+11
	if row.whisker() {
		from, to := 14.0, 986.0
		first, last := fmt.Sprintf("M29 %dl-15 4l15 4", y-4), fmt.Sprintf("M971 %dl15 4l-15 4", y-4)
		if row.Low != nil {
			from = r.px(*row.Low)
			first = fmt.Sprintf("M%v %dv8", from, y-4)
		}
		if row.High != nil {
			to = r.px(*row.High)
			last = fmt.Sprintf("M%v %dv8", to, y-4)
		}
		r.under.path("bar "+class, fmt.Sprintf("M%v %dH%v%s%s", from, y, to, first, last))
	}
	if row.V > 0 {
		r.words.WriteString(mark(series, !row.whisker(), r.px(row.V), float64(y)))
	}
	r.y += 24
}

package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Spread shows the ratios of all machines on one log axis: for a few machines a row each, with
// its interval; for many a mark each, stacked where they are alike. It is 340 units wide.
type Spread struct {
	Frame
	// BandLow and BandHigh are 0 where the claim's band is open.
	BandLow, BandHigh float64
	Machines          []Machine
}

// Machine is one machine's ratio; an end of its interval is 0 where it is open, and both are
// without one.
type Machine struct {
	Name, Verdict    string
	Ratio, Low, High float64
	Text             string
}

const (
	mostRows     = 24
	spreadColumn = 64 // in which marks are stacked
)

var verdictOrder = []string{"reproduced", "inconclusive", "refuted", "invalid", "not-applicable"}

// A logAxis gives places as shares of its length; open ends are not on it.
type logAxis struct{ from, length float64 }

func (a logAxis) at(v float64) float64 { return math.Round((math.Log(v)-a.from)/a.length*1e4) / 1e4 }

// Few reports whether each machine has a row.
func (s Spread) Few() bool { return len(s.Machines) <= mostRows }

func (s Spread) axis() logAxis {
	low, high := 1.0, 1.0
	reach := func(all ...float64) {
		for _, v := range all {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	reach(s.BandLow, s.BandHigh)
	for _, m := range s.Machines {
		reach(m.Ratio)
		if s.Few() {
			reach(m.Low, m.High)
		}
	}
	room := max(math.Log(high/low)*0.06, 0.01)
	return logAxis{math.Log(low) - room, math.Log(high/low) + 2*room}
}

// ticks are at most five round ratios.
func (a logAxis) ticks() (round []float64) {
	low, high := math.Exp(a.from), math.Exp(a.from+a.length)
	if high/low > 3 {
		by := 2.0
		for ; math.Log(high/low)/math.Log(by) > 5; by *= 2 {
		}
		for v := math.Pow(by, math.Ceil(math.Log(low)/math.Log(by))); v <= high; v *= by {
			round = append(round, v)
		}
		return round
	}
	by := math.Pow10(int(math.Floor(math.Log10((high - low) / 4))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(by*m) <= 4.5 {
			by *= m
			break
		}
	}
	for i := math.Ceil(low / by); i*by <= high; i++ {
		round = append(round, i*by)
	}
	return round
}

// SVG draws the ratios; nothing without any.
func (s Spread) SVG() string {
	if len(s.Machines) == 0 {
		return ""
	}
	a, left, wide, deep := s.axis(), 10.0, 320.0, 150.0
	if s.Few() {
		left, wide, deep = 12, 268, float64(8+34*len(s.Machines))
	}
	const top = 26.0
	bottom := top + deep
	px := func(share float64) float64 { return math.Round(left + wide*share) }
	from, to, edges := px(0), px(1), ""
	if s.BandLow > 0 {
		from = px(a.at(s.BandLow))
		edges += fmt.Sprintf("M%v %vV%v", from, top, bottom)
	}
	if s.BandHigh > 0 {
		to = px(a.at(s.BandHigh))
		edges += fmt.Sprintf("M%v %vV%v", to, top, bottom)
	}
	p := &pen{}
	p.add(`<svg viewBox="0 0 340 %v" class="spread" role="img" aria-labelledby="%s-t %s-d">`, bottom+40, s.ID, s.ID)
	p.ln(`<title id="%s-t">%s</title>`, s.ID, esc(s.Title))
	p.ln(`<desc id="%s-d">%s</desc>`, s.ID, esc(s.Desc))
	p.ln(`<rect class="band" x="%v" y="%v" width="%v" height="%v"/>`, from, top, max(1, to-from), deep)
	p.ln(`<path class="bandedge" d="%s"/>`, edges)
	p.ln(`<text class="walltext" x="%v" y="%v" text-anchor="middle">claimed</text>`, max(26, min(314, (from+to)/2)), top-8)
	p.ln(`<path class="axisline" d="M%v %vh%v`, left, bottom, wide)
	var ticks pen
	for _, v := range a.ticks() {
		at := px(a.at(v))
		p.add("M%v %vv4", at, bottom)
		ticks.add(`<text x="%v" y="%v">%s</text>`, at, bottom+18, strconv.FormatFloat(v, 'g', 4, 64))
	}
	p.add("\"/>\n<g class=\"tick\" text-anchor=\"middle\">%s</g>", ticks.String())
	p.ln(`<text class="tick" x="%v" y="%v" text-anchor="middle">%s</text>`, left+wide/2, bottom+33, esc(s.XLabel))
	if s.Few() {
		s.rows(p, a, px, left+2, left+wide+8, top)
	} else {
		s.stack(p, a, left, wide, bottom)
	}
	p.add("\n</svg>")
	return p.String()
}

// rows draws a machine a row, the smallest ratio first.
func (s Spread) rows(p *pen, a logAxis, px func(float64) float64, left, right, y float64) {
	machines := slices.Clone(s.Machines)
	slices.SortStableFunc(machines, func(m, o Machine) int { return cmp.Compare(a.at(m.Ratio), a.at(o.Ratio)) })
	for _, m := range machines {
		at := a.at(m.Ratio)
		from, to := at, at
		if m.Low > 0 || m.High > 0 {
			from, to = 0, 1
			if m.Low > 0 {
				from = a.at(m.Low)
			}
			if m.High > 0 {
				to = a.at(m.High)
			}
		}
		y += 34
		p.ln(`<g class="is-%s"><text class="who" x="%v" y="%v">%s</text>`, m.Verdict, left, y-14, esc(cut(m.Name, 40)))
		p.add(`<path d="M%v %vH%v"/><circle cx="%v" cy="%v" r="4.5"/>`, px(from), y-3, px(to), px(at), y-3)
		p.add(`<text x="%v" y="%v">%s</text></g>`, right, y+1, esc(m.Text))
	}
}

// stack draws a mark a machine, on those of its part of the axis, ordered by verdict.
func (s Spread) stack(p *pen, a logAxis, left, wide, bottom float64) {
	var columns [spreadColumn]map[string]int
	tall := 0
	for _, m := range s.Machines {
		i := min(int(a.at(m.Ratio)*spreadColumn), spreadColumn-1)
		if columns[i] == nil {
			columns[i] = map[string]int{}
		}
		columns[i][m.Verdict]++
	}
	for _, c := range columns {
		n := 0
		for _, k := range c {
			n += k
		}
		tall = max(tall, n)
	}
	high := min(5, 142/float64(tall))
	paths := map[string]*pen{}
	for i, c := range columns {
		x, y := left+wide*math.Round((float64(i)+0.5)/spreadColumn*1e4)/1e4-1.9, bottom-high/2-1
		for _, verdict := range verdictOrder {
			for range c[verdict] {
				if paths[verdict] == nil {
					paths[verdict] = &pen{}
				}
				paths[verdict].add("M%.1f %.1fh3.8", x, y)
				y -= high
			}
		}
	}
	for _, verdict := range slices.Sorted(slices.Values(verdictOrder)) {
		if d := paths[verdict]; d != nil {
			p.ln(`<path class="dots is-%s" stroke-width="%v" d="%s"/>`, verdict, min(3.8, high*0.8), d.String())
		}
	}
}

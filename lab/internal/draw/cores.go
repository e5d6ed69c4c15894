package draw

import _ "embed"

// Cores show where the cores' time went: one row per core, its states end to end. Each state
// has its own pattern, so that no colour is needed. A segment has its figure if there is room
// for it on the narrowest screen, with the state's name if there is room for that too; a name
// for which only wide screens have room is shown there.
//
// More than sixteen cores are drawn thin, without idle time, and only the first and last of a
// side are named.
type Cores struct {
	Frame
	Groups []Group[Core]
}

// Core is one core, or all of a side. Without states nothing was recorded.
type Core struct {
	Label, Side, Text string
	States            []State
}

// State is a share of the core's time.
type State struct {
	Kind        string // user, system, softirq, steal, unsaid or idle
	Share       float64
	Name, Shown string
}

//go:embed cores.svg
var corePatterns string

var stateNames = [][2]string{
	{"user", "user"}, {"system", "system"}, {"softirq", "soft interrupts"},
	{"steal", "stolen"}, {"unsaid", "not said"}, {"idle", "idle"},
}

// SVG draws the cores.
func (c Cores) SVG() string {
	const right = 985.0
	most, longest := 0, 4
	seen := map[string]bool{}
	for _, g := range c.Groups {
		most = max(most, len(g.Rows))
		for _, r := range g.Rows {
			longest = max(longest, len(r.Label))
			for _, s := range r.States {
				seen[s.Kind] = true
			}
		}
	}
	left := 25 + letter*float64(longest)
	by := right - left
	thin, row := most > 16, 26
	if thin {
		row = 8
	}
	var body pen
	x, y := 0.0, 4
	body.ln(`<g class="states">`)
	for _, s := range stateNames { // the legend, in as many lines as it takes
		if !seen[s[0]] {
			continue
		}
		wide := float64(110 + 20*len(s[1]))
		if x+wide-40 > 1000 {
			x, y = 0, y+20
		}
		body.add("\n")
		body.state(c.ID, State{Kind: s[0]}, x, y, "14", 14)
		body.add(`<text x="%s" dx="19" y="%d">%s</text>`, across(x), y+12, s[1])
		x += wide
	}
	body.add("\n</g>")
	top := y + 24
	var rows pen
	y = top
	for _, g := range c.Groups {
		if g.Name != "" {
			for _, line := range wrap(g.Name, 46) {
				rows.ln(`<text class="group" y="%d">%s</text>`, y+13, esc(line))
				y += 17
			}
			y += 6
		}
		for i, r := range g.Rows {
			named := !thin || i == 0 || i+1 == len(g.Rows) || r.Side != g.Rows[i+1].Side
			rows.core(c.ID, r, left, by, y, thin, named)
			y += row
		}
		if g.Name != "" {
			y += 2
		}
	}
	bottom := y + 4
	p := &pen{}
	p.open(c.Frame, "chart strip", bottom+42)
	p.patterns(c.ID, corePatterns)
	p.WriteString(body.String())
	p.plot(bottom + 42)
	p.add(`<path class="grid" fill="none" stroke="currentColor" d="`)
	var ticks pen
	for i := range 5 {
		at, anchor := left+by*float64(i)/4, ""
		p.add("M%v %dV%d", at, top, bottom)
		if i == 4 {
			at, anchor = 1000, ` text-anchor="end"`
		}
		ticks.add(`<text x="%s" y="%d"%s>%d</text>`, across(at), bottom+16, anchor, 25*i)
	}
	p.add("\"/></svg>%s\n<g class=\"tick\" text-anchor=\"middle\">%s</g>", rows.String(), ticks.String())
	p.below(c.XLabel, across((left+right)/2), bottom+36)
	p.add("\n</svg>\n")
	return p.String()
}

// state draws a segment with its pattern.
func (p *pen) state(id string, s State, x float64, y int, wide string, high int) {
	p.add(`<rect class="state %s" x="%s" y="%d" width="%s" height="%d"/>`, s.Kind, across(x), y, wide, high)
	if s.Kind != "user" && s.Kind != "idle" { // those two have no pattern
		p.add(`<rect x="%s" y="%d" width="%s" height="%d" fill="url(#%s-%s)"/>`, across(x), y, wide, high, id, s.Kind)
	}
}

// core draws a row.
func (p *pen) core(id string, r Core, left, by float64, y int, thin, named bool) {
	high, base := 20, y+15
	if thin {
		high, base = 7, y+8
	}
	p.add("\n<g>")
	if named {
		p.add(`<text class="tick" y="%d">%s</text>`, base, esc(r.Label))
	}
	if r.Text != "" {
		p.add("<title>%s</title>", esc(r.Text))
	}
	if len(r.States) == 0 {
		p.add(`<rect class="unknown" fill="none" stroke="currentColor" x="%s" y="%d" width="%s" height="%d"/>`,
			across(left), y, across(by), high)
		p.add(`<text class="halo" x="%s" y="%d">not recorded</text>`, across(left+18), base)
	}
	x := left
	for _, s := range r.States {
		width := by * s.Share
		if width >= 0.5 && !(thin && s.Kind == "idle") {
			p.state(id, s, x, y, across(width), high)
			room, said := width/letter-1.2, float64(letters(s.Name+" "+s.Shown))
			if !thin && room >= float64(letters(s.Shown)) {
				p.add(`<text class="halo" x="%s" dx="5" y="%d">`, across(x), base)
				switch {
				case room >= said:
					p.add("%s ", esc(s.Name))
				case 1.7*room >= said:
					p.add(`<tspan class="roomy">%s </tspan>`, esc(s.Name))
				}
				p.add("%s</text>", esc(s.Shown))
			}
		}
		x += width
	}
	p.add("</g>")
}

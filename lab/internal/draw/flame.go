package draw

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Flame is a flame graph: the caller below, its callees above it, each frame as wide as its value
// with that of all its callees. Patterns tell frames apart. Names are written where they fit, and
// each frame shows its whole text when pointed at. Frames are shares of the width, and names keep
// their size: so one drawing serves every screen.
type Flame struct {
	Frame
	Root FlameFrame
	// Full is the value that fills the width. Says is what the width stands for, written where
	// nothing is drawn.
	Full float64
	Says string
	// Zooms is the id before the number of a frame's own drawing; without it frames lead nowhere.
	Zooms string
	// Differs reports whether patterns show change instead of group, and Patterns is the id of
	// the graph that has them.
	Differs  bool
	Patterns string
	// Words are those of small callees that are drawn together.
	Words func(symbol string, value float64) string
}

// FlameFrame is a frame and everything it called.
type FlameFrame struct {
	Symbol, Pattern, Words string
	// Change is written before the name, of a difference.
	Change   string
	Value    float64
	Zoom     int
	Children []FlameFrame
}

const flameRow = 19

// The patterns of frames: by group, and by change.
var (
	//go:embed flame.svg
	groupPatterns string
	//go:embed difference.svg
	changePatterns string
)

// A flamePen draws frames upwards from zero, so that the height is known once all are drawn.
type flamePen struct {
	Flame
	frames, links pen
	top           int
	link          []func(top int)
}

// SVG draws the graph.
func (f Flame) SVG() string {
	d := &flamePen{Flame: f}
	d.draw(f.Root, 0, -flameRow)
	top := 1 - d.top
	p := &pen{}
	p.ln(`<svg class="flame" width="100%%" height="%d">`, top+1)
	p.ln(`<g role="img" aria-labelledby="%s-t %s-d">`, f.ID, f.ID)
	p.named(f.ID, f.Title, f.Desc)
	if f.Patterns == f.ID {
		p.patterns(f.ID, map[bool]string{false: groupPatterns, true: changePatterns}[f.Differs])
	}
	if f.Says != "" {
		p.ln(`<text class="says" x="100%%" dx="-5" y="%d" text-anchor="end">%s</text>`, top-6, esc(f.Says))
	}
	p.ln(`<g class="frames" transform="translate(0 %d)">`, top)
	p.ln(`<rect class="full" y="-%d" width="100%%" height="%d"/>%s`, flameRow, flameRow, d.frames.String())
	p.ln("</g>\n</g>")
	// Links are beside the image: nothing inside an image can have the focus.
	for _, link := range d.link {
		link(top)
	}
	p.add("%s\n</svg>", d.links.String())
	return p.String()
}

// draw fits a name to the narrowest screen; where there is room for more of it, a second one is
// for those that have it. Small callees are drawn together as one frame named other, unless that
// is too small itself; those of a difference come together.
func (d *flamePen) draw(n FlameFrame, at float64, y int) {
	width := n.Value / d.Full
	d.top = min(d.top, y)
	mark := ""
	switch {
	case !d.Differs:
	case n.Pattern == "same":
		mark = "≈ "
	case width < 0.3 && n.Change != "": // only the sign if there is no room for more
		mark = string([]rune(n.Change)[:1])
	default:
		mark = n.Change + " "
	}
	x, wide := fmt.Sprintf("%.2f%%", 100*at), fmt.Sprintf("%.2f%%", 100*width)
	d.frames.ln(`<g transform="translate(0 %d)"><title>%s</title>`, y, esc(n.Words))
	d.frames.add(`<rect x="%s" width="%s" height="%d" fill="url(#%s-%s)"/>`, x, wide, flameRow, d.Patterns, n.Pattern)
	small, large := fitted(n.Symbol, mark, 284*width), fitted(n.Symbol, mark, 416*width)
	switch {
	case small != large:
		if small != "" {
			d.frames.add(`<text class="narrow" x="%s" dx="4" y="13">%s</text>`, x, esc(small))
		}
		d.frames.add(`<text class="wide" display="none" x="%s" dx="4" y="13">%s</text>`, x, esc(large))
	case small != "":
		d.frames.add(`<text x="%s" dx="4" y="13">%s</text>`, x, esc(small))
	}
	d.frames.add("</g>")
	if n.Zoom > 0 && d.Zooms != "" && n.Zoom != d.Root.Zoom {
		d.link = append(d.link, func(top int) {
			d.links.ln(`<a href="#%s%d"><title>%s. Draw it by itself</title>`, d.Zooms, n.Zoom, esc(n.Words))
			d.links.add(`<rect x="%s" y="%d" width="%s" height="%d"/></a>`, x, top+y, wide, flameRow)
		})
	}
	least, rest := 0.01*d.Full, 0.0
	for _, c := range n.Children {
		if c.Value >= least && (d.Differs || len(c.Children) > 0 || c.Symbol != "other") {
			d.draw(c, at, y-flameRow)
			at += c.Value / d.Full
		} else {
			rest += c.Value
		}
	}
	if rest > 0 && rest >= least && !d.Differs {
		d.draw(FlameFrame{Symbol: "other", Pattern: "rest", Value: rest, Words: d.Words("other", rest)}, at, y-flameRow)
	}
}

// Zoom is the drawing of one frame at full width, with its share of the whole, the name of the
// whole, and the id of that.
type Zoom struct {
	Graph    Flame
	Share    float64
	Of, Back string
}

// Zooms lists the frames that have a drawing of their own, each of which is shown once it is asked
// for; nothing without any.
func Zooms(all []Zoom) string {
	if len(all) == 0 {
		return ""
	}
	var links []string
	p := &pen{}
	for _, z := range all {
		root := z.Graph.Root
		id := fmt.Sprintf("%s%d", z.Graph.Zooms, root.Zoom)
		links = append(links, fmt.Sprintf(`<a href="#%s"><code>%s</code></a> %.0f&#160;%%`,
			id, esc(fitted(root.Symbol, "", 300)), 100*z.Share))
		p.ln(`<div class="zoom" id="%s" hidden data-pagefind-ignore="">`, id)
		p.ln(`<p><code>%s</code> with all it called: %.1f %% of %s, here at full width. `+
			`<a href="#%s">Back to the whole</a></p>`,
			strings.ReplaceAll(esc(root.Symbol), "/", "/<wbr/>"), 100*z.Share, esc(z.Of), z.Back)
		p.ln("<div class=\"drawing\">%s\n</div>\n</div>", z.Graph.SVG())
	}
	return `<p class="zooms">Zoom in: ` + strings.Join(links, ", ") + "</p>" + p.String()
}

var (
	typeArguments = regexp.MustCompile(`\[.*\]`)
	majorVersion  = regexp.MustCompile(`^v[0-9]+\.`)
)

// fitted is a symbol as a frame of some pixels can hold it, at 6.6 pixels a letter: a package by
// the last part of its path that is not a major version, left out if the name would not fit with
// it; then the receiver; then cut. Type arguments are left out. The mark is written before it.
func fitted(symbol, mark string, room float64) string {
	name := ""
	if n := int((room-7)/6.6) - letters(mark); n >= 4 {
		whole := cmp.Or(typeArguments.ReplaceAllString(symbol, ""), symbol)
		name = path.Base(whole)
		if v := majorVersion.FindString(name); v != "" {
			name = path.Base(path.Dir(whole)) + name[len(v)-1:]
		}
		if _, short, ok := strings.Cut(name, "."); len(name) > n && ok {
			name = short
		}
		if i := strings.LastIndex(name, ")."); len(name) > n && i >= 0 {
			name = name[i+2:]
		}
		if len(name) > n {
			name = string([]rune(name)[:n-1]) + "…"
		}
	}
	if name != "" || room >= 14 {
		return mark + name
	}
	return ""
}

package draw

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Panel is one drawing of a picture, 328 units wide, as a phone's text is, so that nothing
// scrolls.
type Panel struct {
	ID, Name, Title, Desc string
	height                int
	pen
}

func (p *Panel) html() string {
	out := &pen{}
	out.add(`<div class="panel">`)
	if p.Name != "" {
		out.add("<p>%s</p>", esc(p.Name))
	}
	out.ln(`<svg viewBox="0 0 328 %d" role="img" aria-labelledby="%s-t %s-d">`, p.height, p.ID, p.ID)
	out.named(p.ID, p.Title, p.Desc)
	out.add("%s\n</svg></div>\n", p.String())
	return out.String()
}

// say writes words at a place.
func (p *Panel) say(class string, x, y int, words string) { p.side(class, "", x, y, words) }

// side writes words that end at a place, or have it in their middle.
func (p *Panel) side(class, anchor string, x, y int, words string) {
	if class != "" {
		class = fmt.Sprintf(` class="%s"`, class)
	}
	if anchor != "" {
		anchor = fmt.Sprintf(` text-anchor="%s"`, anchor)
	}
	p.add(`<text%s x="%d" y="%d"%s>%s</text>`, class, x, y, anchor, esc(words))
}

// Picture is a figure of panels, which stand beside each other where there is room. Its caption
// says the finding.
func Picture(id, title, note string, panels []string) string {
	p := &pen{}
	p.caption("picture", id, title, note)
	p.add("<div class=\"panels\">\n%s\n</div>\n</figure>\n", strings.TrimSpace(strings.Join(panels, "\n")))
	return p.String()
}

// Stations are what work passes through, one below the other. What was full has a wall at its
// right and says so.
type Stations struct {
	Panel
	All []Station
	// Full is the share from which a side is the wall of a trial, and One are words if all of it
	// is one machine.
	Full float64
	One  string
}

// Station has lines of words and a gauge; a link is drawn as a pipe.
type Station struct {
	Name  string
	Lines []string
	Link  bool
	Gauge *Gauge // nil where there is nothing to fill
	Flag  string
	Full  bool
}

// Gauge says how full a station was; it is hollow without a share.
type Gauge struct {
	Share      *float64
	Text, What string
	Tick       bool // whether it has a tick at the share of a wall
}

// HTML draws the stations.
func (s Stations) HTML() string {
	p := &s.Panel
	y := 8
	var words []string
	for i, at := range s.All {
		top := y
		said := slices.Concat([]string{at.Name}, at.Lines)
		high := 30 + 17*len(at.Lines)
		if at.Gauge != nil {
			high += 24
		}
		full, left := map[bool]string{true: " full"}[at.Full], 20
		if at.Link {
			left = 46
			p.path("pipe"+full, fmt.Sprintf("M24 %dv%dM32 %dv%d", top, high, top, high))
		} else {
			p.box("station", 8, top, 312, high, ` rx="4"`)
			if at.Full {
				p.path("wall", fmt.Sprintf("M318 %dv%d", top, high))
			}
		}
		p.say("head", left, y+20, at.Name)
		if at.Flag != "" {
			p.side(map[bool]string{true: "flag", false: "soft"}[at.Full], "end", 308, y+20, at.Flag)
		}
		y += 20
		for _, line := range at.Lines {
			y += 17
			p.say("soft", left, y, line)
		}
		if g := at.Gauge; g != nil {
			y += 10
			p.gauge(g, left, y, 212-left, full, s.Full)
			said = append(said, g.What+": "+cmp.Or(g.Text, "not recorded"))
		}
		if at.Flag != "" {
			said = append(said, at.Flag)
		}
		y = top + high
		if i+1 < len(s.All) && !at.Link && !s.All[i+1].Link {
			p.path("way", fmt.Sprintf("M28 %dv14M23 %dl5 6l5 -6", y, y+8))
			y += 14
		}
		words = append(words, strings.Join(said, ", ")+".")
	}
	y += 8
	if s.One != "" {
		p.box("machine", 1, 1, 326, y+18, ` rx="6" stroke-dasharray="6 4"`)
		p.say("soft", 8, y+12, s.One)
		y += 20
		words = append(words, s.One+".")
	}
	p.Desc, p.height = strings.Join(words, " "), y
	return p.html()
}

func (p *Panel) box(class string, x, y, wide, high int, more string) {
	p.add(`<rect class="%s" fill="none" stroke="currentColor" x="%d" y="%d" width="%d" height="%d"%s/>`,
		class, x, y, wide, high, more)
}

func (p *Panel) gauge(g *Gauge, x, y, wide int, full string, tick float64) {
	if g.Share == nil {
		p.box("gauge none", x, y, wide, 13, ` stroke-dasharray="4 3"`)
		p.say("soft", 218, y+11, "not recorded")
		return
	}
	p.box("gauge", x, y, wide, 13, "")
	level := int(math.Round(min(1, *g.Share) * float64(wide)))
	p.add(`<rect class="level%s" x="%d" y="%d" width="%d" height="13"/>`, full, x, y, level)
	if g.Tick {
		p.path("tick", fmt.Sprintf("M%d %dv19", int(math.Round(float64(x)+tick*float64(wide))), y-3))
	}
	p.say("", 218, y+11, g.Text)
}

// Asked is what was answered over what was asked, on one scale both ways, with the diagonal on
// which both are the same.
type Asked struct {
	Panel
	Points []Answered
}

// Answered is one rate. Its kind says whether the client was the wall (client), was watched and
// short of it (room), or not watched (unseen).
type Answered struct {
	X, Y        float64
	Kind        string
	Asked, Text string
}

var answeredKinds = [][2]string{
	{"room", "recorded, and short of a wall"}, {"client", "the client was the wall"}, {"unseen", "CPU not recorded"},
}

// HTML draws the points.
func (a Asked) HTML() string {
	const left, right, top, bottom = 40, 312, 30, 302
	p, most := &a.Panel, 0.0
	for _, q := range a.Points {
		most = max(most, q.X, q.Y)
	}
	factor, unit := 1.0, ""
	switch {
	case most >= 1e6:
		factor, unit = 1e-6, "millions "
	case most >= 1e4:
		factor, unit = 1e-3, "thousands "
	}
	axis := linear(0, most, factor, left, right, false)
	for i, t := range axis.ticks {
		if y := bottom - (t.px - left); i > 0 {
			p.path("grid", fmt.Sprintf("M%d %vH%dM%v %dV%d", left, y, right, t.px, top, bottom))
			p.add(`<text class="soft" x="34" y="%v" text-anchor="end">%s</text>`, y+4, t.text)
		}
		p.add(`<text class="soft" x="%v" y="%d" text-anchor="middle">%s</text>`, t.px, bottom+17, t.text)
	}
	p.path("axes", fmt.Sprintf("M%d %dV%dH%d", left, top, bottom, right))
	p.add(`<path class="same" fill="none" stroke="currentColor" stroke-dasharray="6 4" d="M%d %dL%d %d"/>`,
		left, bottom, right, top)
	p.add(`<text class="soft" transform="translate(128 %d) rotate(-45)" text-anchor="middle">answered = asked</text>`,
		top+172)
	slices.SortStableFunc(a.Points, func(a, b Answered) int { return cmp.Compare(a.X, b.X) })
	var words []string
	seen := map[string]bool{}
	for i, q := range a.Points {
		x, y := axis.px(q.X), bottom+left-axis.px(q.Y)
		said := fmt.Sprintf("asked %s a second, answered %s", q.Asked, q.Text)
		words, seen[q.Kind] = append(words, said), true
		p.add("<g><title>%s</title>%s</g>", esc(said), point(q.Kind, x, y))
		if i == len(a.Points)-1 { // the last point's figures stand on it
			at := min(right, x+6)
			if x-left < 1.3*(bottom-y) {
				at = x - 9
			}
			p.add(`<text class="halo" x="%v" y="%v" text-anchor="end">%s answered</text>`, at, y-10, esc(q.Text))
		}
	}
	p.say("soft", 4, 13, fmt.Sprintf("answered, %sa second", unit))
	p.side("soft", "middle", 176, bottom+36, fmt.Sprintf("asked, %sa second", unit))
	y := bottom + 60
	for _, k := range answeredKinds {
		if seen[k[0]] {
			p.add(`%s`, point(k[0], 46, float64(y-4)))
			p.say("", 60, y, k[1])
			y += 19
		}
	}
	p.Desc, p.height = strings.Join(words, "; ")+".", y-10
	return p.html()
}

// point is full, hollow or a diamond, so that colour is not needed.
func point(kind string, x, y float64) string {
	if kind == "unseen" {
		return fmt.Sprintf(`<path class="point unseen" d="M%v %vl6 6l-6 6l-6 -6z"/>`, x, y-6)
	}
	hollow := map[bool]string{true: ` fill="none" stroke="currentColor"`}[kind == "client"]
	return fmt.Sprintf(`<circle class="point %s"%s cx="%v" cy="%v" r="5"/>`, kind, hollow, x, y)
}

// Processes are a prefork server's master, its workers as squares, and the threads of one of
// them. Where the workers at work were counted, the idle ones are hollow.
type Processes struct {
	Panel
	// Active is -1 if nobody counted, and Shown is the number of workers as printed.
	Workers, Active int
	Shown           string
	// Threads is 0 if nobody counted those of a worker; else Text is their number as printed.
	Threads int
	Text    string
}

// HTML draws the processes.
func (s Processes) HTML() string {
	p, n, active := &s.Panel, s.Workers, s.Active
	p.box("station", 1, 1, 326, 44, ` rx="4"`)
	p.say("head", 12, 19, "master")
	p.say("soft", 12, 36, "starts the workers, answers nothing")
	p.path("hop", "M24 45v15m-4 -6l4 6l4 -6")
	many, each, of := "s", "each listens and accepts", "of each"
	if n == 1 {
		many, each, of = "", "listens and accepts", "of it"
	}
	words := fmt.Sprintf("A master that starts workers and answers nothing, and %d worker%s", n, many)
	if active < 0 {
		active = n
	} else {
		words += fmt.Sprintf(", of which %d at work", active)
		if active < n {
			each = fmt.Sprintf("hollow: idle; %d at work", active)
		}
	}
	const top = 88
	p.say("head", 0, top-9, s.Shown+" worker"+many)
	p.side("soft", "end", 320, top-9, each)
	square := func(from, to int) (d string) {
		for i := from; i < to; i++ {
			d += fmt.Sprintf("M%d %dh15v15h-15z", 1+20*(i%16), top+20*(i/16))
		}
		return d
	}
	if active > 0 {
		p.add(`<path class="worker" d="%s"/>`, square(0, active))
	}
	if n > active {
		p.path("worker idle", square(active, n))
	}
	y := top + 20*(1+(n-1)/16) + 20
	if s.Threads > 0 {
		p.say("head", 0, y+4, s.Text+" threads "+of)
		p.side("soft", "end", 320, y+4, "filled: runs Go code")
		p.add(`<rect class="thread" x="1" y="%d" width="9" height="18"/>`, y+14)
		d := ""
		for i := 1; i <= min(26, max(1, s.Threads-1)); i++ {
			d += fmt.Sprintf("M%d %dh9v18h-9z", 1+12*i, y+14)
		}
		p.path("thread idle", d)
		words += fmt.Sprintf(". %s threads %s, one of which runs Go code", s.Text, of)
		y += 36
	} else {
		p.say("soft", 0, y+4, "threads "+of+": not recorded")
		words += ". Threads " + of + ": not recorded"
		y += 12
	}
	p.Desc, p.height = words+".", y
	return p.html()
}

// Packets are what so many answers took, one square each, at several depths of pipelining.
type Packets struct {
	Panel
	Depths []Depth
	Note   string // at the foot
}

// Depth is one depth.
type Depth struct {
	Head string
	Rows []Units
}

// Units are packets in or out, or system calls, by their class.
type Units struct {
	Label, Class string
	N            int
}

// HTML draws the squares, forty to a row: a dash each.
func (s Packets) HTML() string {
	p, y := &s.Panel, 0
	var words []string
	for _, d := range s.Depths {
		p.say("head", 0, y+16, d.Head)
		y += 22
		said := []string{d.Head}
		for _, u := range d.Rows {
			said = append(said, u.Label)
			p.say("soft", 0, y+13, u.Label)
			y += 18
			path := ""
			for n := u.N; n > 0; n -= 40 {
				path += fmt.Sprintf("M0 %dh%d", y+4, 8*min(n, 40)-2)
				y += 9
			}
			p.add(`<path class="units %s" fill="none" stroke="currentColor" stroke-width="6" stroke-dasharray="6 2" d="%s"/>`,
				u.Class, path)
			y += 4
		}
		y += 10
		words = append(words, strings.Join(said, ", ")+".")
	}
	p.say("soft", 0, y+4, s.Note)
	words = append(words, strings.ToUpper(s.Note[:1])+s.Note[1:]+".")
	p.Desc, p.height = strings.Join(words, " "), y+14
	return p.html()
}

// Flushes are a pool's workers over time, each with a bar for the time that it waits for an
// answer, and above them the producer, which stands still while all of them wait.
type Flushes struct {
	Panel
	Workers int
	// Every is the time from flush to flush and Wait that for an answer, in ms; Apart reports
	// whether the flushes are spread over the interval.
	Every, Wait float64
	Apart       bool
	Answer      string    // the wait as printed
	Ticks       [3]string // the times of three flushes
	Delivered   string
}

// HTML draws two intervals and the answers after them, between two flushes that all take part in.
func (s Flushes) HTML() string {
	p, n := &s.Panel, s.Workers
	from, to := -0.2*s.Every, 2*s.Every+s.Wait+0.2*s.Every
	const left, top, row = 66.0, 52, 13
	by := 254 / (to - from)
	at := func(t float64) float64 { return left - by*from + by*t }
	bottom := top + row*n
	bars := ""
	for i := range n {
		off := 0.0
		if s.Apart {
			off = s.Every / float64(n) * float64(i)
		}
		for k := -1; k <= 2; k++ {
			t := s.Every*float64(k) + off
			if a, b := max(from, t), min(to, t+s.Wait); b > a {
				bars += fmt.Sprintf("M%.1f %dH%.1fv9H%.1fz", at(a), top+row*i, at(b), at(a))
			}
		}
	}
	// All wait at once only if they flush together, or wait longer than an interval.
	stalls, runs, x := "", "", left
	if !s.Apart || s.Wait >= s.Every {
		for k := range 3 {
			a := at(s.Every * float64(k))
			b := min(320, a+by*s.Wait)
			if a > x {
				runs += fmt.Sprintf("M%.1f 26H%.1fv14H%.1fz", x, a, x)
			}
			stalls += fmt.Sprintf("M%.1f 26H%.1fv14H%.1fz", a, b, a)
			x = b
		}
	}
	if x < 319 {
		runs += fmt.Sprintf("M%.1f 26H320v14H%.1fz", x, x)
	}
	for k, text := range s.Ticks {
		px := at(s.Every * float64(k))
		p.path("grid", fmt.Sprintf("M%.1f 20V%d", px, bottom+4))
		p.add(`<text class="soft" x="%.1f" y="%d" text-anchor="middle">%s</text>`, px, bottom+18, text)
	}
	stands, so := "it never waits", "Some worker always takes events, so the producer never stands still."
	if stalls != "" {
		stands = "hollow: it waits, nobody takes events"
		so = "Meanwhile nobody takes events, so the producer stands still once in each interval."
	}
	p.say("soft", 66, 14, stands)
	p.say("", 0, 38, "producer")
	p.add(`<path class="busy" d="%s"/>`, runs)
	if stalls != "" {
		p.add(`<path class="stall" fill="none" stroke="currentColor" stroke-dasharray="4 3" d="%s"/>`, stalls)
	}
	p.say("", 0, top+34, fmt.Sprint(n))
	p.say("", 0, top+50, "workers")
	p.add(`<path class="waits" d="%s"/>`, bars)
	p.side("soft", "end", 320, bottom+36, fmt.Sprintf("ms; a bar waits %s ms for its answer", s.Answer))
	p.say("big", 0, bottom+60, s.Delivered+" delivered")
	how := map[bool]string{true: "one after the other", false: "all at the same moment"}[s.Apart]
	p.Desc = fmt.Sprintf("%d workers flush every %.0f ms, %s, and each waits %s ms for its answer. %s ",
		n, s.Every, how, s.Answer, so) + fmt.Sprintf("Delivered: %s of what was offered.", s.Delivered)
	p.height = bottom + 68
	return p.html()
}

//go:embed steering.svg
var steering string

// Steering draws the cores that a packet passes on its way to the worker that reads it, with the
// interface's queues alone, with RPS, with RFS, and with both. It shows how Linux works and no figure.
func Steering(p Panel) string {
	p.WriteString(strings.TrimSuffix(steering, "\n"))
	p.height = 370
	p.Desc = "A queue of the interface interrupts one core. With neither setting that core runs TCP as well, " +
		"and the worker reads on a core of its own. With RPS the interrupted core hands the packet to a core chosen " +
		"by the hash of its flow, which runs TCP and wakes the worker on a third core. With RFS it hands the packet " +
		"to the core where the worker that reads the flow last ran, and TCP and worker run there; a flow without a " +
		"known reader stays where it is. With both the way is the same, and a flow without a known reader goes to the " +
		"core of its hash."
	return p.html()
}

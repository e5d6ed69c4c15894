package site

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A figure is one that a page declares in a table [[figures]]. The shortcode of its name places it.
type figure struct {
	Name  string `toml:"name"`
	Kind  string `toml:"kind"`
	Title string `toml:"title"`
	Note  string `toml:"note"`
	// Exp is an experiment. A figure has a chart for each table of a text that the experiment repeats, and one of
	// the evidence that pages show. Source is "published" or "measured" for one of the two, or one table's name, as
	// "06b-s". Levels are those of the conditions to show.
	Exp    string         `toml:"exp"`
	Source string         `toml:"source"`
	Levels map[string]any `toml:"levels"`

	// Bars may be of several metrics of one unit, or of servers in the order of their figures.
	Metric  string `toml:"metric"`
	Servers bool   `toml:"servers"`
	Claim   string `toml:"claim"`
	// Over is the factor of lines, and By that of which each level has a line.
	Over string `toml:"over"`
	By   string `toml:"by"`
}

// A Figure is one as the template figure.html places it.
type Figure struct {
	Title  string  `json:"title"`
	Note   string  `json:"note,omitempty"`
	Charts []Chart `json:"charts"`
}

// A Chart is a table with marks, lines as SVG, or the experiment that nobody has run yet. Of a table of evidence, it
// says what its rows are of.
type Chart struct {
	Table      *Table `json:"table,omitempty"`
	Lines      string `json:"lines,omitempty"`
	Nothing    string `json:"nothing,omitempty"`
	Experiment string `json:"experiment,omitempty"`
	Metric     string `json:"metric,omitempty"`
}

// A kind says how one reads a figure, and how its chart of an evidence is drawn; a zero chart is none.
type kind struct {
	metric bool // whether it needs one
	note   string
	draw   func(*Site, figure, *evidence) (Chart, error)
}

var kinds = map[string]kind{
	"bars":   {true, "A dot is the figure, and a line its interval.", (*Site).bars},
	"ratios": {false, "Shaded: what the claim wants. The rule: no difference.", (*Site).ratios},
	"lines":  {true, "", (*Site).lines},
}

// draw makes a figure. What nobody has measured yet is a chart that says so.
func (s *Site) draw(f figure) (*Figure, error) {
	of, ok := kinds[f.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q is not known; %s", f.Kind, strict.Instead(f.Kind, slices.Sorted(maps.Keys(kinds))))
	}
	for _, name := range strings.Split(f.Metric, " ") {
		if err := checkMetric(name); of.metric && err != nil {
			return nil, err
		}
	}
	drawn := &Figure{Title: f.Title, Note: strings.TrimSpace(f.Note + " " + of.note)}
	all, err := s.choose(f)
	for _, e := range all {
		chart, err := of.draw(s, f, e)
		if err != nil {
			return nil, err
		} else if chart != (Chart{}) {
			drawn.Charts = append(drawn.Charts, chart)
		}
	}
	switch {
	case err != nil || drawn.Charts != nil:
	case f.Source == "measured":
		drawn.Charts = []Chart{{Nothing: f.Exp}}
	default:
		err = fmt.Errorf("no run of %s has %s; for what nobody has measured yet, say source = \"measured\"", f.Exp,
			cmp.Or(f.Metric, "such figures"))
	}
	return drawn, err
}

// choose gives what a figure shows, each with the conditions that it shows: all tables of texts that the experiment
// repeats and the evidence, or those of them that are named. A claim is about the evidence.
func (s *Site) choose(f figure) (all []*evidence, err error) {
	wanted, err := setting.ParseLevels(f.Levels)
	switch {
	case err != nil:
		return nil, fmt.Errorf("levels: %w", err)
	case s.x[f.Exp] == nil:
		return nil, fmt.Errorf("exp: lab/experiments/%s.toml is missing", f.Exp)
	}
	printed := s.printed[f.Exp]
	switch {
	case f.Source == "measured" || f.Claim != "":
	case f.Source == "" || f.Source == "published":
		all = slices.Clone(printed)
	default:
		if all = strict.Filter(printed, func(e *evidence) bool { return e.published == f.Source }); len(all) == 0 {
			names := strict.Map(printed, func(e *evidence) string { return e.published })
			return nil, fmt.Errorf("%s has no table %q; %s", f.Exp, f.Source, strict.Instead(f.Source, names))
		}
	}
	if e := s.shown[f.Exp]; e != nil && (f.Source == "" || f.Source == "measured") {
		all = append(all, e)
	}
	for i, e := range all {
		some, file := *e, *e.File
		file.Conditions = strict.Filter(e.Conditions, func(c medians.Summary) bool { return wanted.In(c.Levels) })
		some.File, all[i] = &file, &some
	}
	return all, nil
}

// A plot is a chart of lines. Its width is 328 units, that of the text on a phone.
type plot struct {
	ID, Title, Caption, Desc string
	Upward, Across           string // what the axes show
	Strokes                  []Stroke
	Ticks, Marks, Legend     []mark

	x, y func(float64) float64 // places of levels and figures
}

// A mark is a shape or a word at a place; Class of a word says which of its ends is there.
type mark struct {
	Class, D, Text string
	X, Y           float64
}

//go:embed lines.html
var linesText string

var linesTemplate = template.Must(template.New("").Parse(linesText))

// shapes are those of the marks of lines. They differ, so that colour alone tells nothing.
var shapes = []string{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m-4-4h8v8h-8z", "m0-5l5 9h-10z", "m0-5l5 5-5 5-5-5z",
	"m0 5l5-9h-10z"}

// lines are a metric over a factor, with a line for each level of another one if the figure names it. A rate that
// was asked for is a line as well.
func (s *Site) lines(f figure, e *evidence) (Chart, error) {
	m, _ := metric.Lookup(f.Metric)
	lines, points := map[string][]row{}, []row{}
	for _, c := range e.Conditions {
		q, known := e.row(c, f.Metric)
		level, there := c.Levels[f.Over]
		if !known || !there {
			continue
		}
		n, number := level.Int()
		if !number {
			return Chart{}, fmt.Errorf("%s is %q: lines go over numbers, and bars suit words", f.Over, level)
		}
		q.label, q.x = setting.LevelCell(level), float64(n)
		name := m.Label
		if f.By != "" {
			name = setting.Title(f.By) + " " + setting.LevelCell(c.Levels[f.By])
		}
		lines[name] = append(lines[name], q)
		points = append(points, q)
		if f.Over == setting.Rate && f.Metric == "throughput_rps" {
			asked := row{label: q.label, value: q.label, x: q.x, at: new(q.x)}
			lines["what was asked"] = append(lines["what was asked"], asked)
			points = append(points, asked)
		}
	}
	if len(points) == 0 {
		return Chart{}, nil
	}
	p := plot{ID: f.Name + "-" + cmp.Or(e.published, "lab"), Title: f.Title, Caption: e.caption(), Across: setting.Title(f.Over)}
	p.axes(m, points)
	for i, name := range slices.Sorted(maps.Keys(lines)) {
		p.line(name, i%len(shapes), lines[name])
	}
	if slices.ContainsFunc(points, func(q row) bool { return q.ends != nil }) {
		p.Caption += ". Upright: intervals"
	}
	if slices.ContainsFunc(points, func(q row) bool { return strings.Contains(q.word, clientBound) }) {
		p.Caption += ". Hollow: the client was the bottleneck"
	}
	var text strings.Builder
	err := linesTemplate.Execute(&text, p)
	return Chart{Lines: text.String()}, err
}

// axes lays out the axes. The one across is logarithmic, unless a level is zero; the one upward starts at zero: if it
// were cut off below, the noise of a plateau would look like a slope.
func (p *plot) axes(m metric.Metric, points []row) {
	const left, right, top, bottom = 50.0, 326.0, 10.0, 200.0
	_, most := reach(points, 0)
	in := words.UnitFor(string(m.Unit), most)
	switch {
	case m.Unit == metric.PerSecond && most >= 2e6:
		in = words.Unit{Factor: 1e-6, Name: "millions a second"}
	case m.Unit == metric.PerSecond && most >= 1e4:
		in = words.Unit{Factor: 1e-3, Name: "thousands a second"}
	}
	p.Upward = strings.TrimSuffix(m.Label+", "+in.Name, ", ")
	quarter := cmp.Or(most*in.Factor, 1) / 4
	by := 10 * math.Pow10(words.Exponent(quarter))
	if by/5 >= quarter {
		by /= 5
	} else if by/2 >= quarter {
		by /= 2
	}
	last := max(1, math.Ceil(most*in.Factor/by-0.03)) // a little may be above the last tick
	up, grid := scale{high: last * by}, ""
	p.y = func(v float64) float64 { return tenth(bottom - (bottom-top)*up.of(v*in.Factor)) }
	for i := 0.0; i <= last; i++ {
		at := p.y(i * by / in.Factor)
		grid += fmt.Sprintf("M%v %vH%v", left, at, right)
		p.Ticks = append(p.Ticks, mark{"end", "", words.Grouped(i*by, min(0, words.Exponent(by))), left - 7, at + 4.5})
	}
	p.Strokes = []Stroke{{"grid", grid}}
	slices.SortStableFunc(points, func(a, b row) int { return cmp.Compare(a.x, b.x) })
	first, end := points[0], points[len(points)-1]
	half := func(q row) float64 { return 3.7 * float64(len(q.label)) }
	over := scale{first.x, end.x, first.x > 0}
	from, width := left+half(first), right-half(end)-left-half(first)
	p.x = func(v float64) float64 { return tenth(from + width*over.of(v)) }
	if over.log {
		p.Across += ", log scale"
	}
	// The last level is always written; those before it only if there is room.
	room := right + 9
	for _, q := range slices.Backward(points) {
		if at := p.x(q.x); at+half(q) < room {
			p.Ticks = append(p.Ticks, mark{"middle", "", q.label, at, bottom + 18})
			room = at - half(q) - 5
		}
	}
}

// line draws a line, its intervals and its marks. A figure below a limit has no mark.
func (p *plot) line(name string, i int, points []row) {
	class, line, ends := fmt.Sprintf("s%d", i), "", ""
	for _, q := range points {
		if q.ends != nil {
			ends += fmt.Sprintf("M%v %vV%v", p.x(q.x), p.y(q.ends[0]), p.y(q.ends[1]))
		}
		said := fmt.Sprintf("%s at %s, %s.", q.value, q.label, name)
		p.Desc += said + " "
		if q.at != nil {
			shape := class
			if strings.Contains(q.word, clientBound) {
				shape += " " + clientBound
			}
			line += fmt.Sprintf("L%v %v", p.x(q.x), p.y(*q.at))
			p.Marks = append(p.Marks, mark{shape, shapes[i], said, p.x(q.x), p.y(*q.at)})
		}
	}
	line = strings.Replace(line, "L", "M", 1)
	p.Strokes = append(p.Strokes, Stroke{"bar " + class, ends}, Stroke{"line " + class, line})
	p.Legend = append(p.Legend, mark{Class: class, D: shapes[i], Text: name})
}

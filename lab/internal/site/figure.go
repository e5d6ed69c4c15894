package site

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A figure is one that a page declares in a table [[figures]]. The shortcode of its name places it.
type figure struct {
	Name  string `toml:"name"`
	Kind  string `toml:"kind"`
	Title string `toml:"title"`
	Note  string `toml:"note"`
	// Exp is an experiment. A figure has a chart for each table of a text that the experiment repeats, and one of
	// the evidence that pages show. Source is "published" or "measured" for one of the two, and Table names one
	// table, as "06b-s". Levels are those of the conditions to show.
	Exp    string         `toml:"exp"`
	Source string         `toml:"source"`
	Table  string         `toml:"table"`
	Levels map[string]any `toml:"levels"`

	// Bars may be of several metrics of one unit.
	Metric string `toml:"metric"`
	Claim  string `toml:"claim"`
	// Over is the factor of lines, and By that of which each level has a line.
	Over string `toml:"over"`
	By   string `toml:"by"`
	// Panels are the setups side by side.
	Panels []figure `toml:"panels"`
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

// A kind says what a figure needs, how one reads it, and how its chart of an evidence is drawn; a zero chart is none.
type kind struct {
	needs []string
	note  string
	draw  func(*Site, figure, *evidence) (Chart, error)
}

var kinds = map[string]kind{
	"bars":     {[]string{"exp", "metric"}, "A dot is the figure, and a line its interval.", (*Site).bars},
	"ratios":   {[]string{"exp", "claim"}, "Shaded: what the claim wants. The rule: no difference.", (*Site).ratios},
	"relative": {[]string{"exp"}, "A dot is the ratio, a line its interval. The rule: no difference.", (*Site).relative},
	"lines":    {[]string{"exp", "metric", "over"}, "Upright: intervals. Hollow: the client was the bottleneck.", (*Site).lines},
	"setup":    {nil, "A side whose bar reaches the tick in a trial is the bottleneck of that trial.", (*Site).setup},
}

// draw makes a figure. What nobody has measured yet is a chart that says so.
func (s *Site) draw(f figure) (*Figure, error) {
	of, ok := kinds[f.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q is not known; %s", f.Kind, strict.Instead(f.Kind, slices.Sorted(maps.Keys(kinds))))
	}
	has := map[string]string{"exp": f.Exp, "metric": f.Metric, "over": f.Over, "claim": f.Claim}
	for _, need := range of.needs {
		if has[need] == "" {
			return nil, fmt.Errorf("%s need %q", f.Kind, need)
		}
	}
	for _, name := range strings.Fields(f.Metric) {
		if _, known := metric.Lookup(name); !known {
			return nil, fmt.Errorf("metric %q is not known; %s", name, strict.Instead(name, metric.Names()))
		}
	}
	drawn := &Figure{Title: f.Title, Note: strings.TrimSpace(f.Note + " " + of.note)}
	panels := f.Panels
	if panels == nil {
		panels = []figure{f}
	}
	for _, p := range panels {
		p.Kind, p.Title = f.Kind, f.Title
		before := len(drawn.Charts)
		all, err := s.choose(p)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			chart, err := of.draw(s, p, e)
			if err != nil {
				return nil, err
			}
			if chart != (Chart{}) {
				drawn.Charts = append(drawn.Charts, chart)
			}
		}
		switch {
		case len(drawn.Charts) > before:
		case p.Source == "measured":
			drawn.Charts = append(drawn.Charts, Chart{Nothing: p.Exp})
		default:
			return nil, fmt.Errorf("no run of %s has %s; for what nobody has measured yet, say source = \"measured\"",
				p.Exp, cmp.Or(p.Metric, "such figures"))
		}
	}
	return drawn, nil
}

// choose gives what a figure shows, each with the conditions that it shows: all tables of texts that the experiment
// repeats and the evidence, or those of them that are named. A claim is about the evidence.
func (s *Site) choose(f figure) (all []*evidence, err error) {
	wanted, err := setting.ParseLevels(f.Levels)
	if err != nil {
		return nil, fmt.Errorf("levels: %w", err)
	}
	switch {
	case s.x[f.Exp] == nil:
		return nil, fmt.Errorf("lab/experiments/%s.toml is missing", f.Exp)
	}
	if f.Claim == "" && f.Source != "measured" {
		all = slices.Clone(s.printed[f.Exp])
	}
	if f.Table != "" {
		names := strict.Map(all, func(e *evidence) string { return e.published })
		if all = strict.Filter(all, func(e *evidence) bool { return e.published == f.Table }); len(all) == 0 {
			return nil, fmt.Errorf("%s has no table %q; %s", f.Exp, f.Table, strict.Instead(f.Table, names))
		}
	} else if e := s.shown[f.Exp]; e != nil && f.Source != "published" {
		all = append(all, e)
	}
	for i, e := range all {
		some := *e
		some.conditions = strict.Filter(e.conditions, func(c medians.Summary) bool {
			return c.Levels.With(wanted).Key() == c.Levels.Key()
		})
		all[i] = &some
	}
	return all, nil
}

package plot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Figure is one that a page declares.
type Figure struct {
	Name  string `toml:"name"`
	Kind  string `toml:"kind"`
	Title string `toml:"title"`
	Note  string `toml:"note"`
	Exp   string `toml:"exp"`
	// Table names a text's table, as "06b-s", and Host the only table of a host;
	// Source "measured" or "published" is a part of those that the page shows. Levels are
	// those to keep.
	Table  string         `toml:"table"`
	Host   string         `toml:"host"`
	Source string         `toml:"source"`
	Keep   map[string]any `toml:"levels"`

	Metric string `toml:"metric"`
	// Over is the factor of lines, and By that of their series or of groups of bars.
	Over string `toml:"over"`
	By   string `toml:"by"`
	// Each is "run" for a chart a run.
	Each  string `toml:"each"`
	Claim string `toml:"claim"`
	// Entry has the figures that Server and Client name, of cores that a text printed.
	Entry  string   `toml:"entry"`
	Server []string `toml:"server"`
	Client []string `toml:"client"`

	// Panels are those of a picture. Server, Client and Wire each name the figure of a text that
	// says how full that station of a setup was; Depths are those of packets, and Label names
	// processes.
	Panels []Figure `toml:"panels"`
	Wire   []string `toml:"wire"`
	Depths []int    `toml:"depths"`
	Label  string   `toml:"label"`

	Levels setting.Levels `toml:"-"`
}

// kinds are those of figures, with what each needs.
var kinds = map[string]struct {
	needs []string
	draw  func(*Book, Figure, []Run) (string, error)
}{
	"lines":  {[]string{"exp", "metric", "over"}, (*Book).lines},
	"bars":   {[]string{"exp", "metric"}, (*Book).bars},
	"dots":   {[]string{"exp", "metric"}, (*Book).dots},
	"wire":   {[]string{"exp"}, (*Book).wire},
	"cores":  {nil, (*Book).cores},
	"ratios": {[]string{"exp", "claim"}, (*Book).ratios},

	"relative": {[]string{"exp"}, (*Book).relative},

	"picture": {nil, (*Book).picture},
}

// Experiments are those that a figure or its panels are of.
func (f Figure) Experiments() (names []string) {
	for _, p := range append([]Figure{f}, f.Panels...) {
		if p.Exp != "" && !slices.Contains(names, p.Exp) {
			names = append(names, p.Exp)
		}
	}
	return names
}

// Declared reads the figures and the experiments of a page's front matter. Hugo refuses
// what else is wrong in it.
func Declared(path string, text []byte) (figures []Figure, experiments []string, err error) {
	var front struct {
		Figures     any      `toml:"figures"`
		Experiments []string `toml:"experiments"`
	}
	if toml.Unmarshal(strict.FrontMatter(text), &front) != nil {
		return nil, nil, nil
	}
	if front.Figures != nil {
		figures, err = figuresOf(front.Figures)
	}
	for i, f := range figures {
		if slices.ContainsFunc(figures[:i], func(g Figure) bool { return g.Name == f.Name }) {
			err = fmt.Errorf("figure %q: the page has another figure of this name", f.Name)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return figures, front.Experiments, nil
}

// figuresOf reads the tables of figures, which have no other keys than those of a figure.
func figuresOf(tables any) ([]Figure, error) {
	alone, err := toml.Marshal(map[string]any{"figures": tables})
	if err != nil {
		return nil, err
	}
	var of struct {
		Figures []Figure `toml:"figures"`
	}
	d := toml.NewDecoder(bytes.NewReader(alone)).DisallowUnknownFields()
	if err := d.Decode(&of); err != nil {
		if unknown := (*toml.StrictMissingError)(nil); errors.As(err, &unknown) {
			key := unknown.Errors[0].Key()
			return nil, fmt.Errorf("[[figures]] has no key %q", key[len(key)-1])
		}
		return nil, fmt.Errorf("[[figures]]: %w", err)
	}
	return of.Figures, nil
}

// Draw draws a figure, by its name. A measured one that no run has yet is empty: the table beside
// it says so.
func (b *Book) Draw(f Figure) (map[string]string, error) {
	kind, ok := kinds[f.Kind]
	if !ok {
		return nil, unknown("kind", f.Kind, kinds)
	}
	has := map[string]string{"exp": f.Exp, "metric": f.Metric, "over": f.Over, "claim": f.Claim}
	for _, need := range kind.needs {
		if has[need] == "" {
			return nil, fmt.Errorf("%s need %q", f.Kind, need)
		}
	}
	if _, known := metric.Lookup(f.Metric); f.Metric != "" && !known {
		return nil, fmt.Errorf("metric %q is not known; %s", f.Metric, strict.Instead(f.Metric, metric.Names()))
	}
	if err := f.keep(); err != nil {
		return nil, err
	}
	var runs []Run
	if f.Exp != "" {
		var err error
		if runs, err = b.chosen(f); err != nil {
			return nil, err
		}
	}
	b.wordless = nil
	drawn, err := kind.draw(b, f, runs)
	if err = cmp.Or(err, b.wordless); err == nil && drawn == "" && f.Source != "measured" {
		return nil, fmt.Errorf("no run of %s has %s; for what nobody has measured yet, say source = \"measured\"",
			f.Exp, cmp.Or(f.Metric, "such figures"))
	}
	return map[string]string{f.Name: strings.TrimSpace(drawn)}, err
}

// unknown says which kind may have been meant.
func unknown[T any](what, kind string, of map[string]T) error {
	all := slices.Sorted(maps.Keys(of))
	return fmt.Errorf("%s %q is not known; %s", what, kind, strict.Instead(kind, all))
}

// keep reads the levels to keep.
func (f *Figure) keep() error {
	f.Levels = setting.Levels{}
	for name, v := range f.Keep {
		l, err := setting.ParseLevel(v)
		if err != nil {
			return fmt.Errorf("levels: %s: %w", name, err)
		}
		f.Levels[name] = l
	}
	return nil
}

package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Table is one that a text printed: figures of one machine, or of two. Its rows
// are single runs, so it decides no claim.
type Table struct {
	// ID names the table in formulas and on pages.
	ID    string `toml:"id"`
	Place string `toml:"place"`
	// Experiment is the lab's, which repeats what the table shows.
	Experiment string `toml:"experiment"`
	Host       string `toml:"host"`
	// Client is the client's host, if it is another than the server's.
	Client      string  `toml:"client"`
	Topology    string  `toml:"topology"`
	LineRateBps float64 `toml:"line_rate_bps"`
	// Note says what the text leaves open.
	Note string `toml:"note"`
	// Settings are the same in every row.
	Settings map[string]any `toml:"settings"`
	Rows     []Row          `toml:"rows"`

	settings setting.Levels
	rows     []row
}

// A Row is one run of a table: what was set, and the figures as they were printed.
// Formulas call the rows c1, c2 and so on.
type Row struct {
	Levels  map[string]any    `toml:"levels"`
	Printed map[string]string `toml:"printed"`
}

// A row is a Row whose levels and figures were read.
type row struct {
	at      int
	levels  setting.Levels
	figures map[string]reading // by metric
}

func rowID(i int) string { return "c" + strconv.Itoa(i+1) }

// resolve reads the table's levels and figures.
func (t *Table) resolve() (err error) {
	switch {
	case t.Place == "" || t.Experiment == "" || t.Host == "":
		return errors.New("needs place, experiment and host")
	case !slices.Contains(topologies, t.Topology):
		return fmt.Errorf("topology: %q; %s", t.Topology, strict.Instead(t.Topology, topologies))
	case t.LineRateBps < 0:
		return fmt.Errorf("line_rate_bps: %v is no rate", t.LineRateBps)
	case len(t.Rows) == 0:
		return errors.New("rows: none; each run that the table shows is one")
	}
	if t.settings, err = levels(t.Settings); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for i, r := range t.Rows {
		read := row{at: i, figures: map[string]reading{}}
		if read.levels, err = levels(r.Levels); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		for _, name := range slices.Sorted(maps.Keys(r.Printed)) {
			if read.figures[name], err = printedFigure(name, r.Printed[name]); err != nil {
				return fmt.Errorf("rows[%d]: printed: %s: %w", i, name, err)
			}
		}
		t.rows = append(t.rows, read)
	}
	return nil
}

var topologies = []string{"loopback", "netns", "fleet"}

func levels(of map[string]any) (setting.Levels, error) {
	out := setting.Levels{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		l, err := setting.ParseLevel(of[name])
		if err == nil {
			err = setting.Check(name, l)
		}
		if err != nil {
			return nil, err
		}
		out[name] = l
	}
	return out, nil
}

// printedFigure reads a metric's figure. Latencies in whole milliseconds were cut by
// autocannon.
func printedFigure(name, printed string) (reading, error) {
	m, ok := metric.Lookup(name)
	if !ok {
		return reading{}, fmt.Errorf("no such metric; %s", strict.Instead(name, metric.Names()))
	}
	r, err := parse(printed, manner{
		cut:   strings.HasPrefix(name, "latency_") && whole.MatchString(printed),
		exact: counted[name] && !strings.HasPrefix(printed, "~"),
	})
	bare := m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio
	if err == nil && r.Unit != m.Unit && (r.Unit != "" || !bare) {
		err = fmt.Errorf("%q is no figure in %s", printed, m.Unit)
	}
	return r, err
}

// cell finds one figure of the table, or a level.
func (t *Table) cell(id, what string) (named, error) {
	ids := strict.Map(t.rows, func(r row) string { return rowID(r.at) })
	i := slices.Index(ids, id)
	if i < 0 {
		return named{}, fmt.Errorf("table %q: no row %q; %s", t.ID, id, strict.Instead(id, ids))
	}
	r := t.rows[i]
	place := t.placed(r)
	if l, ok := t.settings.With(r.levels)[what]; ok {
		v, ok := l.Int()
		if !ok {
			return named{}, fmt.Errorf("%s is %s, no number", what, l)
		}
		return named{Quantity: law.Exactly(float64(v)), Place: place, Unit: metric.Count}, nil
	}
	m, ok := metric.Lookup(what)
	if !ok {
		return named{}, fmt.Errorf("%q is neither a setting nor a metric; %s", what,
			strict.Instead(what, append(setting.Names(), metric.Names()...)))
	}
	f, ok := r.figures[what]
	if !ok {
		return named{}, fmt.Errorf("table %q: no %s in row %s", t.ID, what, id)
	}
	return named{f.Quantity, place + ": " + strings.ToLower(m.Label), t.Rows[i].Printed[what], m.Unit}, nil
}

// placed names a row.
func (t *Table) placed(r row) string {
	place := t.Place
	for _, name := range setting.Names() {
		if l, ok := r.levels[name]; ok {
			place += fmt.Sprintf(", %s %s", strings.ReplaceAll(name, "_", " "), level(l))
		}
	}
	return place
}

func level(l setting.Level) string {
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "on", false: "off"}[on]
	}
	return l.String()
}

// A Sheet is a table as pages show it.
type Sheet struct {
	ID          string            `json:"id"`
	Place       string            `json:"place"`
	Experiment  string            `json:"experiment"`
	Host        string            `json:"host"`
	ClientHost  string            `json:"client_host"`
	Date        string            `json:"date"`
	Note        string            `json:"note,omitempty"`
	Topology    string            `json:"topology"`
	LineRateBps float64           `json:"line_rate_bps,omitempty"`
	Settings    setting.Levels    `json:"settings"`
	Shown       pages.Values      `json:"shown"`
	Conditions  []verdict.Summary `json:"conditions"`
	Table       *verdict.Table    `json:"table"`
}

// sheet lays the table out.
func (t *Table) sheet(date string, experiments []*experiment.Experiment, hosts map[string]*host.Profile) (Sheet,
	error) {
	i := slices.IndexFunc(experiments, func(x *experiment.Experiment) bool { return x.Name == t.Experiment })
	if i < 0 {
		return Sheet{}, fmt.Errorf("no experiment %q", t.Experiment)
	}
	out := Sheet{
		ID: t.ID, Place: t.Place, Experiment: t.Experiment, Host: t.Host, ClientHost: cmp.Or(t.Client, t.Host), Date: date,
		Note: t.Note, Topology: t.Topology, LineRateBps: t.LineRateBps, Settings: t.settings,
		Shown: pages.ValuesOf(t.settings, t.LineRateBps),
	}
	for _, id := range []string{out.Host, out.ClientHost} {
		if hosts[id] == nil {
			return out, fmt.Errorf("no host %q in data/hosts; %s", id, strict.Instead(id, slices.Sorted(maps.Keys(hosts))))
		}
	}
	var rows []pages.PrintedRow
	for i, r := range t.rows {
		as := pages.PrintedRow{ID: rowID(i), Levels: r.levels, Figures: map[string]verdict.Figure{}}
		known := map[string]float64{}
		for name, f := range r.figures {
			v, printed := f.Rounded().Value, t.Rows[i].Printed[name]
			fig := verdict.Figure{N: 1, Printed: printed}
			if strings.HasPrefix(printed, "<") {
				fig.Below = &v
			} else {
				fig.Median, known[name] = &v, v
			}
			as.Figures[name] = fig
		}
		as.Bound = gate.WallsOf(known, t.LineRateBps).Bound()
		rows = append(rows, as)
	}
	out.Conditions, out.Table = pages.OfText(experiments[i], rows)
	return out, nil
}

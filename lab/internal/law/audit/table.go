package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A Sheet is a table that a text printed: figures of one machine, or of two. Its rows are single runs, so it decides no
// claim.
type Sheet struct {
	ID          string         `toml:"id" json:"id"` // in formulas and on pages
	Place       string         `toml:"place" json:"place"`
	Experiment  string         `toml:"experiment" json:"experiment"` // the lab's, which repeats what the table shows
	Host        string         `toml:"host" json:"host"`
	ClientHost  string         `toml:"client" json:"client_host"` // in files only if it is another than the server's
	Date        string         `toml:"-" json:"date"`
	Note        string         `toml:"note" json:"note,omitempty"` // what the text leaves open
	Topology    string         `toml:"topology" json:"topology"`
	LineRateBps float64        `toml:"line_rate_bps" json:"line_rate_bps,omitempty"`
	Settings    setting.Levels `toml:"-" json:"settings"` // the same in every row

	// as pages show it
	Shown      pages.Values      `toml:"-" json:"shown"`
	Conditions []medians.Summary `toml:"-" json:"conditions"`
	Table      *medians.Table    `toml:"-" json:"table"`

	Given map[string]any `toml:"settings" json:"-"`
	Rows  []Row          `toml:"rows" json:"-"`
}

// A Row is one run of a table: what was set, and the figures as they were printed.
// Formulas call the rows c1, c2 and so on.
type Row struct {
	Levels  map[string]any    `toml:"levels"`
	Printed map[string]string `toml:"printed"`

	id, place string
	levels    setting.Levels
	figures   map[string]Printed // by metric
}

// resolve reads the table's levels and figures.
func (t *Sheet) resolve() (err error) {
	topologies := strict.Map(experiment.Topologies(), func(w strict.Word) string { return w.Name })
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
	if t.Settings, err = levels(t.Given); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.levels, err = levels(r.Levels); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		r.id, r.place, r.figures = "c"+strconv.Itoa(i+1), t.Place, map[string]Printed{}
		for _, name := range setting.Names() {
			if l, ok := r.levels[name]; ok {
				r.place += ", " + strings.ReplaceAll(name, "_", " ") + " " + setting.LevelPhrase(l)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.Printed)) {
			if r.figures[name], err = printedFigure(name, r.Printed[name], r.place); err != nil {
				return fmt.Errorf("rows[%d]: printed: %s: %w", i, name, err)
			}
		}
	}
	return nil
}

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

var whole = regexp.MustCompile(`^[0-9]+ ?ms$`)

// printedFigure reads a metric's figure. Counts are in full. Latencies in whole milliseconds were cut by autocannon.
func printedFigure(name, printed, place string) (Printed, error) {
	m, ok := metric.Lookup(name)
	if !ok {
		return Printed{}, fmt.Errorf("no such metric; %s", strict.Instead(name, metric.Names()))
	}
	f := Figure{Place: place + ": " + strings.ToLower(m.Label), Printed: printed,
		Cut:   strings.HasPrefix(name, "latency_") && whole.MatchString(printed),
		Exact: m.Unit == metric.Count && !strings.ContainsAny(printed, "~.")}
	if m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio {
		f.Unit = m.Unit // others are printed
	}
	p, err := f.read()
	if err == nil && p.Unit != m.Unit {
		err = fmt.Errorf("%q is no figure in %s", printed, m.Unit)
	}
	return p, err
}

// cell finds one figure of the table, or a level.
func (t *Sheet) cell(id, what string) (Printed, error) {
	r, ok := strict.Find(t.Rows, func(r Row) bool { return r.id == id })
	if !ok {
		return Printed{}, fmt.Errorf("table %q: no row %q; %s", t.ID, id,
			strict.Instead(id, strict.Map(t.Rows, func(r Row) string { return r.id })))
	}
	if n, ok := t.Settings.With(r.levels)[what].Int(); ok {
		return Printed{r.place, "", metric.Count, law.Exactly(float64(n))}, nil
	}
	p, ok := r.figures[what]
	if !ok {
		return p, fmt.Errorf("table %q: no %s in row %s; %s", t.ID, what, id,
			strict.Instead(what, append(slices.Sorted(maps.Keys(r.figures)), setting.Names()...)))
	}
	return p, nil
}

// figures are those of law, by metric or setting. A metric that was printed counts before a setting.
var figures = map[string]string{"throughput_rps": "rate", "requests": "requests", "duration_s": "duration",
	"latency_mean_s": "mean", "latency_max_s": "max", "transfer_bytes_per_s": "byterate", "line_rate_share": "share",
	"processes": "processes", setting.Workers: "workers", "connections_per_worker": "worker_connections",
	"throughput_per_worker_rps": "worker_rate", setting.Connections: "connections", setting.Pipelining: "depth"}

// automatic makes every check that the figures of a table's rows allow.
func (t *Sheet) automatic() (out []Finding) {
	for _, r := range t.Rows {
		row, levels := law.Row{}, t.Settings.With(r.levels)
		metrics := map[string]string{} // by what law calls them
		for name, id := range figures {
			f, _ := law.FigureOf(id)
			metrics[f.Name] = name
			if p, ok := r.figures[name]; ok {
				row.Set(f, p.Quantity)
			} else if v, ok := levels[name].Int(); ok {
				row.Set(f, law.Exactly(float64(v)))
			}
		}
		_, middle := r.figures["latency_p50_s"] // a tail alone is for a check to hold
		for name, p := range r.figures {
			if q, ok := law.FigureOf(strings.TrimPrefix(strings.TrimSuffix(name, "_s"), "latency_")); ok && middle {
				row.Set(q, p.Quantity)
				metrics[q.Name] = name
			}
		}
		if t.LineRateBps > 0 {
			row.Set(law.Reach, law.Exactly(t.LineRateBps/8))
		}
		if size, ok := answer(levels); ok {
			row.Set(law.Size, size)
		}
		tell := func(of law.Result) {
			if of.Note == "" {
				return
			}
			p := r.figures[metrics[of.Of]]
			id := strings.TrimSuffix(strings.Join([]string{t.ID, r.id, of.Law, metrics[of.Of]}, "-"), "-")
			out = append(out, Finding{ID: id, Kind: of.Law, Place: cmp.Or(p.Place, r.place), Printed: p.Printed, Unit: of.Unit,
				Stands: of.Stands, Relation: of.Relation, Recomputed: of.Allowed, Within: math.Ceil(1e3*of.Within) / 1e3,
				Note: of.Note, Automatic: true}.judged())
		}
		for _, name := range slices.Sorted(maps.Keys(r.figures)) {
			if p := r.figures[name]; p.Low > 1 && (strings.Contains(name, "_busy") || name == "line_rate_share") {
				metrics[name] = name
				tell(law.Result{Law: law.CPU, Of: name, Stands: p.Quantity, Relation: law.AtMost, Allowed: law.Exactly(1),
					Unit: metric.Ratio, Note: "A share of all that there is."})
			}
		}
		row.Judge(tell)
	}
	return out
}

// answer is the size in bytes of an answer, head and body, if the series printed that of the route. The
// body of /read is a mean over products drawn at start; two sets of products differ by less
// than 2 %. Rates count answers and transfers count bytes read. What is in transit at the
// ends of a window is counted in only one of them, which makes less than 1 %.
func answer(levels setting.Levels) (law.Quantity, bool) {
	route, ok := catalog.RouteOf(levels[setting.Route].String())
	if stack := levels[setting.Stack]; stack.IsZero() || stack.String() == setting.Fiber {
		whole := route.Printed + float64(route.Head(int(route.Printed)))
		return law.Around(whole, route.Within*whole), ok && route.Printed > 0
	}
	// Another server's head has a status line and an empty line, and is smaller than any plain head.
	head := law.Quantity{Value: 108, Low: 19, High: 256}
	return law.Around(route.Printed, route.Within*route.Printed).Plus(head), ok && route.Printed > 0
}

// lay lays the table out as pages show it.
func (t *Sheet) lay(date string, experiments []*experiment.Experiment, hosts map[string]*host.Profile) error {
	t.Date, t.ClientHost, t.Shown = date, cmp.Or(t.ClientHost, t.Host), pages.ValuesOf(t.Settings, t.LineRateBps)
	x, ok := strict.Find(experiments, func(x *experiment.Experiment) bool { return x.Name == t.Experiment })
	if !ok {
		return fmt.Errorf("no experiment %q", t.Experiment)
	}
	for _, id := range []string{t.Host, t.ClientHost} {
		if hosts[id] == nil {
			return fmt.Errorf("no host %q in data/hosts; %s", id, strict.Instead(id, slices.Sorted(maps.Keys(hosts))))
		}
	}
	var rows []pages.PrintedRow
	for _, r := range t.Rows {
		as := pages.PrintedRow{ID: r.id, Levels: r.levels, Figures: map[string]medians.Figure{}}
		known := map[string]float64{}
		for name, p := range r.figures {
			v, fig := p.Rounded().Value, medians.Figure{N: 1, Printed: p.Printed}
			if strings.HasPrefix(p.Printed, "<") {
				fig.Below = &v
			} else {
				fig.Median, known[name] = &v, v
			}
			as.Figures[name] = fig
		}
		as.Bound = gate.WallsOf(known, t.LineRateBps).Bound()
		rows = append(rows, as)
	}
	t.Conditions, t.Table = pages.OfText(x, rows)
	return nil
}

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
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/server/catalog"
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
}

// A Row is one run of a table: what was set, and the figures as they were printed.
// Formulas call the rows c1, c2 and so on.
type Row struct {
	Levels  map[string]any    `toml:"levels"`
	Printed map[string]string `toml:"printed"`

	id, place string
	levels    setting.Levels
	figures   map[string]named // by metric
}

var topologies = []string{"loopback", "netns", "fleet"}

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
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.levels, err = levels(r.Levels); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		r.id, r.place, r.figures = "c"+strconv.Itoa(i+1), t.Place, map[string]named{}
		for _, name := range setting.Names() {
			if l, ok := r.levels[name]; ok {
				r.place += fmt.Sprintf(", %s %s", strings.ReplaceAll(name, "_", " "), level(l))
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

func level(l setting.Level) string {
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "on", false: "off"}[on]
	}
	return l.String()
}

// counted has the metrics that texts print in full, so that trailing zeros are significant.
var counted = map[string]bool{"workers": true, "workers_active": true, "processes": true, "requests": true,
	"connections_established": true}

var whole = regexp.MustCompile(`^[0-9]+ ?ms$`)

// printedFigure reads a metric's figure. Latencies in whole milliseconds were cut by
// autocannon.
func printedFigure(name, printed, place string) (named, error) {
	m, ok := metric.Lookup(name)
	if !ok {
		return named{}, fmt.Errorf("no such metric; %s", strict.Instead(name, metric.Names()))
	}
	f := Figure{Place: place + ": " + strings.ToLower(m.Label), Printed: printed,
		Cut:   strings.HasPrefix(name, "latency_") && whole.MatchString(printed),
		Exact: counted[name] && !strings.HasPrefix(printed, "~")}
	if m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio {
		f.Unit = m.Unit // others are printed
	}
	n, err := f.read()
	if err == nil && n.Unit != m.Unit {
		err = fmt.Errorf("%q is no figure in %s", printed, m.Unit)
	}
	return n, err
}

// cell finds one figure of the table, or a level.
func (t *Table) cell(id, what string) (named, error) {
	r, ok := strict.Find(t.Rows, func(r Row) bool { return r.id == id })
	if !ok {
		return named{}, fmt.Errorf("table %q: no row %q; %s", t.ID, id,
			strict.Instead(id, strict.Map(t.Rows, func(r Row) string { return r.id })))
	}
	if l, ok := t.settings.With(r.levels)[what]; ok {
		v, ok := l.Int()
		if !ok {
			return named{}, fmt.Errorf("%s is %s, no number", what, l)
		}
		return named{Quantity: law.Exactly(float64(v)), Place: r.place, Unit: metric.Count}, nil
	}
	if _, ok := metric.Lookup(what); !ok {
		return named{}, fmt.Errorf("%q is neither a setting nor a metric; %s", what,
			strict.Instead(what, append(setting.Names(), metric.Names()...)))
	}
	n, ok := r.figures[what]
	if !ok {
		return named{}, fmt.Errorf("table %q: no %s in row %s", t.ID, what, id)
	}
	return n, nil
}

// figures are those of law, by metric or setting. A metric that was printed counts before a setting.
var figures = map[string]string{"throughput_rps": "rate", "requests": "requests", "duration_s": "duration",
	"latency_mean_s": "mean", "latency_max_s": "max", "transfer_bytes_per_s": "byterate", "line_rate_share": "share",
	"processes": "processes", setting.Workers: "workers", "connections_per_worker": "worker_connections",
	"throughput_per_worker_rps": "worker_rate", setting.Connections: "connections", setting.Pipelining: "depth"}

// automatic makes every check that the figures of a table's rows allow.
func (t *Table) automatic() (out []Finding) {
	for _, r := range t.Rows {
		row, levels := law.Row{}, t.settings.With(r.levels)
		metrics := map[string]string{} // by what law calls them
		for name, id := range figures {
			f, _ := law.FigureOf(id)
			metrics[f.String()] = name
			if n, ok := r.figures[name]; ok {
				row.Set(f, n.Quantity)
			} else if v, ok := levels[name].Int(); ok {
				row.Set(f, law.Exactly(float64(v)))
			}
		}
		_, middle := r.figures["latency_p50_s"] // a tail alone is for a check to hold
		for name, n := range r.figures {
			if q, ok := law.FigureOf(strings.TrimPrefix(strings.TrimSuffix(name, "_s"), "latency_")); ok && middle {
				row.Set(q, n.Quantity)
				metrics[q.String()] = name
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
			n := r.figures[metrics[of.Of]]
			out = append(out, Finding{
				ID: strings.TrimSuffix(strings.Join([]string{t.ID, r.id, of.Law.ID, metrics[of.Of]}, "-"), "-"), Kind: Kind(of.Law.ID),
				Place: cmp.Or(n.Place, r.place), Printed: n.Printed, Unit: of.Unit, Stands: of.Stands, Relation: of.Relation,
				Recomputed: of.Allowed, Within: math.Ceil(1e3*of.Within) / 1e3, Note: of.Note, Automatic: true}.judged())
		}
		for _, name := range slices.Sorted(maps.Keys(r.figures)) {
			if n := r.figures[name]; n.Low > 1 && (strings.Contains(name, "_busy") || name == "line_rate_share") {
				metrics[name] = name
				all := law.CPU.Hold(name, n.Quantity, law.AtMost, "all", law.Exactly(1), 0, metric.Ratio)
				all.Note = "A share of all that there is."
				tell(all)
			}
		}
		row.Judge(tell)
	}
	return out
}

// anyHead is the size of another server's head: at least a status line and an
// empty line, and less than any plain head.
var anyHead = law.Quantity{Value: 108, Low: 19, High: 256}

// answer is the size in bytes of an answer, head and body, if the series printed that of the route. The
// body of /read is a mean over products drawn at start; two sets of products differ by less
// than 2 %. Rates count answers and transfers count bytes read. What is in transit at the
// ends of a window is counted in only one of them, which makes less than 1 %.
func answer(levels setting.Levels) (law.Quantity, bool) {
	route, ok := catalog.RouteOf(levels[setting.Route].String())
	if !ok || route.Printed == 0 {
		return law.Quantity{}, false
	}
	if stack := levels[setting.Stack]; stack.IsZero() || stack.String() == setting.Fiber {
		whole := route.Printed + float64(route.Head(int(route.Printed)))
		return law.Around(whole, route.Within*whole), true
	}
	return law.Around(route.Printed, route.Within*route.Printed).Plus(anyHead), true
}

// A Sheet is a table with its figures read.
type Sheet struct {
	ID          string
	Host        string
	ClientHost  string
	Experiment  string
	Date        string
	Topology    string
	LineRateBps float64
	Settings    setting.Levels
	Rows        []SheetRow
}

// A SheetRow is one run of a table.
type SheetRow struct {
	ID      string
	Levels  setting.Levels
	Figures map[string]medians.Figure // by metric
	Bound   gate.Bound                // by these figures
}

// sheet lays the table out.
func (t *Table) sheet(date string, experiments []*experiment.Experiment, hosts map[string]*host.Profile) (Sheet,
	error) {
	out := Sheet{ID: t.ID, Experiment: t.Experiment, Host: t.Host, ClientHost: cmp.Or(t.Client, t.Host), Date: date,
		Topology: t.Topology, LineRateBps: t.LineRateBps, Settings: t.settings}
	if !slices.ContainsFunc(experiments, func(x *experiment.Experiment) bool { return x.Name == t.Experiment }) {
		return out, fmt.Errorf("no experiment %q", t.Experiment)
	}
	for _, id := range []string{out.Host, out.ClientHost} {
		if hosts[id] == nil {
			return out, fmt.Errorf("no host %q in data/hosts; %s", id, strict.Instead(id, slices.Sorted(maps.Keys(hosts))))
		}
	}
	for _, r := range t.Rows {
		as := SheetRow{ID: r.id, Levels: r.levels, Figures: map[string]medians.Figure{}}
		known := map[string]float64{}
		for name, n := range r.figures {
			v, fig := n.Rounded().Value, medians.Figure{N: 1, Printed: n.Printed}
			if strings.HasPrefix(n.Printed, "<") {
				fig.Below = &v
			} else {
				fig.Median, known[name] = &v, v
			}
			as.Figures[name] = fig
		}
		as.Bound = gate.WallsOf(known, t.LineRateBps).Bound()
		out.Rows = append(out.Rows, as)
	}
	return out, nil
}

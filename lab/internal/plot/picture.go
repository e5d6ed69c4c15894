package plot

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// picture draws the panels of a figure.
func (b *Book) picture(f Figure, _ []Run) (string, error) {
	var panels []string
	for i, p := range f.Panels {
		p.Title, p.Name = f.Title, fmt.Sprintf("%s-%d", f.Name, i)
		draw, ok := panelKinds[p.Kind]
		if !ok {
			return "", unknown("panel", p.Kind, panelKinds)
		}
		if err := p.keep(); err != nil {
			return "", err
		}
		drawn, err := draw(b, p)
		if err = cmp.Or(err, b.wordless); err != nil {
			return "", fmt.Errorf("%s: %w", p.Kind, err)
		}
		panels = append(panels, cmp.Or(drawn, b.nothing(p.Exp)))
	}
	note := f.note(
		where(panels, `class="tick`, "A side whose gauge reaches its tick in a trial is the wall of that trial."),
		where(panels, `class="gauge none"`, "Hollow gauges were not recorded."))
	return draw.Picture(f.Name, f.Title, note, panels), nil
}

// panelKinds are those of a picture's panels.
var panelKinds = map[string]func(*Book, Figure) (string, error){
	"setup": (*Book).setup, "asked": (*Book).asked, "processes": (*Book).processes,
	"packets": (*Book).packets, "flushes": (*Book).flushes,
	"steering": func(_ *Book, f Figure) (string, error) {
		return draw.Steering(draw.Panel{ID: f.Name, Title: f.Title}), nil
	},
}

// panel has a name, which its title adds to the picture's.
func (f Figure) panel(name, by string) draw.Panel {
	return draw.Panel{ID: f.Name, Name: name, Title: f.Title + by + name}
}

// nothing says that nobody has measured what a panel shows, and how to.
func (b *Book) nothing(exp string) string {
	return fmt.Sprintf(`<p class="nothing">No host’s run of <code>%s</code> has these figures yet. `+
		"<code>%s</code> would add yours here.</p>\n", html.EscapeString(exp), html.EscapeString(".tools/bin/lab run "+exp))
}

// at is the run of a panel, and its conditions with the wanted levels: the table or host that
// is named, the only table, or the record that pages show; none if nobody has measured it.
func (b *Book) at(f Figure, name string) (r Run, rows []verdict.Summary, err error) {
	if f.Source == "measured" {
		if r, ok := b.record(f); ok {
			rows, _ = r.rows(f.Levels, name)
			return r, rows, nil
		}
		return r, nil, nil
	}
	if r, err = b.pick(f); err != nil {
		return r, nil, err
	}
	if rows, _ = r.rows(f.Levels, name); len(rows) == 0 {
		err = fmt.Errorf("no run of %s has %s at these levels", f.Exp, name)
	}
	return r, rows, err
}

// one is a run's only condition with the wanted levels.
func (b *Book) one(f Figure, name string) (Run, *verdict.Summary, error) {
	r, rows, err := b.at(f, name)
	if err != nil || len(rows) == 0 {
		return r, nil, err
	}
	if len(rows) > 1 {
		return r, nil, fmt.Errorf("%d conditions of %s answer to these levels, where a picture shows one", len(rows), f.Exp)
	}
	return r, &rows[0], nil
}

// named is how a panel names its run: whose it is, and when.
func named(r Run) string {
	if r.published {
		return "Published, " + day(r)
	}
	return "The lab, " + day(r)
}

// met counts the trials of a condition, and those that met a wall.
func met(c *verdict.Summary, wall string) (met, all int) {
	for bound, n := range c.Bounds {
		all += n
		if slices.Contains(strings.Split(bound, "+"), wall) {
			met += n
		}
	}
	return met, all
}

// share is one in whole percents, as gauges show it: 1.004 is 100 %.
func share(v float64) string {
	if v > 0 && v < 0.005 {
		return "under 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// asked is the rate that was answered over the rate that was asked.
func (b *Book) asked(f Figure) (string, error) {
	r, rows, err := b.at(f, "throughput_rps")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	a := draw.Asked{Panel: f.panel(named(r), ", ")}
	for _, c := range rows {
		fig := c.Metrics["throughput_rps"]
		text, _ := b.text(r, fig, "throughput_rps")
		rate, _ := c.Levels[setting.Rate].Int()
		q := draw.Answered{X: float64(rate), Y: *fig.Median, Kind: "unseen", Asked: c.Shown[setting.Rate], Text: text}
		_, client := c.Metrics["client_cores_busy"]
		_, server := c.Metrics["server_cores_busy"]
		if n, _ := met(&c, "client-cpu"); n > 0 {
			q.Kind = "client"
		} else if client && server {
			q.Kind = "room"
		}
		a.Points = append(a.Points, q)
	}
	return a.HTML(), nil
}

// processes are a prefork server's master, its workers and the threads of one of them.
func (b *Book) processes(f Figure) (string, error) {
	r, c, err := b.one(f, "workers")
	if err != nil || c == nil {
		return "", err
	}
	name := cmp.Or(f.Label, b.Host(r.Host)+", "+day(r))
	s := draw.Processes{Panel: f.panel(name, ": "), Workers: int(*c.Metrics["workers"].Median), Active: -1}
	s.Shown = words.Thousands(s.Workers)
	if active := c.Metrics["workers_active"].Median; active != nil {
		s.Active = int(*active)
	}
	if t, ok := c.Metrics["threads_per_worker"]; ok {
		s.Threads = int(math.Round(*t.Median))
		s.Text, _ = b.text(r, t, "threads_per_worker")
	}
	return s.HTML(), nil
}

// packets are those that answers took on the lab's wire, without pipelining and with it, and the
// system calls that they take at the least. Packets are counted by the queue that shapes the
// wire; calls are computed: requests that travel together may share a read, and answers a write
// as far as they fit the server's buffer. An answer that does not fit takes several.
func (b *Book) packets(f Figure) (string, error) {
	// What Fiber gathers before it writes by default; no run sets it, so no results file has it.
	const buffer = 4096
	f.Source = cmp.Or(f.Source, "measured")
	var s draw.Packets
	size, route := 0.0, ""
	for _, depth := range f.Depths {
		p := f
		p.Levels = f.Levels.With(setting.Levels{setting.Pipelining: setting.Int(int64(depth))})
		r, rows, err := b.at(p, "wire_tx_packets_per_s")
		if err != nil {
			return "", err
		}
		if len(rows) == 0 {
			continue
		}
		c := &rows[0]
		answers := float64(f.Depths[len(f.Depths)-1])
		size, route = *c.Metrics["response_bytes"].Median, r.Results.Settings[setting.Route].String()
		together := math.Ceil(answers / float64(depth))
		d := draw.Depth{Head: "no pipelining"}
		if depth > 1 {
			d.Head = fmt.Sprintf("pipelining %d", depth)
		}
		for _, u := range [][3]string{
			{"answers", "wire_tx_packets_per_s", "out"}, {"requests", "wire_rx_packets_per_s", "in"},
		} {
			n := int(math.Round(answers * (*c.Metrics[u[1]].Median / *c.Metrics["throughput_rps"].Median)))
			label := fmt.Sprintf("%.0f %s in %d %s", answers, u[0], n, words.Plural(n, "packet"))
			d.Rows = append(d.Rows, draw.Units{Label: label, Class: u[2], N: n})
		}
		calls := int(together * (1 + math.Ceil(size*float64(depth)/buffer)))
		label := fmt.Sprintf("system calls, at the least: %d", calls)
		d.Rows = append(d.Rows, draw.Units{Label: label, Class: "call", N: calls})
		s.Depths = append(s.Depths, d)
	}
	if len(s.Depths) == 0 {
		return "", nil
	}
	name := fmt.Sprintf("%s, %s an answer", route, words.Figure("B", math.Round(size), nil, nil))
	s.Panel = f.panel(name, ": ")
	s.Note = fmt.Sprintf("write buffer: %s B, Fiber’s default", words.Thousands(buffer))
	return s.HTML(), nil
}

// flushes is when each worker of a pool waits for an answer, drawn from the settings of one
// condition; what was delivered is measured.
func (b *Book) flushes(f Figure) (string, error) {
	r, c, err := b.one(f, "delivered_share")
	if err != nil || c == nil {
		return "", err
	}
	set := r.Results.Settings.With(c.Levels)
	n, _ := strconv.Atoi(strings.TrimPrefix(set[setting.Variant].String(), "pool-"))
	if n < 1 || n > 20 {
		return "", fmt.Errorf("%d workers have no room in a picture", n)
	}
	every, _ := set[setting.FlushMs].Int()
	wait, _ := set[setting.SinkLatencyMs].Int()
	apart, _ := set[setting.Stagger].Bool()
	name := "All flush together"
	if apart {
		name = "Flushes spread over the interval"
	}
	s := draw.Flushes{Panel: f.panel(name, ": "), Workers: n,
		Every: float64(every), Wait: float64(wait), Apart: apart, Answer: words.Thousands(int(wait)),
		Delivered: words.Plain(math.Round(1000*(*c.Metrics["delivered_share"].Median))/10) + "\u00a0%"}
	for k := range s.Ticks {
		s.Ticks[k] = words.Thousands(int(every) * k)
	}
	return s.HTML(), nil
}

// setup draws client, wire and server of one condition of a run, with a gauge of how full each
// was. A text that printed a side's CPU apart from its tables has it in data/texts: then client
// and server name the figure of the idle time, and wire a figure of bytes a second or a share. An
// experiment that nobody has run is drawn from its file.
func (b *Book) setup(f Figure) (string, error) {
	if f.Source == "planned" {
		return b.planned(f)
	}
	name := "throughput_rps"
	if strings.HasPrefix(f.Exp, "batch-") {
		name = "delivered_per_s"
	}
	r, c, err := b.one(f, name)
	if err != nil || c == nil {
		return "", err
	}
	s := setup{b: b, f: f, r: r, c: c, set: r.Results.Settings.With(c.Levels), top: r.Results.Topology,
		machines: [2]string{b.machine(r, r.ClientHost, "client"), b.machine(r, r.Host, "server")}}
	s.one = !r.published || s.top.Kind == "loopback" && b.Hosts[r.Host] != nil && b.Hosts[r.Host].Cores > 0
	return s.draw(named(r))
}

// planned is an experiment as its file plans it: one condition, without a figure. Its machine is
// the smallest that its claims ask for.
func (b *Book) planned(f Figure) (string, error) {
	x, err := b.experiment(f.Exp)
	if err != nil {
		return "", err
	}
	cores := 0
	for _, c := range x.Claims {
		cores = max(cores, c.Needs.Cores)
	}
	server, client := "any machine", "the same machine"
	if cores > 0 {
		server = fmt.Sprintf("any machine with %d cores", cores)
	}
	if x.Topology.Kind == "fleet" {
		client = "another machine"
	}
	s := setup{b: b, f: f, c: &verdict.Summary{}, set: x.Fixed().With(f.Levels), planned: true,
		machines: [2]string{client, server},
		top:      results.Topology{Kind: x.Topology.Kind, LineRateBps: x.Topology.LineRateBps}}
	s.r = Run{File: &verdict.File{Entry: x.Entry}, Results: &results.File{}}
	return s.draw("Planned, not run yet")
}

// machine is that of a side: its name, and its cores, or those of them that it may use.
func (b *Book) machine(r Run, id, side string) string {
	name, cpus := b.Host(id), ""
	if p := r.Results.Provenance; p != nil {
		cpus = map[string]string{"client": p.ClientCPUs, "server": p.ServerCPUs}[side]
	}
	if cpus == "" {
		if h := b.Hosts[id]; h != nil && h.Cores > 0 {
			return fmt.Sprintf("%s, %s cores", name, words.Thousands(h.Cores))
		}
		return name
	}
	cores := "cores"
	if !strings.ContainsAny(cpus, "-,") {
		cores = "core"
	}
	return fmt.Sprintf("%s %s of %s", cores, cpus, name)
}

// A setup is what its panel is made of.
type setup struct {
	b            *Book
	f            Figure
	r            Run
	c            *verdict.Summary
	set          setting.Levels
	top          results.Topology
	machines     [2]string // the client's and the server's
	one, planned bool
	walls, known int
}

func (s *setup) draw(name string) (string, error) {
	var all []draw.Station
	for _, side := range []string{"client", "server", "wire"} {
		station, err := s.gauge(side)
		if err != nil {
			return "", err
		}
		all = append(all, station)
	}
	client, server, wire := all[0], all[1], all[2]
	_, events := s.set[setting.EventRate]
	if events || s.set[setting.Server].String() == "producer" {
		all = s.batch(server, client)
	} else {
		client.Name, client.Lines = "Client", s.client()
		server.Name, server.Lines = "Server", s.server()
		wire.Name, wire.Link = "Wire", true
		switch {
		case s.top.Kind == "loopback":
			wire = draw.Station{Name: "Loopback", Lines: []string{"no wire to fill"}, Link: true}
		case s.top.LineRateBps > 0:
			wire.Lines = []string{words.Figure("bit/s", s.top.LineRateBps, nil, nil)}
		default:
			wire.Lines = []string{"line rate not known"}
		}
		all = []draw.Station{client, wire, server}
	}
	if enough := map[bool]int{true: 2, false: 3}[s.top.Kind == "loopback"]; s.walls == 0 && !s.planned {
		if !s.r.published && s.known >= enough {
			name += ": no wall seen"
		} else {
			name += ": wall not known"
		}
	}
	of := draw.Stations{Panel: s.f.panel(name, ", "), All: all, Full: gate.CPUSaturated}
	if s.one {
		of.One = "all on one machine"
	}
	return of.HTML(), nil
}

// gauge is how full a side was, and how often it was a wall.
func (s *setup) gauge(side string) (draw.Station, error) {
	g := &draw.Gauge{What: "CPU", Tick: true}
	wall, ids := side+"-cpu", map[string][]string{"client": s.f.Client, "server": s.f.Server, "wire": s.f.Wire}[side]
	if side == "wire" {
		wall, g.What = side, "share of the line rate"
	} else {
		g.Share = s.c.Metrics[side+"_cores_busy"].Median
	}
	switch {
	case len(ids) > 0:
		v, err := s.printed(side, ids[0])
		if err != nil {
			return draw.Station{}, err
		}
		g.Share = &v
	case side == "wire" && s.top.LineRateBps > 0:
		for _, of := range []struct {
			name string
			by   float64
		}{{"transfer_bytes_per_s", 8 / s.top.LineRateBps}, {"line_rate_share", 1}, {"wire_tx_bps", 1 / s.top.LineRateBps}} {
			if v := s.c.Metrics[of.name].Median; v != nil {
				g.Share = new(*v * of.by)
			}
		}
	}
	// A client with several threads may be full in one of them.
	if t := s.c.Metrics["client_thread_busy_max"].Median; side == "client" && t != nil && g.Share != nil && *t > *g.Share {
		g.Share, g.What = t, "busiest thread"
	}
	if g.Share != nil {
		s.known++
		g.Text = strings.TrimPrefix(g.What, "busiest ") + " " + share(*g.Share)
		if side == "wire" {
			g.Text = "filled " + share(*g.Share)
		}
	}
	out := draw.Station{Gauge: g}
	switch n, all := met(s.c, wall); {
	case n > 0 && n < all:
		out.Flag = fmt.Sprintf("wall in %d of %d trials", n, all)
	case n > 0, len(ids) > 0 && *g.Share >= gate.CPUSaturated:
		out.Flag = "wall: " + side
	}
	if out.Full = out.Flag != ""; out.Full {
		s.walls++
	}
	return out, nil
}

// printed is a side's share by a figure of the text, or by the printed side of a finding.
func (s *setup) printed(side, id string) (float64, error) {
	a := s.b.Audits[s.r.Entry]
	if a == nil {
		return 0, fmt.Errorf("derived/data/audits/%s.json is missing", s.r.Entry)
	}
	figure, ok := a.Figures[id]
	v, unit := figure.Value, figure.Unit
	for _, f := range a.Findings {
		if f.ID == id && !ok {
			v, unit, ok = f.Stands.Value, f.Unit, true
		}
	}
	switch {
	case !ok:
		return 0, fmt.Errorf("derived/data/audits/%s.json has no figure and no finding %q", s.r.Entry, id)
	case side != "wire":
		return 1 - v, nil
	case unit == metric.BytesPerSecond:
		return 8 * v / s.top.LineRateBps, nil
	}
	return v, nil
}

// number is a setting's, as printed; empty if it has none or 0.
func (s *setup) number(name string) string {
	if n, ok := s.set[name].Int(); ok && n > 0 {
		return words.Thousands(int(n))
	}
	return ""
}

// client says who sends what.
func (s *setup) client() []string {
	var who, load []string
	if g := s.set[setting.Generator]; !g.IsZero() {
		if name := g.String(); name == "http_load" {
			who = append(who, "the lab’s own generator")
		} else {
			who = append(who, name)
		}
	}
	if n := s.number(setting.ClientWorkers); n != "" {
		who = append(who, n+" client workers")
	}
	if n := s.number(setting.Connections); n != "" {
		load = append(load, n+" connections")
	}
	if n := s.number(setting.Pipelining); n != "" && n != "1" {
		load = append(load, "pipelining "+n)
	}
	if n := s.number(setting.Rate); n != "" {
		load = append(load, "asked for "+n+" a second")
	}
	out := []string{s.machines[0]}
	for _, line := range [][]string{who, load} {
		if len(line) > 0 {
			out = append(out, strings.Join(line, ", "))
		}
	}
	return out
}

// server says who answers.
func (s *setup) server() []string {
	var serves []string
	switch name := s.set[setting.Server]; {
	case name.String() == "null" && name.IsText():
		serves = append(serves, "canned answers")
	case name.IsText() && name.String() != "fiber":
		serves = append(serves, name.String())
	default:
		stack := map[string]string{"net-http": "net/http", "fasthttp": "fasthttp"}[s.set[setting.Stack].String()]
		serves = append(serves, cmp.Or(stack, "Fiber"))
		workers, _ := s.set[setting.Workers].Int()
		if v := s.c.Metrics["workers"].Median; v != nil {
			workers = int64(*v)
		}
		switch on, is := s.set[setting.Prefork].Bool(); {
		case workers > 0:
			n := int(workers)
			serves = append(serves, "prefork, "+words.Count(n, "worker"))
		case on:
			serves = append(serves, "prefork")
		case is:
			serves = append(serves, "one process")
		}
	}
	if cpus := s.set[setting.ServerCPUs]; !cpus.IsZero() {
		serves = append(serves, "on cores "+cpus.String())
	}
	out := []string{s.machines[1], strings.Join(serves, ", ")}
	if route := s.set[setting.Route]; !route.IsZero() {
		out = append(out, route.String())
	}
	return out
}

// batch are the stations of a batch experiment: the producer, the batcher in the same process,
// and the sink. A pool's gauge is how many of its workers waited for an answer at once.
func (s *setup) batch(producer, sink draw.Station) []draw.Station {
	producer.Name = "Producer"
	producer.Lines = []string{setting.LevelCell(s.set[setting.EventRate]) + " events a second"}
	switch s.set[setting.Pacing].String() {
	case "open":
		producer.Lines = append(producer.Lines, "due at fixed times")
	case "ticker":
		producer.Lines = append(producer.Lines, "from a ticker that waits")
	}
	sink.Name = "Sink"
	if n := s.number(setting.SinkLatencyMs); n != "" {
		sink.Lines = []string{fmt.Sprintf("answers after %s ms", n)}
	}
	// All producers of a block share the measured cores, as all sinks do.
	for _, side := range []*draw.Station{&producer, &sink} {
		if g, all := side.Gauge, "the cores of all "+strings.ToLower(side.Name)+"s"; g.Share != nil {
			g.What, g.Text = "mean of "+all, "cores "+share(*g.Share)
			side.Lines = append(side.Lines, "measured: "+all)
		}
	}
	batcher := draw.Station{Name: "Batcher", Lines: []string{"one worker, sends in the background"}}
	if pool, is := strings.CutPrefix(s.set[setting.Variant].String(), "pool-"); is {
		n, _ := strconv.Atoi(pool)
		batcher.Lines = []string{fmt.Sprintf("%d workers that wait for each answer", n)}
		batcher.Gauge = &draw.Gauge{What: "calls at once"}
		if most := s.c.Metrics["sink_in_flight_max"].Median; most != nil {
			waiting := *most / float64(n)
			batcher.Gauge = &draw.Gauge{What: "workers that waited at once", Share: &waiting,
				Text: fmt.Sprintf("%.0f of %d wait", *most, n)}
			if batcher.Full = waiting >= 1; batcher.Full {
				batcher.Flag = "all wait at once"
			}
		}
	}
	if n := s.number(setting.FlushMs); n != "" {
		how := "all together"
		if apart, _ := s.set[setting.Stagger].Bool(); apart {
			how = "spread"
		}
		batcher.Lines = append(batcher.Lines, fmt.Sprintf("a flush every %s ms, %s", n, how))
	}
	return []draw.Station{producer, batcher, sink}
}

package audit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

var whole = regexp.MustCompile(`^[0-9]+ ?ms$`)

// counted has the metrics that texts print in full, so that trailing zeros are
// significant.
var counted = map[string]bool{"workers": true, "workers_active": true, "processes": true, "requests": true,
	"connections_established": true}

// anyHead is the size of another server's head: at least a status line and an
// empty line, and less than any plain head.
var anyHead = law.Between(108, 19, 256)

// automatic makes every check that the figures of a table's rows allow.
func (t *Table) automatic() (out []Finding) {
	for i, r := range t.rows {
		a := auto{t: t, r: r, levels: t.settings.With(r.levels), place: t.placed(r), id: t.ID + "-" + rowID(i)}
		a.shares()
		a.responses()
		a.wire()
		a.little()
		a.counts()
		out = append(out, a.found...)
	}
	return out
}

// An auto collects one row's findings.
type auto struct {
	t      *Table
	r      row
	levels setting.Levels
	place  string
	id     string
	found  []Finding
}

func (a *auto) get(name string) (law.Quantity, bool) {
	f, ok := a.r.figures[name]
	return f.Quantity, ok
}

// look finds a figure of the row or, without one, a level.
func (a *auto) look(name string) (law.Quantity, error) {
	if q, ok := a.get(name); ok {
		return q, nil
	}
	n, ok := a.levels[name].Int()
	if !ok {
		return law.Quantity{}, errors.New("it is not printed")
	}
	return law.Exactly(float64(n)), nil
}

// find notes what became of a law. of is the metric that is judged, or another word for it.
func (a *auto) find(of string, r law.Result, note string) {
	f := Finding{
		ID: a.id + "-" + r.Law.ID + "-" + of, Kind: Kind(r.Law.ID), Place: a.place, Printed: a.t.Rows[a.r.at].Printed[of],
		Unit: r.Unit, Stands: r.Stands, Relation: r.Relation, Recomputed: r.Allowed, Note: note, Automatic: true,
	}
	if m, ok := metric.Lookup(of); ok && f.Printed != "" {
		f.Place += ": " + strings.ToLower(m.Label)
	}
	f.judge()
	a.found = append(a.found, f)
}

// shares finds shares of more than all there is.
func (a *auto) shares() {
	for _, name := range metric.Names() {
		if q, ok := a.get(name); ok && q.Low > 1 && (strings.Contains(name, "_busy") || name == "line_rate_share") {
			a.find(name, law.CPU.Hold(name, q, law.AtMost, "all", law.Exactly(1), 0, metric.Ratio), "A share of all that there is.")
		}
	}
}

// answer is the size in bytes of the row's answers, head and body, if the series printed that of the route. The
// body of /read is a mean over products drawn at start; two sets of products differ by less
// than 2 %. Rates count answers and transfers count bytes read. What is in transit at the
// ends of a window is counted in only one of them, which makes less than 1 %.
func (a *auto) answer() (law.Quantity, bool) {
	route, ok := catalog.RouteOf(a.levels[setting.Route].String())
	if !ok || route.Printed == 0 {
		return law.Quantity{}, false
	}
	if stack := a.levels[setting.Stack]; stack.IsZero() || stack.String() == setting.Fiber {
		whole := route.Printed + float64(route.Head(int(route.Printed)))
		return law.Around(whole, route.Within*whole), true
	}
	return law.Around(route.Printed, route.Within*route.Printed).Plus(anyHead), true
}

// responses checks that bytes over requests is the size of the route's answer.
func (a *auto) responses() {
	answer, known := a.answer()
	if size, err := evaluate("transfer_bytes_per_s / throughput_rps", a.look); known && err == nil {
		a.find("response", law.Answer.Hold("an answer", size, law.Equals, "its size", answer, 0, metric.Bytes), fmt.Sprintf(
			"Bytes read a second over answers a second, against %s's known body and its head.", a.levels[setting.Route]))
	}
}

// wire checks that the printed share follows from the bytes, and that the bytes
// with the least TCP and IP overhead fit the wire. Where no bytes are printed, they
// are the rate times the size of an answer, in each row of a table.
func (a *auto) wire() {
	line := a.t.LineRateBps / 8
	if line == 0 {
		return
	}
	of, what := "transfer_bytes_per_s", "Bytes read a second"
	bytes, ok := a.get(of)
	if !ok {
		rate, rated := a.get("throughput_rps")
		answer, known := a.answer()
		if !rated || !known {
			return
		}
		of, what, bytes = "throughput_rps", "Answers a second times the size of one", rate.Times(answer)
	}
	if share, ok := a.get("line_rate_share"); ok {
		a.find("line_rate_share", law.Line.Hold("share", share, law.Equals, what, bytes.Times(law.Exactly(1/line)), 0, metric.Ratio),
			what+" over the line rate.")
	}
	a.find(of, law.OnLine(of, bytes, a.t.LineRateBps),
		what+", against what the wire can carry for the client to read, once each full frame has given 40 bytes to TCP "+
			"and IP.")
}

// little checks the mean latency against the quantiles.
func (a *auto) little() {
	var quantiles []law.Quantile
	for _, q := range []struct {
		share float64
		name  string
	}{{0.5, "latency_p50_s"}, {0.99, "latency_p99_s"}} {
		if v, ok := a.get(q.name); ok && (q.share == 0.5 || quantiles != nil) {
			quantiles = append(quantiles, law.Quantile{Share: q.share, Quantity: v})
		}
	}
	rate, ok := a.get("throughput_rps")
	latency := law.LeastMean(quantiles)
	if most, err := evaluate("connections * pipelining", a.look); ok && err == nil && rate.Times(latency).Low > 0 {
		a.find("in_flight", law.Little(rate, latency, most, "rate × latency", "connections × pipelining", 0),
			"The least that rate and latency put in flight, against connections × pipelining.")
	}
}

// counts has what figures are by others: masters, workers and connections, and the order of quantiles.
var counts = []struct {
	law      *law.Law
	of       string
	relation law.Relation
	formula  string
	unit     metric.Unit
	note     string
}{
	{law.Number, "processes", law.Equals, "workers + 1", metric.Count, "Workers and one master."},
	{law.Worker, "connections_per_worker", law.Equals, "connections / workers", metric.Count, "Connections over workers."},
	{law.Worker, "throughput_per_worker_rps", law.Equals, "throughput_rps / workers", metric.PerSecond,
		"Throughput over workers."},
	{law.Order, "latency_p50_s", law.AtMost, "latency_p99_s", metric.Second, "The median against the 99th percentile."},
}

func (a *auto) counts() {
	for _, c := range counts {
		of, ok := a.get(c.of)
		if to, err := evaluate(c.formula, a.look); ok && err == nil {
			a.find(c.of, c.law.Hold(c.of, of, c.relation, c.formula, to, 0, c.unit), c.note)
		}
	}
}

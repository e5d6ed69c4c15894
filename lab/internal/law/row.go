package law

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Figure is what a row can have one of: one of laws.toml, or a quantile of latency.
type Figure struct {
	ID, Name string
	Unit     metric.Unit
	Adds     bool // a row may have several, which add up

	place int // in a row
}

const (
	most  = 32  // places of figures of laws.toml; those beyond are quantiles
	parts = 1e6 // of all latencies, which tell quantiles apart
)

var byID = func() map[string]Figure {
	all := map[string]Figure{}
	for i, f := range file.Figures {
		f.place = i
		all[f.ID] = f
	}
	return all
}()

// FigureOf finds a figure by what rules and patterns call it. p99.9, p99_9 and p999 are one quantile.
func FigureOf(id string) (f Figure, ok bool) {
	if f, ok = byID[id]; ok {
		return f, true
	}
	digits, ok := strings.CutPrefix(strings.Replace(id, "_", ".", 1), "p")
	v, err := strconv.ParseFloat(digits, 64)
	if v > 100 && !strings.Contains(digits, ".") {
		v, err = strconv.ParseFloat(digits[:2]+"."+digits[2:], 64)
	}
	f = Figure{Name: "p" + strconv.FormatFloat(v, 'g', 6, 64), Unit: metric.Second, place: most + int(math.Round(v*parts/100))}
	return f, ok && err == nil && v > 0 && v <= 100
}

// share is that of the latencies that are at most a quantile.
func (f Figure) share() float64 { return float64(f.place-most) / parts }

// The figures of which more is known than rules say.
var (
	Rate, Requests, Duration = byID["rate"], byID["requests"], byID["duration"]
	Average                  = byID["mean"]
	Connections, Clients     = byID["connections"], byID["clients"]
	Depth, Busy, Reach, Size = byID["depth"], byID["busy"], byID["line"], byID["size"]

	least, greatest, deviation        = byID["min"], byID["max"], byID["stdev"]
	good, bad, fails, share, unopened = byID["good"], byID["bad"], byID["fails"], byID["erring"], byID["unopened"]
)

// A Row is one load test's figures.
type Row struct {
	Values []Value // in the order of their figures
	has    uint32  // a bit a figure of laws.toml

	Averaged bool    // its figures are means over several runs
	Early    bool    // latencies begin before a request is sent, as when a rate is kept that the server cannot keep
	Nominal  bool    // the duration is that asked for
	Sampled  bool    // the rate is a mean of samples, or leaves out a part of the window
	Made     bool    // what made it is known, with all that it adds
	Added    string  // why latencies are not those of the requests alone; empty: nothing is known
	Cut      float64 // seconds that latencies may be longer than they are printed
	Apart    string  // why mean and quantiles may be of different sets; empty: nothing is known
	Doubt    string  // why all of it may be read wrongly; empty: it is not
}

// A Value is what a row has of a figure.
type Value struct {
	Figure
	Quantity
}

func (r *Row) at(f Figure) (int, bool) {
	return slices.BinarySearchFunc(r.Values, f.place, func(v Value, place int) int { return cmp.Compare(v.place, place) })
}

// Set notes a figure. Of several, the first stands, or they add up.
func (r *Row) Set(f Figure, q Quantity) {
	at, there := r.at(f)
	switch {
	case !there:
		r.Values = slices.Insert(r.Values, at, Value{f, q})
	case f.Adds:
		r.Values[at].Quantity = q.Plus(r.Values[at].Quantity)
	}
	r.has |= 1 << f.place // of a quantile, none
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	r.Nominal = r.Nominal || of.Nominal && !r.Has(Duration)
	for _, v := range of.Values {
		if !r.Has(v.Figure) {
			r.Set(v.Figure, v.Quantity)
		}
	}
}

// Get is a figure; zero if the row has none.
func (r *Row) Get(f Figure) (q Quantity) {
	if at, there := r.at(f); there {
		q = r.Values[at].Quantity
	}
	return q
}

// Has tells whether a row has a figure.
func (r *Row) Has(f Figure) bool {
	_, there := r.at(f)
	return there
}

// Rated tells whether a row has a rate, or what it follows from.
func (r *Row) Rated() bool { return r.Has(Rate) || r.Has(Requests) && r.Has(Duration) }

// Timed tells whether a row has latencies.
func (r *Row) Timed() bool { return r.Has(Average) || len(r.quantiles()) > 0 }

// quantiles are those of latency, rising.
func (r *Row) quantiles() []Value {
	at, _ := r.at(Figure{place: most})
	return r.Values[at:]
}

// unless is what could make a broken law true after all. A # stands for a number.
func (r *Row) unless(of Result) string {
	more := of.Stands.Low / of.Allowed.High
	short := r.longest() / (more - 1 - ofWindows)
	_, told := r.window()
	counted := of.To == Requests.Name
	var all []string
	for _, may := range [...]struct {
		law    string
		be     bool
		why    string
		number float64
	}{
		{InFlight, !r.Has(Depth), "pipelining is not given, and # on each connection would do", math.Ceil(more)},
		{InFlight, r.Added != "", r.Added, 0},
		{InFlight, r.Added == "" && !r.Made, "wrk may have made it, and adds latencies of requests that it never sent", 0},
		{InFlight, !told && short > 1, "the test may have taken less than # s", short},
		{Answer, of.Relation == AtLeast, "answers may be compressed, or have no body", 0},
		{Mean, r.Apart != "", r.Apart, 0},
		{Order, r.Apart != "", r.Apart, 0},
		{Total, r.Sampled && !counted, "the rate is a mean of samples, or of a part of the window", 0},
		{Total, !counted && (r.Nominal || Equals.Holds(of.Stands, of.Allowed, nearly)), "the duration is that asked for", 0},
		{of.Law, r.Averaged && slices.Contains([]string{InFlight, Spread, Total}, of.Law), "the figures are means over several runs", 0},
		{of.Law, r.Doubt != "", r.Doubt, 0},
	} {
		if may.law == of.Law && may.be {
			all = append(all, fill(may.why, may.number))
		}
	}
	return strings.Join(all, ", or ")
}

// fill puts numbers of two digits, or whole ones, in place of each # of a text.
func fill(text string, numbers ...float64) string {
	for _, v := range numbers {
		at := 0
		if v != math.Floor(v) {
			at = min(0, words.Exponent(v)-1)
		}
		text = strings.Replace(text, "#", words.Grouped(v, at), 1)
	}
	return text
}

// Remarks tells what a row admits without breaking a law.
func (r *Row) Remarks(tell func(string)) {
	const tells = 0.01 // the share of answers, or of connections, from which on a remark is made
	rate, connections, failed, closed := r.Get(Rate).Value, r.Get(Connections).Value, r.Get(fails).Value, r.Get(unopened).Value
	answers := cmp.Or(r.Get(Requests).Value, r.Get(good).Value+r.Get(bad).Value, rate*r.Get(Duration).Value)
	errors := r.Get(share).Value
	if r.Has(bad) && answers > 0 {
		errors = r.Get(bad).Value / answers
	}
	latency := r.Get(Average)
	if q := r.quantiles(); !r.Has(Average) && len(q) > 0 {
		_, latency = means(q[:len(q)-1], q[len(q)-1].Quantity)
	}
	under := rate * (latency.High + r.Cut)
	for _, is := range [...]struct {
		so      bool
		says    string
		numbers []float64
	}{
		{errors > 1-tells/2, "every answer is an error", nil},
		{errors > tells && errors <= 1-tells/2, "# % of the answers are errors", []float64{100 * errors}},
		{answers > 0 && failed > tells*answers, "# requests failed, for # answers", []float64{failed, answers}},
		{answers == 0 && rate > 0 && failed > rate, "# requests failed, as many as the answers of # s", []float64{failed, failed / rate}},
		{closed > tells*connections, "# of # connections never opened", []float64{closed, connections}},
		{!r.Early && under > 0 && 2*under < connections, "about # of # connections had a request under way: " +
			"the concurrency was never reached", []float64{under, connections}},
	} {
		if is.so {
			tell(fill(is.says, is.numbers...))
		}
	}
}

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

// A Figure is what a row can have one of: by its place in laws.toml, or a quantile of latency.
type Figure int

const (
	most  = 32  // figures of laws.toml; those beyond are quantiles
	parts = 1e6 // of all latencies, which tell quantiles apart
)

var byID = func() map[string]Figure {
	all := map[string]Figure{}
	for f, of := range file.Figures {
		all[of.ID] = Figure(f)
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
	return most + Figure(math.Round(v*parts/100)), ok && err == nil && v > 0 && v <= 100
}

// The figures of which more is known than rules say.
var (
	Rate, Requests, Duration = byID["rate"], byID["requests"], byID["duration"]
	Average, Connections     = byID["mean"], byID["connections"]
	Depth, Busy, Reach, Size = byID["depth"], byID["busy"], byID["line"], byID["size"]

	least, greatest, deviation        = byID["min"], byID["max"], byID["stdev"]
	good, bad, fails, share, unopened = byID["good"], byID["bad"], byID["fails"], byID["erring"], byID["unopened"]
)

func (f Figure) String() string {
	if f > most {
		return "p" + strconv.FormatFloat(100*f.share(), 'g', 6, 64)
	}
	return file.Figures[f].Name
}

// share is that of the latencies that are at most a quantile.
func (f Figure) share() float64 { return float64(f-most) / parts }

// Unit is the figure's base unit.
func (f Figure) Unit() metric.Unit {
	if f > most {
		return metric.Second
	}
	return file.Figures[f].Unit
}

// Adds tells whether a row may have several of a figure, which add up.
func (f Figure) Adds() bool { return f < most && file.Figures[f].Adds }

// A Quantile is the value that a share of all latencies is at most.
type Quantile struct {
	Figure
	Quantity
}

// A Row is one load test's figures.
type Row struct {
	figures   [most]Quantity
	has       uint32     // a bit a figure
	Quantiles []Quantile // rising

	Averaged bool    // its figures are means over several runs
	Early    bool    // latencies begin before a request is sent, as when a rate is kept that the server cannot keep
	Nominal  bool    // the duration is that asked for
	Sampled  bool    // the rate is a mean of samples, or leaves out a part of the window
	Made     bool    // what made it is known, with all that it adds
	Added    string  // why latencies are not those of the requests alone; empty: nothing is known
	Cut      float64 // seconds that latencies may be longer than they are printed
	Apart    string  // why mean and quantiles may be of different sets; empty: nothing is known
}

// Set notes a figure. Of several, the first stands, or they add up.
func (r *Row) Set(f Figure, q Quantity) {
	if f > most {
		at, there := slices.BinarySearchFunc(r.Quantiles, f, func(q Quantile, f Figure) int { return cmp.Compare(q.Figure, f) })
		if !there {
			r.Quantiles = slices.Insert(r.Quantiles, at, Quantile{f, q})
		}
	} else if !r.Has(f) || f.Adds() {
		r.Add(f, q)
	}
}

// Add notes a part of a figure.
func (r *Row) Add(f Figure, q Quantity) {
	r.figures[f] = r.figures[f].Plus(q)
	r.has |= 1 << f
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	for f := range Figure(most) {
		if of.Has(f) && !r.Has(f) {
			r.Add(f, of.figures[f])
			r.Nominal = r.Nominal || of.Nominal && f == Duration
		}
	}
}

// Get is a figure, if the row has it.
func (r *Row) Get(f Figure) (Quantity, bool) { return r.figures[f], r.Has(f) }

// Has tells whether a row has a figure.
func (r *Row) Has(f Figure) bool { return r.has&(1<<f) != 0 }

// Rated tells whether a row has a rate, or what it follows from.
func (r *Row) Rated() bool { return r.Has(Rate) || r.Has(Requests) && r.Has(Duration) }

// Timed tells whether a row has latencies.
func (r *Row) Timed() bool { return r.Has(Average) || len(r.Quantiles) > 0 }

// unless is what could make a broken law true after all. A # stands for a number.
func (r *Row) unless(of Result) string {
	more := of.Stands.Low / of.Allowed.High
	short := r.longest() / (more - 1 - ofWindows)
	_, told := r.window()
	counted := of.To == Requests.String()
	var all []string
	for _, may := range [...]struct {
		law    *Law
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
		{of.Law, r.Averaged && slices.Contains([]*Law{InFlight, Spread, Total}, of.Law), "the figures are means over several runs", 0},
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

// tells is the share of answers, or of connections, from which on a remark is made.
const tells = 0.01

// Remarks tells what a row admits without breaking a law.
func (r *Row) Remarks(tell func(string)) {
	rate, connections := r.figures[Rate].Value, r.figures[Connections].Value
	answers := cmp.Or(r.figures[Requests].Value, r.figures[good].Value+r.figures[bad].Value, rate*r.figures[Duration].Value)
	errors := r.figures[share].Value
	if r.Has(bad) && answers > 0 {
		errors = r.figures[bad].Value / answers
	}
	failed, closed := r.figures[fails].Value, r.figures[unopened].Value
	latency := r.figures[Average]
	if n := len(r.Quantiles); !r.Has(Average) && n > 0 {
		_, latency = means(r.Quantiles[:n-1], r.Quantiles[n-1].Quantity)
	}
	under := rate * (latency.High + r.Cut)
	for _, is := range [...]struct {
		so      bool
		says    string
		numbers [2]float64
	}{
		{errors > 1-tells/2, "every answer is an error", [2]float64{}},
		{errors > tells && errors <= 1-tells/2, "# % of the answers are errors", [2]float64{100 * errors}},
		{answers > 0 && failed > tells*answers, "# requests failed, for # answers", [2]float64{failed, answers}},
		{answers == 0 && rate > 0 && failed > rate, "# requests failed, as many as the answers of # s",
			[2]float64{failed, failed / rate}},
		{closed > tells*connections, "# of # connections never opened", [2]float64{closed, connections}},
		{!r.Early && under > 0 && 2*under < connections,
			"about # of # connections had a request under way: the concurrency was never reached", [2]float64{under, connections}},
	} {
		if is.so {
			tell(fill(is.says, is.numbers[:]...))
		}
	}
}

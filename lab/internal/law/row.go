package law

import (
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
	for i := range file.Figures {
		f := &file.Figures[i]
		f.place = i
		all[f.ID] = *f
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
	if place := math.Round(v * parts / 100); ok && err == nil && place > 0 && place <= parts {
		f = Figure{Name: "p" + strconv.FormatFloat(v, 'g', 6, 64), Unit: metric.Second, place: most + int(place)}
	}
	return f, f.place > 0
}

// share is that of the latencies that are at most a quantile.
func (f Figure) share() float64 { return float64(f.place-most) / parts }

// The figures of which more is known than rules say.
var (
	Rate, Requests, Duration     = byID["rate"], byID["requests"], byID["duration"]
	Average                      = byID["mean"]
	Connections, Clients         = byID["connections"], byID["clients"]
	Depth, Busy, Reach, Size     = byID["depth"], byID["busy"], byID["line"], byID["size"]
	least, greatest              = byID["min"], byID["max"]
	leastMean, mostMean, longest = byID["leastmean"], byID["mostmean"], byID["longest"]
)

// A Row is one load test's figures.
type Row struct {
	figures   [most]Quantity
	has, own  uint32  // a bit a figure, and what it has of those that do not follow from others
	Quantiles []Value // rising

	Averaged bool    // its figures are means over several runs
	Early    bool    // latencies begin before a request is sent, as when a rate is kept that the server cannot keep
	Nominal  bool    // the duration is that asked for
	Sampled  bool    // the rate is a mean of samples, or leaves out a part of the window
	Made     bool    // --made-by names the tool, with all that it adds
	Added    string  // why latencies are not those of the requests alone; empty: nothing is known
	Cut      float64 // seconds that latencies may be longer than they are printed
	Apart    string  // why mean and quantiles may be of different sets; empty: nothing is known
	Doubt    string  // why the whole row may be misread; empty: it is not
}

// A Value is what a row has of a figure.
type Value struct {
	Figure
	Quantity
}

// quantile is where in a row's quantiles one is, or would be.
func (r *Row) quantile(f Figure) (int, bool) {
	return slices.BinarySearchFunc(r.Quantiles, f.place, func(v Value, place int) int { return v.place - place })
}

// Set notes a figure. Of several, the first counts, or they add up.
func (r *Row) Set(f Figure, q Quantity) {
	if at, there := r.quantile(f); f.place > most {
		if !there {
			r.Quantiles = slices.Insert(r.Quantiles, at, Value{f, q})
		}
	} else if !r.Has(f) || f.Adds {
		r.figures[f.place] = r.figures[f.place].Plus(q)
		r.has |= 1 << f.place
	}
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	r.Nominal = r.Nominal || of.Nominal && !r.Has(Duration)
	for i := 0; of.has&^r.has != 0; i++ {
		if f := file.Figures[i]; of.Has(f) && !r.Has(f) {
			r.Set(f, of.figures[i])
		}
	}
	for _, v := range of.Quantiles {
		r.Set(v.Figure, v.Quantity)
	}
}

// Get is a figure that is no quantile; zero if the row has none.
func (r *Row) Get(f Figure) Quantity { return r.figures[f.place] }

// Has tells whether a row has a figure.
func (r *Row) Has(f Figure) bool {
	if f.place < most {
		return r.has&(1<<f.place) != 0
	}
	_, there := r.quantile(f)
	return there
}

// Rated tells whether a row has a rate, or what it follows from.
func (r *Row) Rated() bool { return r.Has(Rate) || r.Has(Requests) && r.Has(Duration) }

// Timed tells whether a row has latencies.
func (r *Row) Timed() bool { return r.Has(Average) || len(r.Quantiles) > 0 }

// follow adds what follows from a row's figures.
func (r *Row) follow() {
	r.own = r.has
	for i := range follows {
		if rule := &follows[i]; r.has&rule.needs == rule.needs && r.has&(1<<rule.figure.place) == 0 {
			if q := rule.of(r); q.Finite() {
				r.Set(rule.figure, q)
			}
		}
	}
	latency, n := r.Get(Average), len(r.Quantiles)
	if n > 0 {
		low, high := means(r.Quantiles, r.Get(greatest))
		r.Set(leastMean, low)
		if r.Has(greatest) {
			r.Set(mostMean, high)
		}
	}
	if n > 0 && !r.Has(Average) {
		_, latency = means(r.Quantiles[:n-1], r.Quantiles[n-1].Quantity)
	}
	if under := latency.High + r.Cut; under*r.Get(Rate).Value > 0 && !r.Early {
		r.Set(longest, Exactly(under))
	}
}

// means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func means(all []Value, greatest Quantity) (least, atMost Quantity) {
	below, before := 0.0, Quantity{}
	for _, q := range all {
		share := Exactly(q.share() - below)
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		below, before = q.share(), q.Quantity
	}
	rest := Exactly(1 - below)
	return least.Plus(before.Times(rest)), atMost.Plus(greatest.Times(rest))
}

// late is the longest latency that is known.
func (r *Row) late() float64 {
	late := max(r.Get(Average).High, r.Get(greatest).High)
	for _, q := range r.Quantiles {
		late = max(late, q.High)
	}
	return late
}

// unless is what could make a broken law true after all. A # means a number.
func (r *Row) unless(of Result) string {
	more := of.Stands.Low / of.Allowed.High
	short := r.late() / (more - 1.01)
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
		{InFlight, !r.Has(Duration) && short > 1, "the test may have taken less than # s", short},
		{Answer, of.Relation == AtLeast, "answers may be compressed, or have no body", 0},
		{Mean, r.Apart != "", r.Apart, 0},
		{Order, r.Apart != "", r.Apart, 0},
		{Total, r.Sampled && !counted, "the rate is a mean of samples, or of a part of the window", 0},
		{Total, !counted && (r.Nominal || Equals.Holds(of.Stands, of.Allowed, nearly)), "the duration is that asked for", 0},
		{of.Law, r.Averaged && of.Law != Mean && of.Law != Order, "the figures are means over several runs", 0},
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

package law

import (
	"math"
	"math/bits"
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
	least, greatest          = byID["min"], byID["max"]
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

// at is where in a row's values a figure is, or would be.
func (r *Row) at(f Figure) (at int, there bool) {
	if f.place < most {
		bit := uint32(1) << f.place
		return bits.OnesCount32(r.has & (bit - 1)), r.has&bit != 0
	}
	at = bits.OnesCount32(r.has)
	for at < len(r.Values) && r.Values[at].place < f.place {
		at++
	}
	return at, at < len(r.Values) && r.Values[at].place == f.place
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
	r.has |= 1 << f.place // none for a quantile
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

// whole is the row with what follows from its figures.
func (r *Row) whole() *Row {
	x := *r
	x.Values = append(make([]Value, 0, len(r.Values)+8), r.Values...)
	for i := range follows {
		if rule := &follows[i]; rule.fits(&x) {
			if q := rule.of(&x); q.Finite() && !x.Has(byID[rule.Figure]) {
				x.Set(byID[rule.Figure], q)
			}
		}
	}
	latency, quantiles := x.Get(Average), r.quantiles()
	if n := len(quantiles); n > 0 {
		low, high := means(quantiles, x.Get(greatest))
		x.Set(byID["leastmean"], low)
		if x.Has(greatest) {
			x.Set(byID["mostmean"], high)
		}
		if !x.Has(Average) {
			_, latency = means(quantiles[:n-1], quantiles[n-1].Quantity)
		}
	}
	if longest := latency.High + r.Cut; longest > 0 && !r.Early {
		x.Set(byID["longest"], Exactly(longest))
	}
	return &x
}

// means are what rising quantiles leave for the mean: at least, and at most if the greatest value
// is known. What lies between two of them has at least the value of the first, and at most that of the second.
func means(all []Value, greatest Quantity) (least, atMost Quantity) {
	before := Value{Figure: Figure{place: most}}
	for _, q := range append(slices.Clip(all), Value{Figure{place: most + parts}, greatest}) {
		share := Exactly(q.share() - before.share())
		least, atMost = least.Plus(before.Times(share)), atMost.Plus(q.Times(share))
		before = q
	}
	return least, atMost
}

// window is how long the test took at least, in seconds; told is false if that is only what is usual.
func (r *Row) window() (seconds float64, told bool) {
	if d := r.Get(Duration); d.Low > 0 {
		return d.Low, true
	}
	return usual, false
}

// longest is the longest latency that is known.
func (r *Row) longest() float64 {
	longest := max(r.Get(Average).High, r.Get(greatest).High)
	for _, q := range r.quantiles() {
		longest = max(longest, q.High)
	}
	return longest
}

// unless is what could make a broken law true after all. A # stands for a number.
func (r *Row) unless(of Result) string {
	more := of.Stands.Low / of.Allowed.High
	short := r.longest() / (more - 1 - 0.01)
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

package law

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
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

// Tolerances beyond rounding.
const (
	ofQuantiles = 0.01 // between definitions of a quantile, and for the classes of a histogram
	ofWindows   = 0.01 // between two clocks that tell the same window
	ofNominal   = 0.05 // between a duration that was asked for and the one that was
	fewest      = 100  // requests, below which quantiles and deviations depend on their definition
	nearly      = 0.1  // within which a duration may be that asked for, although it is printed with a fraction
	usual       = 10   // seconds that a test lasts if nothing is said of it
)

// A rule is what figures must keep together; laws.toml says what its fields mean.
type rule struct {
	Law, Of, To, Says, Without, Note string
	Relation                         Relation
	Within                           float64
	Unit                             metric.Unit

	law     *Law
	of, to  chain
	without uint32 // figures
}

// rules are those of laws.toml, with all that follows from their texts.
var rules = strict.Map(file.Rules, func(r rule) rule {
	r.law, r.of, r.to, r.without = named(r.Law), chainOf(r.Of), chainOf(r.To), chainOf(r.Without).needs
	r.Unit, r.Says = cmp.Or(r.Unit, r.of.links[0].figure.Unit()), cmp.Or(r.Says, r.to.says)
	return r
})

// A chain is figures and numbers that + * and / join, from the left.
type chain struct {
	links []link
	needs uint32 // figures
	says  string // in words
}

type link struct {
	operator string // before it
	figure   Figure // negative: the number
	number   Quantity
}

func chainOf(text string) (c chain) {
	var next link
	for word := range strings.FieldsSeq(text) {
		f, ok := byID[word]
		v, err := strconv.ParseFloat(word, 64)
		switch {
		case ok:
			next.figure, c.needs, word = f, c.needs|1<<f, f.String()
		case err == nil:
			next.figure, next.number = -1, Exactly(v)
		default:
			next.operator = word
		}
		if ok || err == nil {
			c.links = append(c.links, next)
		}
		c.says = strings.TrimSpace(c.says + " " + strings.ReplaceAll(word, "*", "×"))
	}
	return c
}

// value computes a chain from a row's figures.
func (r *Row) value(c chain) (q Quantity, err error) {
	for _, l := range c.links {
		v := l.number
		if l.figure >= 0 {
			v = r.figures[l.figure]
		}
		switch l.operator {
		case "":
			q = v
		case "+":
			q = q.Plus(v)
		case "*":
			q = q.Times(v)
		case "/":
			if q, err = q.Over(v); err != nil {
				return q, err
			}
		}
	}
	return q, nil
}

// Judge holds a row against all laws for which it has figures.
func (r *Row) Judge(tell func(Result)) {
	found := func(of Result) {
		if !of.Holds {
			of.Unless = r.unless(of)
		}
		tell(of)
	}
	for i := range rules {
		rule := &rules[i]
		needs := rule.of.needs | rule.to.needs
		if r.has&needs != needs || r.has&rule.without != 0 {
			continue
		}
		within := rule.Within
		if rule.law == Total && within > 0 && (r.Nominal || r.Sampled) {
			within = ofNominal
		}
		of, err := r.value(rule.of)
		to, wrong := r.value(rule.to)
		if err == nil && wrong == nil {
			result := rule.law.Hold(rule.of.says, of, rule.Relation, rule.Says, to, within, rule.Unit)
			result.Note = rule.Note
			found(result)
		}
	}
	r.little(found)
	if n, ok := r.Get(Requests); !ok || n.High >= fewest {
		r.latencies(found)
	}
}

// little holds requests in flight against the most that there can be. Those under way when a window began are in its
// latencies and not in its time, so a share of them is allowed.
func (r *Row) little(found func(Result)) {
	rate, of, within := r.figures[Rate], "rate × ", ofWindows
	if !r.Has(Rate) && r.Has(Requests) {
		rate, _ = r.figures[Requests].Over(r.figures[Duration])
		of = "requests / duration × "
		if r.Nominal {
			within = ofNominal
		}
	}
	latency := r.figures[Average]
	if r.Has(Average) {
		of += "mean"
	} else {
		latency, _ = Means(r.Quantiles, Quantity{})
		of += "what the quantiles leave at least for the mean"
	}
	under := rate.Times(latency).Low
	if r.Early || !r.Rated() || !r.Timed() || !r.Has(Connections) {
		return
	}
	most, to := r.figures[Connections], "connections"
	if r.Has(Depth) {
		most, to = most.Times(r.figures[Depth]), "connections × pipelining"
	}
	window, _ := r.window()
	result := InFlight.Hold(of, Exactly(under), AtMost, to, most, within+r.longest()/window, metric.Count)
	if under > 0 {
		result.Note = "The least that rate and latency put in flight, against connections × pipelining."
	}
	found(result)
}

// window is how long the test took at least, in seconds; told is false if that is only what is usual.
func (r *Row) window() (seconds float64, told bool) {
	d, told := r.Get(Duration)
	if over, err := r.figures[Requests].Over(r.figures[Rate]); !told && r.Has(Requests) && err == nil {
		d, told = over, true
	}
	if !told {
		return usual, false
	}
	return max(d.Low, 1e-3), true
}

// longest is the longest latency that is known.
func (r *Row) longest() float64 {
	longest := max(r.figures[Average].High, r.figures[greatest].High)
	for _, q := range r.Quantiles {
		longest = max(longest, q.High)
	}
	return longest
}

// latencies holds quantiles and the deviation against the others.
func (r *Row) latencies(found func(Result)) {
	mean, to := r.figures[Average], r.figures[greatest]
	before, name := r.figures[least], "min"
	for i, q := range r.Quantiles {
		next := q.String()
		if i > 0 || r.Has(least) {
			result := Order.Hold(name, before, AtMost, next, q.Quantity, 0, metric.Second)
			if name == "p50" {
				result.Note = "The median against the next quantile."
			}
			found(result)
		}
		before, name = q.Quantity, next
	}
	if len(r.Quantiles) > 0 {
		leastMean, mostMean := Means(r.Quantiles, to)
		if r.Has(greatest) {
			found(Order.Hold(name, before, AtMost, "max", to.Times(Exactly(1+ofQuantiles)), 0, metric.Second))
		}
		if r.Has(Average) {
			found(Mean.Hold("mean", mean, AtLeast, "what the quantiles leave at least", leastMean, ofQuantiles, metric.Second))
		}
		if r.Has(Average) && r.Has(greatest) {
			found(Mean.Hold("mean", mean, AtMost, "what the quantiles leave at most", mostMean, ofQuantiles, metric.Second))
		}
	}
	if r.Has(deviation) && r.Has(Average) && r.Has(greatest) {
		// Bhatia and Davis: a variance is at most (max - mean) (mean - min).
		low, high := r.figures[least].Low, to.High
		room := func(mean float64) float64 { return math.Sqrt(max(0, high-mean) * max(0, mean-low)) }
		bound := max(room(mean.Low), room(mean.High), room(min(max((low+high)/2, mean.Low), mean.High)))
		found(Spread.Hold("stdev", r.figures[deviation], AtMost, "what min, mean and max leave", Exactly(bound), ofQuantiles, metric.Second))
	}
}

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
		{of.Law, r.Averaged && (of.Law == InFlight || of.Law == Spread || of.Law == Total), "the figures are means over several runs", 0},
	} {
		if may.law == of.Law && may.be {
			all = append(all, strings.Replace(may.why, "#", shown(may.number), 1))
		}
	}
	return strings.Join(all, ", or ")
}

// shown is a number of two digits, or whole.
func shown(v float64) string {
	if v == math.Floor(v) {
		return words.Grouped(v, 0)
	}
	return words.Grouped(v, min(0, words.Exponent(v)-1))
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
		_, latency = Means(r.Quantiles[:n-1], r.Quantiles[n-1].Quantity)
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
		{answers == 0 && rate > 0 && failed > rate, "# requests failed, as many as the answers of # s", [2]float64{failed, failed / rate}},
		{closed > tells*connections, "# of # connections never opened", [2]float64{closed, connections}},
		{!r.Early && under > 0 && 2*under < connections,
			"about # of # connections had a request under way: the concurrency was never reached", [2]float64{under, connections}},
	} {
		if is.so {
			tell(strings.Replace(strings.Replace(is.says, "#", shown(is.numbers[0]), 1), "#", shown(is.numbers[1]), 1))
		}
	}
}

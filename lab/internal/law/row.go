package law

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// A Figure is what a row can have one of.
type Figure int

// The figures of a row, in base units: seconds, bytes, bits, cores.
const (
	Rate Figure = iota // answers a second
	Requests
	Duration
	Average // of latencies, as are the next three
	Least
	Greatest
	Deviation
	Connections
	Depth // requests in flight on each
	Bytes // that were read, in all
	ByteRate
	Body // of one answer
	Busy // cores
	Cores
	Good  // answers
	Bad   // answers that report an error
	Fails // requests without an answer
	LineRate
	figures
)

// Units are those of a row's figures.
var Units = [figures]metric.Unit{metric.PerSecond, metric.Count, metric.Second, metric.Second, metric.Second, metric.Second,
	metric.Second, metric.Count, metric.Count, metric.Bytes, metric.BytesPerSecond, metric.Bytes, metric.Count, metric.Count,
	metric.Count, metric.Count, metric.Count, metric.BitsPerSecond}

// A Row is one load test's figures.
type Row struct {
	figures   [figures]Quantity
	has       [figures]bool
	Quantiles []Quantile // by rising share

	Averaged bool   // its figures are means over several runs
	Early    bool   // latencies begin before a request is sent, as when a rate is kept that the server cannot keep
	Nominal  bool   // the duration is that asked for
	Sampled  bool   // the rate is a mean of samples, or leaves out a part of the window
	Added    string // why latencies are not those of the requests alone; empty: nothing is known
	Classes  bool   // quantiles are interpolated between the limits of wide classes
}

// Reset forgets all figures.
func (r *Row) Reset() { *r = Row{Quantiles: r.Quantiles[:0]} }

// Set notes a figure. Of several, the first stands; but failures add up.
func (r *Row) Set(f Figure, q Quantity) {
	switch {
	case !r.has[f]:
		r.figures[f], r.has[f] = q, true
	case f == Bad || f == Fails || f == Good:
		r.Add(f, q)
	}
}

// Add notes a part of a figure.
func (r *Row) Add(f Figure, q Quantity) {
	r.figures[f], r.has[f] = r.figures[f].Plus(q), true
}

// SetQuantile notes a quantile.
func (r *Row) SetQuantile(share float64, q Quantity) {
	at, there := slices.BinarySearchFunc(r.Quantiles, share, func(q Quantile, s float64) int { return cmp.Compare(q.Share, s) })
	if !there {
		r.Quantiles = slices.Insert(r.Quantiles, at, Quantile{share, q})
	}
}

// Default gives a row the figures of another that it lacks.
func (r *Row) Default(of *Row) {
	for f := range of.has {
		if of.has[f] && !r.has[f] {
			r.Set(Figure(f), of.figures[f])
		}
	}
	r.Nominal = r.Nominal || of.Nominal && r.has[Duration]
}

// Figures is how many figures there are.
func (r *Row) Figures() (n int) {
	for _, has := range r.has {
		if has {
			n++
		}
	}
	return n + len(r.Quantiles)
}

// Get is a figure, if the row has it.
func (r *Row) Get(f Figure) (Quantity, bool) { return r.figures[f], r.has[f] }

func (r *Row) all(of ...Figure) bool {
	return !slices.ContainsFunc(of, func(f Figure) bool { return !r.has[f] })
}

// Tolerances beyond rounding.
const (
	ofQuantiles = 0.01 // between definitions of a quantile, and for the classes of a histogram
	ofWindows   = 0.01 // between two clocks that tell the same window
	ofNominal   = 0.05 // between a duration that was asked for and the one that was
	fewest      = 100  // requests, below which quantiles and deviations depend on their definition
	tellsOf     = 0.01 // share of failures
	nearly      = 0.1  // within which a duration may be that asked for, although it is printed with a fraction
)

// Judge holds a row against all laws for which it has figures.
func (r *Row) Judge(tell func(Result)) {
	found := func(of Result) {
		if !of.Holds {
			of.Unless = r.unless(of)
		}
		tell(of)
	}
	if n, ok := r.Get(Requests); !ok || n.High >= fewest {
		r.latencies(found)
	}
	r.little(found)
	r.totals(found)
	r.bytes(found)
	if r.all(Busy, Cores) {
		found(CPU.Hold("cores busy", r.figures[Busy], AtMost, "cores", r.figures[Cores], 0, metric.Count))
	}
}

func (r *Row) latencies(found func(Result)) {
	mean, averaged := r.Get(Average)
	least, from := r.Get(Least)
	most, to := r.Get(Greatest)
	if from && to {
		found(Order.Hold("min", least, AtMost, "max", most, 0, metric.Second))
	}
	for i, q := range r.Quantiles {
		name := Numbered(q.Share)
		switch {
		case i > 0:
			before := r.Quantiles[i-1]
			found(Order.Hold(Numbered(before.Share), before.Quantity, AtMost, name, q.Quantity, 0, metric.Second))
		case from:
			found(Order.Hold("min", least, AtMost, name, q.Quantity, 0, metric.Second))
		}
		if i == len(r.Quantiles)-1 && to {
			found(Order.Hold(name, q.Quantity, AtMost, "max", most.Times(Exactly(1+ofQuantiles)), 0, metric.Second))
		}
	}
	if !averaged {
		return
	}
	if from {
		found(Mean.Hold("min", least, AtMost, "mean", mean, 0, metric.Second))
	}
	if to {
		found(Mean.Hold("mean", mean, AtMost, "max", most, 0, metric.Second))
	}
	if len(r.Quantiles) > 0 {
		found(Mean.Hold("mean", mean, AtLeast, "what the quantiles leave at least", LeastMean(r.Quantiles), ofQuantiles, metric.Second))
		if to {
			found(Mean.Hold("mean", mean, AtMost, "what the quantiles leave at most", MostMean(r.Quantiles, most), ofQuantiles, metric.Second))
		}
	}
	if deviation, ok := r.Get(Deviation); ok && to {
		// Bhatia and Davis: a variance is at most (max - mean) (mean - min).
		room := func(low, mid, high float64) float64 { return math.Sqrt(max(0, high-mid) * max(0, mid-low)) }
		bound := Exactly(max(room(least.Low, mean.Low, most.High), room(least.Low, mean.High, most.High),
			room(least.Low, min(max((least.Low+most.High)/2, mean.Low), mean.High), most.High)))
		found(Spread.Hold("stdev", deviation, AtMost, "what min, mean and max leave", bound, ofQuantiles, metric.Second))
	}
}

func (r *Row) little(found func(Result)) {
	latency, known := r.Get(Average)
	of := "rate × mean"
	if !known {
		latency, known = LeastMean(r.Quantiles), len(r.Quantiles) > 0
		of = "rate × what the quantiles leave at least for the mean"
	}
	within := ofWindows
	rate, rated := r.Get(Rate)
	if !rated && r.all(Requests, Duration) {
		q, err := r.figures[Requests].Over(r.figures[Duration])
		rate, rated, of = q, err == nil, strings.Replace(of, "rate", "requests / duration", 1)
		if r.Nominal {
			within = ofNominal
		}
	}
	if r.Early || !known || latency.High <= 0 || !rated || !r.has[Connections] {
		return
	}
	most, to := r.figures[Connections], "connections"
	if depth, ok := r.Get(Depth); ok {
		most, to = most.Times(depth), "connections × pipelining"
	}
	window := 1.0
	if d, ok := r.Get(Duration); ok {
		window = max(d.Low, 1e-3)
	}
	longest := latency.High
	for _, q := range append(slices.Clip(r.Quantiles), Quantile{1, r.figures[Greatest]}) {
		longest = max(longest, q.High)
	}
	found(Little(rate, latency, most, of, to, within+longest/window))
}

func (r *Row) totals(found func(Result)) {
	within := ofWindows
	if r.Nominal || r.Sampled {
		within = ofNominal
	}
	requests, counted := r.Get(Requests)
	if counted && r.all(Rate, Duration) {
		found(Total.Hold("requests", requests, Equals, "rate × duration",
			r.figures[Rate].Times(r.figures[Duration]), within, metric.Count))
	}
	if r.all(Bytes, ByteRate, Duration) {
		found(Total.Hold("bytes read", r.figures[Bytes], Equals, "bytes a second × duration",
			r.figures[ByteRate].Times(r.figures[Duration]), within, metric.Bytes))
	}
	good, bad, fails := r.figures[Good], r.figures[Bad], r.figures[Fails]
	if r.has[Good] && counted {
		found(Total.Hold("good answers and those with errors", good.Plus(bad), AtMost, "requests", requests, 0, metric.Count))
		if r.has[Bad] && r.has[Fails] {
			found(Total.Hold("all answers and failures", good.Plus(bad).Plus(fails), AtLeast, "requests", requests, 0, metric.Count))
		}
	}
	if !counted {
		requests = good.Plus(bad)
	}
	if share, err := bad.Over(requests); r.has[Bad] && err == nil {
		found(Failures.Hold("the share of answers with errors", share, AtMost, "what may be left out of account", Exactly(tellsOf),
			0, metric.Ratio))
	}
}

func (r *Row) bytes(found func(Result)) {
	rate, rated := r.Get(ByteRate)
	if body, ok := r.Get(Body); ok && r.all(Rate) {
		least := r.figures[Rate].Times(body)
		if rated {
			found(Answer.Hold("bytes a second", rate, AtLeast, "rate × body", least, ofWindows, metric.BytesPerSecond))
		} else if r.all(LineRate) {
			found(OnLine("rate × body", least, r.figures[LineRate].Value))
		}
	}
	if rated && r.all(LineRate) {
		found(OnLine("bytes a second", rate, r.figures[LineRate].Value))
	}
}

// unless is what could make a broken law true after all.
func (r *Row) unless(of Result) string {
	switch {
	case of.Law == Failures:
		return "as a rate of answers that served anybody"
	case of.Law == Answer:
		return Answer.May
	case of.Law == InFlight && r.Added != "":
		return r.Added
	case of.Law == InFlight && !r.has[Depth]:
		return fmt.Sprintf("pipelining is not given, and %.0f on each connection would do", math.Ceil(of.Stands.Low/of.Allowed.Low))
	case r.Classes && (of.Law == Mean || of.Law == Order):
		return "quantiles are interpolated between wide classes"
	case r.Averaged && (of.Law == InFlight || of.Law == Spread || of.Law == Total):
		return "the figures are means over several runs"
	case of.Law == Total && r.Sampled && of.To != "requests":
		return "the rate is a mean of samples, or of a part of the window"
	case of.Law == Total && of.To != "requests" && (r.Nominal || Equals.Holds(of.Stands, of.Allowed, nearly)):
		return "the duration is that asked for"
	}
	return ""
}

// A mend is a mistake of units, with how many times too great it makes a figure.
type mend struct {
	Law    string
	Factor float64
	Says   string
}

// Mend is what would make a broken law hold; empty if no such mistake of units would.
func (of Result) Mend() string {
	ratio := of.Stands.Value / of.Allowed.Value
	for _, m := range file.Mends {
		near := func(ratio float64) bool { return math.Abs(ratio/m.Factor-1) < 0.005+of.Within }
		switch {
		case m.Law != of.Law.ID:
		case of.Relation == Equals && (near(ratio) || near(1/ratio)),
			of.Relation == AtMost && ratio/m.Factor <= 1 && ratio/m.Factor > 0.3,
			of.Relation == AtLeast && ratio*m.Factor >= 1 && ratio*m.Factor < 100:
			return m.Says
		}
	}
	return ""
}

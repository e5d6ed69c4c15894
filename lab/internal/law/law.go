// Package law holds printed figures of load tests against each other.
//
// A figure stands for every value that would be printed the same way. Arithmetic is done on these
// intervals, and a law is broken only where no values within them keep it. Interval arithmetic does not
// know when two terms are the same figure, so a formula that uses a figure twice is allowed more than
// rounding gives: this errs towards "holds".
//
// A law never says which of two figures is wrong, and none says more than it can: each says when it
// cannot err, and when it may.
package law

import (
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Law is what figures must keep together; laws.toml has all.
type Law struct {
	ID   string // as kinds of checks have it in data/texts
	Says string
	Sure string // when it cannot err
	May  string // when it may
}

//go:embed laws.toml
var text []byte

var file = strict.Embedded[struct {
	Laws  []*Law
	Mends []mend
}](text)

// The laws that rows of tables are held against.
var (
	Answer   = named("bytes-per-response")
	Line     = named("line-rate-share")
	InFlight = named("in-flight")
	CPU      = named("cpu-sum")
	Worker   = named("per-worker")
	Number   = named("count")
	Total    = named("total")
	Order    = named("order")
	Mean     = named("mean")
	Spread   = named("spread")
	Failures = named("failures")
)

func named(id string) *Law {
	return file.Laws[slices.IndexFunc(file.Laws, func(l *Law) bool { return l.ID == id })]
}

// All are all laws.
var All = file.Laws

// Automatic are the laws that a row is held against, in the order in which they are told.
var Automatic = []*Law{InFlight, Order, Mean, Spread, Total, Answer, Line, CPU, Failures}

// A Relation is the expected relation of a printed figure to the recomputed one.
type Relation string

// The relations.
const (
	Equals  Relation = "equals"
	AtMost  Relation = "at most"
	AtLeast Relation = "at least"
)

// Holds tells whether the relation holds for some values of the two ranges. within is a share of the
// second that is allowed beyond them.
func (r Relation) Holds(of, to Quantity, within float64) bool {
	// Decimal fractions are not exact in binary, so touching ranges agree.
	slack := 1e-9*math.Max(math.Abs(of.Value), math.Abs(to.Value)) + within*math.Abs(to.Value)
	below := of.Low <= to.High+slack
	above := of.High >= to.Low-slack
	switch r {
	case AtMost:
		return below
	case AtLeast:
		return above
	}
	return below && above
}

// A Result is what became of one law in one row.
type Result struct {
	Law      *Law
	Of       string // what is held: the name of a figure, or how it follows from figures
	Stands   Quantity
	Relation Relation
	To       string // what it is held against
	Allowed  Quantity
	Within   float64 // beyond rounding, as a share
	Unit     metric.Unit
	Holds    bool
	Unless   string // of a broken one: what could make it true after all; empty: nothing could
}

// Hold holds a figure against another; within is a share of the second that is allowed beyond rounding.
func (l *Law) Hold(of string, stands Quantity, rel Relation, to string, allowed Quantity, within float64,
	unit metric.Unit) Result {
	return Result{l, of, stands, rel, to, allowed, within, unit, rel.Holds(stands, allowed, within), ""}
}

// A Quantile is the value that a share of all is at most.
type Quantile struct {
	Share float64
	Quantity
}

// LeastMean is what quantiles, in the order of their shares, leave at least for the mean: all that is
// above one has at least its value.
func LeastMean(all []Quantile) (least Quantity) {
	for i, q := range all {
		next := 1.0
		if i+1 < len(all) {
			next = all[i+1].Share
		}
		least = least.Plus(q.Times(Exactly(next - q.Share)))
	}
	return least
}

// MostMean is what they leave at most, if the greatest value is known.
func MostMean(all []Quantile, greatest Quantity) (most Quantity) {
	before := 0.0
	for _, q := range append(slices.Clip(all), Quantile{1, greatest}) {
		most = most.Plus(q.Times(Exactly(q.Share - before)))
		before = q.Share
	}
	return most
}

// Little holds requests in flight against the most that there can be. Those under way when a window
// began are in its latencies and not in its time, so within is their share.
func Little(rate, latency, most Quantity, of, to string, within float64) Result {
	return InFlight.Hold(of, Exactly(rate.Times(latency).Low), AtMost, to, most, within, metric.Count)
}

// packing is the least overhead of TCP and IP: 40 bytes for every 8,961 in the largest frame of such an
// interface, 9,001 bytes.
const packing = 9001.0 / 8961

// OnLine holds bytes a second that a client reads against a line of so many bits a second, once each full
// frame has given 40 bytes to TCP and IP.
func OnLine(of string, bytes Quantity, line float64) Result {
	return Line.Hold(of, bytes, AtMost, "what the line carries", Exactly(line/8/packing), 0, metric.BytesPerSecond)
}

// Numbered names a quantile, as p99.9.
func Numbered(share float64) string { return fmt.Sprintf("p%.6g", 100*share) }

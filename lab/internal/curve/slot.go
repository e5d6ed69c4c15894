// Package curve says what slots in an open loop tell of servers: their latency by rate (Points),
// and the highest rate at which each keeps a p99 (Search). It measures nothing: a caller carries
// out the asks and returns the slots.
//
// In an open loop each request is due at a time that was fixed before, and its latency counts from
// then. So a server that stalls cannot put off the requests that would show it. What the client did
// itself is told from that: where it was late, a slot says nothing of the server.
package curve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// An Ask is one slot of a server at a rate.
type Ask struct {
	Server  int
	RPS     float64
	Seconds float64
}

// A Slot is what came of an ask.
type Slot struct {
	Ask
	Answered int64      // within the slot
	Latency  [4]float64 // seconds: p50, p90, p99, p999; 0: not known
	SendLag  float64    // seconds: p99 of how late the client sent
	Fault    string     // what the server did wrong; empty: nothing
}

// Read makes a slot of the client's summary of it.
func Read(a Ask, t load.TargetSummary) Slot {
	s := Slot{Ask: a, Answered: t.Requests, Fault: cmp.Or(t.Fault, t.Mismatch)}
	if t.SendLag != nil {
		s.SendLag = t.SendLag.P99
	}
	known := t.Figures()
	for i, name := range []string{"p50", "p90", "p99", "p999"} {
		// Of fewer requests, the percentile would be the longest of them.
		if v, ok := known["latency_"+name+"_s"]; ok && float64(t.Latency.N)*(1-percentiles[i]) >= 1 {
			s.Latency[i] = v
		}
	}
	return s
}

var percentiles = [4]float64{0.5, 0.9, 0.99, 0.999}

const p99 = 2

// The limits of what a slot may say. The first is the journal's own gate.
const (
	mostLag   = 1e-3 // seconds that a hundredth of the requests may be sent late
	mostShare = 0.5  // of the p99 that such lateness may be
	mostShort = 0.02 // share of the requests due without an answer in the slot
)

// Late says how the client was late; empty if it was not.
func (s Slot) Late() string {
	if s.SendLag > mostLag || s.Latency[p99] > 0 && s.SendLag > mostShare*s.Latency[p99] {
		return fmt.Sprintf("the client itself sent a hundredth of its requests more than %.3g ms late", 1e3*s.SendLag)
	}
	return ""
}

// Short says how far the server stayed behind the rate; empty if it kept it. Some answers are always
// under way when a slot ends.
func (s Slot) Short() string {
	due := s.RPS * s.Seconds
	if s.Fault == "" && float64(s.Answered) >= due*(1-mostShort)-5 {
		return ""
	}
	return cmp.Or(s.Fault, fmt.Sprintf("it answered %.0f of %.0f requests a second, so its queue grew as long as the slot "+
		"lasted", float64(s.Answered)/s.Seconds, s.RPS))
}

// Refused says why a slot tells nothing of latency at its rate.
func (s Slot) Refused() string { return cmp.Or(s.Late(), s.Short()) }

// A Rate is in requests a second, or a share of a throughput.
type Rate struct {
	Value float64
	Share bool
}

// mostRates is how many rates one curve may have.
const mostRates = 32

var span = regexp.MustCompile(`^([0-9.]+?)(%?)(?:\.\.([0-9.]+)(%?)(?:/([0-9.]+)(%?))?)?$`)

// ParseRates parses rates such as 10%..90%, 10%..90%/20% or 1000,2000,5000.
func ParseRates(text string) (rates []Rate, err error) {
	for _, part := range strings.Split(text, ",") {
		m := span.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			m = make([]string, 7)
		}
		share, most := m[2] == "%", float64(load.MaxRate)
		if share {
			most = 200
		}
		from, failed := strconv.ParseFloat(m[1], 64)
		to, step := from, 10.0
		if m[3] != "" {
			to, err = strconv.ParseFloat(m[3], 64)
			failed = errors.Join(failed, err)
		}
		if m[5] != "" {
			step, err = strconv.ParseFloat(m[5], 64)
			failed = errors.Join(failed, err)
		}
		mixed := m[3] != "" && (m[4] != m[2] || m[5] == "" && !share || m[5] != "" && m[6] != m[2])
		if failed != nil || mixed || !(from >= 1 && to >= from && to <= most && step >= 1) || (to-from)/step >= mostRates {
			return nil, fmt.Errorf("%q: write up to %d rates, as requests a second or shares of the closed loop: 1000,2000,5000, "+
				"1000..9000/2000, 10%%..90%% or 10%%..90%%/20%%", part, mostRates)
		}
		for v := from; v <= to*1.0001; v += step {
			r := Rate{v, share}
			if share {
				r.Value /= 100
			}
			rates = append(rates, r)
		}
	}
	slices.SortFunc(rates, func(a, b Rate) int { return cmp.Compare(a.Value, b.Value) })
	if rates = slices.Compact(rates); len(rates) > mostRates {
		return nil, fmt.Errorf("%q: more than %d rates; name fewer, or a larger step", text, mostRates)
	}
	return rates, nil
}

// RPS is a rate in whole requests a second.
func (r Rate) RPS(of float64) float64 {
	if r.Share {
		return max(1, math.Round(r.Value*of))
	}
	return r.Value
}

// Turns are the slots of one block: the rates in a drawn order, and at each the servers in turns.
func Turns(r *rand.Rand, servers int, rps []float64, seconds float64) (asks []Ask) {
	for _, i := range r.Perm(len(rps)) {
		for _, s := range r.Perm(servers) {
			asks = append(asks, Ask{s, rps[i], seconds})
		}
	}
	return asks
}

// Points are what blocks tell of each server at each rate, by rate and then in the servers' order.
// level is the error that each interval may have.
func Points(names []string, rps []float64, blocks [][]Slot, level float64) (points []compare.Point) {
	for _, rate := range rps {
		for i, name := range names {
			p, refused, n := compare.Point{Server: name, RateRPS: rate}, []string{}, 0
			var least, most [4][]float64
			for _, s := range slices.Concat(blocks...) {
				if s.Server != i || s.RPS != rate {
					continue
				}
				n++
				why := s.Refused()
				if why != "" {
					refused = append(refused, why)
				}
				for q, v := range s.Latency {
					low, high := v, v
					if v == 0 || why != "" { // it may have been anything
						low, high = 0, math.Inf(1)
					}
					least[q], most[q] = append(least[q], low), append(most[q], high)
				}
			}
			if 2*len(refused) >= n { // half tell nothing: then the median may be anything
				p.Refused = "no slot"
				if len(refused) > 0 {
					p.Refused = fmt.Sprintf("%d of %d blocks: %s", len(refused), n, refused[0])
				}
			} else {
				for q, at := range p.Percentiles() {
					*at = latency(least[q], most[q], level)
				}
			}
			points = append(points, p)
		}
	}
	return points
}

// latency is nil where it is not known in more than half of the blocks.
func latency(least, most []float64, level float64) *compare.Latency {
	unknown := strict.Count(most, func(v float64) bool { return math.IsInf(v, 1) })
	r := compare.Over(least, most, level)
	if r == nil || 2*unknown >= len(most) {
		return nil
	}
	return &compare.Latency{Seconds: r.Ratio, Low: r.Low, High: r.High}
}

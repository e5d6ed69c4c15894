package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Rate is in requests a second, or a share of a throughput.
type Rate struct {
	Value float64
	Share bool
}

// Rates are in requests a second or shares of the closed loop, as 1000,2000 or 50%,80%; 10%..90% has steps of a tenth.
type Rates []Rate

// UnmarshalText reads rates.
func (r *Rates) UnmarshalText(text []byte) error {
	for part := range strings.SplitSeq(string(text), ",") {
		first, last, span := strings.Cut(part, "..")
		if !span {
			last = first
		}
		from, ok := parseRate(first)
		to, also := parseRate(last)
		if !ok || !also || span && !(from.Share && to.Share && from.Value <= to.Value) {
			return fmt.Errorf("%q: write requests a second, as 1000,2000,5000, or shares of the closed loop, as 50%%,80%% or 10%%..90%%", part)
		}
		for ; from.Value < to.Value+1e-6; from.Value += 0.1 {
			*r = append(*r, from)
		}
	}
	return nil
}

// parseRate reads one rate.
func parseRate(text string) (r Rate, ok bool) {
	number, share := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if share {
		return Rate{v / 100, true}, err == nil && v >= 1 && v <= 200
	}
	return Rate{v, false}, err == nil && v >= 1 && v <= load.MaxRate
}

// fewestRequests that a slot of the curve has at its lowest rate.
const fewestRequests = 200

// Curve measures the latency at fixed rates, and adds it to the result of a comparison of the same
// servers. Each request is due at a time that was fixed before, and its latency counts from then: a
// server that stalls cannot put it off.
func (b *Bench) Curve(ctx context.Context, o *compare.Outcome) error {
	if len(b.Rates) == 0 {
		return nil
	}
	c := &compare.Curve{ClosedLoopRPS: math.Inf(1)}
	for i, s := range b.Servers {
		if v := cmp.Or(o.Servers[i].Throughput, words.Digits(s.rate)); v < c.ClosedLoopRPS {
			c.ClosedLoopRPS, c.Slowest = v, s.Name
		}
	}
	rps := strict.Map(b.Rates, func(r Rate) float64 {
		if r.Share {
			return max(1, math.Round(r.Value*c.ClosedLoopRPS))
		}
		return r.Value
	})
	slices.Sort(rps)
	rps = slices.Compact(rps)
	c.SlotS = min(max(0.5, math.Ceil(10*fewestRequests/rps[0])/10), 5)
	draw, trials := rand.New(rand.NewPCG(b.Seed, 'r')), make([][][]measure.Trial, len(rps)) // by rate, block and server
	each := time.Duration(len(b.Servers)) * (b.warm + time.Duration(1.1*c.SlotS*float64(len(rps))*float64(time.Second)))
	for n := stats.Fewest(stats.Alpha / 2); c.Blocks < n; c.Blocks++ {
		b.Show(fmt.Sprintf("latency at %s: block %d of %d, about %s each", words.Count(len(rps), "rate"), c.Blocks+1, n, words.Duration(each)))
		block, err := b.rates(ctx, rps, c.SlotS, draw)
		if err != nil {
			return err
		}
		for k := range rps {
			trials[k] = append(trials[k], block[k])
		}
	}
	for k, blocks := range trials {
		for i, s := range b.Servers {
			c.Points = append(c.Points, point(compare.Point{Server: s.Name, RateRPS: rps[k]}, c.SlotS, i, blocks))
		}
	}
	o.Curve = c
	return nil
}

// A kept server stays up over the rates of a block. One that has ended starts afresh.
type kept struct{ measure.Subject }

func (k kept) Up(ctx context.Context) error {
	if k.Gone() == nil {
		return nil
	}
	k.Subject.Down()
	return k.Subject.Up(ctx)
}

func (kept) Down() {}

// rates measures one block: all rates, in a drawn order, and at each the servers in turns. They
// warm up at the first.
func (b *Bench) rates(ctx context.Context, rps []float64, seconds float64, draw *rand.Rand) ([][]measure.Trial, error) {
	all := b.plan(b.subjects())
	p := b.plan(strict.Map(all.Subjects, func(s measure.Subject) measure.Subject { return kept{s} }))
	target, rate := p.Target, 0
	p.Target = func(i int, addr string) load.Target {
		t := target(i, addr)
		t.Rate = rps[rate]
		return t
	}
	for i := range p.Asked {
		p.Asked[i].Overload = true // each point says whether the server kept its rate
	}
	p.Slot, p.Rounds = time.Duration(seconds*float64(time.Second)), 1
	trials := make([][]measure.Trial, len(rps))
	err := all.Visit(ctx, func(ctx context.Context, _ *measure.Visit) (err error) {
		for _, rate = range draw.Perm(len(rps)) {
			if trials[rate], err = p.Block(ctx, draw.Perm(len(b.Servers))); err != nil {
				return err
			}
			for i := range p.Warmup {
				p.Warmup[i] = leastWarmup
			}
		}
		return nil
	})
	return trials, err
}

const ( // the limits of what a slot at a rate may say
	mostLag   = 1e-3 // seconds that a hundredth of the requests may be sent late
	mostShare = 0.5  // of the p99 that such lateness may be
	mostShort = 0.02 // share of the requests due without an answer in the slot
)

// refused says why a slot tells nothing of latency at its rate.
func refused(t measure.Trial, rps, seconds float64) string {
	lag, p := t.Metrics["send_lag_p99_s"], t.Metrics[p99]
	switch {
	case !valid(t):
		return t.Faults[0].Detail
	case lag > mostLag || p > 0 && lag > mostShare*p:
		return fmt.Sprintf("the client itself sent a hundredth of its requests more than %.3g ms late", 1e3*lag)
	case t.Metrics["requests"] < rps*seconds*(1-mostShort)-5: // some answers are always under way when a slot ends
		return fmt.Sprintf("it answered %.0f of %.0f requests a second, so its queue grew as long as the slot lasted",
			t.Metrics["requests"]/seconds, rps)
	}
	return ""
}

// percentiles are those of a point, with the share of the requests that lies beyond each.
var percentiles = []struct {
	metric string
	beyond float64
}{{p50, 0.5}, {"latency_p90_s", 0.1}, {p99, 0.01}, {"latency_p999_s", 0.001}}

// point adds to a point what blocks tell of server i at its rate.
func point(p compare.Point, seconds float64, i int, blocks [][]measure.Trial) compare.Point {
	var why []string
	var each [4][]float64 // by percentile and block; 0 is not known
	for _, trials := range blocks {
		t := trials[i]
		not := refused(t, p.RateRPS, seconds)
		if not != "" {
			why = append(why, not)
		}
		for q, of := range percentiles {
			v := t.Metrics[of.metric]
			if not != "" || t.Metrics["requests"]*of.beyond < 1 { // of fewer requests it would be the longest of them
				v = 0
			}
			each[q] = append(each[q], v)
		}
	}
	if 2*len(why) >= len(blocks) { // half tell nothing: then the median may be anything
		p.Refused = fmt.Sprintf("%d of %d blocks: %s", len(why), len(blocks), why[0])
		return p
	}
	for q, at := range p.Percentiles() {
		if known := strict.Count(each[q], func(v float64) bool { return v > 0 }); 2*known > len(blocks) {
			x := compare.Over(each[q], stats.Alpha)
			*at = &compare.Latency{Seconds: x.Ratio, Low: x.Low, High: x.High}
		}
	}
	return p
}

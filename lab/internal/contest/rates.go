package contest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/curve"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Bench asks servers at fixed rates, in an open loop. They are started afresh for each block.
type Bench struct {
	Options
	Client
	Dir  string // where the commands start
	Port int    // of the first server
	Seed uint64
	Tell func(text string) // of how far it is
}

// Add measures what was asked for at fixed rates, and adds it to what a comparison of the same
// servers came to. What was measured before an error stays.
func (b Bench) Add(ctx context.Context, o *compare.Outcome) error {
	if len(b.Rates) == 0 {
		return nil
	}
	r := rand.New(rand.NewPCG(b.Seed, uint64(len(b.Rates))))
	var names []string
	closed := make([]float64, len(b.Servers)) // throughput in a closed loop
	slowest := 0
	for i, s := range o.Servers {
		names = append(names, s.Name)
		closed[i] = cmp.Or(s.Throughput, b.Looks[i].Rate)
		if closed[i] < closed[slowest] {
			slowest = i
		}
	}
	return b.curve(ctx, r, o, names, closed[slowest], slowest)
}

// fewest requests that a slot of the curve has at its lowest rate.
const fewestRequests = 200

func (b Bench) curve(ctx context.Context, r *rand.Rand, o *compare.Outcome, names []string, of float64, slowest int) error {
	rps := strict.Called(b.Rates, func(rate curve.Rate) float64 { return rate.RPS(of) })
	rps = slices.Compact(slices.Sorted(slices.Values(rps)))
	c := &compare.Curve{ClosedLoopRPS: words.Digits(of), Slowest: names[slowest], SlotS: min(max(0.5, math.Ceil(10*fewestRequests/rps[0])/10), 5)}
	var blocks [][]curve.Slot
	for n := stats.Fewest(stats.Alpha / 2); c.Blocks < n; c.Blocks++ {
		b.Tell(fmt.Sprintf("latency at %s: block %d of %d, about %s each", words.Count(len(rps), "rate"), c.Blocks+1, n,
			words.Duration(time.Duration(float64(len(rps)*len(names))*c.SlotS*1.1*float64(time.Second)))))
		asks := curve.Turns(r, len(names), rps, c.SlotS)
		slots, err := b.Block(ctx, asks, nil)
		if err != nil {
			return err
		}
		blocks = append(blocks, slots)
	}
	c.Points = curve.Points(names, rps, blocks, stats.Alpha)
	o.Curve = c
	return nil
}

// start starts a server as its blocks do.
func (b Bench) start(i int) (*started, error) { return b.startAt(i, b.Port+i) }

func (b Bench) startAt(i, port int) (*started, error) {
	s := b.Servers[i]
	if s.URL == "" && i < len(b.Looks) && b.Looks[i].Chatty() {
		s.Command = append([]string{"sh", "-c", `exec "$@" >/dev/null 2>&1`, "sh"}, s.Command...)
	}
	return s.start(b.Client, b.Dir, port)
}

// Block starts the servers, warms them up, and asks them in an order (nil: as they come). The
// slots are in the order of the asks.
func (b Bench) Block(ctx context.Context, asks []curve.Ask, order []int) ([]curve.Slot, error) {
	up := make([]*started, len(b.Servers))
	for i := range b.Servers {
		on, err := b.start(i)
		if err != nil {
			return nil, err
		}
		defer on.stop()
		up[i] = on
	}
	for _, on := range up {
		if err := on.ready(ctx, b.Ready); err != nil {
			return nil, err
		}
	}
	warm := load.Plan{TimeoutS: answerWithin.Seconds()}
	for i, s := range b.Servers {
		warm.Targets = append(warm.Targets, b.target(s, up[i].addr))
		warm.Slots = append(warm.Slots, load.Slot{Target: i, Seconds: max(b.Looks[i].Warmup, 10*time.Millisecond).Seconds()})
	}
	if _, err := run.CarryOut(ctx, b.Lab, b.CPUs, warm, nil); err != nil {
		return nil, b.or(up, err)
	}
	slots := make([]curve.Slot, len(asks))
	for i := range asks {
		if len(order) == i {
			order = append(order, i)
		}
	}
	// Connections that wait for long would be closed by some servers, so few asks share a client.
	for part := range slices.Chunk(order, len(b.Servers)) {
		p := load.Plan{TimeoutS: answerWithin.Seconds()}
		for n, i := range part {
			t := b.target(b.Servers[asks[i].Server], up[asks[i].Server].addr)
			t.Rate = asks[i].RPS
			p.Targets = append(p.Targets, t)
			p.Slots = append(p.Slots, load.Slot{Target: n, Seconds: asks[i].Seconds, Counts: true})
		}
		report, err := run.CarryOut(ctx, b.Lab, b.CPUs, p, nil)
		if err != nil {
			return nil, b.or(up, err)
		}
		for n, i := range part {
			slots[i] = curve.Read(asks[i], report.Summary.Targets[n])
			slots[i].Fault = cmp.Or(slots[i].Fault, report.Slots[n].Failed)
		}
	}
	return slots, b.or(up, nil)
}

// or is the reason for an error, or the one that there should be, that the end of a server explains.
func (b Bench) or(up []*started, err error) error {
	for _, on := range up {
		if err != nil || on.gone() {
			err = on.or(err)
		}
	}
	return err
}

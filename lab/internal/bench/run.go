package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A block takes at most a fifteenth of the budget. Within that, its slots take as long as its servers take to start and end,
// or a fortieth of the budget. Those of the first blocks, the fewest that tell, take a quarter of that, since a large
// difference needs no more. They take a third of the warm-up at least, since the cost of a server that compiles itself
// scatters more. What differs between slots averages out, and what differs between starts does not, so later blocks have as
// many rounds as narrow the interval most for their time.
const (
	leastRounds = 2
	mostRounds  = 100
	perBlock    = 15
	perSlots    = 40
	atFirst     = 4
	change      = 4 * time.Millisecond // from one server to the next, where its answers are fast
)

// The lengths of slots, how many requests one should hold, and how often what is in flight.
const (
	leastSlot = 20 * time.Millisecond
	mostSlot  = 2 * time.Second
	perSlot   = 100
	perFlight = 4
)

// How many times its budget a run may take, if no limit is given.
const (
	beyond  = 1.5 // where that is likely to decide
	slowest = 3   // for the fewest blocks that tell, of servers that start or answer slowly
)

// A Run is the blocks of a comparison so far.
type Run struct {
	*Bench
	Slot    time.Duration
	Rounds  int // of the latest block: as many slots for each server
	Control int // the server that each block has twice
	Blocks  []Block
	Began   time.Time // of the call, looking included

	beside, round time.Duration // what a block takes beside its rounds, and one of them
	most          int           // rounds, where blocks took longer than they should
	expects       time.Duration // to take in all; more than the budget where servers are slow
}

// A Block has the trials of all servers in their order, then the control's.
type Block struct {
	Trials []measure.Trial
	Took   time.Duration
}

// prepare plans the blocks after a look: beside is how long a block's servers take to start and end. It refuses a limit
// that cannot hold blocks enough.
func (r *Run) prepare(beside time.Duration) error {
	r.Control = rand.New(rand.NewPCG(r.Seed, 1)).IntN(len(r.Servers))
	turn, all := change, time.Duration(len(r.Servers)+1)
	for _, s := range r.Servers {
		turn = max(turn, s.beside)
	}
	r.Slot = r.slot()
	r.beside, r.round, r.most = beside+all*(max(r.warm, leastWarmup)+turn), all*(r.Slot+turn), mostRounds
	block, least := r.beside+time.Duration(r.rounds(1))*r.round, r.least()
	needs := (time.Since(r.Began) + time.Duration(least)*block).Round(time.Second) + time.Second
	if limit := cmp.Or(r.AtMost, slowest*r.Budget); needs > limit {
		return fmt.Errorf("a block takes about %s here, and %d of them are the least that tell, which %v cannot hold; --at-most %v",
			words.Duration(block), least, limit, needs.Round(time.Second))
	}
	if r.expects = max(r.Budget, needs); needs > r.Budget {
		r.Say("blocks of about %s, since the servers start or answer slowly: it takes about %s in place of %s",
			words.Duration(block), words.Duration(needs), words.Duration(r.Budget))
		return nil
	}
	r.Say("blocks of about %.1f s; a large difference shows after about %s", block.Seconds(), words.Duration(needs))
	return nil
}

// least is how many blocks are the fewest that tell.
func (r *Run) least() int { return compare.Fewest(r.level()) }

// rounds are those of the nth block.
func (r *Run) rounds(n int) int {
	warm := time.Duration(len(r.Servers)+1) * r.warm
	least, slots := max(r.Budget/perSlots/atFirst, min(warm, r.Budget/perBlock)/3), max(r.beside, r.Budget/perSlots)
	few := max(least, min(slots/atFirst, r.Budget/perBlock-r.beside))
	if slots = max(least, min(slots, r.Budget/perBlock-r.beside)); n <= r.least() {
		slots = few
	} else if r.Costed() {
		slots = min(slots, max(few, time.Duration(r.worth()*float64(r.round))))
	}
	return min(max(int(slots/r.round), leastRounds), r.most)
}

// worth is the number of rounds a block with which the median block's ratio is known best after a time. A block of n rounds
// takes beside + n·round, and its ratio varies by between + within/n, which is least for that time at
// n² = beside/round · within/between. How a ratio changes from half to half of a block gives the variance within.
func (r *Run) worth() (most float64) {
	for i := range r.Servers[1:] {
		var within, rounds []float64
		for n, move := range r.moves(i + 1) {
			if move > 0 {
				by, half := math.Log(move), float64(len(r.Blocks[n].Trials[0].Slots)/2)
				rounds, within = append(rounds, 2*half), append(within, by*by*half/2)
			}
		}
		ratios := strict.Filter(r.ratios(i+1, 0, i+1, 0, cost), func(v float64) bool { return v > 0 })
		if len(ratios) == 0 || len(within) == 0 {
			continue
		}
		middle := stats.Median(ratios)
		all := strict.Map(ratios, func(v float64) float64 { return math.Pow(math.Log(v/middle), 2) })
		// The variance is the median square over that of a normal deviate, which cancels out.
		between := stats.Median(all) - stats.Median(within)/stats.Median(rounds)
		most = max(most, math.Sqrt(r.beside.Seconds()/r.round.Seconds()*stats.Median(within)/max(between, 1e-9)))
	}
	return most
}

// slot is the length of a slot for the slowest of the servers. Among fast servers short slots are best, since a
// disturbance of one then meets the next as well. Neighbouring slots differ by the same share whether they last 50 ms
// or 500, so their number counts. The change to the next server takes 2 to 5 ms, and would fill shorter ones.
func (b *Bench) slot() time.Duration {
	length := leastSlot.Seconds()
	for _, s := range b.Servers {
		if s.rate > 0 {
			length = max(length, float64(max(perSlot, perFlight*b.Connections*b.Pipelining))/s.rate)
		}
	}
	return time.Duration(min(length, mostSlot.Seconds())*100+0.999) * 10 * time.Millisecond
}

// Measure measures blocks until the answer is known, or the budget is spent.
func (r *Run) Measure(ctx context.Context) error {
	known := "nothing known yet"
	for {
		n := len(r.Blocks) + 1
		r.Rounds = r.rounds(n)
		stop := r.each(known)
		block, err := r.block(ctx, n)
		stop()
		if err != nil {
			return err
		}
		r.Blocks = append(r.Blocks, block)
		if most := max(r.Budget/perBlock, 2*r.beside); block.Took > most { // slower than it looked
			r.most = max(int(int64(r.Rounds)*int64(most)/int64(block.Took)), leastRounds)
		}
		out := r.Assess()
		known = r.known(out)
		if out.Settled() || r.fails() || r.spent(out) {
			return nil
		}
	}
}

// each shows a text once a second, with the time, until stop is called.
func (r *Run) each(text string) (stop func()) {
	done := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		for ticks := time.Tick(time.Second); ; {
			r.Show(fmt.Sprintf("%s; %s, about %s left", text, words.Duration(time.Since(r.Began)), words.Duration(max(0, r.expects-time.Since(r.Began)))))
			select {
			case <-ticks:
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		shown.Wait()
	}
}

func valid(t measure.Trial) bool { return len(t.Faults) == 0 }

// mostFailing is how many blocks in a row may tell nothing.
const mostFailing = 3

// fails tells whether the latest blocks told nothing of any server.
func (r *Run) fails() bool {
	n := len(r.Blocks)
	return n >= mostFailing && !slices.ContainsFunc(r.Blocks[n-mostFailing:], func(b Block) bool {
		return valid(b.Trials[0]) && slices.ContainsFunc(b.Trials[1:len(r.Servers)], valid)
	})
}

func (r *Run) left() time.Duration { return r.Budget - time.Since(r.Began) }

// spent tells whether the budget is spent: no other block fits into it, and none is likely to decide
// before the limit. It says once that a run goes on for longer.
func (r *Run) spent(out *compare.Outcome) bool {
	last := r.Blocks[len(r.Blocks)-1].Took
	if r.left() >= last {
		return false
	}
	needs, limit := time.Duration(out.Further()*float64(time.Second)), time.Duration(beyond*float64(r.Budget))
	if few := r.least() - len(r.Blocks); few > 0 {
		needs, limit = time.Duration(few)*last, slowest*r.Budget
	}
	if time.Since(r.Began)+max(needs, last) > cmp.Or(r.AtMost, limit) || needs == 0 {
		return true
	}
	if r.expects == r.Budget {
		r.expects = time.Since(r.Began) + max(needs, last)
		r.Say("  the budget of %s holds no other block, and about %s more would tell, so it goes on; --at-most sets a limit",
			words.Duration(r.Budget), words.Duration(max(needs, last)))
	}
	return false
}

// order draws the slots of a block, in each round one of each server. The draw does not depend on other blocks.
func (r *Run) order(n int) (order []int) {
	source := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "seed %d block %d", r.Seed, n))))
	for range r.Rounds {
		order = append(order, source.Perm(len(r.Servers)+1)...)
	}
	return order
}

// block measures one block. The drawn order decides which server starts first, and which has which
// port and place with the client. So servers that do not differ are exchangeable, which package
// compare relies on.
func (r *Run) block(ctx context.Context, n int) (out Block, err error) {
	began, order := time.Now(), r.order(n)
	first := slices.Clone(order[:len(r.Servers)+1])
	var subjects []measure.Subject
	for place, i := range first {
		subjects = append(subjects, r.subject(r.server(i), place))
	}
	for at, i := range order {
		order[at] = slices.Index(first, i)
	}
	p := r.plan(subjects)
	p.Slot, p.Rounds = r.Slot, r.Rounds
	p.Unlike = r.Different || r.vary
	made, err := p.Block(ctx, order)
	if err != nil {
		return out, err
	}
	for i := range first {
		t := made[slices.Index(first, i)]
		t.Faults = slices.DeleteFunc(t.Faults, func(f measure.Fault) bool {
			return (f.Name == gate.WrongAnswer || f.Name == gate.Errors) && 20*t.Tally.Failed < t.Tally.Asked // a note gives their share
		})
		out.Trials = append(out.Trials, t)
	}
	out.Took = time.Since(began)
	return out, nil
}

// server is the one whose trial is the ith of a block: the last is the control's.
func (r *Run) server(i int) *Server {
	if i == len(r.Servers) {
		i = r.Control
	}
	return r.Servers[i]
}

// known is what the blocks tell so far, with a fault of the latest one.
func (r *Run) known(out *compare.Outcome) (text string) {
	n := len(r.Blocks)
	trials := r.Blocks[n-1].Trials
	if i := slices.IndexFunc(trials, func(t measure.Trial) bool { return !valid(t) }); i >= 0 {
		r.Say("  block %d: %s does not count: %s", n, r.server(i).Name, trials[i].Faults[0].Detail)
	}
	for _, c := range out.Comparisons {
		text += c.SoFar() + ", "
	}
	return text + words.Count(n, "block")
}

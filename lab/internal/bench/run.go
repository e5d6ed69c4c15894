package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// The rounds of a block: as many slots for each server. A block takes at most a fifteenth of the
// budget, so that there are blocks enough for a verdict. Within that it is as long as its servers take
// to start and end, or a fortieth of the budget: what differs between slots averages out, and what
// differs between starts does not.
const (
	leastRounds = 2
	mostRounds  = 100
	perBlock    = 15
	perSlots    = 40
	change      = 4 * time.Millisecond // from one server to the next, where its answers are fast
)

// The lengths of slots, and how many requests one should hold.
const (
	leastSlot = 20 * time.Millisecond
	mostSlot  = 2 * time.Second
	perSlot   = 100
	perFlight = 4
)

// grains are how often a slot holds what is in flight, and the fewest rounds: shorter for servers so
// slow that the budget would not hold blocks enough.
var grains = []struct{ flights, rounds int }{{perFlight, 3}, {2, 3}, {2, leastRounds}}

// A Run is the blocks of a comparison so far.
type Run struct {
	*Bench
	Slot    time.Duration
	Rounds  int
	Control int // the server that each block has twice
	Blocks  []Block
	Began   time.Time // of the call, looking included
	Ended   string    // why it ended before its budget was spent; empty: it did not
}

// A Block has the trials of all servers in their order, then the control's.
type Block struct {
	Trials    []measure.Trial
	Strangers []float64 // time of others in each one's slots, as a share of a core; nil: not known
	Took      time.Duration
}

// start is a run without blocks, after a look: beside is how long a block's servers take to start and
// end. It refuses a budget that cannot hold blocks enough.
func (b *Bench) start(began time.Time, beside time.Duration) (*Run, error) {
	r := &Run{Bench: b, Began: began, Control: rand.New(rand.NewPCG(b.Seed, 1)).IntN(len(b.Servers))}
	turn := change
	for _, l := range append(slices.Clone(b.Looks), b.Looks[r.Control]) {
		turn = max(turn, l.Beside)
		beside += max(l.Warmup, lookSlot) + l.Beside
	}
	least, left := time.Duration(compare.Fewest(b.level())), b.Budget-time.Since(began)
	var block time.Duration
	for _, grain := range grains {
		r.Slot = b.slot(grain.flights)
		round := time.Duration(len(b.Servers)+1) * (r.Slot + turn)
		slots := min(b.Budget/perBlock-beside, max(beside, b.Budget/perSlots))
		r.Rounds = min(max(int(slots/round), grain.rounds), mostRounds)
		if block = beside + time.Duration(r.Rounds)*round; least*block <= left+time.Duration(beyondFew*float64(b.Budget)) {
			b.Say("blocks of about %.1f s, for %s at the most", block.Seconds(), words.Duration(b.Budget))
			return r, nil
		}
	}
	needs := (b.Budget - left + least*block).Round(time.Second) + time.Second
	if needs <= slowest*b.Budget {
		b.Say("blocks of about %.1f s, so it takes about %s for the %d that are the least that tell", block.Seconds(),
			words.Duration(needs), least)
		return r, nil
	}
	return nil, fmt.Errorf("--budget %v holds fewer than %d blocks of about %.1f s, and no fewer can tell; use --budget %v "+
		"or more, or less --warmup", b.Budget, least, block.Seconds(), needs)
}

// slot is the length of a slot for the slowest of the servers: long enough for a hundred requests,
// and for so many times those that are in flight at its ends. Among fast servers short slots are best,
// since what disturbs one of them then disturbs the next as well: neighbouring slots differ by the same
// share whether they last 50 ms or 500, so what counts is how many there are. Shorter ones would be
// spent on the change from one server to the next, which takes two to five.
func (b *Bench) slot(flights int) time.Duration {
	length := leastSlot.Seconds()
	for _, l := range b.Looks {
		if l.Rate > 0 {
			length = max(length, float64(max(perSlot, flights*b.Connections*b.Pipelining))/l.Rate)
		}
	}
	return time.Duration(min(length, mostSlot.Seconds())*100+0.999) * 10 * time.Millisecond
}

func (b *Bench) left(began time.Time) time.Duration { return b.Budget - time.Since(began) }

// mostFailing is how many blocks in a row may tell nothing.
const mostFailing = 3

// The shares of the budget by which a run may go on where that is likely to decide, and by which slots
// may take it longer to its fewest blocks before they are made shorter.
const (
	beyond    = 0.2
	beyondFew = 0.5
)

// slowest is how many times its budget a run may take for the fewest blocks that tell, among servers
// that start or answer slowly.
const slowest = 3

// Measure measures blocks until the answer is known, or the budget is spent.
func (r *Run) Measure(ctx context.Context) error {
	for failing := 0; ; {
		if n := len(r.Blocks); n > 0 {
			out := r.Assess()
			r.tell(out)
			if out.Settled() {
				return nil
			}
			if r.spent(out) {
				return nil
			}
		}
		block, err := r.block(ctx, len(r.Blocks)+1)
		if err != nil {
			return err
		}
		r.Blocks = append(r.Blocks, block)
		if most := r.Budget / perBlock; block.Took > most { // slower than it looked
			r.Rounds = max(int(int64(r.Rounds)*int64(most)/int64(block.Took)), min(r.Rounds, leastRounds))
		}
		if failing++; slices.ContainsFunc(block.Trials[1:len(r.Servers)], valid) && valid(block.Trials[0]) {
			failing = 0
		}
		if failing == mostFailing {
			r.Ended = fmt.Sprintf("%d blocks in a row told nothing", failing)
			return nil
		}
	}
}

// spent tells whether the budget is spent: no other block fits into it, and none is likely to decide
// soon after it.
func (r *Run) spent(out *compare.Outcome) bool {
	left, last := r.left(r.Began), r.Blocks[len(r.Blocks)-1].Took
	if left >= last {
		return false
	}
	needs, more := time.Duration(out.Further()*float64(time.Second)), beyond
	if few := compare.Fewest(r.level()) - len(r.Blocks); few > 0 {
		needs, more = time.Duration(few)*last, slowest-1
	}
	return needs == 0 || left+time.Duration(more*float64(r.Budget)) < needs
}

func valid(t measure.Trial) bool { return len(t.Faults) == 0 }

// mostIdle is what the other servers may use in a server's slots, as a share of a core. Runtimes clean up
// and compile after their load, alike on both sides; where they do not, the bet on strangers tells.
const mostIdle = 0.25

// order draws the slots of a block: in each round each server has one. The draw does not depend on
// other blocks or their number.
func (r *Run) order(n int) (order []int) {
	source := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "seed %d block %d", r.Seed, n))))
	for range r.Rounds {
		order = append(order, source.Perm(len(r.Servers)+1)...)
	}
	return order
}

// block measures one block. What a server is called decides nothing else: which is started first,
// and which has which port and place with the client, is as the order was drawn. So servers that do not
// differ are exchangeable, which package compare relies on.
func (r *Run) block(ctx context.Context, n int) (Block, error) {
	r.show(fmt.Sprintf("block %d", n))
	began, order := time.Now(), r.order(n)
	first := slices.Clone(order[:len(r.Servers)+1])
	var subjects []measure.Subject
	for place, i := range first {
		if i == len(r.Servers) {
			i = r.Control
		}
		subjects = append(subjects, r.subject(i, place))
	}
	for at, i := range order {
		order[at] = slices.Index(first, i)
	}
	p := r.plan(subjects)
	p.Slot, p.Rounds = r.Slot, r.Rounds
	p.Unlike = r.Different || slices.ContainsFunc(r.Looks, func(l Look) bool { return probe.Varies(l.Answers) })
	made, err := p.Block(ctx, order)
	if err != nil {
		return Block{}, err
	}
	out := Block{Trials: make([]measure.Trial, len(first)), Took: time.Since(began)}
	if len(made.Strangers) == len(first) {
		out.Strangers = make([]float64, len(first))
	}
	for place, i := range first {
		if out.Strangers != nil {
			out.Strangers[i] = made.Strangers[place]
		}
		t := made.Trials[place]
		t.Faults = slices.DeleteFunc(t.Faults, func(f measure.Fault) bool { return f.Name == gate.IdleServers && t.Metrics[idle] < mostIdle })
		out.Trials[i] = t
	}
	return out, nil
}

// tell shows what is known so far, and the faults of the latest block.
func (r *Run) tell(out *compare.Outcome) {
	n := len(r.Blocks)
	for i, t := range r.Blocks[n-1].Trials {
		if !valid(t) {
			r.Say("  block %d: %s does not count: %s", n, r.called(i), t.Faults[0].Detail)
			break
		}
	}
	text := fmt.Sprintf("block %d", n)
	for _, c := range out.Comparisons {
		if x := cmp.Or(c.CPUPerRequest, c.Throughput); x != nil {
			text += fmt.Sprintf(", %s/%s %s", c.Name, c.Base, x)
		}
	}
	r.show(text)
}

func (r *Run) show(text string) {
	r.Show(fmt.Sprintf("%s; %s, at most %s left", text, words.Duration(time.Since(r.Began)),
		words.Duration(max(0, r.left(r.Began)))))
}

// called is the server of a trial, as the caller calls it.
func (r *Run) called(i int) string {
	if i == len(r.Servers) {
		return "the second start of " + r.Servers[r.Control].Name
	}
	return r.Servers[i].Name
}

// took is how many seconds the run took so far.
func (r *Run) took() float64 { return math.Round(time.Since(r.Began).Seconds()*10) / 10 }

// planRounds is how many slots each server has in a block beside which it is profiled.
const planRounds = 8

// Plan is the servers as the engine has them, each once, at the places of the first block: for what is
// asked of them once the comparison is over.
func (b *Bench) Plan() measure.Plan {
	var subjects []measure.Subject
	for i := range b.Servers {
		subjects = append(subjects, b.subject(i, i))
	}
	p := b.plan(subjects)
	p.Slot, p.Rounds = b.slot(perFlight), planRounds
	return *p
}

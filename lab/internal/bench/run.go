package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
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

// The lengths of slots, how many requests one should hold, and how often what is in flight.
const (
	leastSlot = 20 * time.Millisecond
	mostSlot  = 2 * time.Second
	perSlot   = 100
	perFlight = 4
)

// The share of the budget by which a run may go on where that is likely to decide, and how many times its
// budget it may take for the fewest blocks that tell, among servers that start or answer slowly.
const (
	beyond  = 0.2
	slowest = 3
)

// A Run is the blocks of a comparison so far.
type Run struct {
	*Bench
	Slot    time.Duration
	Rounds  int
	Control int // the server that each block has twice
	Blocks  []Block
	Began   time.Time // of the call, looking included
}

// A Block has the trials of all servers in their order, then the control's.
type Block struct {
	Trials []measure.Trial
	Took   time.Duration
}

// prepare plans the blocks after a look: beside is how long a block's servers take to start and end. It refuses a budget
// that cannot hold blocks enough.
func (r *Run) prepare(beside time.Duration) error {
	r.Control = rand.New(rand.NewPCG(r.Seed, 1)).IntN(len(r.Servers))
	turn, all := change, time.Duration(len(r.Servers)+1)
	for _, s := range r.Servers {
		turn = max(turn, s.beside)
	}
	beside += all * (max(r.warm, lookSlot) + turn)
	r.Slot = r.slot()
	round := all * (r.Slot + turn)
	slots := min(r.Budget/perBlock-beside, max(beside, r.Budget/perSlots))
	r.Rounds = min(max(int(slots/round), leastRounds), mostRounds)
	block, least := beside+time.Duration(r.Rounds)*round, compare.Fewest(r.level())
	needs := (time.Since(r.Began) + time.Duration(least)*block).Round(time.Second) + time.Second
	if needs > slowest*r.Budget {
		return fmt.Errorf("--budget %v holds fewer than %d blocks of about %.1f s, and no fewer can tell; use --budget %v "+
			"or more, or less --warmup", r.Budget, least, block.Seconds(), needs)
	}
	r.Say("blocks of about %.1f s, for %s at the most", block.Seconds(), words.Duration(max(needs, r.Budget)))
	return nil
}

// slot is the length of a slot for the slowest of the servers: long enough for a hundred requests,
// and for so many times those that are in flight at its ends. Among fast servers short slots are best,
// since what disturbs one of them then disturbs the next as well: neighbouring slots differ by the same
// share whether they last 50 ms or 500, so what counts is how many there are. Shorter ones would be
// spent on the change from one server to the next, which takes two to five.
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
	for {
		block, err := r.block(ctx, len(r.Blocks)+1)
		if err != nil {
			return err
		}
		r.Blocks = append(r.Blocks, block)
		if most := r.Budget / perBlock; block.Took > most { // slower than it looked
			r.Rounds = max(int(int64(r.Rounds)*int64(most)/int64(block.Took)), min(r.Rounds, leastRounds))
		}
		out := r.Assess()
		r.tell(out)
		if out.Settled() || r.fails() || r.spent(out) {
			return nil
		}
	}
}

func valid(t measure.Trial) bool { return len(t.Faults) == 0 }

// mostFailing is how many blocks in a row may tell nothing.
const mostFailing = 3

// fails tells whether the latest blocks told nothing of any server, so that going on is of no use.
func (r *Run) fails() bool {
	n := len(r.Blocks)
	return n >= mostFailing && !slices.ContainsFunc(r.Blocks[n-mostFailing:], func(b Block) bool {
		return valid(b.Trials[0]) && slices.ContainsFunc(b.Trials[1:len(r.Servers)], valid)
	})
}

func (r *Run) left() time.Duration { return r.Budget - time.Since(r.Began) }

// spent tells whether the budget is spent: no other block fits into it, and none is likely to decide
// soon after it.
func (r *Run) spent(out *compare.Outcome) bool {
	left, last := r.left(), r.Blocks[len(r.Blocks)-1].Took
	if left >= last {
		return false
	}
	needs, more := time.Duration(out.Further()*float64(time.Second)), beyond
	if few := compare.Fewest(r.level()) - len(r.Blocks); few > 0 {
		needs, more = time.Duration(few)*last, slowest-1
	}
	return needs == 0 || left+time.Duration(more*float64(r.Budget)) < needs
}

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
func (r *Run) block(ctx context.Context, n int) (out Block, err error) {
	r.show(fmt.Sprintf("block %d", n))
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
	p.Unlike = r.Different || slices.ContainsFunc(r.Servers, func(s *Server) bool { return probe.Varies(s.answers) })
	made, err := p.Block(ctx, order)
	if err != nil {
		return out, err
	}
	for i := range first {
		t := made[slices.Index(first, i)]
		t.Faults = slices.DeleteFunc(t.Faults, func(f measure.Fault) bool { return f.Name == gate.IdleServers && t.Metrics[idle] < mostIdle })
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

// tell shows what is known so far, and a fault of the latest block.
func (r *Run) tell(out *compare.Outcome) {
	n := len(r.Blocks)
	trials := r.Blocks[n-1].Trials
	if i := slices.IndexFunc(trials, func(t measure.Trial) bool { return !valid(t) }); i >= 0 {
		r.Say("  block %d: %s does not count: %s", n, r.server(i).Name, trials[i].Faults[0].Detail)
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
	r.Show(fmt.Sprintf("%s; %s, at most %s left", text, words.Duration(time.Since(r.Began)), words.Duration(max(0, r.left()))))
}

package verdict

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A blindness is the reason why a block cannot tell whether a claim holds.
type blindness int

// In the order in which they are checked.
const (
	none blindness = iota
	refused
	sharedCores
	slowCore
	otherWall
	serverWall
	clientWall
	clientUnseen
	noWall
	missing
	nought
	thin
)

// blindnesses has, for each reason, the verdict if it applies to most blocks,
// and a text that continues "in 3 of 12 blocks".
var blindnesses = map[blindness]struct {
	verdict Verdict
	says    string
}{
	refused:      {Invalid, "a gate refused a trial"},
	sharedCores:  {NotApplicable, "server and client shared cores, and the claim needs cores of its own for each"},
	slowCore:     {Inconclusive, "the server's core was slow all along, so another program may have filled it, which a trial in one piece does not tell"},
	otherWall:    {NotApplicable, "%s was not seen to be the wall, which the claim needs"},
	serverWall:   {Invalid, "the server's CPU was the wall, or was not recorded, so the figures measure the server"},
	clientWall:   {Invalid, "the client's CPU was the wall, so the figures measure the client"},
	clientUnseen: {Inconclusive, "the client's CPU was not recorded: it may have been the wall"},
	noWall:       {Inconclusive, "no wall was seen to be met, so what limited throughput is not known"},
	missing:      {Inconclusive, "a figure that the claim rests on was not recorded"},
	nought:       {Invalid, "a figure is zero, so there is no ratio"},
	thin:         {Inconclusive, "the profile holds too little to take shares of"},
}

// blind gives the reason why a block cannot tell, from the walls that the
// claim's trials met; none if it can.
func (rec *record) blind(c experiment.Claim, b block) blindness {
	if b.refused {
		return refused
	}
	m, _ := metric.Lookup(c.Metric)
	trials := rec.about(c, b)
	any := func(holds func(gate.Walls) bool) bool {
		return slices.ContainsFunc(trials, func(t results.Trial) bool { return holds(b.of.Walls(t)) })
	}
	if (m.MeasuresClient || c.From != "") && b.of.SharedCores() {
		return sharedCores
	}
	inOnePiece := slices.ContainsFunc(trials, func(t results.Trial) bool { return t.Slots == nil })
	if inOnePiece && b.of.slow(b.number) && aboutCPU(c) {
		return slowCore
	}
	// The server's CPU counts as the wall only if the client is known to have had room.
	if need := gate.Bound(c.Needs.Bound); need != "" && any(func(w gate.Walls) bool {
		return !w.Meets(need) || need == gate.BoundServerCPU && !w.Room(gate.BoundClientCPU)
	}) {
		return otherWall
	}
	// Figures of a claim about the client show what the client can do.
	if m.MeasuresClient && c.About != experiment.AboutClient {
		if any(func(w gate.Walls) bool { return w.Meets(gate.BoundClientCPU) }) {
			return clientWall
		}
		if any(func(w gate.Walls) bool { return !w.Room(gate.BoundClientCPU) }) {
			return clientUnseen
		}
		if m.Throughput() && slices.ContainsFunc(trials, func(t results.Trial) bool {
			return b.of.Walls(t).Bound() == gate.BoundUnknown && !b.of.offered(t)
		}) {
			return noWall
		}
	}
	return unseen(c, b)
}

// aboutCPU tells whether a claim says that a side's CPU was the wall, or needs
// it to be. A slow core does not explain a full wire.
func aboutCPU(c experiment.Claim) bool {
	return slices.ContainsFunc([]string{c.Bound, c.From, c.To, c.Needs.Bound}, func(b string) bool {
		return b == string(gate.BoundServerCPU) || b == string(gate.BoundClientCPU)
	})
}

// unseen gives the reason why a figure or profile that the claim rests on
// cannot tell; none if all can.
func unseen(c experiment.Claim, b block) blindness {
	for _, t := range b.trials {
		if !kinds[c.Kind].recorded(c, t) {
			return missing
		}
		if why := kinds[c.Kind].blind(c, b.of, t); why != none {
			return why
		}
	}
	return none
}

// A sight has the blocks that were begun, and which of them can tell.
type sight struct {
	blocks []block
	blind  []blindness // by block
	count  map[blindness]int
}

func (rec *record) look(c experiment.Claim, blocks []block) sight {
	s := sight{blocks: blocks, count: map[blindness]int{}}
	for _, b := range blocks {
		why := rec.blind(c, b)
		s.blind = append(s.blind, why)
		if why != none {
			s.count[why]++
		}
	}
	return s
}

// votes counts the blocks on a claim's only edge, by what those that can tell say of it.
func (s sight) votes(says func(block) (inside, beyond bool)) (v votes) {
	for i, b := range s.blocks {
		inside, beyond := false, false
		if s.blind[i] == none {
			inside, beyond = says(b)
		}
		v.add(b.later, inside, beyond)
	}
	return v
}

// cannot counts the blocks that cannot tell, and gives the reason that most of
// them have.
func (s sight) cannot() (n int, most blindness) {
	for why := refused; why <= thin; why++ {
		if s.count[why] > s.count[most] {
			most = why
		}
		n += s.count[why]
	}
	return n, most
}

// tooBlind gives a verdict if more than half of the blocks cannot tell.
func (s sight) tooBlind(rec *record, c experiment.Claim, few bool) (Verdict, string, bool) {
	n, most := s.cannot()
	switch {
	case 2*n <= len(s.blocks):
		return "", "", false
	case most == refused:
		v, complete := Invalid, len(s.blocks)-s.count[refused]
		if few {
			v = Inconclusive
		}
		return v, fmt.Sprintf("only %d of %s complete: %s", complete, words.Count(len(s.blocks), "block is", "blocks are"),
			gates(rec.invalid())), true
	}
	return blindnesses[most].verdict, s.says(most, c), true
}

// visitsOf counts the visits that blocks belong to.
func visitsOf(blocks []block) int {
	return len(strict.Collect(blocks, func(b block) int { return b.visit }))
}

// runsOf counts the runs that blocks belong to.
func runsOf(blocks []block) int {
	return len(strict.Collect(blocks, func(b block) *source { return b.of }))
}

func (s sight) says(why blindness, c experiment.Claim) string {
	says := blindnesses[why].says
	if n := s.count[why]; why == refused {
		return fmt.Sprintf("%d of %d %s refused by a gate and %s for neither side", n, len(s.blocks),
			words.Plural(n, "blocks was", "blocks were"), words.Plural(n, "counts", "count"))
	}
	if why == otherWall {
		says = fmt.Sprintf(says, wallPhrase(c.Needs.Bound))
	}
	return fmt.Sprintf("in %d of %s %s", s.count[why], words.Count(len(s.blocks), "block"), says)
}

// blindClause is a clause on the blocks that cannot tell; empty if all can.
func (s sight) blindClause(c experiment.Claim) string {
	out := ""
	for why := refused; why <= thin; why++ {
		if s.count[why] > 0 {
			out += "; " + s.says(why, c)
		}
	}
	return out
}

// offered tells whether the load limits the throughput of a trial's condition:
// a fixed rate was asked for, and is to be met.
func (s *source) offered(t results.Trial) bool {
	levels := s.LevelsOf(t)
	overload, _ := levels[setting.Overload].Bool()
	return levels.Whole(setting.Rate, 0) > 0 && !overload || levels.Whole(setting.EventRate, 0) > 0 ||
		levels.Whole(setting.Likes, 0) > 0
}

package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A kind says and decides the claims of one kind. Those about ratios are in ratios.go,
// each other has a file of its own, and package experiment says which fields its claims have.
type kind interface {
	// criterion says what makes a claim hold, to continue "holds if".
	criterion(c experiment.Claim) string
	// recorded reports whether a trial has what a claim is about.
	recorded(c experiment.Claim, t results.Trial) bool
	// blind gives the reason why a trial that has it cannot tell, beside what blinds
	// claims of any kind.
	blind(c experiment.Claim, s *source, t results.Trial) blindness
	// decide compares a claim with the blocks of a record. An error says why nothing
	// can be compared.
	decide(rec *record, c experiment.Claim) (finding, error)
	// bets reports whether a bet on blocks decides a claim; else one contradiction
	// refutes it.
	bets() bool
}

var kinds = map[experiment.Kind]kind{
	experiment.Flat: flat{}, experiment.Ratio: ratio{}, experiment.Monotonic: monotonic{},
	experiment.Bound: bound{}, experiment.Moves: moves{}, experiment.Count: count{},
	experiment.Value: value{}, experiment.Share: share{}, experiment.Absent: absent{},
}

// plain has what claims of most kinds have in common: each trial tells, and visits bet.
type plain struct{}

func (plain) recorded(experiment.Claim, results.Trial) bool { return true }

func (plain) blind(experiment.Claim, *source, results.Trial) blindness { return none }

func (plain) bets() bool { return true }

// A finding is what the blocks say, whether or not they are enough for a
// verdict.
type finding struct {
	verdict     Verdict
	why         string
	seen        sight        // the blocks that were begun, and which of them can tell
	yes, no     int          // blocks for the claim and against it
	needed      int          // estimate of the further visits that would decide; 0 if unknown
	comparisons []comparison // for claims about ratios
}

// tellBy decides by the votes on a claim's only edge.
func (f *finding) tellBy(v votes, level float64) {
	edges := []votes{v}
	f.yes, f.no = v.inside, v.beyond
	if f.verdict = judge(edges, level); f.verdict == Inconclusive {
		f.needed = needed(edges, level)
	}
}

// concludeStrictly gives the verdict of a claim that one contradiction refutes.
// Nobody bets on it, so blocks of one visit are as good as others. But it needs as
// many that can tell as any claim needs visits.
func (f *finding) concludeStrictly(v votes, against, holds string) {
	f.yes, f.no = v.inside, v.beyond
	told := f.yes + f.no
	switch {
	case told < stats.MinSamples:
		f.verdict, f.needed = Inconclusive, stats.MinSamples-told
		f.why = fmt.Sprintf("%s too few: six are the least that decide", words.Count(told, "block is", "blocks are"))
		if all := len(f.seen.blocks); all > told {
			f.why = fmt.Sprintf("only %d of %d blocks can tell, and six are the least that decide", told, all)
		}
		if against != "" {
			f.why += "; " + against
		}
	case against != "":
		f.verdict, f.why = Refuted, against
	default:
		f.verdict, f.why = Reproduced, holds
	}
}

// Criterion says in words what makes a claim hold, to continue "holds if".
func Criterion(c experiment.Claim) string {
	said := kinds[c.Kind].criterion(c)
	if at := setting.LimitTo(c.Where()); at != "" {
		said = at + ", " + said
	}
	return said
}

// NeedsWords says a claim's preconditions in words; empty without any.
func NeedsWords(n experiment.Needs) string {
	var out []string
	if n.Bound != "" {
		out = append(out, fmt.Sprintf("%s full in every trial", wallPhrase(n.Bound)))
	}
	if n.LineRate {
		out = append(out, "a wire of known line rate")
	}
	if n.Cores > 0 {
		out = append(out, fmt.Sprintf("at least %d cores", n.Cores))
	}
	return words.List(out)
}

// bars says a claim's bar, or both of a share.
func bars(c experiment.Claim, print func(float64) string) string {
	var out []string
	if c.AtLeast != nil {
		out = append(out, "at least "+print(*c.AtLeast))
	}
	if c.AtMost != nil {
		out = append(out, "at most "+print(*c.AtMost))
	}
	return words.List(out)
}

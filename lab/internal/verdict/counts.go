package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// evaluateCount compares a count with a level, exactly, in every trial of every
// block that can tell. One wrong count refutes the claim.
func (rec *record) evaluateCount(c experiment.Claim) (finding, error) {
	var conds []setting.Levels
	for _, levels := range rec.holding(c) {
		if _, ok := rec.fixed.With(levels)[c.Equals].Int(); ok {
			conds = append(conds, levels)
		}
	}
	f := finding{}
	if len(conds) == 0 {
		return f, fmt.Errorf("the run does not say its %s, with which %s is compared", words.Setting(c.Equals), words.Metric(c.Metric))
	}
	f.seen = rec.look(c, rec.begun(conds))
	trials, odd := 0, ""
	for i, b := range f.seen.blocks {
		if f.seen.blind[i] != none {
			continue
		}
		exact := true
		for _, levels := range conds {
			want, _ := rec.fixed.With(levels)[c.Equals].Int()
			got, ok := b.of.at(levels)[b.number].Metrics[c.Metric]
			if !ok {
				continue
			}
			trials++
			if got != float64(want+c.Plus) {
				exact = false
				if odd == "" {
					odd = fmt.Sprintf("%s, the count of %s was %v, not %d", words.Where(levels), words.Metric(c.Metric), got, want+c.Plus)
				}
			}
		}
		f.sayStrictly(exact)
	}
	f.concludeStrictly(odd, fmt.Sprintf("the count is exact in all of %d trials", trials))
	return f, nil
}

func (f *finding) sayStrictly(holds bool) {
	if holds {
		f.yes++
	} else {
		f.no++
	}
}

// concludeStrictly gives the verdict of a claim that one contradiction refutes.
// Nobody bets on it, so blocks of one visit are as good as others. But it needs as
// many that can tell as any claim needs visits.
func (f *finding) concludeStrictly(against, holds string) {
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

package verdict

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A Relative is the table that a design asks for: a metric at each level of a factor, over the same metric at one of
// them, from all runs of the design. It decides nothing. Each interval holds its ratio with a probability of
// 1-stats.Alpha whenever a run stops, taken alone: of twenty, one may miss.
type Relative struct {
	Metric, Over string
	To           string // the level as pages print it
	// Rows are in the order of the design's conditions. A condition of which no block has a ratio is in none.
	Rows []RelativeRow
}

// A RelativeRow is one condition's ratio to the one that differs from it only in the level that all are relative to;
// that one has a row without a ratio.
type RelativeRow struct {
	Level string // as pages print it
	Base  bool   // whether it is what others are relative to
	Effect
}

// relative makes the table that the last run's design asks for; nil if it asks for none, or nothing can be compared.
func (d *decider) relative() *Relative {
	x := d.last.then
	asked := x.Relative
	if asked == nil {
		return nil
	}
	rec := &record{runs: d.like(), conds: x.Conditions()}
	claim := experiment.Claim{Kind: experiment.Ratio, Metric: asked.Metric, Over: asked.Over}
	out := &Relative{Metric: asked.Metric, Over: asked.Over, To: setting.LevelCell(asked.Level)}
	for _, levels := range rec.conds {
		base := levels.With(setting.Levels{asked.Over: asked.Level})
		row := RelativeRow{Level: setting.LevelCell(levels[asked.Over]), Base: levels.Key() == base.Key()}
		if !row.Base {
			all := []*comparison{{metric: asked.Metric, over: asked.Over, a: levels, b: base, band: band{0, math.Inf(1)}}}
			rec.compare(claim, all, rec.look(claim, rec.needs(all)).blocks, stats.Alpha)
			if row.Effect = all[0].effect(len(all[0].all)); row.Pairs == 0 {
				continue
			}
			row.For = 0 // no claim is about it
		}
		out.Rows = append(out.Rows, row)
	}
	if len(out.Rows) < 2 {
		return nil
	}
	return out
}

package verdict

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Relative is the table that a design asks for: a metric at each level of a
// factor, over the same metric at one of them, from the record of all runs of
// the design. It decides nothing. Each interval holds its ratio with a
// probability of 1-stats.Alpha whenever a run stops, taken alone: of twenty,
// one may miss.
type Relative struct {
	Metric string `json:"metric"`
	Over   string `json:"over"`
	To     string `json:"to"` // the level as pages print it
	// Rows are in the order of the design's conditions. A condition of which no
	// block has a ratio is in none.
	Rows []RelativeRow `json:"rows"`
}

// A RelativeRow is one condition's ratio to the one that differs from it only
// in the level that all are relative to; that one has a row without a ratio.
type RelativeRow struct {
	Level string `json:"level"`           // as pages print it
	Base  bool   `json:"base,omitempty"`  // whether it is what others are relative to
	Walls string `json:"walls,omitempty"` // its valid trials by bound; absent if the server's CPU bounded all
	// OwnText is the ratio without the client's part in either server's CPU time,
	// and ClientText that part of this one; absent where it was not gauged.
	OwnText    string `json:"own_text,omitempty"`
	ClientText string `json:"client_text,omitempty"`
	// Ends are those of the interval as changes in percent, "−4.2 to −1.0"; absent where one is open.
	Ends string `json:"ends,omitempty"`
	Effect
}

// receiveShare is the metric that tells the client's part in a server's CPU time.
const receiveShare = "client_receive_share"

// own fills in the ratio without the client's part in the CPU time of either server, given what runs gauged of both.
// The error of the gauge is not in the ratio, which so has no interval.
func (row *RelativeRow) own(of, base *float64) {
	if of == nil {
		return
	}
	row.ClientText = words.Grouped(100**of, 0) + " %"
	if !row.Base && base != nil && *base < 1 {
		row.OwnText = words.Ratio(row.Ratio*(1-*of)/(1-*base), 0, 0).Text
	}
}

// relative makes the table that the last run's design asks for; nil if it asks
// for none, or nothing can be compared.
func (d *decider) relative() *Relative {
	x := d.last.then
	asked := x.Relative
	if asked == nil {
		return nil
	}
	rec := &record{runs: d.like(), conds: x.Conditions()}
	sums := map[string]medians.Summary{}
	for _, sum := range d.pooled(strict.Map(rec.conds, func(of setting.Levels) results.Condition {
		return results.Condition{Levels: of}
	})) {
		sums[sum.Levels.Key()] = sum
	}
	claim := experiment.Claim{Kind: experiment.Ratio, Metric: asked.Metric, Over: asked.Over}
	out := &Relative{Metric: asked.Metric, Over: asked.Over, To: setting.LevelCell(asked.Level())}
	for _, levels := range rec.conds {
		base := levels.With(setting.Levels{asked.Over: asked.Level()})
		m := &comparison{metric: asked.Metric, over: asked.Over, a: levels, b: base, band: band{0, math.Inf(1)}}
		seen := rec.look(claim, rec.needs([]*comparison{m}))
		rec.compare(claim, []*comparison{m}, seen.blocks, stats.Alpha)
		row := RelativeRow{Level: setting.LevelCell(levels[asked.Over]), Base: levels.Key() == base.Key()}
		switch {
		case row.Base:
			row.Metric, row.A = asked.Metric, setting.Levels{asked.Over: levels[asked.Over]}
		case len(m.all) == 0:
			continue
		default:
			row.Effect = m.effect(len(m.all))
			row.For = 0 // nothing is claimed of it
			_, row.Ends = words.Change(row.Ratio, row.Low, row.High)
		}
		if asked.OwnWork {
			row.own(sums[levels.Key()].Metrics[receiveShare].Median, sums[base.Key()].Metrics[receiveShare].Median)
		}
		if bounds := sums[levels.Key()].Bounds; len(bounds) > 1 || bounds[string(gate.BoundServerCPU)] == 0 {
			row.Walls = words.Bounds(bounds, true)
		}
		out.Rows = append(out.Rows, row)
	}
	if len(out.Rows) < 2 {
		return nil
	}
	return out
}

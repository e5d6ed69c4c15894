package verdict

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
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
	Level  string         `json:"level"`            // as pages print it
	Base   bool           `json:"base,omitempty"`   // whether it is what others are relative to
	Bounds map[string]int `json:"bounds,omitempty"` // number of its valid trials by bound
	Walls  string         `json:"walls,omitempty"`  // the same in words; absent if the server's CPU bounded all
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

// own fills in the ratio without the client's part in the CPU time of either
// server, given what was gauged of both. The part is the median over the runs
// that gauged it, and its own error is not in the ratio, which so has no
// interval.
func (row *RelativeRow) own(of, base []float64) {
	if len(of) == 0 {
		return
	}
	part := stats.Median(of)
	row.ClientText = words.Grouped(100*part, 0) + " %"
	if row.Base || len(base) == 0 {
		return
	}
	if rest := 1 - stats.Median(base); rest > 0 {
		row.OwnText = printRatio(row.Ratio*(1-part)/rest, nil, nil)
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
	rec := &record{level: stats.Alpha, fixed: x.Fixed(), line: d.last.Topology}
	rec.runs = strict.Filter(d.like(), func(s *source) bool { return len(s.Trials) > 0 })
	out := &Relative{Metric: asked.Metric, Over: asked.Over, To: setting.LevelCell(asked.Level())}
	for _, levels := range x.Conditions() {
		base := levels.With(setting.Levels{asked.Over: asked.Level()})
		row := RelativeRow{Level: setting.LevelCell(levels[asked.Over]), Base: levels.Key() == base.Key(),
			Bounds: map[string]int{}}
		if row.Base {
			row.Metric, row.A = asked.Metric, only(levels, asked.Over)
		} else if e, ok := rec.over(asked, levels, base); ok {
			row.Effect, row.Ends = e, e.ends()
		} else {
			continue
		}
		rec.conds = []setting.Levels{levels}
		rec.each(func(s *source, t results.Trial) { row.Bounds[string(s.Walls(t).Bound())]++ })
		if asked.OwnWork {
			row.own(rec.gauged(levels), rec.gauged(base))
		}
		if len(row.Bounds) > 1 || row.Bounds[string(gate.BoundServerCPU)] == 0 {
			row.Walls = words.Bounds(row.Bounds, true)
		}
		out.Rows = append(out.Rows, row)
	}
	if len(out.Rows) < 2 {
		return nil
	}
	return out
}

// gauged lists what the runs gauged of a condition's client's part.
func (rec *record) gauged(levels setting.Levels) (parts []float64) {
	for _, s := range rec.runs {
		for _, t := range s.at(levels) {
			if v, ok := t.Metrics[receiveShare]; ok {
				parts = append(parts, v)
			}
		}
	}
	return parts
}

// over is the ratio of two conditions of which nothing is claimed, with its
// interval; false without a block that has it.
func (rec *record) over(asked *experiment.Relative, levels, base setting.Levels) (Effect, bool) {
	claim := experiment.Claim{Kind: experiment.Ratio, Metric: asked.Metric, Over: asked.Over}
	rec.conds = []setting.Levels{base, levels} // what bounded others is no matter of this ratio
	seen := rec.look(claim, rec.complete([]setting.Levels{levels, base}))
	c, err := comparisonOf(claim, levels, base, pair{band: band{0, math.Inf(1)}}, seen)
	if err != nil || c.effect.Pairs == 0 {
		return Effect{}, false
	}
	c.effect.For, c.effect.Against = 0, 0
	c.interval(stats.Alpha)
	c.effect.print()
	return c.effect, true
}

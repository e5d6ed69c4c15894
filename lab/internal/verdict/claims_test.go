package verdict

import (
	"math"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// figures are what a claim's figure, or ratio, may be: on either side of each edge, and 1.
func figures(x *experiment.Experiment, c experiment.Claim) []float64 {
	rec := &record{fixed: x.Fixed()}
	rec.about(c, x.Conditions())
	out := []float64{1}
	for _, m := range rec.comparisons(c) {
		for _, edge := range []float64{m.band.low, m.band.high} {
			if !math.IsInf(edge, 0) {
				out = append(out, edge*1.05+0.001, max(0, edge/1.05-0.001), edge)
			}
		}
	}
	return out
}

// in makes up a run in which a claim's figure is so: at its last level of a ratio over that at its first.
func in(x *experiment.Experiment, c experiment.Claim, figure float64, wall gate.Bound, blocks int) *results.File {
	along := c.Compared
	for _, levels := range x.Conditions() {
		if level := levels[c.Over]; c.Compared == nil && !slices.Contains(along, level) {
			along = append(along, level)
		}
	}
	r := madeUp(x, blocks, func(levels setting.Levels, _ int) values {
		v := figure
		if c.Form() == experiment.RatioForm {
			v = math.Pow(figure, float64(max(0, slices.Index(along, levels[c.Over])))/float64(len(along)-1))
		} else if of, counted := x.Fixed().With(levels)[c.Equals].Int(); counted && figure > 1 {
			v = float64(of + c.Plus)
		}
		return values{c.Metric: v}
	})
	r.Topology = x.Topology
	for i := range r.Trials {
		t := &r.Trials[i]
		if bounded(t, wall); wall != gate.BoundWire {
			t.Metrics["line_rate_share"] = 0.5
		}
		if c.Profile != "" {
			t.Profiles = []profile.Profile{{Kind: profile.Kind(c.Profile), Packages: map[string]float64{c.Package: figure},
				Work: map[string]float64{c.Work: figure}}}
		}
	}
	return r
}

// Every claim of the journal can get each verdict. A claim that cannot fail, or cannot hold, would test nothing.
func TestEveryClaimCanBeConfirmedRefutedAndLeftOpen(t *testing.T) {
	xs, err := experiment.LoadDir("../../experiments")
	if err != nil {
		t.Fatal(err)
	}
	large := &host.Profile{ID: "h", Cores: 256}
	for _, x := range xs {
		for _, c := range x.Claims {
			seen := map[Verdict]bool{}
			try := func(figure float64, wall gate.Bound, blocks int) {
				if len(seen) < 3 {
					r := in(x, c, figure, wall, blocks)
					seen[newDecider(Asked(nil), large, []Run{{r, x}}).decide(c, nil).Verdict] = true
					delete(seen, NotApplicable)
				}
			}
			for _, figure := range figures(x, c) {
				for _, wall := range []gate.Bound{gate.BoundServerCPU, gate.BoundClientCPU, gate.BoundWire} {
					try(figure, wall, stats.MinSamples-1)
					try(figure, wall, 15)
				}
			}
			for _, v := range []Verdict{Open, Confirmed, Refuted} {
				if !seen[v] {
					t.Errorf("%s/%s: no run makes it %s", x.Name, c.ID, v)
				}
			}
		}
	}
}

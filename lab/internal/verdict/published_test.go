package verdict

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestAPublishedSingleRunAgreesOrDisagrees(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratio       float64
		bound       gate.Bound
		want        string
	}{
		{"flat, within the margin", isFlat, 1.09, gate.BoundUnknown, "agrees"},
		{"flat, beyond it", isFlat, 1.11, gate.BoundUnknown, "disagrees"},
		{"at least", atLeast, 1.5, gate.BoundUnknown, "agrees"},
		{"at least, not reached", atLeast, 1.49, gate.BoundUnknown, "disagrees"},
		{"at most", atMost, 0.5, gate.BoundUnknown, "agrees"},
		{"at most, exceeded", atMost, 0.51, gate.BoundUnknown, "disagrees"},
		{"rises", rises, 1.01, gate.BoundUnknown, "agrees"},
		{"falls", rises, 0.99, gate.BoundUnknown, "disagrees"},
		{"the wall that was claimed", wireWall, 1, gate.BoundWire, "agrees"},
		{"another", wireWall, 1, gate.BoundServerCPU, "disagrees"},
		{"a count that is off", asMany, 1, gate.BoundUnknown, "disagrees"}, // one worker at workers=2
	} {
		x := design(t, "", c.claim)
		r := asPrinted(ratios(x, c.ratio))
		for i := range r.Trials {
			bounded(&r.Trials[i], c.bound)
		}
		got := one(t, x, r, machine)
		if got.Verdict != Inconclusive || got.SingleRun != c.want || !strings.HasPrefix(got.Reason, "one run has no interval; ") || strings.Contains(got.Reason, "six are the least") {
			t.Errorf("%s: %s, %q (%s); want inconclusive, %q", c.name, got.Verdict, got.SingleRun, got.Reason, c.want)
		}
	}
}

// A published run that did not record a wall is not evidence against it.
func TestAnUnknownBoundOfAPublishedRunDoesNotDisagree(t *testing.T) {
	x := design(t, "", wireWall)
	r := asPrinted(ratios(x, 1))
	r.Topology.Kind = "fleet" // whose line rate is not given
	for i, b := range []gate.Bound{gate.BoundUnknown, gate.BoundWire} {
		bounded(&r.Trials[i], b)
	}
	if got := one(t, x, r, machine); got.Verdict != Inconclusive || got.SingleRun != "" || !strings.Contains(got.Reason, "of 1 more it was not recorded") {
		t.Errorf("%s, %q (%s)", got.Verdict, got.SingleRun, got.Reason)
	}
	bounded(&r.Trials[1], gate.BoundServerCPU)
	r.Trials[1].Metrics["line_rate_share"] = 0.5
	if got := one(t, x, r, machine); got.SingleRun != "disagrees" {
		t.Errorf("another wall: %s, %q (%s)", got.Verdict, got.SingleRun, got.Reason)
	}
}

func TestAPublishedRunWithoutPairsNeitherAgreesNorDisagrees(t *testing.T) {
	x := design(t, "", isFlat)
	r := asPrinted(ratios(x, 1, 1))
	// Figures of two runs, neither of which has both levels.
	r.Trials = []results.Trial{r.Trials[0], r.Trials[3]}
	if c := one(t, x, r, machine); c.SingleRun != "" || c.Verdict == Reproduced {
		t.Errorf("%s, %q (%s): nothing was compared", c.Verdict, c.SingleRun, c.Reason)
	}
}

func TestAPublishedRunIsDatedByItsText(t *testing.T) {
	x := design(t, "", isFlat)
	f := Decide(x, machine, []Run{{asPrinted(ratios(x, 1)), x}})
	if f.Date != "2026-01-01" || f.Started != "2026-01-01" || f.Size != "" || f.Blocks != 0 || f.Source != "published" {
		t.Errorf("%+v", f)
	}
	if got := f.Conditions[0].Metrics[rps]; got.Printed != "as printed" || got.N != 1 {
		t.Errorf("figure %+v", got)
	}
	f = Decide(x, machine, []Run{{ratios(x, 1, 1, 1, 1, 1, 1), x}})
	if f.Date != "2026-01-02" || f.Started != "2026-01-02T03:04:05Z" || f.Size != "smoke" || f.Blocks != 6 || f.Source != "measured" {
		t.Errorf("%+v", f)
	}
}

package verdict

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

var (
	asBefore = []float64{1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 1, 1}
	slower   = []float64{1.08, 1.07, 1.09, 1.1, 1.06, 1.08, 1.08, 1.07, 1.09, 1.08}
)

func TestAControlTakesNoPartInClaims(t *testing.T) {
	x := designed(t, "", isFlat, rename(wireWall, "d"))
	r := ratios(x, times(10, 1)...)
	want := Decide(x, machine, []Run{{r, x}})
	if want.Control != nil {
		t.Fatalf("%+v", want.Control)
	}
	addControl(r, times(10, 1)...)
	for i := range r.Trials {
		if r.Trials[i].Condition == "again" {
			r.Trials[i].Bound, r.Trials[i].Metrics["line_rate_share"] = gate.BoundWire, 1
		}
	}
	spoil(&r.Trials[len(r.Trials)-1])
	got := Decide(x, machine, []Run{{r, x}})
	if !reflect.DeepEqual(got.Claims, want.Claims) || !reflect.DeepEqual(got.Conditions, want.Conditions) {
		t.Errorf("%+v\nwant %+v", got.Claims, want.Claims)
	}
	if c := got.Control; c == nil || c.Reach != 1 {
		t.Errorf("%+v", c)
	}
}

// The three claims are on a ratio near its edge, on one far from it, and on a bottleneck. A control that differs takes
// the decisions away that its reach could overturn. A control of too few blocks takes all.
func TestAControlThatDiffersWidensIntervals(t *testing.T) {
	decided := []Verdict{Confirmed, Refuted, Refuted}
	none := []Verdict{Open, Open, Open}
	for _, c := range []struct {
		name  string
		by    []float64
		reach float64
		want  []Verdict
		says  string
	}{
		{"the same", asBefore, 1, decided, "no difference seen in 2 metrics; server CPU per request: 1.000 ("},
		// Two metrics, two sides and 0.01 need an e-value of 400: ten of ten have
		// 490, nine of ten 19.
		{"slower", slower, 1.1, []Verdict{Open, Refuted, Refuted}, "its A/A control differed in server CPU per request: 1.080 (1.060 to 1.100)"},
		{"slower, but for one block", append([]float64{0.999}, slower[1:]...), 1, decided, ""},
		{"too little left", []float64{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 0, none,
			"only 5 blocks have its A/A control complete, and 6 are the least"},
		{"nothing left", make([]float64, 10), 0, none, "only 0 blocks"},
	} {
		x := designed(t, "", isFlat, rename(atLeast, "d"), rename(wireWall, "e"))
		r := ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1, 1, 1, 1.01)
		f := Decide(x, machine, []Run{{addControl(r, c.by...), x}})
		if f.Control == nil || math.Abs(f.Control.Reach-c.reach) > 1e-9 || !strings.Contains(f.Control.Reason, c.says) {
			t.Errorf("%s: %+v", c.name, f.Control)
			continue
		}
		for i, want := range c.want {
			says := ""
			if want == Open {
				says = "the record is suspect: " + f.Control.Reason + "; otherwise the claim would be " + string(decided[i])
			}
			expect(t, c.name, f.Claims[i], want, says)
		}
	}
}

// The controls of all runs are pooled, whichever conditions they repeated.
func TestControlsOfSeveralRunsCountTogether(t *testing.T) {
	x := designed(t, "", isFlat)
	a := Run{addControl(ratios(x, times(5, 1)...), 1.08, 1.07, 1.09, 1.1, 1.06), x}
	b := Run{onDay(addControl(ratios(x, times(5, 1)...), 1.08, 1.07, 1.09, 1.1, 1.06), 1), x}
	if c := Decide(x, machine, []Run{a}).Control; c.Reach != 0 {
		t.Errorf("one: %+v", c)
	}
	c := Decide(x, machine, []Run{a, b}).Control
	if c.Reach <= 1 {
		t.Errorf("both: %+v", c)
	}
}

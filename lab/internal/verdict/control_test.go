package verdict

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

var (
	asBefore = []float64{1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 1, 1}
	slower   = []float64{1.08, 1.07, 1.09, 1.1, 1.06, 1.08, 1.08, 1.07, 1.09, 1.08}
)

func TestAControlTakesNoPartInClaims(t *testing.T) {
	x, r := sample.Good(t, 9)
	want := Decide(x, sample.Machine, []Run{{r, x}})
	if want.Control != nil || !slices.Equal(want.Warnings, []string{"no A/A control in this run"}) {
		t.Fatalf("%+v, %v", want.Control, want.Warnings)
	}
	// A claim ignores the control's counts and bounds.
	addControl(r, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		if r.Trials[i].Condition == "again" {
			r.Trials[i].Bound, r.Trials[i].Metrics["workers"] = gate.BoundUnknown, 7
		}
	}
	got := Decide(x, sample.Machine, []Run{{r, x}})
	if !reflect.DeepEqual(got.Claims, want.Claims) || !reflect.DeepEqual(got.Conditions, want.Conditions) ||
		got.Warnings != nil {
		t.Errorf("%+v\nwant %+v", got.Claims, want.Claims)
	}
	c := got.Control
	if c == nil || c.Outcome != Same || c.Of != "c1" || c.Condition.ID != "again" || c.Condition.Trials != 9 ||
		got.Trials != 27 {
		t.Errorf("%+v", c)
	}
	// A claim ignores the control's lost trials too.
	sample.Spoil(&r.Trials[18])
	if c := Decide(x, sample.Machine, []Run{{r, x}}).Claims[0]; c.Blocks != 9 || c.Verdict != Reproduced {
		t.Errorf("%s (%s), %d blocks", c.Verdict, c.Reason, c.Blocks)
	}
}

func TestAControlThatDiffersMakesTheRunSuspect(t *testing.T) {
	for _, c := range []struct {
		name    string
		by      []float64
		outcome Outcome
		says    string
	}{
		{"the same", asBefore, Same, "no difference seen in 2 metrics; server CPU per request is 1.000 times that of its " +
			"repetition"},
		// Two metrics, two sides and 0.01 need an e-value of 400: ten of ten have
		// 490, nine of ten 19.
		{"slower", slower, Differs, "its A/A control differed (server CPU per request is 1.080 times that of its " +
			"repetition (1.060 to 1.100); 10 of 10 blocks lie above 1)"},
		{"slower, but for one block", append([]float64{0.999}, slower[1:]...), Same, ""},
		{"too little left", []float64{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, Undecided,
			"only 5 visits have its A/A control complete, and 6 are the least"},
		{"nothing left", make([]float64, 10), Undecided, "only 0 visits"},
	} {
		x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.AtLeast, "d"), sample.Rename(sample.AsMany, "e"))
		r := sample.Ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1, 1, 1, 1.01)
		f := Decide(x, sample.Machine, []Run{{addControl(r, c.by...), x}})
		if f.Control == nil || f.Control.Outcome != c.outcome || !strings.Contains(f.Control.Reason, c.says) {
			t.Errorf("%s: %+v", c.name, f.Control)
			continue
		}
		want := []Verdict{Reproduced, Refuted, Refuted}
		if c.outcome != Same {
			want[0], want[1] = Inconclusive, Inconclusive
		}
		for i, v := range want {
			if got := f.Claims[i]; got.Verdict != v || v == Inconclusive &&
				!strings.HasPrefix(got.Reason, "the record is suspect: "+f.Control.Reason) {
				t.Errorf("%s: claim %s is %s (%s), want %s", c.name, got.ID, got.Verdict, got.Reason, v)
			}
		}
	}
}

func TestAClientAtItsLimitComesBeforeASuspectRun(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	for i := range r.Trials {
		sample.Bound(&r.Trials[i], gate.BoundClientCPU)
	}
	if c := one(t, x, addControl(r, slower...), sample.Machine); c.Verdict != Invalid {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}

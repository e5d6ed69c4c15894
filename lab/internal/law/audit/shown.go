package audit

import (
	"cmp"
	"math"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Shown has a finding's quantities as pages print them, in tables and in prose.
type Shown struct {
	Printed         string `json:"printed"`
	PrintedProse    string `json:"printed_prose"`
	Recomputed      string `json:"recomputed"`
	RecomputedProse string `json:"recomputed_prose"`
	Stands          string `json:"stands"`           // what rounding allows
	Within          string `json:"within,omitempty"` // the tolerance beyond it
}

func (f Finding) show() Shown {
	stands, recomputed := amount{f.Stands, f.unit(f.Stands)}, amount{f.Recomputed, f.unit(f.Recomputed)}
	s := Shown{
		Printed:         cmp.Or(f.Printed, stands.text(false)),
		PrintedProse:    cmp.Or(f.Printed, stands.text(true)),
		Recomputed:      recomputed.text(false),
		RecomputedProse: recomputed.text(true),
		Stands:          stands.limits(),
	}
	if f.Within > 0 {
		s.Within = words.Percent(f.Within)
	}
	return s
}

// unit is that of a quantity as pages show it. A figure that was printed as a multiple or per minute is shown so.
func (f Finding) unit(q law.Quantity) words.Unit {
	switch {
	case strings.HasSuffix(f.Printed, "/min"):
		return words.Unit{Factor: 60, Name: "/min"}
	case strings.HasSuffix(f.Printed, "×"), strings.HasSuffix(f.Printed, "x"):
		return words.Unit{Factor: 1, Name: "×"}
	case f.Unit == metric.PerSecond:
		return words.Unit{Factor: 1}
	}
	u := words.UnitFor(string(f.Unit), q.Value)
	if u.Name != "" {
		u.Name = " " + u.Name
	}
	return u
}

// An amount is a quantity to print.
type amount struct {
	q  law.Quantity
	in words.Unit
}

// place is that of the first digit that the width leaves uncertain.
func (a amount) place(most int) int {
	v, half := a.q.Value*a.in.Factor, (a.q.High-a.q.Low)/2*a.in.Factor
	at := words.Exponent(v) - 4
	if v == math.Floor(v) {
		at = 0
	}
	if half > 0 {
		if at = max(words.Exponent(half), words.Exponent(v)-most); half < 1 {
			at = min(at, 0)
		}
	}
	return max(at, -9)
}

// text is the value, of at most five digits; in prose three do, or those of the whole
// number.
func (a amount) text(prose bool) string {
	v, at := a.q.Value*a.in.Factor, a.place(4)
	if prose {
		at = max(at, min(0, words.Exponent(v)-2))
	}
	return words.Grouped(v, at) + a.in.Name
}

// limits are the ends, with as many digits as it takes to tell them apart; empty where
// they are one.
func (a amount) limits() string {
	if a.q.Low == a.q.High {
		return ""
	}
	at := a.place(99)
	return words.Grouped(a.q.Low*a.in.Factor, at) + " to " + words.Grouped(a.q.High*a.in.Factor, at) + a.in.Name
}

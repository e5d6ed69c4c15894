package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// names gives the figures of the formulas below.
func names(name string) (law.Quantity, error) {
	switch name {
	case "a":
		return law.Between(10, 9, 11), nil
	case "b":
		return law.Between(4, 3, 5), nil
	case "select": // one of Go's words
		return law.Exactly(9), nil
	case "t.c1.zero":
		return law.Between(0, -1, 1), nil
	}
	return law.Quantity{}, fmt.Errorf("no figure %q", name)
}

// Every limit is worked out by hand from a = 9 to 11 and b = 3 to 5.
func TestFormulas(t *testing.T) {
	for formula, want := range map[string]law.Quantity{
		"1 + 2 * 3":            law.Exactly(7),
		"(1 + 2) * 3":          law.Exactly(9),
		"8 / 4 / 2":            law.Exactly(1),
		"8 - 4 - 2":            law.Exactly(2),
		"-2 * -3":              law.Exactly(6),
		"a + b":                law.Between(14, 12, 16),
		"a - b":                law.Between(6, 4, 8),
		"a * b":                law.Between(40, 27, 55),
		"a / b":                law.Between(2.5, 1.8, 11.0/3),
		"-a":                   law.Between(-10, -11, -9),
		"a * -b":               law.Between(-40, -55, -27),
		"min(a, b, 4)":         law.Between(4, 3, 4),
		"max(a, b)":            law.Between(10, 9, 11),
		"floor(a / 2)":         law.Between(5, 4, 5),
		"select - a":           law.Between(-1, -2, 0),
		" a/b - 1 ":            law.Between(1.5, 0.8, 8.0/3),
		"max(floor(1/2), 1)*7": law.Exactly(7),
	} {
		got, err := evaluate(formula, names)
		if err != nil || !same(got, want.Value, want.Low, want.High) {
			t.Errorf("%s: %+v, %v; want %+v", formula, got, err, want)
		}
	}
}

func TestFormulasThatMeanNothing(t *testing.T) {
	for formula, says := range map[string]string{
		"":              "character 1: expected operand",
		"1 +":           "character 4: expected operand",
		"1 2":           "character 3: expected",
		"(1":            "character 3: expected ')'",
		"1)":            "character 2: expected",
		"--1":           "character 1: expected operand",
		"+1":            "character 1: + is none",
		"1 / 0":         "character 5: divides by a figure that may be zero",
		"1 / (b - b)":   "character 5: divides by a figure that may be zero",
		"a/t.c1.zero":   "divides by a figure that may be zero",
		"c + 1":         `character 1: no figure "c"`,
		"a + t.c1.none": `character 5: no figure "t.c1.none"`,
		"min(1)":        "min wants two figures",
		"floor(1, 2)":   "floor wants one figure",
		"floor()":       "floor wants one figure",
		"sqrt(a)":       "min, max and floor alone",
		"a.min(a, b)":   "min, max and floor alone",
		"min(a, b...)":  "min, max and floor alone",
		"min 1":         "character 5: expected",
		"1.2.3":         "character 4: expected",
		"0x1p4":         "is no number of digits",
		`"a"`:           "character 1: a formula has no",
		"a ^ 2":         `character 3: a formula has no "^ 2"`,
		"a[1]":          "character 2: a formula has no",
		"A + b":         "character 1: a formula has no",
		"a.(b)":         "a figure is wanted",
		"Σ":             `character 1: a formula has no "Σ"`,
		"a // b":        "character 3: a formula has no",
		"a /* b */":     "character 3: a formula has no",
		"a\n+ b":        "character 2: a formula has no",
		"9999999999999999999999999999999999999999999999999999999999 * a * 1": "",
	} {
		_, err := evaluate(formula, names)
		if says == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", formula, err, says)
		}
	}
	if _, err := evaluate(strings.Repeat("(", 1e6), names); err == nil ||
		!strings.Contains(err.Error(), "exceeded max nesting depth") {
		t.Errorf("a million parentheses: %.80v", err)
	}
	if _, err := evaluate(strings.Repeat("9", 400), names); err == nil {
		t.Error("a number past all floats is taken")
	}
}

func FuzzFormula(f *testing.F) {
	for _, s := range []string{"a + b", "min(a, b) * 2", "-(a/b) - 1", "floor(a)", "((1))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := evaluate(s, names)
		if err == nil && (!q.Finite() || q.Low > q.High) {
			t.Errorf("%q: %+v", s, q)
		}
	})
}

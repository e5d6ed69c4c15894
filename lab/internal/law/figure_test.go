package law

import (
	"fmt"
	"strings"
	"testing"
)

// given gives those of the formulas below.
func given(name string) (Formula, error) {
	q, ok := map[string]Quantity{"a": {10, 9, 11}, "b": {4, 3, 5}, "max": Exactly(9)}[name]
	if !ok {
		return nil, fmt.Errorf("no figure %q", name)
	}
	return func(*Row) Quantity { return q }, nil
}

// We worked out every limit by hand from a = 9 to 11 and b = 3 to 5.
func TestFormulas(t *testing.T) {
	for formula, want := range map[string]Quantity{
		"1 + 2 * 3":            Exactly(7),
		"(1 + 2) * 3":          Exactly(9),
		"8 / 4 / 2":            Exactly(1),
		"8 - 4 - 2":            Exactly(2),
		"-2 * -3":              Exactly(6),
		"a + b":                {14, 12, 16},
		"a - b":                {6, 4, 8},
		"a * b":                {40, 27, 55},
		"a / b":                {2.5, 1.8, 11.0 / 3},
		"-a":                   {-10, -11, -9},
		"a * -b":               {-40, -55, -27},
		"min(a, b, 4)":         {4, 3, 4},
		"max(a, b)":            {10, 9, 11},
		"floor(a / 2)":         {5, 4, 5},
		"max - a":              {-1, -2, 0},
		" a/b - 1 ":            {1.5, 0.8, 8.0 / 3},
		"max(floor(1/2), 1)*7": Exactly(7),
	} {
		if got, err := ParseFormula(formula, given); err != nil || got(nil).Rounded() != want.Rounded() {
			t.Errorf("%s: %v; want %+v", formula, err, want)
		}
	}
	for formula, says := range map[string]string{
		"":                       "1:1: expected operand",
		"1 +":                    "1:4: expected operand",
		"1 2":                    "1:3: expected 'EOF'",
		"(1":                     "1:3: expected ')'",
		"+1":                     "character 1: a formula has numbers",
		"c + 1":                  `character 1: no figure "c"`,
		"a + t.c1.none":          `character 5: no figure "t.c1.none"`,
		"max()":                  "character 1: a formula has",
		"floor(1, 2)":            "character 1: a formula has",
		"1 + sine(a)":            "character 5: a formula has",
		`"a"`:                    "character 1: ",
		"a ^ 2":                  "character 1: a formula has",
		"Σ":                      `character 1: no figure "σ"`,
		strings.Repeat("(", 1e6): "exceeded max nesting depth",
		"1e999":                  "character 1: ",
	} {
		_, err := ParseFormula(formula, given)
		if err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 250 {
			t.Errorf("%.40s: %.300v, want %q", formula, err, says)
		}
	}
	for _, formula := range []string{"1 / 0", "1 / (b - b)"} {
		if f, err := ParseFormula(formula, given); err != nil || f(nil).Finite() {
			t.Errorf("%s: %v; it divides by what may be zero", formula, err)
		}
	}
}

package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// given gives those of the formulas below.
func given(name string) (law.Quantity, error) {
	q, ok := map[string]law.Quantity{"a": {Value: 10, Low: 9, High: 11}, "b": {Value: 4, Low: 3, High: 5}, "select": law.Exactly(9), "t.c1.zero": {Value: 0, Low: -1, High: 1}}[name]
	if !ok {
		return q, fmt.Errorf("no figure %q", name)
	}
	return q, nil
}

// Every limit is worked out by hand from a = 9 to 11 and b = 3 to 5.
func TestFormulas(t *testing.T) {
	for formula, want := range map[string]law.Quantity{
		"1 + 2 * 3":            law.Exactly(7),
		"(1 + 2) * 3":          law.Exactly(9),
		"8 / 4 / 2":            law.Exactly(1),
		"8 - 4 - 2":            law.Exactly(2),
		"-2 * -3":              law.Exactly(6),
		"a + b":                {Value: 14, Low: 12, High: 16},
		"a - b":                {Value: 6, Low: 4, High: 8},
		"a * b":                {Value: 40, Low: 27, High: 55},
		"a / b":                {Value: 2.5, Low: 1.8, High: 11.0 / 3},
		"-a":                   {Value: -10, Low: -11, High: -9},
		"a * -b":               {Value: -40, Low: -55, High: -27},
		"min(a, b, 4)":         {Value: 4, Low: 3, High: 4},
		"max(a, b)":            {Value: 10, Low: 9, High: 11},
		"floor(a / 2)":         {Value: 5, Low: 4, High: 5},
		"select - a":           {Value: -1, Low: -2, High: 0},
		" a/b - 1 ":            {Value: 1.5, Low: 0.8, High: 8.0 / 3},
		"max(floor(1/2), 1)*7": law.Exactly(7),
	} {
		if got, err := evaluate(formula, given); err != nil || got.Rounded() != want.Rounded() {
			t.Errorf("%s: %+v, %v; want %+v", formula, got, err, want)
		}
	}
	for formula, says := range map[string]string{
		"":                               "character 1: a figure is wanted",
		"1 +":                            "character 4: a figure is wanted",
		"1 2":                            "character 3: an operator is wanted",
		"(1":                             "character 1: a ) is wanted",
		"1)":                             "character 2: an operator is wanted",
		"+1":                             "character 1: a figure is wanted",
		"1 / 0":                          "character 5: divides by a figure that may be zero",
		"1 / (b - b)":                    "character 5: divides by a figure that may be zero",
		"c + 1":                          `character 1: no figure "c"`,
		"a + t.c1.none":                  `character 5: no figure "t.c1.none"`,
		"floor(1, 2)":                    "floor of one",
		"sqrt(a)":                        "a formula can call min and max",
		"1.2.3":                          "character 1: ",
		`"a"`:                            "character 1: a figure is wanted",
		"a ^ 2":                          "character 3: an operator is wanted",
		"A + b":                          "character 1: a figure is wanted",
		"Σ":                              "character 1: a figure is wanted",
		strings.Repeat("(", 1e6):         "more than 1000 characters",
		strings.Repeat("9", 400):         "character 1: ",
		"a * " + strings.Repeat("9", 99): "",
	} {
		if _, err := evaluate(formula, given); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%.40s: %v, want %q", formula, err, says)
		}
	}
}

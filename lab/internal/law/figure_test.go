package law

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/metric"
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

// near compares with a tolerance for the inexactness of decimal fractions.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1e-6, math.Max(math.Abs(a), math.Abs(b)))
}

func same(q Quantity, v, low, high float64) bool {
	return near(q.Value, v) && near(q.Low, low) && near(q.High, high)
}

// Each limit is half a unit of the last digit, worked out by hand.
func TestFiguresAreReadAsRanges(t *testing.T) {
	for printed, want := range map[string]struct {
		v, low, high float64
		unit         metric.Unit
	}{
		"1.32M":          {1_320_000, 1_315_000, 1_325_000, metric.Count},
		"807k":           {807_000, 806_500, 807_500, metric.Count},
		"1,322,291":      {1_322_291, 1_322_290.5, 1_322_291.5, metric.Count},
		"21,400":         {21_400, 21_350, 21_450, metric.Count}, // zeros at the end may be rounding
		"800k":           {800_000, 750_000, 850_000, metric.Count},
		"2.00 GB/s":      {2e9, 1.995e9, 2.005e9, metric.BytesPerSecond}, // zeros after a point are digits
		"98%":            {0.98, 0.975, 0.985, metric.Ratio},
		"100%":           {1, 0.995, 1.005, metric.Ratio}, // and so are zeros of a percentage
		"+117%":          {1.17, 1.165, 1.175, metric.Ratio},
		"−2%":            {-0.02, -0.025, -0.015, metric.Ratio},
		"0%":             {0, -0.005, 0.005, metric.Ratio},
		"~34µs":          {34e-6, 33e-6, 35e-6, metric.Second}, // a whole unit
		"≈1,900":         {1900, 1800, 2000, metric.Count},
		"<1ms":           {1e-3, 0, 1e-3, metric.Second},
		"≥ 12,000":       {12_000, 12_000, boundless, metric.Count},
		"3.8×":           {3.8, 3.75, 3.85, metric.Ratio},
		"50 Gbps":        {50e9, 45e9, 55e9, metric.BitsPerSecond},
		"12 MiB/s":       {12 * 1048576, 11.5 * 1048576, 12.5 * 1048576, metric.BytesPerSecond},
		"4.5KB":          {4500, 4450, 4550, metric.Bytes},
		"1.50 min":       {90, 89.7, 90.3, metric.Second},
		"201,777 RPS":    {201_777, 201_776.5, 201_777.5, metric.PerSecond},
		"83,663/min":     {1394.38333333333, 1394.375, 1394.39166666667, metric.PerSecond},
		"0":              {0, -0.5, 0.5, metric.Count},
		".2":             {0.2, 0.15, 0.25, metric.Count},
		"2.5e-3s":        {0.0025, 0.00245, 0.00255, metric.Second},
		"1m30s":          {90, 89.5, 90.5, metric.Second}, // a rounded last unit
		"0s 012ms 345us": {0.012345, 0.0123445, 0.0123455, metric.Second},
		"00:01:30":       {90, 89.5, 90.5, metric.Second},
		"10–12 ms":       {0.011, 0.005, 0.0125, metric.Second},
		"1.5 to 2.5k":    {2000, 1450, 2550, metric.Count},
		"5.1 ± 0.2 ms":   {0.0051, 0.0048, 0.0054, metric.Second},
		"12'345.6":       {12_345.6, 12_345.55, 12_345.65, metric.Count}, // as the Swiss write it
		"12 345,":        {},
		"12\u202f345":    {12_345, 12_344.5, 12_345.5, metric.Count},
		"1.234.567":      {1_234_567, 1_234_566.5, 1_234_567.5, metric.Count}, // two points are no decimals
		"1,23,456":       {123_456, 123_455.5, 123_456.5, metric.Count},       // a lakh
		"12,345ms":       {12.345, 12.3445, 12.3455, metric.Second},
	} {
		p, ok := Read(printed, Manner{})
		if ok != (want.unit != "") || ok && (!same(p.Quantity, want.v, want.low, want.high) || p.Unit != want.unit) {
			t.Errorf("%q: %+v, %v; want %+v", printed, p, ok, want)
		}
	}
	for printed, want := range map[string]float64{"12.345,6": 12_345.6, "5,13": 5.13, "1.234": 1234, "1,234": 1.234,
		"1 234,5": 1234.5} {
		if p, ok := Read(printed, Manner{Comma: true}); !ok || !near(p.Value, want) {
			t.Errorf("%q with a decimal comma: %+v, %v; want %v", printed, p, ok, want)
		}
	}
}

func TestWhatIsNoFigure(t *testing.T) {
	for _, printed := range []string{"", "~", "many", "1,32", "1.2.3", "1 2", "5 parsecs", "0x10", "NaN", "12,3456",
		"5 %%", "5.", "3.µs", "٣", "2026-11-27", "24.11.2026", "1e999", "5-3", "1.5 2ms"} {
		if p, ok := Read(printed, Manner{}); ok {
			t.Errorf("%q: taken as %+v", printed, p)
		}
	}
}

// Whatever the text, a figure is refused, or has a finite range around its value.
func FuzzFigures(f *testing.F) {
	for _, s := range []string{"1.32M", "~34µs", "<1ms", "+117%", "1,322,291", "6.25 GB/s", "−2%", "1m30s", "1-2-3"} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, comma bool) {
		if p, ok := Read(s, Manner{Comma: comma}); ok && (!p.Finite() || p.Low > p.Value || p.Value > p.High) {
			t.Errorf("%q: %+v", s, p)
		}
	})
}

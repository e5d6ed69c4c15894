package words

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestShownUnits(t *testing.T) {
	for _, c := range []struct {
		unit string
		most float64
		want Unit
	}{
		{"s", 2.5, Unit{1, "s"}},
		{"s", 0.0421, Unit{1e3, "ms"}},
		{"s", 24.2e-6, Unit{1e6, "µs"}},
		{"s", 4.4e-7, Unit{1e9, "ns"}},
		{"bit/s", 24.6e9, Unit{1e-9, "Gbit/s"}},
		{"B/s", 20823892, Unit{1e-6, "MB/s"}},
		{"B/s", 1500, Unit{1e-3, "kB/s"}},
		{"B", 4512, Unit{1, "B"}},
		{"B", 100_000, Unit{1e-3, "kB"}},
		{"ratio", 0.3, Unit{100, "%"}},
		{"1/s", 1e6, Unit{1, "/s"}},
		{"count", 7, Unit{1, ""}},
	} {
		if got := UnitFor(c.unit, c.most); got != c.want {
			t.Errorf("%v %s is shown in %v; want %v", c.most, c.unit, got, c.want)
		}
	}
}

func TestDigitsKeepsNine(t *testing.T) {
	for v, want := range map[float64]float64{
		0: 0, 1.0 / 3: 0.333333333, 123456789.4: 123456789, 1234567891: 1234567890, -1.0 / 3: -0.333333333, 0.1: 0.1,
		1.23456789012e-5: 1.23456789e-5, 48812345678.9: 48812345700,
	} {
		if got := Digits(v); got != want {
			t.Errorf("%v became %v, want %v", v, got, want)
		}
	}
	// The result must always be a number that JSON can hold.
	r := rand.New(rand.NewPCG(5, 5))
	for _, v := range []float64{math.SmallestNonzeroFloat64, 1e-308, 1e-305, 1e-300, 1e300, math.MaxFloat64} {
		if got := Digits(v); math.IsNaN(got) || math.Abs(got-v) > 1e-8*v {
			t.Errorf("%v became %v", v, got)
		}
	}
	for range 2000 {
		v := math.Exp(60*r.Float64() - 30)
		text := strconv.FormatFloat(Digits(v), 'e', -1, 64)
		if mantissa, _, _ := strings.Cut(text, "e"); len(mantissa) > 10 || math.Abs(Digits(v)-v) > 5e-9*v {
			t.Fatalf("%v became %s", v, text)
		}
	}
}

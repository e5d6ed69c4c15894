package words

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSharesHaveTwoDigitsOrMore(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.00 %", 0.0000215: "0.00 %", 0.0025: "0.25 %", 0.00949: "0.95 %", 0.0095: "1.0 %", 0.0625: "6.3 %",
		0.0994: "9.9 %", 0.0995: "10 %", 0.125: "13 %", 1: "100 %",
	} {
		if got := Share(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

func TestSizesOfFilesAreCountedWhileSmall(t *testing.T) {
	for n, want := range map[int]string{812: "812 B", 99999: "99,999 B", 100000: "100\u00a0kB", 1234567: "1.23\u00a0MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 400 * time.Millisecond: "0 s", 600 * time.Millisecond: "1 s", 59 * time.Second: "59 s",
		59*time.Second + 700*time.Millisecond: "1 min 00 s", 61 * time.Second: "1 min 01 s", time.Hour: "60 min 00 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestRatiosAreRoundedAsTheirIntervalsJustify(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		text, interval   string
		change           string
	}{
		{1.00341, 0, 0, "1.003", "", "+0.3"},
		{0.868672519, 0.837779003, 0.962869713, "0.869", "0.838 to 0.963", "−13"},
		{1.35201006, 1.31886771, 1.49402064, "1.352", "1.319 to 1.494", "+35"},
		{0.958, 0.95, 0.97, "0.958", "0.950 to 0.970", "−4.2"},
		{2.04, 1.2, 3.4, "2.0", "1.2 to 3.4", "+104"},
		{113.4, 90, 140, "113", "90 to 140", "+11,240"},
		// At most four digits of the value, however narrow the interval.
		{15.23456, 15.2344, 15.2347, "15.23", "15.23 to 15.23", "+1,423"},
		{0.0123456, 0, 0, "0.012", "", "−99"},
		{1234.5, 0, 0, "1234", "", "+123,350"},
		{1, 0.9, 1.2, "1.000", "0.900 to 1.200", "0.0"},
		// An interval with one end.
		{3, 1.52, 0, "3.00", "1.5 or more", "+200"},
		{3, 0, 4.47, "3.00", "4.5 or less", "+200"},
	} {
		if w := Ratio(c.ratio, c.low, c.high); w.Text != c.text || w.Interval != c.interval {
			t.Errorf("%v: %q (%q), want %q (%q)", c.ratio, w.Text, w.Interval, c.text, c.interval)
		}
		if change := Change(c.ratio); change != c.change {
			t.Errorf("%v as a change: %q, want %q", c.ratio, change, c.change)
		}
	}
	for v, want := range map[float64]string{1.1: "1.1", 1 / 1.1: "0.9091", 47000: "47000", 0.95: "0.95"} {
		if got := Edge(v); got != want {
			t.Errorf("the edge %v is %q, want %q", v, got, want)
		}
	}
}

func TestANumberOfThings(t *testing.T) {
	for want, got := range map[string]string{
		"1 block": Count(1, "block"), "0 blocks": Count(0, "block"), "1,200 blocks": Count(1200, "block"),
		"1 process": Count(1, "process", "processes"), "2 processes": Count(2, "process", "processes"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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

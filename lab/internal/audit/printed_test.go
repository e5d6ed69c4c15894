package audit

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// Each limit is half a unit of the last digit, worked out by hand.
func TestPrintedFigures(t *testing.T) {
	for printed, want := range map[string]struct {
		v, low, high float64
		unit         metric.Unit
	}{
		"1.32M":       {1_320_000, 1_315_000, 1_325_000, ""},
		"807k":        {807_000, 806_500, 807_500, ""},
		"1,322,291":   {1_322_291, 1_322_290.5, 1_322_291.5, ""},
		"21,400":      {21_400, 21_350, 21_450, ""}, // zeros at the end may be rounding
		"800k":        {800_000, 750_000, 850_000, ""},
		"2.00 GB/s":   {2e9, 1.995e9, 2.005e9, metric.BytesPerSecond}, // zeros after a point are digits
		"98%":         {0.98, 0.975, 0.985, metric.Ratio},
		"100%":        {1, 0.995, 1.005, metric.Ratio}, // and so are zeros of a percentage
		"+117%":       {1.17, 1.165, 1.175, metric.Ratio},
		"-2%":         {-0.02, -0.025, -0.015, metric.Ratio},
		"−2%":         {-0.02, -0.025, -0.015, metric.Ratio},
		"0%":          {0, -0.005, 0.005, metric.Ratio},
		"~34µs":       {34e-6, 33e-6, 35e-6, metric.Second}, // a whole unit
		"34µs":        {34e-6, 33.5e-6, 34.5e-6, metric.Second},
		"~1,900":      {1900, 1800, 2000, ""},
		"<1ms":        {1e-3, 0, 1e-3, metric.Second},
		"3.8×":        {3.8, 3.75, 3.85, metric.Ratio},
		"50 Gbps":     {50e9, 45e9, 55e9, metric.BitsPerSecond},
		"4.5KB":       {4500, 4450, 4550, metric.Bytes},
		"52.2 MB/s":   {52.2e6, 52.15e6, 52.25e6, metric.BytesPerSecond},
		"1.50 min":    {90, 89.7, 90.3, metric.Second},
		"201,777 RPS": {201_777, 201_776.5, 201_777.5, metric.PerSecond},
		"83,663/min":  {1394.38333333333, 1394.375, 1394.39166666667, metric.PerSecond},
		"0":           {0, -0.5, 0.5, ""},
	} {
		got, err := parse(printed, manner{})
		if err != nil || !same(got.Quantity, want.v, want.low, want.high) || got.Unit != want.unit {
			t.Errorf("%q: %+v, %v; want %+v", printed, got, err, want)
		}
	}
}

func TestMannersOfPrinting(t *testing.T) {
	for _, c := range []struct {
		printed      string
		m            manner
		v, low, high float64
	}{
		{"1ms", manner{cut: true}, 1e-3, 1e-3, 2e-3},
		{"20ms", manner{cut: true}, 20e-3, 20e-3, 21e-3},
		{"500", manner{exact: true}, 500, 500, 500},
		{"2.62 MB", manner{binary: true}, 2.62 * 1048576, 2.615 * 1048576, 2.625 * 1048576},
		{"1M", manner{binary: true}, 1048576, 524288, 1572864},
	} {
		got, err := parse(c.printed, c.m)
		if err != nil || !same(got.Quantity, c.v, c.low, c.high) {
			t.Errorf("%q, %+v: %+v, %v", c.printed, c.m, got, err)
		}
	}
	for _, c := range []struct {
		printed string
		m       manner
	}{{"~5", manner{exact: true}}, {"<1ms", manner{cut: true}}, {"5", manner{cut: true, exact: true}},
		{"-5%", manner{cut: true}}, {"<-5%", manner{}}} {
		if got, err := parse(c.printed, c.m); err == nil {
			t.Errorf("%q, %+v: taken as %+v", c.printed, c.m, got)
		}
	}
}

func TestWhatIsNoFigure(t *testing.T) {
	for _, printed := range []string{"", "~", "many", "1,32", "1.2.3", "1 2", "5 parsecs", "1e6", "0x10", "NaN", "12,3456",
		"5 %%", ".5", "5.", "٣"} {
		if got, err := parse(printed, manner{}); err == nil {
			t.Errorf("%q: taken as %+v", printed, got)
		}
	}
}

func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"1.32M", "~34µs", "<1ms", "+117%", "1,322,291", "6.25 GB/s", "−2%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parse(s, manner{})
		if err != nil {
			return
		}
		if !got.Finite() || got.Low > got.Value || got.Value > got.High {
			t.Errorf("%q: %+v", s, got)
		}
	})
}

package words

import "testing"

func TestRatiosAreRoundedAsTheirIntervalsJustify(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		text, interval   string
		change, ends     string
	}{
		{1.00341, 0, 0, "1.003", "", "+0.3", ""},
		{0.868672519, 0.837779003, 0.962869713, "0.869", "0.838 to 0.963", "−13", "−16 to −4"},
		{1.35201006, 1.31886771, 1.49402064, "1.352", "1.319 to 1.494", "+35", "32 to 49"},
		{0.958, 0.95, 0.97, "0.958", "0.950 to 0.970", "−4.2", "−5.0 to −3.0"},
		{2.04, 1.2, 3.4, "2.0", "1.2 to 3.4", "+104", "20 to 240"},
		{113.4, 90, 140, "113", "90 to 140", "+11,240", "8,900 to 13,900"},
		// At most four digits of the value, however narrow the interval.
		{15.23456, 15.2344, 15.2347, "15.23", "15.23 to 15.23", "+1,423", "1,423 to 1,423"},
		{0.0123456, 0, 0, "0.012", "", "−99", ""},
		{1234.5, 0, 0, "1234", "", "+123,350", ""},
		{1, 0.9, 1.2, "1.000", "0.900 to 1.200", "0.0", "−10.0 to 20.0"},
		// An interval with one end.
		{3, 1.52, 0, "3.00", "1.5 or more", "+200", ""},
		{3, 0, 4.47, "3.00", "4.5 or less", "+200", ""},
	} {
		if w := Ratio(c.ratio, c.low, c.high); w.Text != c.text || w.Interval != c.interval {
			t.Errorf("%v: %q (%q), want %q (%q)", c.ratio, w.Text, w.Interval, c.text, c.interval)
		}
		if change, ends := Change(c.ratio, c.low, c.high); change != c.change || ends != c.ends {
			t.Errorf("%v as a change: %q, %q, want %q, %q", c.ratio, change, ends, c.change, c.ends)
		}
	}
	for v, want := range map[float64]string{1.1: "1.1", 1 / 1.1: "0.9091", 47000: "47000", 0.95: "0.95"} {
		if got := Edge(v); got != want {
			t.Errorf("the edge %v is %q, want %q", v, got, want)
		}
	}
}

package verdict

import "testing"

func TestShownUnits(t *testing.T) {
	for _, c := range []struct {
		unit string
		most float64
		want shownUnit
	}{
		{"s", 2.5, shownUnit{1, "s"}},
		{"s", 0.0421, shownUnit{1e3, "ms"}},
		{"s", 24.2e-6, shownUnit{1e6, "µs"}},
		{"s", 4.4e-7, shownUnit{1e9, "ns"}},
		{"bit/s", 24.6e9, shownUnit{1e-9, "Gbit/s"}},
		{"B/s", 20823892, shownUnit{1e-6, "MB/s"}},
		{"B/s", 1500, shownUnit{1e-3, "kB/s"}},
		{"B", 4512, shownUnit{1, "B"}},
		{"B", 100_000, shownUnit{1e-3, "kB"}},
		{"ratio", 0.3, shownUnit{100, "%"}},
		{"1/s", 1e6, shownUnit{1, "/s"}},
		{"count", 7, shownUnit{1, ""}},
	} {
		if got := shownIn(c.unit, c.most); got != c.want {
			t.Errorf("%v %s is shown in %v; want %v", c.most, c.unit, got, c.want)
		}
	}
}

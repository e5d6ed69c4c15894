package verdict

import "testing"

func TestRatiosAreRoundedAsTheirIntervalsJustify(t *testing.T) {
	for _, c := range []struct {
		effect         Effect
		text, interval string
	}{
		{Effect{Pairs: 1, Ratio: 1.00341}, "1.003", ""},
		{Effect{Pairs: 9, Ratio: 0.868672519, Low: 0.837779003, High: 0.962869713}, "0.869", "0.838 to 0.963"},
		{Effect{Pairs: 9, Ratio: 1.35201006, Low: 1.31886771, High: 1.49402064}, "1.352", "1.319 to 1.494"},
		{Effect{Pairs: 9, Ratio: 2.04, Low: 1.2, High: 3.4}, "2.0", "1.2 to 3.4"},
		{Effect{Pairs: 9, Ratio: 113.4, Low: 90, High: 140}, "113", "90 to 140"},
		// At most four digits of the value, however narrow the interval.
		{Effect{Pairs: 9, Ratio: 15.23456, Low: 15.2344, High: 15.2347}, "15.23", "15.23 to 15.23"},
		{Effect{Pairs: 1, Ratio: 0.0123456}, "0.012", ""},
		{Effect{Pairs: 1, Ratio: 52.17}, "52.2", ""},
		{Effect{Pairs: 1, Ratio: 1234.5}, "1234", ""},
		// An interval with one end.
		{Effect{Pairs: 9, Ratio: 3, Low: 1.52}, "3.00", "1.5 or more"},
		{Effect{Pairs: 9, Ratio: 3, High: 4.47}, "3.00", "4.5 or less"},
		// Coarse figures.
		{Effect{Pairs: 9, RatioLow: 2.0 / 3, RatioHigh: 1.5}, "0.67 to 1.50", ""},
		{Effect{Pairs: 9, RatioLow: 7, Low: 6.1, High: 1999}, "7.0 or more", "10 to 2,000"},
		{Effect{Pairs: 9, RatioHigh: 0.0142}, "0.014 or less", ""},
		{Effect{Pairs: 9}, "not known", ""},
		{Effect{Blocks: 3}, "no complete block", ""},
	} {
		if text, interval := c.effect.Text(), c.effect.Interval(); text != c.text || interval != c.interval {
			t.Errorf("%+v: %q (%q), want %q (%q)", c.effect, text, interval, c.text, c.interval)
		}
	}
}

func TestRatiosInPercent(t *testing.T) {
	for ratio, want := range map[float64][2]string{
		1.352:  {"135", "+35"},
		0.8686: {"87", "−13"},
		1.0341: {"103.4", "+3.4"},
		0.958:  {"95.8", "−4.2"},
		1:      {"100.0", "0.0"},
		15.2:   {"1,520", "+1,420"},
		0:      {},
	} {
		of := Effect{Pairs: 9, Ratio: ratio}
		of.print()
		if got := [2]string{of.Percent, of.Change}; got != want {
			t.Errorf("%v: %q; want %q", ratio, got, want)
		}
	}
}

func TestAnIntervalAsAChangeHasTheDigitsOfTheChange(t *testing.T) {
	for _, c := range []struct {
		effect Effect
		want   string
	}{
		{Effect{Ratio: 0.958, Low: 0.95, High: 0.97}, "−5.0 to −3.0"},
		{Effect{Ratio: 1.352, Low: 1.318, High: 1.49}, "32 to 49"},
		{Effect{Ratio: 1.352, Low: 1.318}, ""},
		{Effect{Ratio: 1.352}, ""},
	} {
		if got := c.effect.ends(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.effect, got, c.want)
		}
	}
}

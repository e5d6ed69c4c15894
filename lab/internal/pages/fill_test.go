package pages

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
	"github.com/line-rate/line-rate/lab/internal/words"
)

func TestFiguresArePrintedAsTheirIntervalsJustify(t *testing.T) {
	between := func(v, low, high float64) medians.Figure { return medians.Figure{Median: &v, Low: &low, High: &high} }
	alone := func(v float64) medians.Figure { return medians.Figure{Median: &v} }
	for _, c := range []struct {
		unit           string
		figure         medians.Figure
		text, interval string
	}{
		{"1/s", between(39851.2, 39780, 39920), "39,850", "39,780 to 39,920"},
		{"1/s", between(32478.2881, 31201.6807, 33714.9666), "32,500", "31,200 to 33,700"},
		{"s", between(0.0000242, 0.0000241, 0.0000244), "24.20~µs", "24.10 to 24.40"},
		{"s", between(0.0000278801181, 0.0000268046056, 0.0000299179753), "27.9~µs", "26.8 to 29.9"},
		{"s", between(9.53e-7, 9.36e-7, 9.68e-7), "953~ns", "936 to 968"},
		{"s", between(0.013, 0.013, 0.014), "13.00~ms", "13.00 to 14.00"},
		{"ratio", between(0.704205735, 0.0101293935, 0.886930758), "70~%", "1 to 89"},
		{"ratio", between(0.00649350649, 0, 0.0133333333), "0.65~%", "0.00 to 1.33"},
		{"B", between(15360000, 15163392, 15667200), "15.36~MB", "15.16 to 15.67"},
		{"bit/s", alone(12.5e9), "12.5~Gbit/s", ""},
		// A width of nothing is none.
		{"count", between(2, 2, 2), "2", ""},
		{"count", between(0, 0, 0), "0", ""},
		{"ratio", between(1, 1, 1), "100~%", ""},
		// Without an interval three digits, or those of a small whole number.
		{"1/s", alone(123456), "123,000", ""},
		{"1/s", alone(999), "999", ""},
		{"s", alone(0.14865), "149~ms", ""},
		{"B", alone(4512), "4,510~B", ""},
		// Halves go away from zero, although no binary fraction is 1.735.
		{"s", between(0.0000017695, 0.000001735, 0.000001971), "1.77~µs", "1.74 to 1.97"},
		{"count", between(50.5, 0, 145), "51", "0 to 145"},
		{"count", alone(13.25), "13.3", ""},
		// What falls behind is negative.
		{"1/s", between(-1234.4, -1500, -900), "−1,230", "−1,500 to −900"},
		{"s", medians.Figure{Below: ptr(0.001)}, "<1~ms", ""},
		{"s", medians.Figure{Median: ptr(0.163), Printed: "163ms"}, "", ""},
		{"s", medians.Figure{}, "", ""},
	} {
		want := words.Words{Text: strings.ReplaceAll(c.text, "~", "\u00a0"), Interval: c.interval}
		if got := figureWords(c.figure, c.unit); got != want {
			t.Errorf("%+v in %s: %q; want %q", c.figure, c.unit, got, want)
		}
	}
}

func TestFiguresOfTheWireAsSharesOfItsLineRate(t *testing.T) {
	f := &verdict.File{LineRateBps: 5e8, Conditions: []medians.Summary{{Metrics: map[string]medians.Figure{
		"wire_tx_bps": {Median: ptr(4.8213e8)}, "wire_rx_bps": {N: 1}, sample.Rps: {Median: ptr(1e8)},
	}}}}
	fillWords(f, &experiment.Experiment{})
	m := f.Conditions[0].Metrics
	if got := [3]string{m["wire_tx_bps"].LineShare, m["wire_rx_bps"].LineShare,
		m[sample.Rps].LineShare}; got != [3]string{"96.4",
		"", ""} {
		t.Errorf("%q", got)
	}
}

// Of a run, pages can print only what its experiment names and what the wire carried.
func TestWhichFiguresHaveWords(t *testing.T) {
	x := &experiment.Experiment{Metrics: []string{sample.Rps}}
	f := &verdict.File{Conditions: []medians.Summary{{Metrics: map[string]medians.Figure{}}}}
	for _, name := range []string{"errors", sample.Rps, "wire_tx_bps"} {
		f.Conditions[0].Metrics[name] = medians.Figure{Median: ptr(1.0)}
	}
	fillWords(f, x)
	var got []string
	for _, name := range []string{"errors", sample.Rps, "wire_tx_bps"} {
		if f.Conditions[0].Metrics[name].Text != "" {
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != sample.Rps+" wire_tx_bps" {
		t.Errorf("words for %v", got)
	}
}

func TestTheClientIsTheWallInMostTrials(t *testing.T) {
	for _, c := range []struct {
		bounds map[string]int
		want   bool
	}{
		{nil, false},
		{map[string]int{"client-cpu": 1}, true},
		{map[string]int{"client-cpu": 3, "unknown": 3}, false},
		{map[string]int{"client-cpu": 2, "client-cpu+wire": 2, "unknown": 3}, true},
		{map[string]int{"client-cpu+server-cpu": 6}, false},
		{map[string]int{"wire": 6}, false},
	} {
		if got := clientFull(c.bounds); got != c.want {
			t.Errorf("%v: %t", c.bounds, got)
		}
	}
}

func TestSeveralComparisonsAreSummedUpAsARange(t *testing.T) {
	fine := func(v float64) verdict.Effect { return verdict.Effect{Pairs: 9, Ratio: v, Words: words.Ratio(v, 0, 0)} }
	for _, c := range []struct {
		effects []verdict.Effect
		want    *verdict.Span
	}{
		{nil, nil},
		{[]verdict.Effect{fine(1)}, nil},
		{[]verdict.Effect{fine(1.03), fine(0.98), fine(1.01)}, &verdict.Span{Of: 3, Text: "0.980 to 1.030"}},
		{[]verdict.Effect{fine(1.03), {Blocks: 3}}, &verdict.Span{Of: 1, Text: "1.030 to 1.030"}},
		{[]verdict.Effect{{Blocks: 3}, {}}, &verdict.Span{Of: 0, Text: ""}},
		{[]verdict.Effect{fine(2), {Pairs: 9, RatioLow: 2.0 / 3, RatioHigh: 1.5}},
			&verdict.Span{Of: 2, Text: "0.67 to 2.00"}},
		{[]verdict.Effect{fine(9), {Pairs: 9, RatioLow: 7}}, &verdict.Span{Of: 2, Text: "7.0 or more"}},
		{[]verdict.Effect{fine(0.5), {Pairs: 9, RatioHigh: 1.5}}, &verdict.Span{Of: 2, Text: "1.5 or less"}},
	} {
		got := spanOf(c.effects)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %+v; want %+v", c.effects, got, c.want)
		}
	}
}

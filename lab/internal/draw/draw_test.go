package draw

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden drawings anew; then look at them")

func is(v float64) *float64 { return &v }

func figure(low, median, high float64) Figure { return Figure{Median: &median, Low: &low, High: &high} }

func frame(name string) Frame {
	return Frame{ID: name, Title: "A <title> & more", Desc: "What the chart shows.", XLabel: "Words at the axis"}
}

// drawings has a chart of each kind, with what is particular about it.
var drawings = map[string]string{
	"lines-of-one": Lines{Frame: frame("lines"), YLabel: "Throughput, thousands a second", Factor: 1e-3,
		Series: []Series{{"One host", []Point{
			{Figure: figure(900, 1000, 1100), X: 1, Level: "1", Text: "1,000", Short: "1"},
			{Figure: figure(7800, 8000, 8200), X: 100, Level: "100", Text: "8,000", Short: "8", Client: true},
			{Figure: Figure{Below: is(4000)}, X: 10, Level: "10", Text: "<4,000"}}}}}.SVG(),
	"lines-with-names-at-their-ends": Lines{Frame: frame("ends"), YLabel: "Share, %", Factor: 100, Wall: 1,
		WallWords: "line rate", Series: []Series{
			{"IRQs all", []Point{{Figure: figure(0.4, 0.5, 0.6), X: 0, Level: "0", Text: "50 %"},
				{Figure: figure(0.8, 0.9, 0.95), X: 8, Level: "8", Text: "90 %"}}},
			{"IRQs last", []Point{{Figure: figure(0.4, 0.5, 0.6), X: 0, Level: "0", Text: "50 %"},
				{Figure: figure(0.8, 0.91, 0.95), X: 8, Level: "8", Text: "91 %"}}}}}.SVG(),
	"lines-over-words": Lines{Frame: frame("words"), YLabel: "Cost, µs", Factor: 1e6, Series: []Series{
		{"A machine of a long name", []Point{{Figure: figure(2e-6, 3e-6, 4e-6), Word: true, Level: "fiber", Text: "3 µs"},
			{Figure: figure(5e-6, 6e-6, 7e-6), X: 1, Word: true, Level: "net-http", Text: "6 µs"}}},
		{"Another one", []Point{{Figure: figure(2e-6, 2e-6, 2e-6), Word: true, Level: "fiber", Text: "2 µs"}}}}}.SVG(),
	"bars": Bars{Frame: frame("bars"), Hi: 5e4, Factor: 1e-3, Groups: []Group[Bar]{
		{"Workers 1", []Bar{{Figure: figure(3e4, 4e4, 5e4), Label: "fiber", Text: "40,000 (30,000 to 50,000)",
			Short: "40,000", Client: true}, {Figure: Figure{Median: is(2e4)}, Label: "as printed", Text: "20k", Short: "20k",
			Open: true}}},
		{"", []Bar{{Figure: Figure{Below: is(1e4)}, Label: "a label that is too long to stand beside its figure",
			Text: "<10k (as printed)", Short: "<10k"}}}}}.SVG(),
	"dots": Dots{Frame: frame("dots"), Lo: 9e3, Hi: 1e4, Factor: 1e-3, Blocks: 3, Rows: []Strip{
		{Figure: figure(9100, 9500, 9900), Label: "Workers 1", Text: "9,500 (9,100 to 9,900)", Short: "9,500",
			Trials: []Dot{{1, 9000, true, false}, {2, 9500, true, true}, {3, 10000, false, false}}},
		{Label: "Workers 1, control", Control: true, Trials: []Dot{{1, 9200, true, false}}}}}.SVG(),
	"dots-of-many": Dots{Frame: frame("many"), Lo: 1, Hi: 1.25, Factor: 1, Blocks: 101, Rows: []Strip{
		{Figure: figure(1, 1.1, 1.2), Label: "All", Text: "1.1", Short: "1.1", Trials: func() (all []Dot) {
			for i := range 101 {
				all = append(all, Dot{i + 1, 1 + float64(i%5)/20, i != 50, i == 7})
			}
			return all
		}()}}}.SVG(),
	"wire": Bars{Frame: frame("wire"), Wall: 1e9, Factor: 1e-9, WallWords: "line rate, 1 Gbit/s", Groups: []Group[Bar]{
		{"Pipelining 1", []Bar{{Figure: figure(9.6e8, 9.8e8, 1.01e9), Label: "sent", Text: "0.98 Gbit/s, 98 %"},
			{Figure: Figure{Median: is(1e8)}, Label: "received", Text: "0.1 Gbit/s, 10 %", Client: true}}},
		{"A condition of a text", []Bar{{Figure: Figure{Median: is(5e8)}, Label: "sent", Text: "50 %", Open: true}}}}}.SVG(),
	"cores": Cores{Frame: frame("cores"), Groups: []Group[Core]{{"A condition", []Core{
		{"server 0", "server", "core 0", []State{{"user", 0.5, "user", "50 %"}, {"system", 0.2, "system", "20 %"},
			{"softirq", 0.1, "soft", "10 %"}, {"idle", 0.2, "idle", "20 %"}}},
		{"client 1", "client", "core 1", []State{{"steal", 0.25, "stolen", "25 %"},
			{"unsaid", 0.75, "not said", "75 %"}}},
		{"client 2", "client", "", nil}}}}}.SVG(),
	"cores-of-many": Cores{Frame: frame("thin"), Groups: []Group[Core]{{"", func() (all []Core) {
		for i := range 17 {
			all = append(all, Core{"core", map[bool]string{true: "server", false: "client"}[i < 8], "",
				[]State{{"user", 0.9, "user", "90 %"}, {"idle", 0.1, "idle", "10 %"}}})
		}
		return all
	}()}}}.SVG(),
	"ratios": Ratios{Frame: frame("ratios"), BandLow: 0.95, BandHigh: 1.05, Groups: []Group[Ratio]{{"A host", []Ratio{
		{Label: "8 over 1", Text: "1.02", V: 1.02, Low: is(1), High: is(1.04)},
		{Label: "16 over 1", Text: "0.5 to 1.5", Low: is(0.5), High: is(1.5)},
		{Label: "32 over 1", Text: "no complete block"}}}}}.SVG(),
	"ratios-across": Ratios{Frame: frame("across"), BandLow: 2, Groups: []Group[Ratio]{{"", []Ratio{
		{Label: "one", Text: "64", V: 64, Low: is(64), High: is(64)},
		{Label: "two", Text: "4+", V: 4, Low: is(4)}}}}}.SVG(),
	"setup": Picture("setup", "Where it was full", "A note.",
		[]string{Stations{Panel: Panel{ID: "setup-0", Name: "The lab", Title: "T"}, Full: 0.9, One: "all on one machine",
			All: []Station{{Name: "Client", Lines: []string{"100 connections"},
				Gauge: &Gauge{Share: is(1.004), Text: "CPU 100 %", What: "CPU", Tick: true}, Flag: "wall: client", Full: true},
				{Name: "Wire", Link: true, Gauge: &Gauge{What: "share of the line rate"}}, {Name: "Server"},
				{Name: "Sink", Flag: "said"}}}.HTML()}),
	"asked": Asked{Panel: Panel{ID: "a"}, Points: []Answered{{2e6, 1e6, "client", "2,000,000", "1,000,000"},
		{1e5, 1e5, "room", "100,000", "100,000"}, {5e5, 5e5, "unseen", "500,000", "500k"}}}.HTML(),
	"processes": Processes{Panel: Panel{ID: "p"}, Workers: 18, Active: 5, Shown: "18", Threads: 60, Text: "60"}.HTML() +
		Processes{Panel: Panel{ID: "q"}, Workers: 1, Active: -1, Shown: "1"}.HTML(),
	"packets": Packets{Panel: Panel{ID: "p"}, Note: "note",
		Depths: []Depth{{"no pipelining", []Units{{"50 answers in 81 packets", "out", 81}, {"none", "in", 0}}}}}.HTML(),
	"flushes": Flushes{Panel: Panel{ID: "f"}, Workers: 4, Every: 100, Wait: 50, Answer: "50",
		Ticks: [3]string{"0", "100", "200"}, Delivered: "50 %"}.HTML() +
		Flushes{Panel: Panel{ID: "g"}, Workers: 4, Every: 100, Wait: 50, Apart: true, Answer: "50",
			Ticks: [3]string{"0", "100", "200"}, Delivered: "99 %"}.HTML(),
	"steering": Steering(Panel{ID: "s", Title: "The way"}),
	"box": Box("id", "A title", "A <note>.", []string{Named("One host", "<svg/>"), Named("Another", "<svg/>")}, false) +
		Box("id", "One", "", []string{"<svg/>"}, true),
}

// Charts of lines, rows and cores and a picture stand for the others, which share their parts.
func TestDrawingsAreAsSomebodyLookedAtThem(t *testing.T) {
	for _, name := range []string{"lines-of-one", "bars", "dots", "ratios", "setup"} {
		got := drawings[name]
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != got {
			t.Errorf("%s is drawn otherwise (%v); if that is meant: go test ./internal/draw -update, and look at it\n%s", name,
				err, got)
		}
	}
}

// Pages hold fragments as they are, so each must be whole, and each drawing must have a name.
func TestDrawingsAreWellFormedAndNamed(t *testing.T) {
	for name, got := range drawings {
		d := xml.NewDecoder(strings.NewReader("<div>" + strings.ReplaceAll(got, " hidden ", ` hidden="" `) + "</div>"))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, got)
			}
		}
		if strings.Contains(got, `role="img"`) &&
			(!strings.Contains(got, "<title id=") || !strings.Contains(got, "<desc id=")) {
			t.Errorf("%s has no name or no description", name)
		}
		if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") || strings.Contains(got, "%!") {
			t.Errorf("%s has no place for something:\n%s", name, got)
		}
	}
}

func TestTicksOfRatiosAreRoundAndFew(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{0.9, 1.12, "1 0.9 0.95 1.05 1.1"}, {0.55, 1.3, "1 0.6 0.8 1.2"}, {0.4, 9, "1 0.5 2 4 8"},
		{0.001, 300, "1 0.0625 16 0.003906 256"}} {
		a := logarithmic(c.low, c.high, 14, 986)
		var got []string
		for _, k := range a.ticks {
			got = append(got, k.text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, s, c.want)
		}
		// A logarithmic axis: equal ratios are equally far apart.
		if d := a.px(4*c.low) - 2*a.px(2*c.low) + a.px(c.low); math.Abs(d) > 0.3 {
			t.Errorf("%v to %v: four times is %v from twice two times", c.low, c.high, d)
		}
	}
}

func TestAnAxisHasRoundTicksAroundItsFigures(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		mayCut bool
		want   string
	}{
		{0, 97, false, "0 50 100"}, {0, 1.01, false, "0 0.5 1.0"}, {0, 1.02, false, "0 0.5 1.0 1.5"},
		{0, 0, false, "0 0.5 1.0"},
		{9.1, 9.9, true, "9.0 9.5 10.0"}, {2, 9.9, true, "0 5 10"}, {0, 43000, false, "0 20,000 40,000 60,000"},
	} {
		a := linear(c.lo, c.hi, 1, 0, 1000, c.mayCut)
		var got []string
		for _, k := range a.ticks {
			got = append(got, k.text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("axis of %v to %v: %s, want %s", c.lo, c.hi, s, c.want)
		}
		if end := a.px(c.hi); end > 1000+1000*0.03 {
			t.Errorf("%v is drawn at %v, beyond the axis", c.hi, end)
		}
	}
}

func TestANameTakesTwoLinesAtTheMost(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"short", 9, "short"}, {"two words", 5, "two|words"}, {"three long words here", 10, "three long|words here"},
		{"three long words here and there", 10, "three long|words here …"}} {
		if got := strings.Join(wrap(c.text, c.n), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

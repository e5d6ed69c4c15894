package plot

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// book has one experiment with a measured run on each of two hosts of one name.
func book() *Book {
	run := func(name, host string, rps float64) Run {
		levels := setting.Levels{"workers": setting.Int(4)}
		f := &verdict.File{Experiment: "90-workers", Entry: "90", Run: name, Host: host, Date: "2026-11-19", Blocks: 1,
			Conditions: []verdict.Summary{{ID: "c1", Name: "Workers <4>", Levels: levels,
				Shown: map[string]string{"workers": "4"},
				Metrics: map[string]verdict.Figure{"throughput_rps": {Median: &rps, Words: words.Words{Text: "1,000"}},
					"errors": {Median: &rps}}}},
			Table: &verdict.Table{Keys: []string{"workers"}, Rows: []verdict.TableRow{{ID: "c1", Levels: []string{"4"}}}}}
		return Run{File: f, Results: &results.File{}}
	}
	x := &experiment.Experiment{Name: "90-workers", Claims: []experiment.Claim{{ID: "one", Kind: "count"}}}
	return &Book{Experiments: []*experiment.Experiment{x},
		Hosts: map[string]*host.Profile{"cpu-0000aaaa": {ID: "cpu-0000aaaa", Name: "A CPU"},
			"cpu-0000bbbb": {ID: "cpu-0000bbbb", Name: "A CPU"}},
		Runs: map[string][]Run{x.Name: {run("first", "cpu-0000aaaa", 1000), run("second", "cpu-0000bbbb", 2000)}},
		Sums: map[string]*pages.Hosts{x.Name: {Shown: "second"}}}
}

func page(figures string) []byte {
	return []byte("+++\ntitle = \"An entry\"\n\n[[figures]]\n" + figures + "\n+++\n\nText.\n")
}

// drawn has the figures that a page declares, by name.
func drawn(path string, text []byte) (map[string]string, error) {
	figures, _, err := Declared(path, text)
	out := map[string]string{}
	for _, f := range figures {
		drawn, err := book().Draw(f)
		if err != nil {
			return nil, fmt.Errorf("%s: figure %q: %w", path, f.Name, err)
		}
		maps.Copy(out, drawn)
	}
	return out, err
}

func TestAPageDeclaresItsFigures(t *testing.T) {
	got, err := drawn("content/journal/90.md", page(`name = "all"
kind = "bars"
title = "Bars"
exp = "90-workers"
metric = "throughput_rps"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<figure id="figure-all"`, "A CPU (0000bbbb), 19 November 2026, measured, 1 block",
		"Workers &lt;4&gt;", "1,000"} {
		if !strings.Contains(got["all"], want) {
			t.Errorf("the figure lacks %q:\n%s", want, got["all"])
		}
	}
	if strings.Contains(got["all"], "0000aaaa") {
		t.Error("the figure has a run that the page does not show")
	}
	if none, err := drawn("content/about.md", []byte("+++\ntitle = \"About\"\n+++\n")); err != nil || len(none) > 0 {
		t.Errorf("a page without figures: %v, %v", none, err)
	}
}

// What nobody has measured is a state of the journal, and the table beside the figure says so.
func TestAFigureThatNobodyMeasuredIsEmptyIfItSaysMeasured(t *testing.T) {
	of := "name = \"a\"\nkind = \"dots\"\nexp = \"90-workers\"\nmetric = \"latency_p50_s\"\n"
	got, err := drawn("p.md", page(of+`source = "measured"`))
	if drawn, ok := got["a"]; err != nil || !ok || drawn != "" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := drawn("p.md", page(of)); err == nil || !strings.Contains(err.Error(), `source = "measured"`) {
		t.Errorf("a figure without figures: %v", err)
	}
}

func TestAFaultyFigureIsNamed(t *testing.T) {
	const bars = `kind = "bars", exp = "90-workers", metric = "throughput_rps"`
	for figure, want := range map[string]string{
		`kind = "linez"`: `p.md: figure "a": kind "linez" is not known; did you mean "lines"?`,
		`colour = "red"`: `p.md: [[figures]] has no key "colour"`,
		`kind = "lines"`: `p.md: figure "a": lines need "exp"`,

		`kind = "bars", exp = "x", metric = "throughput_rbs"`: `metric "throughput_rbs" is not known`,
		`kind = "bars", exp = "x", metric = "errors"`:         "lab/experiments/x.toml is missing",

		`kind = "bars", exp = "90-workers", metric = "errors"`: "has no words for a figure of errors: add that metric " +
			"to `metrics`",
		`kind = "bars", exp = "90-workers", metric = "errors", table = "third"`: `0 of 90-workers answer to "third"`,

		`kind = "ratios", exp = "90-workers", claim = "one"`: "ratios draws flat and ratio claims; one is count",
		`kind = "ratios", exp = "90-workers", claim = "two"`: `lab/experiments/90-workers.toml has no claim "two"`,
		`kind = "cores", entry = "90", server = ["user"]`:    `derived/data/audits/90.json has no figure "user"`,

		bars + `, levels = {workers = 1.5}`:         "levels: workers: 1.5 is not a level",
		bars + `, [[figures]], name = "a", ` + bars: "the page has another figure of this name",
	} {
		figure = strings.ReplaceAll(`name = "a", `+figure, ", ", "\n")
		if _, err := drawn("p.md", page(figure)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngave %v, want %s", figure, err, want)
		}
	}
}

func TestAPictureOfWhatNobodyMeasuredSaysHowTo(t *testing.T) {
	panel := func(more string) []byte {
		return page("name = \"a\"\nkind = \"picture\"\ntitle = \"T\"\n\n[[figures.panels]]\nexp = \"90-workers\"\n" + more)
	}
	got, err := drawn("p.md", panel("kind = \"asked\"\nsource = \"measured\"\nlevels = {workers = 8}"))
	if err != nil || !strings.Contains(got["a"], "<code>.tools/bin/lab run 90-workers</code> would add yours here") {
		t.Errorf("%q, %v", got["a"], err)
	}
	for more, want := range map[string]string{
		"kind = \"askt\"":  `panel "askt" is not known; did you mean "asked"?`,
		"kind = \"setup\"": "0 of 90-workers answer to \"the table of a text\"",
		"kind = \"flushes\"\nsource = \"measured\"\nlevels = {a = 1.5}": "levels: a: 1.5 is not a level",
	} {
		if _, err := drawn("p.md", panel(more)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngave %v, want %s", more, err, want)
		}
	}
}

func TestAFigureAtAMarkKeepsPrintedDigits(t *testing.T) {
	for _, c := range []struct {
		v       float64
		printed bool
		want    string
	}{{1.125, true, "1.125"}, {1.125, false, "1.13"}, {794.31, true, "794"}, {12, true, "12"}, {0.05, true, "0.05"}} {
		if got := atMark(c.v, c.printed); got != c.want {
			t.Errorf("atMark(%v, %v) = %s, want %s", c.v, c.printed, got, c.want)
		}
	}
}

package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

var update = flag.Bool("update", false, "write the golden charts anew; then look at them")

// figure is a measured figure with its interval.
func figure(low, median, high float64, text, interval string) medians.Figure {
	return medians.Figure{Median: &median, Low: &low, High: &high, Words: words.Words{Text: text, Interval: interval}}
}

// condition is one of so many workers, as a run or a table has it.
func condition(id string, workers int64, metrics map[string]medians.Figure) medians.Summary {
	n := words.Thousands(int(workers))
	return medians.Summary{ID: id, Name: "Workers <" + n + ">", Levels: setting.Levels{"workers": setting.Int(workers)},
		Shown: map[string]string{"workers": n}, Trials: 3, Invalid: 1, Bounds: map[string]int{"client-cpu": 2, "unknown": 1},
		ClientWall: workers == 1, Metrics: metrics}
}

func rowsOf(ids ...string) *medians.Table {
	t := &medians.Table{Keys: []string{"workers"}}
	for _, id := range ids {
		t.Rows = append(t.Rows, medians.TableRow{ID: id})
	}
	return t
}

// run has three trials under two conditions, and one of a control.
func run(name, host string, rps float64) Run {
	var trials []results.Trial
	for i, of := range []string{"c1", "c2", "c3"} {
		for block := range 2 {
			trials = append(trials, results.Trial{Seq: 1 + i, Block: 1 + block, Condition: of, Valid: i != 1 || block != 1,
				Metrics: map[string]float64{"throughput_rps": rps * (1 + float64(i+block)/100)}})
		}
	}
	levels := func(n int64) setting.Levels { return setting.Levels{"workers": setting.Int(n)} }
	return Run{
		File: &verdict.File{Experiment: "90-workers", Entry: "90", Run: name, Host: host, ClientHost: host,
			Date:   "2026-11-19",
			Blocks: 2, Record: &verdict.Record{Runs: []string{name}, Blocks: 2}, Table: rowsOf("c1", "c2", "c3"),
			Conditions: []medians.Summary{condition("c1", 1, measured(rps)), condition("c2", 16, measured(2*rps))},
			Relative: &verdict.Relative{Metric: "throughput_rps", Over: "workers", To: "1", Rows: []verdict.RelativeRow{
				{Level: "16", Effect: verdict.Effect{Ratio: 2, Low: 1.8, High: 2.2,
					Words: words.Words{Text: "2.0", Interval: "1.8 to 2.2"}}},
				{Level: "1", Base: true}, {Level: "4"}}},
			Claims: []verdict.Claim{{ID: "flat", Effects: []verdict.Effect{
				compared(1, verdict.Effect{Ratio: 1.02, Low: 1, High: 1.04, Pairs: 9, Words: words.Words{Text: "1.02"}}),
				compared(2, verdict.Effect{RatioLow: 0.5, Pairs: 9, Words: words.Words{Text: "0.5 or more"}}),
				compared(4, verdict.Effect{Words: words.Words{Text: "no complete block"}})}}}},
		Results: &results.File{Trials: trials, Settings: setting.Levels{"generator": setting.String("http_load"),
			"connections": setting.Int(100), "client_workers": setting.Int(0)},
			Provenance: &results.Provenance{ServerCPUs: "0", ClientCPUs: "1"},
			Topology:   results.Topology{Kind: "netns", LineRateBps: 1e9},
			Conditions: []results.Condition{{ID: "c1", Levels: levels(1)}, {ID: "c2", Levels: levels(16)},
				{ID: "c3", Levels: levels(16), ControlOf: "c2"}}},
	}
}

func measured(rps float64) map[string]medians.Figure {
	below, busy := 0.001, 0.97
	wire := figure(9.6e8, 9.7e8, 9.8e8, "970 Mbit/s", "960 to 980")
	wire.LineShare = "97.0"
	return map[string]medians.Figure{
		"throughput_rps": figure(0.9*rps, rps, 1.1*rps, "about "+words.Thousands(int(rps)), "a tenth either way"),
		"latency_p50_s":  {Below: &below, Words: words.Words{Text: "<1 ms"}},
		"wire_tx_bps":    wire, "wire_rx_bps": figure(1e8, 1e8, 1e8, "100 Mbit/s", ""),
		"client_cores_busy": {Median: &busy}, "errors": {Median: &busy},
	}
}

// compared is a comparison of some workers with one, against a band.
func compared(workers int64, e verdict.Effect) verdict.Effect {
	e.A, e.B = setting.Levels{"workers": setting.Int(workers)}, setting.Levels{"workers": setting.Int(1)}
	e.At = setting.Levels{"route": setting.String("/read")}
	e.BandLow, e.BandHigh = 0.9, 1.1
	return e
}

// book has one experiment: a table that a text printed of it, two runs of one machine that count together, and a run of
// another machine.
func book() *Book {
	x := &experiment.Experiment{Name: "90-workers", Factors: []experiment.Factor{{Name: "workers"}},
		Claims: []experiment.Claim{{ID: "one", Kind: "value"},
			{ID: "flat", Kind: "flat", Metric: "throughput_rps", Over: "workers"}}}
	first, last := run("first", "cpu-a", 1000), run("last", "cpu-a", 1010)
	last.Record = &verdict.Record{Runs: []string{"first", "last"}, Blocks: 4}
	last.Together = &verdict.Together{Table: rowsOf("c1", "c2"), Conditions: []medians.Summary{
		condition("c1", 1, measured(1005)), condition("c2", 16, measured(2010))}}
	printed := func(text string, v float64) medians.Figure { return medians.Figure{Median: &v, Printed: text} }
	sheet := audit.Sheet{ID: "t", Experiment: x.Name, Host: "large", ClientHost: "large", Date: "2026-06-09",
		Topology:    "fleet",
		LineRateBps: 5e9, Settings: setting.Levels{"prefork": setting.Bool(true)}, Table: rowsOf("c1", "c2"),
		Conditions: []medians.Summary{condition("c1", 1, map[string]medians.Figure{"throughput_rps": printed("~50k", 5e4)}),
			condition("c2", 128, map[string]medians.Figure{"throughput_rps": printed("1.3M", 1.3e6)})}}
	return &Book{Experiments: map[string]*experiment.Experiment{x.Name: x},
		Names: map[string]string{"cpu-a": "A CPU", "cpu-b": "Another CPU", "large": "large.32"},
		Runs:  map[string]map[string]Run{x.Name: {"first": first, "last": last, "other": run("other", "cpu-b", 7)}},
		Sums:  map[string]*pages.Hosts{x.Name: {Shown: "last"}},
		Audits: map[string]*audit.File{"90": {Tables: []audit.Sheet{sheet}, Figures: map[string]audit.Printed{
			"server_user": {Printed: "30%", Quantity: law.Exactly(0.3)}, "server_idle": {Printed: "60%", Quantity: law.Exactly(0.6)},
			"client_idle": {Printed: "6%", Quantity: law.Exactly(0.06)},
			"received":    {Printed: "67 MB/s", Quantity: law.Exactly(67e6), Unit: metric.BytesPerSecond}}}}}
}

// figures has a chart of each kind, with what is particular about it.
var figures = map[string]Figure{
	"bars":     {Kind: "bars", Exp: "90-workers", Metric: "throughput_rps", Note: "A note."},
	"below":    {Kind: "bars", Exp: "90-workers", Metric: "latency_p50_s", Source: "measured"},
	"wire":     {Kind: "bars", Exp: "90-workers", Metric: "wire_tx_bps wire_rx_bps", Source: "measured"},
	"dots":     {Kind: "dots", Exp: "90-workers", Metric: "throughput_rps", Source: "measured"},
	"ratios":   {Kind: "ratios", Exp: "90-workers", Claim: "flat"},
	"relative": {Kind: "relative", Exp: "90-workers", Source: "measured"},
	"cores":    {Kind: "cores", Entry: "90", Server: []string{"server_user", "server_idle"}},
	"lines":    {Kind: "lines", Exp: "90-workers", Metric: "throughput_rps", Over: "workers"},
	"by":       {Kind: "lines", Exp: "90-workers", Metric: "throughput_rps", Over: "workers", By: "workers", Table: "90-t"},
	"setup": {Kind: "setup", Panels: []Figure{
		{Exp: "90-workers", Table: "90-t", Levels: map[string]any{"workers": 128},
			Client: []string{"client_idle"}, Wire: []string{"received"}},
		{Exp: "90-workers", Source: "measured", Levels: map[string]any{"workers": 16}},
		{Exp: "90-workers", Source: "measured", Levels: map[string]any{"workers": 4}}}},
}

// Pages hold charts as they are, so each is whole, has a place for everything, and a drawing has a name.
func TestChartsAreAsSomebodyLookedAtThem(t *testing.T) {
	for name, f := range figures {
		f.Name, f.Title = name, "A <title> & more"
		got, err := book().Draw(f)
		got = strings.ReplaceAll(got, "\u00a0", " ")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := xml.NewDecoder(strings.NewReader(got))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, got)
			}
		}
		for _, wrong := range []string{"NaN", "Inf", "%!", "<1>", "ZgotmplZ"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s has %s:\n%s", name, wrong, got)
			}
		}
		if !slices.Contains([]string{"bars", "dots", "ratios", "lines", "setup"}, name) {
			continue // they have the same parts
		}
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != got {
			t.Errorf("%s is drawn otherwise (%v); if it should be: go test ./internal/chart -update, and look at it\n%s", name,
				err, got)
		}
	}
}

func TestAChartSaysWhatItShows(t *testing.T) {
	for name, want := range map[string][]string{
		"bars": {`<figure id="figure-bars"`, "A note. A dot is", "large.32, 9 June 2026, published single run", "1.3M",
			"A CPU, 19 November 2026, measured, 4 blocks", "Workers &lt;1&gt;", "about 1,005", "<td>client-bound</td>", "2,210"},
		"below": {"&lt;1 ms", `class="bar" d="M0 10H100"`},
		"wire": {"Workers &lt;1&gt;, wire, server to client", "970 Mbit/s, 97.0 %",
			`class="rule" d="M100 0v20"`, "1 Gbit/s"},
		"dots": {"2 of 3, client-bound", `class="void"`, "Workers &lt;16&gt;, control", "Trials that count"},
		"ratios": {"Claimed: 0.90 to 1.10", "Workers 1 over 1, /read", `class="band"`,
			"0.5 or more", "H100\"", "no complete block"},
		"relative": {"Ratio to 1", "2.0", "1.8 to 2.2", "about 2,010"},
		"cores":    {"user 30%, idle 60%, unsaid 10 %", "not recorded", `class="part user" d="M0 10H30"`},
		"lines":    {`role="img"`, "log scale", "1,500", "hollow", `class="s0 client-bound"`, "about 1,005 at 1, Throughput."},
		"by":       {"Workers 1<", "Workers 128<", `class="legend"`, "1.3M at 128, Workers 128."},
		"setup": {"CPU 94 %", "share of the line rate 11 %", "prefork yes", "<em>the wall in 2 of 3 trials</em>",
			"core 1 of A CPU", "CPU not recorded", "Connections 100, http_load", "lab reproduce 90-workers</code> would add"},
	} {
		f := figures[name]
		f.Name = name
		got, err := book().Draw(f)
		got = strings.ReplaceAll(got, "\u00a0", " ")
		for _, words := range want {
			if err != nil || !strings.Contains(strings.ToLower(got), strings.ToLower(words)) {
				t.Errorf("%s lacks %q (%v):\n%s", name, words, err, got)
			}
		}
		if strings.Contains(got, "Another CPU") {
			t.Errorf("%s has a machine that the page does not show", name)
		}
	}
}

// What counts together is drawn together: a page has no figures of a run beside those of the record.
func TestDotsAreTheTrialsOfAllRunsThatCountTogether(t *testing.T) {
	got, err := book().Draw(figures["dots"])
	if trials := strings.Count(got, `class="trial"`) + strings.Count(got, `class="void"`); err != nil || trials != 12 {
		t.Errorf("%d trials, want the six of each run (%v)\n%s", trials, err, got)
	}
}

func TestAnAxisHasRoundTicksAroundItsFigures(t *testing.T) {
	for most, want := range map[float64]string{97: "0 50 100", 1.01: "0.0 0.5 1.0", 1.02: "0.0 0.5 1.0 1.5",
		9999: "0 5,000 10,000", 43000: "0 20 40 60"} {
		b := book()
		last := b.Runs["90-workers"]["last"]
		last.Together.Conditions = []medians.Summary{condition("c1", 1, map[string]medians.Figure{
			"throughput_rps": {Median: &most, Words: words.Words{Text: "so many"}}})}
		got, err := b.Draw(Figure{Kind: "lines", Exp: "90-workers", Source: "measured", Metric: "throughput_rps",
			Over: "workers"})
		var ticks []string
		for _, text := range strings.Split(got, `<text text-anchor="end"`)[1:] {
			_, text, _ = strings.Cut(text, ">")
			text, _, _ = strings.Cut(text, "<")
			ticks = append(ticks, text)
		}
		if s := strings.Join(ticks, " "); err != nil || s != want {
			t.Errorf("axis up to %v: %s, want %s (%v)", most, s, want, err)
		}
	}
}

func TestAFaultyFigureIsNamed(t *testing.T) {
	const exp = "90-workers"
	for want, f := range map[string]Figure{
		`kind "linez" is not known; did you mean "lines"?`: {Kind: "linez"},
		`lines need "exp"`:                     {Kind: "lines"},
		`lines need "over"`:                    {Kind: "lines", Exp: exp, Metric: "throughput_rps"},
		`metric "throughput_rbs" is not known`: {Kind: "bars", Exp: exp, Metric: "throughput_rbs"},
		"lab/experiments/x.toml is missing":    {Kind: "bars", Exp: "x", Metric: "throughput_rps"},
		"errors: add that metric to `metrics`": {Kind: "bars", Exp: exp, Metric: "errors"},
		`90-workers has no table "90-s"`:       {Kind: "bars", Exp: exp, Metric: "throughput_rps", Table: "90-s"},
		"no run of 90-workers has latency_p99_s; for what nobody has measured yet, say source": {Kind: "bars", Exp: exp,
			Metric: "latency_p99_s"},
		`has no claim "one" that compares levels`:            {Kind: "ratios", Exp: exp, Claim: "one"},
		`lab/experiments/90-workers.toml has no claim "two"`: {Kind: "ratios", Exp: exp, Claim: "two"},
		`derived/data/audits/90.json has no figure "user"`:   {Kind: "cores", Entry: "90", Server: []string{"user"}},
		"levels: workers: 1.5 is not a level": {Kind: "bars", Exp: exp, Metric: "errors",
			Levels: map[string]any{"workers": 1.5}},
		"2 conditions of last have these levels": {Kind: "setup",
			Panels: []Figure{{Exp: exp, Source: "measured"}}},
		"no run of  has such figures": {Kind: "setup", Panels: []Figure{{}}},
		`derived/data/audits/90.json has no figure "sent"`: {Kind: "setup", Panels: []Figure{{Exp: exp, Table: "90-t",
			Levels: map[string]any{"workers": 1}, Wire: []string{"sent"}}}},
	} {
		if _, err := book().Draw(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v\ngave %v, want %s", f, err, want)
		}
	}
}

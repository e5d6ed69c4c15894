package site

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew; then look at them")

// states is an experiment with a claim for each verdict.
const states = `entry = "11"
title = "Every verdict"
question = "What becomes of a claim?"
metrics = ["throughput_rps", "server_cpu_per_request_s"]
budget_s = 60

[topology]
kind = "loopback"

[settings]
route = "/read"
generator = "http_load"
connections = 20

[[factors]]
name = "write_buffer"
levels = [1024, 4096, 8192]

[block]
slot_s = 0.1
rounds = 2
warmup_s = 0

[[claims]]
id = "costs-less"
kind = "ratio"
owner = "series"
text = "A larger buffer saves CPU time."
why = "It saves system calls."
metric = "server_cpu_per_request_s"
over = "write_buffer"
levels = [1024, 8192]
at_most = 0.8

[[claims]]
id = "costs-more"
kind = "ratio"
text = "A larger buffer costs CPU time."
why = "It is the opposite."
metric = "server_cpu_per_request_s"
over = "write_buffer"
levels = [1024, 8192]
at_least = 1.2

[[claims]]
id = "cannot-tell"
kind = "ratio"
text = "A larger buffer saves at least 30 %."
why = "It lies in the middle of what is measured."
metric = "server_cpu_per_request_s"
over = "write_buffer"
levels = [1024, 8192]
at_most = 0.7

[[claims]]
id = "needs-cores"
kind = "ratio"
owner = "control"
text = "On many cores a larger buffer saves CPU time."
why = "It asks for a machine that is not here."
metric = "server_cpu_per_request_s"
over = "write_buffer"
levels = [1024, 8192]
at_most = 0.8
[claims.needs]
cores = 64

[[withdrawn]]
id = "gone"
text = "A claim of before."
why = "Its margin was wide."
`

// made adds a made-up run with trials that come out as told.
func made(t *testing.T, root journal.Root, name, text, host string, blocks int,
	trial func(setting.Levels, int) madeup.Came) {
	t.Helper()
	path := root.Experiment(name)
	archivetest.Write(t, path, text)
	x, err := experiment.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{Experiment: x, Host: host, Started: time.Date(2026, 11, 22, blocks, 0, 0, 0, time.UTC),
		Seed: uint64(blocks), Blocks: blocks, Trial: trial})
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, root.Result(name, f.Run), string(data))
}

// saves makes a request cost a third less with the largest buffer.
func saves(levels setting.Levels, block int) madeup.Came {
	c := madeup.Usual
	if n, _ := levels["write_buffer"].Int(); n == 8192 {
		c.CostS *= 0.7 + 0.02*float64(block%3-1)
	}
	return c
}

// closed makes every trial invalid.
func closed(setting.Levels, int) madeup.Came {
	c := madeup.Usual
	c.Reasons = []results.Reason{{Gate: "held-back", Detail: "a quota held the cores back"}}
	return c
}

// front begins the page of a made-up entry.
const front = `+++
number = "97"
title = "An entry"
date = 2026-11-22
experiments = ["90-states", "90-alone"]
`

// figures has a chart of each kind, with what is particular about it.
const figures = `
[[rests]]
claim = "90-states/costs-more"
verdict = "confirmed"
[[corrects]]
entry = "96"
claim = "90-states/gone"
believed = "One thing."
found = "Another."
[[figures]]
name = "bars"
kind = "bars"
title = "A <title> & more"
exp = "90-states"
metric = "server_cpu_per_request_s"
note = "A note."
[[figures]]
name = "ratios"
kind = "ratios"
exp = "90-states"
claim = "costs-less"
[[figures]]
name = "lines"
kind = "lines"
exp = "90-states"
metric = "throughput_rps"
over = "write_buffer"
[[figures]]
name = "printed"
kind = "lines"
exp = "90-states"
source = "published"
metric = "throughput_rps"
over = "write_buffer"
[[figures]]
name = "table"
kind = "bars"
exp = "90-states"
source = "97-t"
metric = "throughput_rps"
levels = {write_buffer = 4096}
[[figures]]
name = "nothing"
kind = "bars"
exp = "90-alone"
source = "measured"
metric = "throughput_rps"
+++
`

// printed is the figure in a text.
const printed = `
date = 2026-06-01
[[tables]]
id = "t"
place = "the table"
experiment = "90-states"
host = "c6in-8xlarge"
line_rate_bps = 50_000_000_000
settings = { route = "/read", connections = 100 }
rows = [
  { levels = { write_buffer = 1024 }, printed = { throughput_rps = "~600k", latency_p50_s = "2ms" } },
  { levels = { write_buffer = 4096 }, printed = { throughput_rps = "800,000", line_rate_share = "91%", latency_p50_s = "<1ms" } },
]
[figures.rise]
place = "the text"
printed = "33%"
[figures.fall]
place = "the text"
printed = "50%"
[[checks]]
id = "rise"
law = "delta"
of = "rise"
relation = "equals"
to = "t.c2.throughput_rps / t.c1.throughput_rps - 1"
[[checks]]
id = "fall"
law = "delta"
of = "fall"
relation = "at most"
to = "1 - t.c1.throughput_rps / t.c2.throughput_rps"
`

// small is a small journal with a claim for each verdict, two machines, and two runs that count together.
func small(t *testing.T) journal.Root {
	t.Helper()
	root := journal.Root(t.TempDir())
	for _, path := range []string{"data/hosts/" + archivetest.Host + ".json", "data/hosts/c6in-8xlarge.json",
		"data/hosts/c8i-32xlarge.json", "data/calibration/pairs.csv"} {
		archivetest.Write(t, root.Path(path), archivetest.Read(t, filepath.Join(archivetest.Repository, path)))
	}
	archivetest.Write(t, root.Path("data/texts/97.toml"), printed)
	made(t, root, "90-states", states, archivetest.Host, 12, saves)
	made(t, root, "90-states", states, archivetest.Host, 14, saves)
	made(t, root, "90-states", states, "c6in-8xlarge", 7, closed)
	archivetest.Write(t, root.Experiment("90-alone"), states)
	archivetest.Write(t, root.Path("content/journal/97-an-entry.md"), front+figures)
	archivetest.Write(t, root.Path("content/journal/96-before.md"),
		"+++\nnumber = \"96\"\ntitle = \"Before\"\ndate = 2026-11-20\n[[also]]\nnumber = \"96b\"\ntitle = \"Then\"\ndate = 2026-11-21\n+++\n")
	return root
}

func site(t *testing.T, root journal.Root) *Site {
	t.Helper()
	s, err := Make(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After a change on purpose: go test ./internal/site -update.
func TestWhatIsMadeOfASmallJournal(t *testing.T) {
	s := site(t, small(t))
	var whole map[string]json.RawMessage
	var pages map[string]json.RawMessage
	for _, err := range []error{json.Unmarshal(s.files["site.json"], &whole), json.Unmarshal(whole["pages"], &pages)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string][]byte{"experiment.json": s.files["x/90-states.json"], "record.json": whole["record"],
		"entry.json": pages["97-an-entry"], "before.json": pages["96-before"], "ledger.csv": s.files["data/ledger.csv"]} {
		path := filepath.Join("testdata", name)
		if *updateGolden {
			archivetest.Write(t, path, string(text))
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a, b := strings.Split(string(want), "\n"), strings.Split(string(text), "\n")
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Errorf("%s:%d: %q, want %q", path, i+1, slices.Concat(b[min(i, len(b)):], []string{"the end"})[0],
					slices.Concat(a[min(i, len(a)):], []string{"the end"})[0])
				break
			}
		}
	}
	if len(s.Summaries) != 1 || !s.Summaries[0].Wrong {
		t.Errorf("%+v", s.Summaries)
	}
}

// Files are the same each time, and what follows from nothing goes.
func TestWhatIsLeftOverGoes(t *testing.T) {
	root := small(t)
	s := site(t, root)
	archivetest.Write(t, root.Derived("x", "former.json"), "{}")
	if err := s.Write(); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	if err := journal.Walk(root.Derived(), func(p string) error {
		rel, _ := filepath.Rel(root.Derived(), p)
		written[filepath.ToSlash(rel)] = archivetest.Read(t, p)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	again := map[string]string{}
	for path, text := range site(t, root).files {
		again[path] = string(text)
	}
	if !maps.Equal(written, again) {
		t.Error("something is left, or was made otherwise")
	}
}

// A file with a fault makes nothing, and the error names it.
func TestAFaultIsNamed(t *testing.T) {
	root := archivetest.Clone(t)
	path := root.Result("11-threads", archivetest.Measured)
	archivetest.Edit(t, path, `"experiment": "`, `"experiment": "x`)
	if _, err := Make(root); err == nil || !strings.HasPrefix(err.Error(), root.Rel(path)+": ") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// Both experiments of a page show one machine, also where another has more blocks of one of them.
func TestAPageIsOfOneMachine(t *testing.T) {
	root := small(t)
	made(t, root, "90-alone", states, archivetest.Host, 6, saves)
	made(t, root, "90-alone", states, "c8i-32xlarge", 9, saves)
	s := site(t, root)
	if e := s.shown["90-alone"]; e.Host != archivetest.Host || s.shown["90-states"].Host != e.Host {
		t.Errorf("%s and %s", e.Host, s.shown["90-states"].Host)
	}
	archivetest.Write(t, root.Path("content/journal/97-an-entry.md"), "+++\nexperiments = [\"90-alone\"]\n+++\n")
	if e := site(t, root).shown["90-alone"]; e.Host != "c8i-32xlarge" {
		t.Errorf("alone: %s", e.Host)
	}
}

// The verdict and the interval beside it say one thing, in all evidence that there is.
func TestNoPrintedIntervalContradictsItsVerdict(t *testing.T) {
	s := site(t, archivetest.Repository)
	ends := func(interval string) (float64, float64) {
		low, high, text := 0.0, 1e300, strings.ReplaceAll(interval, ",", "")
		n, err := fmt.Sscanf(text, "%g to %g", &low, &high)
		switch {
		case text == "", n == 2, strings.HasSuffix(text, " or more"):
		case strings.HasSuffix(text, " or less"):
			low, high = 0, low
		default:
			t.Fatalf("%q: %v", interval, err)
		}
		return low, high
	}
	seen := 0
	for name, of := range s.evidence {
		for machine, e := range of {
			for _, c := range e.Claims {
				inside, outside := 0, false
				for _, f := range c.Effects {
					low, high := ends(f.Interval)
					const digit = 0.0006 // of the third digit after the point, half a unit and a little
					most := f.BandHigh
					if most == 0 {
						most = 1e300
					}
					if low >= f.BandLow*(1-digit)-digit && high <= most*(1+digit)+digit {
						inside++
					}
					outside = outside || high < f.BandLow+digit || low > most-digit
				}
				if len(c.Effects) == 0 {
					continue
				}
				seen++
				if c.Verdict == verdict.Confirmed && inside < len(c.Effects) || c.Verdict == verdict.Refuted && !outside {
					t.Errorf("%s/%s on %s is %s, and the intervals say otherwise: %s", name, c.ID, machine, c.Verdict, c.Reason)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no claim compares anything")
	}
}

func TestASummaryGoesWithItsEvidence(t *testing.T) {
	claims := map[string]verdict.Verdict{"x/shown": verdict.Confirmed, "x/refuted": verdict.Refuted, "x/open": verdict.Open,
		"x/unrun": ""}
	rests := func(claim, verdict string) string {
		return "+++\n[[rests]]\nclaim = \"" + claim + "\"\nverdict = \"" + verdict + "\"\n+++\nText.\n"
	}
	for _, c := range []struct {
		name, text string
		wrong      bool
		says       string // the findings; empty for none
		err        string
	}{
		{name: "no front matter", text: "Text."},
		{name: "what the evidence says", text: rests("x/shown", "confirmed")},
		{name: "the evidence refutes it", text: rests("x/refuted", "confirmed"), wrong: true,
			says: "assume that x/refuted is confirmed, and the record says refuted"},
		{name: "the evidence leaves it open", text: rests("x/open", "refuted"), wrong: true,
			says: "is refuted, and the record says open"},
		{name: "nothing was run", text: rests("x/unrun", "confirmed"), wrong: true, says: "the record says nothing"},
		{name: "an open question was decided", text: rests("x/shown", "open"),
			says: "is open, and the record says confirmed"},
		{name: "no such claim", text: rests("x/else", "confirmed"), err: `page: [[rests]]: there is no claim "x/else"`},
		{name: "no such verdict", text: rests("x/shown", "shown"), err: `verdict "shown" of x/shown is none`},
		{name: "a figure's key", text: "+++\n[[figures]]\nname = \"a\"\ncolour = \"red\"\n+++\n",
			err: `[[figures]]: no key is called "colour"`},
	} {
		p, err := parse("page", []byte(c.text))
		var got []Summary
		if err == nil {
			got, _, err = p.compare(claims)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if (c.says == "") != (len(got) == 0) {
			t.Errorf("%s: %v", c.name, got)
		}
		for _, s := range got {
			if s.Wrong != c.wrong || !strings.Contains(s.Text, c.says) {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
	}
}

func TestAPageThatNamesWhatIsNotThereIsRefused(t *testing.T) {
	root := small(t)
	words := strings.NewReplacer("[settings]", "[settings]\nprefork = false", "write_buffer", "stack", "[1024, 4096, 8192]", `["fiber", "net-http"]`, "[1024, 8192]", `["fiber", "net-http"]`).Replace(states)
	made(t, root, "90-words", words, archivetest.Host, 2, nil)
	figure := func(lines string) string { return "[[figures]]\nname = \"f\"\n" + lines }
	for text, want := range map[string]string{
		"experiments = [\"90-none\"]": "lab/experiments/90-none.toml is missing",
		"number = \"97\"\n[[corrects]]\nentry = \"1\"\nbelieved = \"a\"\nfound = \"b\"":                   `not "1"`,
		"number = \"97\"\n[[corrects]]\nentry = \"96\"\nclaim = \"x/y\"\nbelieved = \"a\"\nfound = \"b\"": `there is no experiment, text or table "x"`,
		figure(`kind = "linez"`): `kind "linez" is not known; did you mean "lines"?`,
		figure(`kind = "lines"`): `there is no metric ""`,
		figure("kind = \"lines\"\nexp = \"90-states\"\nmetric = \"throughput_rps\""):                       "no run of 90-states has throughput_rps",
		figure("kind = \"bars\"\nexp = \"90-states\"\nmetric = \"throughput_rbs\""):                        `there is no metric "throughput_rbs"`,
		figure("kind = \"bars\"\nexp = \"x\"\nmetric = \"errors\""):                                        "lab/experiments/x.toml is missing",
		figure("kind = \"bars\"\nexp = \"90-states\"\nmetric = \"errors\"\nsource = \"90-s\""):             `90-states has no table "90-s"`,
		figure("kind = \"bars\"\nexp = \"90-states\"\nmetric = \"send_lag_p99_s\""):                        "no run of 90-states has send_lag_p99_s; for what nobody",
		figure("kind = \"ratios\"\nexp = \"90-states\"\nclaim = \"else\""):                                 `has no claim "else" that compares levels`,
		figure("kind = \"bars\"\nexp = \"90-states\"\nmetric = \"errors\"\nlevels = {write_buffer = 1.5}"): "levels: write_buffer: 1.5 is not a level",
		figure("kind = \"lines\"\nexp = \"90-words\"\nmetric = \"throughput_rps\"\nover = \"stack\""):      "lines go over numbers",
		figure("kind = \"bars\"\nexp = \"90-states\"\nmetric = \"errors\"\n") + figure(`kind = "bars"`):    "another figure of this name",
	} {
		archivetest.Write(t, root.Path("content/journal/97-an-entry.md"), "+++\n"+text+"\n+++\n")
		if _, err := Make(root); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "content/journal/97-an-entry.md: ") {
			t.Errorf("%s\ngave %v, want %s", text, err, want)
		}
	}
}

// A text may print several runs of one condition, and figures of which only a limit is known.
func TestRowsOfATextAreConditions(t *testing.T) {
	run := &results.File{}
	for id, workers := range map[string]int64{"c1": 16, "c2": 2, "c3": 4} {
		run.Conditions = append(run.Conditions, results.Condition{ID: id, Levels: setting.Levels{setting.Workers: setting.Int(workers)}})
	}
	for i, row := range []struct {
		of, printed, full string
		v                 float64
	}{{"c1", "4ms", "line_rate_share", 0.004}, {"c2", "2ms", "", 0.002}, {"c2", "4ms", "client_cores_busy", 0.004},
		{"c2", "9ms", "", 0.009}, {"c3", "3ms", "", 0.003}, {"c3", "<1ms", "", 0.001}} {
		trial := results.Trial{Block: i, Condition: row.of, Valid: true, Printed: map[string]string{"latency_p50_s": row.printed},
			Metrics: map[string]float64{}, Below: map[string]float64{}}
		if row.full != "" {
			trial.Metrics[row.full] = 0.95
		}
		if strings.HasPrefix(row.printed, "<") {
			trial.Below["latency_p50_s"] = row.v
		} else {
			trial.Metrics["latency_p50_s"] = row.v
		}
		run.Trials = append(run.Trials, trial)
	}
	e := &evidence{x: &experiment.Experiment{}, published: "97-t", machine: "A machine", newest: run,
		File: &verdict.File{Date: "2026-06-01", Conditions: medians.Of(run.Conditions, []*results.File{run})}}
	e.sort()
	t1 := e.results([]string{"latency_p50_s", "errors"}, e.Conditions, "t-")
	want := "2|4\u00a0ms|unknown 2, client-cpu 1; 4|<3\u00a0ms|unknown 2; 16|4ms|wire"
	var rows []string
	for _, r := range t1.Rows {
		rows = append(rows, strings.Join(strict.Map(r.Cells, func(c Cell) string { return c.Text }), "|"))
	}
	if got := strings.Join(rows, "; "); got != want || t1.Caption != "A machine, 1 June 2026, published single run" {
		t.Errorf("%s: %s\nwant %s", t1.Caption, got, want)
	}
}

func TestAnAxisHasRoundTicksAroundItsFigures(t *testing.T) {
	for most, want := range map[float64]string{97: "0 50 100", 1.01: "0.0 0.5 1.0", 1.02: "0.0 0.5 1.0 1.5",
		9999: "0 5,000 10,000", 43000: "0 20 40 60"} {
		m, _ := metric.Lookup("throughput_rps")
		p := plot{}
		p.axes(m, []row{{label: "1", x: 1, at: &most}})
		var ticks []string
		for _, tick := range p.Ticks {
			if tick.Class == "end" {
				ticks = append(ticks, tick.Text)
			}
		}
		if got := strings.Join(ticks, " "); got != want {
			t.Errorf("axis up to %v: %s, want %s", most, got, want)
		}
	}
}

// A claim is older than its runs if the commit of its first run with trials had it.
func TestWhereAClaimStoodBeforeItRan(t *testing.T) {
	x, err := experiment.Parse("90-states", []byte(states))
	if err != nil {
		t.Fatal(err)
	}
	run := func(commit string, dirty bool, trials int) *results.File {
		f := madeup.Run(madeup.Plan{Experiment: x, Host: "a", Started: time.Unix(0, 0), Blocks: 1})
		f.Provenance.Commit, f.Provenance.Dirty, f.Trials = commit, dirty, f.Trials[:trials]
		return f
	}
	for want, runs := range map[string][]*results.File{
		"one": {run("one", false, 3), run("two", true, 3)}, "two": {run("one", false, 0), run("two", false, 3)}} {
		if got := written(x, x.Claims[0], runs); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, runs := range [][]*results.File{nil, {run("one", true, 3), run("two", false, 3)}, {run(host.UnknownCommit, false, 3)}} {
		if got := written(x, x.Claims[0], runs); got != "" {
			t.Errorf("%s", got)
		}
	}
}

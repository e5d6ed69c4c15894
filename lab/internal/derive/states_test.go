package derive_test

import (
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A state is one experiment with a run, and what pages say about it: words by
// page, below the root. "run" is the page of the newest run, "run N" of the
// Nth, "entry" the entry's, "claim ID" a claim's.
type state struct {
	name string
	plan func(p *madeup.Plan)     // the trials' outcomes, and how the run ends
	file func(r *results.File)    // what is removed from the file afterwards
	text func(name string) string // its design, if not design
	says said
}

type said = map[string][]string

func of(condition string) func(results.Trial) bool {
	return func(t results.Trial) bool { return t.Condition == condition }
}

func every(results.Trial) bool { return true }

// ends makes a run end this way after so many blocks.
func ends(how results.Ended, blocks int, why string) func(*madeup.Plan) {
	return func(p *madeup.Plan) { p.Ended, p.Blocks, p.Stopped = how, blocks, why }
}

// trials sets the trials' outcomes.
func trials(came func(levels setting.Levels, block int, control bool) madeup.Came) func(*madeup.Plan) {
	return func(p *madeup.Plan) { p.Trial = came }
}

// all changes every trial, with throughput that rises.
func all(change func(c *madeup.Came, block int, control bool)) func(*madeup.Plan) {
	return trials(func(levels setting.Levels, block int, control bool) madeup.Came {
		c := gains(levels)
		change(&c, block, control)
		return c
	})
}

// waits sets the latency of every request, in seconds.
func waits(s float64) map[string]float64 {
	return map[string]float64{"latency_p50_s": s, "latency_p90_s": s, "latency_p99_s": s, "latency_p999_s": s,
		"latency_max_s": s}
}

// closed gives the reasons of an invalid trial.
func closed(gate, detail string) []results.Reason {
	return []results.Reason{{Gate: gate, Detail: detail}}
}

var unrecorded = math.NaN()

// The states of a run of the design.
var states = []state{
	{name: "decided", says: said{
		"run": {"confirmed", "no difference seen", "server-cpu", "every claim was decided", "Slots",
			"16 blocks of 16 visits in 1 run", "Asked for", "design j = 1"},
		"claim queue": {"confirmed", "16 blocks"},
		"entry":       {"confirmed"},
	}},
	{name: "budget-spent", plan: func(p *madeup.Plan) {
		p.Ended = results.Budget
		p.Trial = func(levels setting.Levels, _ int, _ bool) madeup.Came {
			c := gains(levels)
			c.CostS *= 1.333
			if n, _ := levels[setting.Connections].Int(); n == 1000 {
				c.CostS, c.Noise = 1.45*8e-6*1.333, 0.05
			}
			return c
		}
	}, says: said{"run": {"its time was spent", "inconclusive", "would decide it, and lab reproduce makes them"}}},
	{name: "blocks-made", plan: ends(results.Blocks, 6, ""),
		says: said{"run": {"it had as many blocks as were asked for", "6 blocks of 6 visits in 1 run"}}},
	{name: "interrupted", plan: ends(results.Interrupted, 3, "interrupted"), says: said{
		"run": {"it was interrupted, and keeps its complete blocks", "Stopped early",
			"of 3 visits, and "},
	}},
	{name: "interrupted-after-one-block", plan: ends(results.Interrupted, 1, "interrupted"),
		says: said{"run": {"of 1 visit, and "}}},
	{name: "one-stay", plan: func(p *madeup.Plan) { p.OneStay, p.Ended = true, results.Budget }, says: said{
		"run": {"16 blocks of 1 visit in 1 run", "of 1 visit, and ",
			"more visits would decide it, and lab reproduce makes them"},
		"claim queue": {"16 of 16 for, 0 against; 1 visit", "inconclusive"},
	}},
	{name: "failing", plan: func(p *madeup.Plan) {
		ends(results.Failing, 3, "three blocks in a row had no valid trial")(p)
		all(func(c *madeup.Came, _ int, _ bool) { c.Lost, c.Reasons = true, closed("lost-worker", "made up") })(p)
	}, says: said{
		"run":         {"trial upon trial was invalid", "No valid trial", "lost-worker : made up", "no medians"},
		"claim count": {"No valid trial"},
	}},
	{name: "condition-lost", file: func(r *results.File) { spoil(r, of("c1")) }, says: said{
		"run":         {"metrics of each trial were recorded", "Only 0 of 16 blocks are complete"},
		"claim queue": {"invalid"},
	}},
	{name: "one-condition-left", file: func(r *results.File) {
		spoil(r, func(t results.Trial) bool { return t.Condition != "c2" })
	}, says: said{"run": {"too few blocks to tell"}}},
	{name: "all-invalid", file: func(r *results.File) { spoil(r, every) }, says: said{
		"run": {"No valid trial", "held-up : made up", "0 + 16 invalid", "no medians"},
	}},
	{name: "gates-of-slots", plan: all(func(c *madeup.Came, block int, control bool) {
		switch {
		case block%4 == 0:
			c.Metrics = map[string]float64{"silence_s": 0.061}
			c.Reasons = closed("silent", "no answer came for 61 ms, where up to 50 ms can be")
		case block%4 == 2 && control:
			c.Metrics = map[string]float64{"clock_step_s": 0.031}
			c.Reasons = closed("clock", "the clock was set by 0.031 s")
		}
	}), says: said{"run": {"silent : no answer came", "clock : the clock was set by 0.031 s", "not valid"}}},
	{name: "not-applicable", plan: func(p *madeup.Plan) { p.Blocks, p.Ended = 0, "" }, file: func(r *results.File) {
		r.Trials, r.Conditions, r.NotApplicable = []results.Trial{}, []results.Condition{}, "no right to make a namespace"
	}, says: said{
		"run":         {"This run has no row: no right to make a namespace", "not applicable"},
		"claim wall":  {"not applicable", "No right to make a namespace"},
		"hosts/small": {"cannot be asked of it"},
	}},
	{name: "no-control", plan: func(p *madeup.Plan) { p.NoControl = true },
		says: said{"run": {"none in this run", "no A/A control in this run"}}},
	{name: "control-differs", plan: all(func(c *madeup.Came, _ int, control bool) {
		if control {
			c.CostS *= 1.2
		}
	}), says: said{"run": {"differed, so no ratio is decided", "The record is suspect", "inconclusive"}}},
	{name: "control-lost", file: func(r *results.File) { spoil(r, of("c4")) }, says: said{
		"run": {"too few blocks to tell", "only 0 visits have its A/A control complete"},
	}},
	{name: "control-undecided", file: func(r *results.File) {
		spoil(r, func(t results.Trial) bool { return t.Condition == "c4" && t.Block > 2 })
	}, says: said{"run": {"too few blocks to tell", "only 2 visits have its A/A control complete"}}},
	{name: "client-wall-in-some-blocks", plan: all(func(c *madeup.Came, block int, _ bool) {
		if block > 12 {
			c.ClientBusy = 0.97
		}
	}), says: said{
		"run":         {"client-cpu + server-cpu 12", "in 4 of 16 blocks the client's CPU was the wall"},
		"claim falls": {"in 4 of 16 blocks the client's CPU was the wall"},
	}},
	{name: "client-wall", plan: all(func(c *madeup.Came, _ int, _ bool) { c.ClientBusy, c.ServerBusy = 0.97, 0.5 }),
		says: said{
			"run":         {"client-cpu 48", "In 16 of 16 blocks the client's CPU was the wall"},
			"claim falls": {"invalid"},
			"claim wall":  {"refuted"},
		}},
	{name: "client-unseen", plan: all(func(c *madeup.Came, _ int, _ bool) {
		c.Metrics = map[string]float64{"client_thread_busy_max": unrecorded}
	}), says: said{"run": {"unknown 48", "the client's CPU was not recorded"}, "claim wall": {"it was not recorded"}}},
	{name: "no-wall", plan: all(func(c *madeup.Came, _ int, _ bool) { c.ServerBusy = 0.5 }), says: said{
		"claim falls": {"no wall was seen to be met"}, "claim wall": {"had room in a trial of"},
	}},
	{name: "metric-lost-in-a-condition", file: func(r *results.File) { lose(r, "threads_per_worker", of("c2")) },
		says: said{
			"run": {"not recorded", "Every trial"},
		}},
	{name: "metric-never-recorded", file: func(r *results.File) {
		lose(r, "threads_per_worker", every)
		lose(r, "latency_p50_s", every)
	}, says: said{
		"run":           {"The run did not record p50 latency"},
		"claim threads": {"not applicable", "The run did not record threads per worker"},
		"entry":         {"No host’s run of"},
	}},
	{name: "in-one-piece", text: inOnePiece, says: said{"run": {"one turn of", "confirmed"}}},
	{name: "all-below-the-clock", text: inOnePiece, plan: all(func(c *madeup.Came, _ int, _ bool) {
		c.Below = map[string]float64{"latency_p50_s": 0.001}
	}), says: said{"run": {"<1", "not known"}, "claim queue": {"inconclusive", "not known"}}},
	{name: "some-below-the-clock", text: inOnePiece,
		plan: trials(func(levels setting.Levels, block int, _ bool) madeup.Came {
			c := gains(levels)
			n, _ := levels[setting.Connections].Int()
			c.Metrics = waits(float64(n) / 2e4)
			if n == 20 && block <= 8 {
				c.Metrics, c.Below = nil, map[string]float64{"latency_p50_s": 0.001}
			}
			return c
		}), says: said{"claim queue": {"or more"}, "entry": {"or more"}}},
	{name: "coarse", text: inOnePiece, plan: all(func(c *madeup.Came, _ int, _ bool) {
		c.Metrics = waits(0.02)
	}), says: said{"claim queue": {"0.952 to 1.050", "refuted"}}},
	{name: "wire", text: overAWire, plan: all(func(c *madeup.Came, _ int, _ bool) { c.ResponseBytes = 4631 }), says: said{
		"run":        {"500 Mbit/s", "wire 48"},
		"entry":      {"96"},
		"claim wall": {"refuted"},
	}},
	{name: "one-core", plan: func(p *madeup.Plan) {
		p.Hosts, p.Shared = results.Hosts{Server: "single", Client: "single"},
			true
	}, says: said{
		"run":          {"server and client shared cores", "One core"},
		"hosts/single": {"Cores 1", "server and client shared cores"},
	}},
}

// The site must build from every state that a run can end in: a condition may
// lose all its trials, a figure may not have been recorded, or a claim may be
// withdrawn. Each state is made with the lab's own types, read, checked and
// derived as any run is, and all are in one small journal that Hugo builds once.
// States that nobody thought of are not tested.
func TestTheSiteBuildsFromEveryStateOfARun(t *testing.T) {
	hugo, err := filepath.Abs(filepath.Join(repository, ".tools/bin/hugo"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(hugo); err != nil {
		t.Skip("no .tools/bin/hugo: make build installs it")
	}
	c := newClone(t)
	c.host(&host.Profile{ID: "small", Name: "Two cores", Cores: 2})
	c.host(&host.Profile{ID: "single", Name: "One core", Cores: 1})
	c.host(&host.Profile{ID: "bare", Name: "A machine of which nothing is known"})
	c.host(&host.Profile{ID: "second", Name: "A second machine", Cores: 2, LineRateBps: 3.125e9})
	c.host(&host.Profile{ID: "early", Name: "A machine that measured long ago", Cores: 2})
	c.host(&host.Profile{ID: "idle", Name: "A machine without a run"})
	c.host(&host.Profile{ID: "renamed", Name: "Two cores, later", Mark: "0123456789abcdef", Cores: 2, Sockets: 1,
		ThreadsPerCore: 2, Caches: "L2 1M x1", CPUVersion: "made/up"})

	all := append(slices.Clone(states), c.others()...)
	for _, s := range states {
		text := design(s.name)
		if s.text != nil {
			text = s.text(s.name)
		}
		p := c.plan(s.name, text)
		if s.plan != nil {
			s.plan(&p)
		}
		r := madeup.Run(p)
		if s.file != nil {
			s.file(r)
		}
		c.experiment(s.name, text)
		c.write("content/journal/"+s.name+".md", entry(s.name, "queue", "throughput_rps", "connections", "measured", "done"))
		c.add(r, text)
	}
	c.derive()
	out, err := exec.Command(hugo, "--panicOnWarning", "--noBuildLock", "--source", c.dir, "--destination",
		filepath.Join(c.dir, "public")).CombinedOutput()
	if err != nil {
		t.Fatalf("hugo: %v\n%s", err, out)
	}

	for _, s := range all {
		for page, words := range s.says {
			text := c.page(c.where(s.name, page))
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Errorf("%s, page %s does not say %q", s.name, page, w)
				}
			}
		}
	}
	c.everyPage(all)
	c.charts()
}

// chart is the markup of an entry's chart.
func (c *clone) chart(entry, name string) string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "public", filepath.FromSlash(c.where(entry, "entry")), "index.html"))
	c.must(err)
	_, chart, _ := strings.Cut(string(data), `id="figure-`+name+`"`)
	chart, _, found := strings.Cut(chart, "</figure>")
	if !found {
		c.t.Errorf("%s has no chart %s", entry, name)
	}
	return chart
}

// charts looks at two of them. One is over a factor whose levels are words, which have no
// order: it has their names and marks, and no line. The other has a published figure at
// a mark, as it was printed.
func (c *clone) charts() {
	c.t.Helper()
	words := c.chart("profiles", "words")
	if !strings.Contains(words, "gofakeit") || !strings.Contains(words, "pool") ||
		strings.Count(words, "<title>Two cores, Index ") != 2 || strings.Contains(words, `class="line `) {
		c.t.Errorf("a chart over words: %s", words)
	}
	if printed := c.chart("published", "below"); !strings.Contains(printed, ">2.125</text>") {
		c.t.Errorf("2.125 ms on a chart: %s", printed)
	}
}

// derive makes the files that `lab derive` makes.
func (c *clone) derive() {
	c.t.Helper()
	_, err := derive.Update(journal.Root(c.dir))
	c.must(err)
}

func (c *clone) experiment(name, text string) {
	c.write("lab/experiments/"+name+".toml", []byte(text))
}

// runs names the runs of an experiment, oldest first.
func (c *clone) runs(experiment string) []string {
	paths, err := filepath.Glob(filepath.Join(c.dir, "data", "results", experiment, "*.json"))
	c.must(err)
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".json")
	}
	return paths
}

// where is the directory of a page, by its name in a state.
func (c *clone) where(name, page string) string {
	switch kind, id, _ := strings.Cut(page, " "); {
	case kind == "run":
		runs := c.runs(name)
		n, err := strconv.Atoi(id)
		if err != nil {
			n = len(runs)
		}
		return fmt.Sprintf("runs/%s/%s", name, runs[n-1])
	case kind == "entry":
		return "journal/" + name
	case kind == "claim":
		return fmt.Sprintf("claims/%s/%s", name, id)
	}
	return page
}

var (
	tags   = regexp.MustCompile(`(?s)<script.*?</script>|<[^>]*>`)
	spaces = regexp.MustCompile(`[\s\x{a0}]+`)
)

// page is a page's text without markup.
func (c *clone) page(dir string) string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "public", filepath.FromSlash(dir), "index.html"))
	if err != nil {
		c.t.Error(err)
	}
	return spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(string(data), " ")), " ")
}

// nonsense matches what a template prints for a missing figure.
var nonsense = regexp.MustCompile(`NaN|[+-]Inf\b|%!|<no value>|<nil>`)

// everyPage checks that each run, entry, claim and host has a page, and that no
// page has nonsense.
func (c *clone) everyPage(all []state) {
	for _, s := range all {
		c.page(c.where(s.name, "entry"))
		for _, run := range c.runs(s.name) {
			c.page(fmt.Sprintf("runs/%s/%s", s.name, run))
		}
	}
	for _, claim := range []string{"threads", "queue", "cost", "falls", "count", "wall"} {
		for _, s := range states {
			c.page(c.where(s.name, "claim "+claim))
		}
	}
	for _, h := range []string{"small", "single", "bare", "idle", "second", "early", "renamed"} {
		c.page("hosts/" + h)
	}
	n := 0
	c.must(filepath.WalkDir(filepath.Join(c.dir, "public"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".xml") {
			return err
		}
		data, err := os.ReadFile(path)
		if found := nonsense.Find(data); found != nil {
			c.t.Errorf("%s says %q", strings.TrimPrefix(path, c.dir), found)
		}
		n++
		return err
	}))
	c.t.Logf("%d pages from %d states", n, len(all))
}

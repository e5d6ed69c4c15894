// Package states sees that the site builds from every state that a run can end
// in. What a run comes to is not the templates' to choose: a condition may lose
// all its trials, a figure may not have been recorded, or a claim may be gone. Each
// state is made with the lab's own types, read, checked and derived as any run is,
// and all of them stand in one small journal that Hugo builds once.
//
// Its limit: a state that nobody thought of is not here.
package states

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A state is one experiment with the runs that it has, and what pages say of it:
// words by page, below the root; "run" is the page of the newest run, "entry" the
// entry's, "claim ID" a claim's.
type state struct {
	name   string
	change func(r *results.File)
	says   map[string][]string
}

type said = map[string][]string

func of(condition string) func(results.Trial) bool {
	return func(t results.Trial) bool { return t.Condition == condition }
}

func every(results.Trial) bool { return true }

func upTo(block int) func(results.Trial) bool {
	return func(t results.Trial) bool { return t.Block <= block }
}

func stopped(blocks int) func(*results.File) {
	return func(r *results.File) {
		r.Provenance.StoppedEarly = "the budget was used up"
		keep(r, upTo(blocks))
	}
}

// The states of a run of the design.
var ends = []state{
	{"whole", func(*results.File) {}, said{
		"run":         {"reproduced", "no difference seen", "server-cpu", "What it decided"},
		"claim queue": {"reproduced"},
	}},
	{"condition-lost", func(r *results.File) { spoil(r, of("c1")) }, said{
		"run":         {"metrics of each trial were recorded", "only 0 of 6 blocks are complete", "no complete block", "1 ratio, ", "; 2 more without a complete block"},
		"claim queue": {"no complete block", "invalid"},
	}},
	{"one-condition-left", func(r *results.File) {
		spoil(r, func(t results.Trial) bool { return t.Condition != "c2" })
	}, said{
		"run":   {"3 comparisons, of which no block is complete", "no complete block", "too few blocks to tell"},
		"entry": {"no complete block"},
	}},
	{"all-invalid", func(r *results.File) { spoil(r, every) }, said{
		"run":         {"no valid trial", "window : made up", "0 + 6 invalid", "no medians"},
		"claim count": {"no valid trial"},
	}},
	{"stopped-in-the-first-block", func(r *results.File) {
		r.Provenance.StoppedEarly = "interrupted"
		keep(r, func(t results.Trial) bool { return t.Seq <= 2 })
	}, said{"run": {"Stopped early", "2 trials", "only 0 of 6 blocks are complete"}}},
	{"stopped-after-one-block", stopped(1), said{"run": {"Stopped early", "the budget was used up", "only 1 of 6 blocks are complete"}}},
	{"stopped-after-five-blocks", stopped(5), said{"run": {"Stopped early", "only 5 of 6 blocks are complete"}}},
	{"not-applicable", func(r *results.File) {
		r.Trials, r.Conditions, r.NotApplicable = []results.Trial{}, []results.Condition{}, "no right to make a namespace"
	}, said{
		"run":         {"This run has no row: no right to make a namespace", "not applicable"},
		"claim wall":  {"not applicable", "no right to make a namespace"},
		"hosts/small": {"cannot be asked of it"},
	}},
	{"no-control", func(*results.File) {}, said{"run": {"none in this run", "no A/A control in this run"}}},
	{"control-differs", func(r *results.File) {
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Condition == "c4" {
				t.Metrics["server_cpu_per_request_s"] *= 2
			}
		}
	}, said{"run": {"differed, so the run is suspect", "the run is suspect", "inconclusive"}}},
	{"control-lost", func(r *results.File) { spoil(r, of("c4")) }, said{
		"run": {"too few blocks to tell, so the run is suspect"},
	}},
	{"control-undecided", func(r *results.File) {
		spoil(r, func(t results.Trial) bool { return t.Condition == "c4" && t.Block > 2 })
	}, said{"run": {"too few blocks to tell, so the run is suspect", "only 2 blocks have its A/A control complete"}}},
	{"metric-lost-in-a-condition", func(r *results.File) { lose(r, "threads_per_worker", of("c2")) }, said{
		"run": {"not recorded", "Every trial"},
	}},
	{"metric-never-recorded", func(r *results.File) {
		lose(r, "threads_per_worker", every)
		lose(r, "latency_p50_s", every)
	}, said{
		"run":           {"the run did not record latency_p50_s"},
		"claim threads": {"not applicable", "the run did not record threads_per_worker"},
		"entry":         {"No host’s run of"},
	}},
	{"all-below-the-clock", func(r *results.File) {
		lose(r, "latency_p50_s", every)
		for i := range r.Trials {
			r.Trials[i].Below = map[string]float64{"latency_p50_s": 0.001}
		}
	}, said{"run": {"<1", "not known"}, "claim queue": {"inconclusive", "not known"}}},
	{"some-below-the-clock", func(r *results.File) {
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Condition == "c1" && t.Block <= 3 {
				delete(t.Metrics, "latency_p50_s")
				t.Below = map[string]float64{"latency_p50_s": 0.001}
			} else if t.Condition == "c1" {
				t.Metrics["latency_p50_s"], t.Below = 0.001, nil
			}
		}
	}, said{"claim queue": {"or more"}, "entry": {"or more", "A bar without a mark"}}},
	{"coarse", func(r *results.File) {
		for i := range r.Trials {
			r.Trials[i].Below = nil
			for name := range r.Trials[i].Metrics {
				if strings.HasPrefix(name, "latency_") {
					r.Trials[i].Metrics[name] = 0.002
				}
			}
			r.Trials[i].Metrics["latency_p50_s"] = 0.002
		}
	}, said{"claim queue": {"0.67 to 1.50", "refuted"}}},
	{"two-walls", func(r *results.File) { busy(r, 0.95, 0.95, bound.ClientCPU) }, said{ // as early files have it
		"run":        {"client-cpu + server-cpu 18", "client-cpu + server-cpu 6", "the client: its CPU was the wall", "client-cpu + server-cpu busiest client thread"},
		"claim wall": {"saturated beside another wall"},
	}},
	{"three-walls", func(r *results.File) {
		busy(r, 0.95, 0.95, "client-cpu+server-cpu+wire")
		for i := range r.Trials {
			r.Trials[i].Metrics["line_rate_share"] = 0.95
		}
	}, said{"run": {"client-cpu + server-cpu + wire 18"}}},
	{"nothing-seen", func(r *results.File) {
		busy(r, 0.5, 0.5, bound.Unknown)
		for _, name := range []string{"client_thread_busy_max", "client_cores_busy", "server_cores_busy", "server_workers_busy"} {
			lose(r, name, every)
		}
		for i := range r.Trials {
			r.Trials[i].Cores, r.Trials[i].ClientThreads, r.Trials[i].BoundWhy = nil, nil, ""
		}
	}, said{"run": {"unknown 18", "the client's CPU was not recorded"}, "claim wall": {"it was not recorded"}}},
	{"one-core", func(r *results.File) {
		r.Hosts = results.Hosts{Server: "single", Client: "single"}
		r.Provenance.ServerCPUs, r.Provenance.ClientCPUs = "", ""
	}, said{
		"run":          {"server and client shared theirs", "One core"},
		"hosts/single": {"Cores 1", "server and client shared theirs"},
	}},
	{"two-hosts", func(r *results.File) { r.Hosts.Client = "bare" }, said{
		"run":        {"A machine of which nothing is known"},
		"hosts/bare": {"Runs that it loaded"},
	}},
}

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
	c.host(&host.Profile{ID: "idle", Name: "A machine without a run"})

	states := append(append([]state{}, ends...), c.others()...)
	for _, s := range ends {
		from := measured
		if s.name == "no-control" { // another order is drawn for so many conditions
			from = without
		}
		r := c.run(from, s.name)
		withRoom(r)
		s.change(r)
		c.experiment(s.name, design(s.name))
		c.write("content/journal/"+s.name+".md", entry(s.name, "queue", "throughput_rps", "connections", "measured", "done"))
		c.add(r, design(s.name))
	}
	c.derive()
	out, err := exec.Command(hugo, "--panicOnWarning", "--noBuildLock", "--source", c.dir, "--destination", filepath.Join(c.dir, "public")).CombinedOutput()
	if err != nil {
		t.Fatalf("hugo: %v\n%s", err, out)
	}

	for _, s := range states {
		for page, words := range s.says {
			text := c.page(c.where(s.name, page))
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Errorf("%s, page %s does not say %q", s.name, page, w)
				}
			}
		}
	}
	c.everyPage(states)
}

// derive makes what `lab verdicts` makes of the journal.
func (c *clone) derive() {
	c.t.Helper()
	j, faults, err := journal.Open(journal.Root(c.dir))
	c.must(err)
	for _, f := range faults {
		c.t.Errorf("%s: %v", f.Path, f.Err)
	}
	if len(faults) > 0 {
		c.t.FailNow()
	}
	c.must(j.Derive())
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

// where is the directory of a page by what a state calls it.
func (c *clone) where(name, page string) string {
	switch kind, id, _ := strings.Cut(page, " "); {
	case kind == "run":
		runs := c.runs(name)
		return fmt.Sprintf("runs/%s/%s", name, runs[len(runs)-1])
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

// page is what a page says, without its markup.
func (c *clone) page(dir string) string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "public", filepath.FromSlash(dir), "index.html"))
	if err != nil {
		c.t.Error(err)
	}
	return spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(string(data), " ")), " ")
}

// nonsense is what a template writes of a figure that is not there.
var nonsense = regexp.MustCompile(`NaN|[+-]Inf\b|%!|<no value>|<nil>`)

// everyPage sees that there is a page for each run, entry, claim and host, and that
// no page of all says nonsense.
func (c *clone) everyPage(states []state) {
	for _, s := range states {
		c.page(c.where(s.name, "entry"))
		for _, run := range c.runs(s.name) {
			c.page(fmt.Sprintf("runs/%s/%s", s.name, run))
		}
	}
	for _, claim := range []string{"threads", "queue", "cost", "falls", "count", "wall"} {
		for _, s := range ends {
			c.page(c.where(s.name, "claim "+claim))
		}
	}
	for _, h := range []string{"small", "single", "bare", "idle"} {
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
	c.t.Logf("%d pages from %d states", n, len(states))
}

package derive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// repository is the clone in which the test runs.
const repository = "../../.."

// A clone is a small journal in its own directory: the real templates over
// made-up experiments, runs and entries.
type clone struct {
	t   *testing.T
	dir string
	// read has the files of runs that others are copied from, by path.
	read map[string][]byte
	// began has the place of each experiment in the order of their first runs: one host
	// measures one after the other, each with hours of its own.
	began map[string]int
}

// newClone copies what the site is built from, with the texts that the golden
// pages have around the entries.
func newClone(t *testing.T) *clone {
	c := &clone{t, t.TempDir(), map[string][]byte{}, map[string]int{}}
	for _, dir := range []string{"layouts", "assets", "static", "content/claims", "content/runs", "content/hosts",
		"content/corrections"} {
		c.must(os.CopyFS(filepath.Join(c.dir, dir), os.DirFS(filepath.Join(repository, dir))))
	}
	for _, page := range []string{"_index.md", "method.md", "reference.md", "errata.md", "reproduce.md", "contribute.md",
		"search.md", "journal/_index.md"} {
		c.write("content/"+page, c.file("test/site/fixture/content/"+page))
	}
	c.write("config.toml", c.file("config.toml"))
	// Hugo mounts the directories in its configuration, even if no run uses them.
	for _, dir := range []string{"profiles", "flames", "audits", "texts", "claims"} {
		c.must(os.MkdirAll(filepath.Join(c.dir, "data", dir), 0o755))
	}
	return c
}

func (c *clone) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) file(name string) []byte {
	c.t.Helper()
	if c.read[name] == nil {
		data, err := os.ReadFile(filepath.Join(repository, name))
		c.must(err)
		c.read[name] = data
	}
	return c.read[name]
}

func (c *clone) write(name string, data []byte) {
	c.t.Helper()
	name = filepath.Join(c.dir, filepath.FromSlash(name))
	c.must(os.MkdirAll(filepath.Dir(name), 0o755))
	c.must(os.WriteFile(name, data, 0o644))
}

func (c *clone) encode(name string, v any) {
	c.t.Helper()
	data, err := results.Encode(v)
	c.must(err)
	c.write(name, data)
}

// profiled is the golden pages' run with profiles.
const profiled = "test/site/fixture/data/results/93-lock/20261120t100000z-small-cpu-2c-0000aaaa.json"

// run copies a run for another experiment and host.
func (c *clone) run(of, experiment, host string) *results.File {
	c.t.Helper()
	r := &results.File{}
	c.must(results.Decode(c.file(of), r))
	r.Experiment = experiment
	r.Hosts = results.Hosts{Server: host, Client: host}
	return r
}

// plan is a run without failures, with enough blocks to decide claims.
func (c *clone) plan(name, text string) madeup.Plan {
	c.t.Helper()
	x, err := experiment.Parse(name, []byte(text))
	c.must(err)
	if _, planned := c.began[name]; !planned {
		c.began[name] = len(c.began)
	}
	return madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: "small", Client: "small"},
		Started: time.Date(2026, 11, 1+c.began[name]%20, 5*(c.began[name]/20), 0, 0, 0, time.UTC),
		Seed:    seedOf(name), Blocks: 16, Ended: results.Decided,
		Trial: func(levels setting.Levels, _ int, _ bool) madeup.Came { return gains(levels) },
	}
}

// seedOf draws the figures of an experiment unlike those of others.
func seedOf(name string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint64(h.Sum32())
}

// gains makes a request a little cheaper with more connections, so that
// throughput rises with them.
func gains(levels setting.Levels) madeup.Came {
	n, _ := levels[setting.Connections].Int()
	return madeup.Came{CostS: map[int64]float64{20: 8e-6, 200: 7e-6, 1000: 6e-6}[n]}
}

// add adds a run to the journal, named by its start and host, with the text of
// its design and its raw profiles.
func (c *clone) add(r *results.File, text string) {
	c.t.Helper()
	if p := r.Provenance; p != nil {
		sum := sha256.Sum256([]byte(text))
		p.ExperimentSHA256 = hex.EncodeToString(sum[:])
		c.write("data/designs/"+p.ExperimentSHA256+".toml", []byte(text))
		r.Run = p.StartedAt.UTC().Format("20060102t150405z") + "-" + r.Hosts.Server
	}
	for _, cond := range r.Conditions {
		for k := range cond.Profiles {
			from := "test/site/fixture/data/profiles/" + cond.Profiles[k].File
			cond.Profiles[k].File = path.Join(r.Experiment, r.Run, path.Base(from))
			c.write("data/profiles/"+cond.Profiles[k].File, c.file(from))
		}
	}
	c.encode(fmt.Sprintf("data/results/%s/%s.json", r.Experiment, r.Run), r)
}

func (c *clone) host(p *host.Profile) {
	c.t.Helper()
	p.SchemaVersion = host.Version
	c.encode("data/hosts/"+p.ID+".json", p)
}

// spoil makes trials invalid by a gate that closes on what no file holds.
func spoil(r *results.File, which func(t results.Trial) bool) {
	for i := range r.Trials {
		if t := &r.Trials[i]; t.Valid && which(*t) {
			t.Valid, t.Reasons = false, []results.Reason{{Gate: "held-up", Detail: "made up"}}
		}
	}
}

// lose removes a metric and its limits from trials.
func lose(r *results.File, name string, of func(t results.Trial) bool) {
	for i := range r.Trials {
		if t := &r.Trials[i]; of(*t) {
			t.Metrics, t.Below = maps.Clone(t.Metrics), maps.Clone(t.Below)
			delete(t.Metrics, name)
			delete(t.Below, name)
		}
	}
}

// design is the experiment of most runs: the threads experiment, with a claim
// of each kind that needs no profile.
func design(name string) string {
	return fmt.Sprintf(`entry = %q
title = "The state %s"
question = "Does a run that ends so have its pages?"
metrics = ["threads_per_worker", "workers", "errors", "throughput_rps", "latency_p50_s", "server_cpu_per_request_s"]
budget_s = 60

[topology]
kind = "loopback"

[settings]
route = "/read"
prefork = true
index = "pool"
workers = 2
generator = "http_load"
pipelining = 1
client_workers = 0

[[factors]]
name = "connections"
levels = [20, 200, 1000]

[block]
slot_s = 0.1
rounds = 2
warmup_s = 0.1

[[claims]]
id = "threads"
kind = "flat"
text = "Threads do not follow connections."
why = "Made up."
metric = "threads_per_worker"
over = "connections"
margin = 0.25

[[claims]]
id = "queue"
kind = "ratio"
text = "With more connections a request waits longer."
why = "Made up."
metric = "latency_p50_s"
over = "connections"
at_least = 2.0

[[claims]]
id = "cost"
kind = "ratio"
text = "A request costs no more with more connections."
why = "Made up."
metric = "server_cpu_per_request_s"
over = "connections"
at_most = 1.5

[[claims]]
id = "falls"
kind = "monotonic"
text = "Throughput rises with connections."
why = "Made up."
metric = "throughput_rps"
over = "connections"
margin = 0.5

[[claims]]
id = "count"
kind = "count"
text = "The workers are as many as were asked for."
why = "Made up."
metric = "workers"
equals = "workers"

[[claims]]
id = "wall"
kind = "bound"
text = "The server is the wall."
why = "Made up."
bound = "server-cpu"
`, word(name), name)
}

// inOnePiece is the design with autocannon, which cannot take turns and cuts
// latencies to whole milliseconds.
func inOnePiece(name string) string {
	return strings.NewReplacer(`generator = "http_load"`, `generator = "autocannon"`, "rounds = 2",
		"rounds = 1").Replace(design(name))
}

// overAWire is the design over a wire of known rate.
func overAWire(name string) string {
	return strings.Replace(design(name), `kind = "loopback"`,
		"kind = \"netns\"\nline_rate_bps = 500_000_000\nburst_bytes = 262_144\nqueue_s = 0.02", 1)
}

// word is an entry's name, in the characters that names of entries allow.
func word(name string) string { return strings.ReplaceAll(name, "-", "") }

// entry is a page about an experiment, with every shortcode that shows its
// runs.
func entry(name, claim, metric, x, source, status string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `+++
number = %q
title = "The state %s"
date = 2026-11-01
status = %q
chapter = "1"
believed = "Made up."
found = "Made up."
finding = "Made up."
tags = ["NIC"]
experiments = [%q]
`, word(name), name, status, name)
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, "{{< "+format+" >}}\n\n", args...) }
	figure := func(id, kind, metric, more string) {
		fmt.Fprintf(&b, "\n[[figures]]\nname = %q\nkind = %q\ntitle = \"A figure: %s\"\nexp = %q\n", id, kind, id, name)
		fmt.Fprintf(&b, "source = %q\nmetric = %q\n%s\n", source, metric, more)
		say("figure %q", id)
	}
	over := fmt.Sprintf("over = %q", x)
	of := fmt.Sprintf("exp=%q source=%q", name, source)
	say(`results %s name="all" title="All" metrics="threads_per_worker throughput_rps latency_p50_s"`, of)
	for _, kind := range []string{"bars", "dots"} {
		if kind == "dots" && source == "published" { // a text has no trials
			break
		}
		figure(kind, kind, metric, "")
	}
	if x != "" { // lines need numbers
		figure("chart", "lines", metric, over)
		figure("below", "lines", "latency_p50_s", over)
		figure("many-lines", "lines", metric, over+"\neach = \"run\"")
	}
	if source == "measured" {
		say(`results %s name="one" title="One metric" metrics="threads_per_worker"`, of)
		figure("nought", "dots", "errors", "")
		if x != "" {
			figure("noughts", "lines", "errors", over)
		}
		figure("cores", "cores", "", "")
		figure("wire", "wire", "", "")
	}
	if claim != "" {
		if source != "published" {
			figure("ratios", "ratios", "", fmt.Sprintf("claim = %q", claim))
		}
		say(`bar exp=%q claim=%q`, name, claim)
		say(`claim exp=%q claim=%q`, name, claim)
	}
	return []byte(b.String() + "+++\n\n" + text.String())
}

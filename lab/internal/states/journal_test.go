package states

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// repository is the clone that the test is run in.
const repository = "../../.."

// A clone is a small journal in a directory of its own: the real templates over
// experiments, runs and entries that are made up.
type clone struct {
	t   *testing.T
	dir string
	// read are the runs that others are made of, by path.
	read map[string][]byte
}

// newClone takes from the repository what the site is built from, with the golden
// pages' words around the entries.
func newClone(t *testing.T) *clone {
	c := &clone{t, t.TempDir(), map[string][]byte{}}
	for _, dir := range []string{"layouts", "assets", "static", "content/claims", "content/runs", "content/hosts", "content/corrections"} {
		c.must(os.CopyFS(filepath.Join(c.dir, dir), os.DirFS(filepath.Join(repository, dir))))
	}
	for _, page := range []string{"_index.md", "method.md", "reproduce.md", "contribute.md", "search.md", "journal/_index.md"} {
		c.write("content/"+page, c.file("test/site/fixture/content/"+page))
	}
	c.write("config.toml", c.file("config.toml"))
	// Hugo mounts what the configuration names, whether or not a run has any.
	for _, dir := range []string{"profiles", "flames", "audits", "texts"} {
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

// The runs that the others are made of: one that the lab measured, an early one of
// the same design without a control, and the golden pages' with profiles.
const (
	measured = "data/results/11-threads/20261121t200646z-intel-xeon-processor-2c-ca1b5bc8.json"
	without  = "data/results/11-threads/20261121t133317z-intel-xeon-processor-2c-ca1b5bc8.json"
	profiled = "test/site/fixture/data/results/93-lock/20261120t100000z-small-cpu-2c-0000aaaa.json"
)

// run is a copy of one of them, of another experiment and by the small machine.
func (c *clone) run(of, experiment string) *results.File {
	c.t.Helper()
	r := &results.File{}
	c.must(json.Unmarshal(c.file(of), r))
	r.Experiment = experiment
	r.Hosts = results.Hosts{Server: "small", Client: "small"}
	return r
}

// add puts a run into the journal under the name that its start and its host give
// it, made with the design that text is, and with its raw profiles.
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
	p.SchemaVersion = 1
	c.encode("data/hosts/"+p.ID+".json", p)
}

// busy has the server's core and the client's, with its one thread, busy for these
// shares of all trials, in each figure that says so, and the walls that this means.
func busy(r *results.File, server, client float64, walls bound.Bound) {
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Metrics["client_thread_busy_max"], t.Metrics["client_cores_busy"] = client, client
		t.ClientThreads = []float64{client}
		t.Metrics["server_cores_busy"] = server
		for k, share := range []float64{server, client} {
			if k < len(t.Cores) {
				steal := t.Cores[k].Steal
				t.Cores[k] = results.Core{CPU: k, User: share - steal, Steal: steal, Idle: 1 - share}
			}
		}
		t.Bound, t.BoundWhy = walls, fmt.Sprintf("busiest client thread %.0f %%, server cores %.0f %%", 100*client, 100*server)
	}
}

// withRoom has the server as the wall of all trials, and room everywhere else, so
// that claims about throughput are decided.
func withRoom(r *results.File) { busy(r, 0.95, 0.5, bound.ServerCPU) }

// spoil makes trials invalid, by a gate that the figures kept do not show.
func spoil(r *results.File, which func(t results.Trial) bool) {
	for i := range r.Trials {
		if t := &r.Trials[i]; t.Valid && which(*t) {
			t.Valid, t.Reasons = false, []results.Reason{{Gate: "window", Detail: "made up"}}
		}
	}
}

// keep drops trials, and numbers those that are left.
func keep(r *results.File, which func(t results.Trial) bool) {
	var kept []results.Trial
	for _, t := range r.Trials {
		if which(t) {
			t.Seq = len(kept) + 1
			kept = append(kept, t)
		}
	}
	r.Trials = kept
}

// lose takes a metric from trials, whatever is known of it.
func lose(r *results.File, name string, of func(t results.Trial) bool) {
	for i := range r.Trials {
		if t := &r.Trials[i]; of(*t) {
			t.Metrics, t.Below = maps.Clone(t.Metrics), maps.Clone(t.Below)
			delete(t.Metrics, name)
			delete(t.Below, name)
		}
	}
}

// design is the experiment that most runs are of: the design of the measured run,
// with a claim of each kind that needs no profile.
func design(name string) string {
	return fmt.Sprintf(`entry = %q
title = "The state %s"
question = "Does a run that ends so have its pages?"
metrics = ["threads_per_worker", "workers", "throughput_rps", "latency_p50_s", "server_cpu_per_request_s"]

[topology]
kind = "loopback"

[settings]
route = "/read"
prefork = true
index = "pool"
workers = 2
pipelining = 1
client_workers = 0

[[factors]]
name = "connections"
levels = [20, 200, 1000]

[sizes.smoke]
blocks = 6
warmup_s = 0.3
duration_s = 1

[sizes.full]
blocks = 12
warmup_s = 3
duration_s = 10

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

// word is an entry's name, in the letters that one may have.
func word(name string) string { return strings.ReplaceAll(name, "-", "") }

// entry is a page about an experiment, with every shortcode that shows what runs
// there are.
func entry(name, claim, metric, x, source, status string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `+++
number = %q
title = "The state %s"
date = 2026-11-01
status = %q
chapter = "1"
thought = "Made up."
finding = "Made up."
tags = ["NIC"]
experiments = [%q]
+++

`, word(name), name, status, name)
	say := func(format string, args ...any) { fmt.Fprintf(&b, "{{< "+format+" >}}\n\n", args...) }
	of := fmt.Sprintf("exp=%q source=%q", name, source)
	say(`results %s name="all" title="All" metrics="threads_per_worker throughput_rps latency_p50_s"`, of)
	for _, kind := range []string{"dots", "bars"} {
		say(`%s %s metric=%q name=%q title="A figure: %s"`, kind, of, metric, kind, kind)
		say(`multiples of=%q %s metric=%q scale="shared" name="many-%s" title="Figures: %s"`, kind, of, metric, kind, kind)
	}
	if x != "" { // lines are over numbers
		say(`chart %s metric=%q x=%q name="chart" title="Lines"`, of, metric, x)
		say(`chart %s metric="latency_p50_s" x=%q name="below" title="Figures that may be limits"`, of, x)
		say(`multiples of="lines" %s metric=%q x=%q scale="shared" name="many-lines" title="Many lines"`, of, metric, x)
	}
	if source == "measured" {
		say(`results %s name="one" title="One metric" metrics="threads_per_worker"`, of)
		say(`cores %s name="cores" title="Cores"`, of)
		say(`wire %s name="wire" title="Wire"`, of)
	}
	if claim != "" {
		say(`ratios %s claim=%q title="Ratios"`, of, claim)
		say(`bar exp=%q claim=%q`, name, claim)
		say(`claim exp=%q claim=%q`, name, claim)
	}
	return []byte(b.String())
}

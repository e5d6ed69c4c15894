package derive

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

func updated(t *testing.T, root journal.Root) {
	t.Helper()
	if _, _, err := Update(root); err != nil {
		t.Fatal(err)
	}
}

// derived has the derived files, each with its text.
func derived(t *testing.T, root journal.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := journal.Walk(root.Derived(), func(p string) error {
		out[root.Rel(p)] = archivetest.Read(t, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

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
	c.Reasons = []results.Reason{{Gate: "other-load", Detail: "another process took half a core"}}
	return c
}

// What is derived of a small journal, with a claim for each verdict, two machines and two runs that
// count together. After a change on purpose: go test ./internal/derive -update.
func TestDerivedFiles(t *testing.T) {
	root := archivetest.Clone(t)
	made(t, root, "90-states", states, "amd-epyc-2c-18587e00", 12, saves)
	made(t, root, "90-states", states, "amd-epyc-2c-18587e00", 14, saves)
	made(t, root, "90-states", states, "c6in-8xlarge", 7, closed)
	archivetest.Write(t, root.Path("content/journal/11-three-flat-levers.md"),
		"+++\nexperiments = [\"90-states\", \"11-threads\"]\n"+
			"[[rests]]\nclaim = \"90-states/costs-more\"\nverdict = \"confirmed\"\n+++\n")
	updated(t, root)
	golden(t, "claims.json", root.Derived("data", "claims", "90-states.json"))
	golden(t, "run.json", root.Derived("pages", "runs", "90-states", "20261122t14*"))
	golden(t, "ledger.json", root.Derived("data", "ledger.json"))
	golden(t, "score.json", root.Derived("pages", "score.json"))
	golden(t, "moved.json", root.Derived("pages", "moved.json"))
}

// golden compares derived files, by their names, with a golden file.
func golden(t *testing.T, name, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	all := map[string]json.RawMessage{}
	for _, p := range paths {
		all[filepath.Base(p)] = json.RawMessage(archivetest.Read(t, p))
	}
	got, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *updateGolden {
		archivetest.Write(t, path, string(got))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s:%d: is\n%s\nwant\n%s", path, i+1, b[i], a[i])
			}
		}
		t.Fatalf("%s: %d lines, want %d", path, len(b), len(a))
	}
}

// Files are the same each time, and what follows from nothing goes.
func TestWhatIsLeftOverGoes(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	want := derived(t, root)
	archivetest.Write(t, root.Derived("data", "former", "x.json"), "{}")
	updated(t, root)
	if !maps.Equal(derived(t, root), want) {
		t.Error("something is left, or was derived otherwise")
	}
}

// Nothing is derived from a file with a fault, which is named; what was derived before stays.
func TestAFaultIsNamed(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := derived(t, root)
	path := root.Result("11-threads", archivetest.Measured)
	archivetest.Edit(t, path, `"experiment": "`, `"experiment": "x`)
	if _, _, err := Update(root); err == nil || !strings.HasPrefix(err.Error(), root.Rel(path)+": ") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if !maps.Equal(derived(t, root), before) {
		t.Error("derived files were changed")
	}
}

func TestPagesAreToldWhereARunsProfilesAre(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	updated(t, root)
	_, run := filepath.Split(archivetest.Profiled)
	if text := archivetest.Read(t, root.Derived("data/claims/09-mutex.json")); !strings.Contains(text,
		"\"profiled\": [\n    \""+run+"\"\n  ]") {
		t.Errorf("%s is not among the runs with profiles:\n%s", run, text)
	}
}

// The journal's own designs, each of which needs something else.
func TestClaimsAreCountedByWhatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		why    string
		design string
		want   map[string]int
	}{
		{"loopback", "05-littles-law", map[string]int{"claims": 4, "here": 4}},
		{"a wire", "11-pipelining-read", map[string]int{"claims": 2, "here": 2, "wire": 2}},
		{"RPS and RFS are turned, on a wire", "03-rps-rfs", map[string]int{"claims": 5, "root": 2, "cores": 3}},
		{"one of two claims needs four cores", "01-prefork", map[string]int{"claims": 2, "here": 1, "cores": 1}},
		{"a second machine, more cores and root", "06-irq-pinning", map[string]int{"claims": 4, "machines": 4}},
	} {
		x, err := experiment.Load("../../experiments/" + c.design + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		got := reach([]*experiment.Experiment{x})
		maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(got, c.want) {
			t.Errorf("%s, %s: %+v, want %+v", c.why, c.design, got, c.want)
		}
	}
}

func TestASummaryGoesWithItsRecord(t *testing.T) {
	records := map[string]pages.OnHost{
		"x/shown":   {Verdict: verdict.Confirmed, For: 9, Blocks: 9},
		"x/most":    {Verdict: verdict.Confirmed, For: 41, Blocks: 42},
		"x/refuted": {Verdict: verdict.Refuted, Blocks: 8},
		"x/open":    {Verdict: verdict.Open, For: 3, Blocks: 5},
		"x/unrun":   {},
	}
	rests := func(claim, verdict string) string {
		return "+++\n[[rests]]\nclaim = \"" + claim + "\"\nverdict = \"" + verdict + "\"\n+++\nText.\n"
	}
	for _, c := range []struct {
		name, text string
		wrong      bool
		says       string // of what was found; empty for nothing
		err        string
	}{
		{name: "no front matter", text: "Text."},
		{name: "what the record says", text: rests("x/shown", "confirmed")},
		{name: "the record refutes it", text: rests("x/refuted", "confirmed"), wrong: true,
			says: "assume that x/refuted is confirmed, and the record says refuted"},
		{name: "the record leaves it open", text: rests("x/open", "refuted"), wrong: true,
			says: "is refuted, and the record says open"},
		{name: "nothing was run", text: rests("x/unrun", "confirmed"), wrong: true, says: "the record says nothing"},
		{name: "an open question was decided", text: rests("x/shown", "open"),
			says: "is open, and the record says confirmed"},
		{name: "no such claim", text: rests("x/else", "confirmed"), err: `page: [[rests]]: there is no claim "x/else"`},
		{name: "no such verdict", text: rests("x/shown", "shown"), err: `verdict "shown" of x/shown is none`},
		{name: "a figure's key", text: "+++\n[[figures]]\nname = \"a\"\ncolour = \"red\"\n+++\n",
			err: `[[figures]]: no key is called "colour"`},
		{name: "every block, and it is so", text: `It held in every block: {{< verdict exp="x" claim="shown" >}}.`},
		{name: "every block, but for one", text: `In every block it held ({{< verdict exp="x" claim="most" >}}).`, wrong: true,
			says: `the words "every block", and 41 of 42 blocks`},
		{name: "none of the blocks", text: `{{< verdict exp="x" claim="most" >}} with none of the blocks left.`, wrong: true,
			says: `"none of the blocks"`},
		{name: "the count of another sentence", text: `It held in all blocks. Then {{< verdict exp="x" claim="most" >}}.`},
		{name: "the count of another paragraph", text: "It held in all blocks\n\n{{< verdict exp=\"x\" claim=\"most\" >}}"},
		{name: "a stop in a shortcode ends no sentence", wrong: true, says: `"All blocks"`,
			text: `All blocks, {{< value exp="x" at="rate=0. 5" >}}, say {{< verdict exp="x" claim="most" >}}.`},
		{name: "a word in a shortcode is no word", text: `{{< claim title="every block" >}} {{< verdict exp="x" claim="most" >}}.`},
	} {
		p, err := parse("page", []byte(c.text))
		var got []Summary
		if err == nil {
			got, _, err = p.compare(records)
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

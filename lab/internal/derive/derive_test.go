package derive

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
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
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

func updated(t *testing.T, root journal.Root) Done {
	t.Helper()
	done, err := Update(root)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// derived has the derived files, each with its text and its time.
func derived(t *testing.T, root journal.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := journal.Walk(func(p string, d fs.DirEntry) error {
		info, err := d.Info()
		out[root.Rel(p)] = archivetest.Read(t, p) + info.ModTime().String()
		return err
	}, root.Derived())
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
		"+++\nexperiments = [\"90-states\", \"11-threads\"]\nseries = [\"90-states/costs-less\"]\ncontrols = [\"90-states/needs-cores\"]\n"+
			"[[rests]]\nclaim = \"90-states/costs-more\"\nverdict = \"reproduced\"\n+++\n")
	updated(t, root)
	golden(t, "claims.json", root.Hosts("90-states"))
	golden(t, "run.json", filepath.Join(filepath.Dir(root.Run("90-states", "x")), "20261122t14*"))
	golden(t, "ledger.json", root.Ledger())
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

func TestDeriveTwiceWritesNothing(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := derived(t, root)
	updated(t, root)
	if !maps.Equal(before, derived(t, root)) {
		t.Error("files were written again")
	}
}

// What follows from nothing goes.
func TestWhatIsLeftOverGoes(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	want := derived(t, root)
	archivetest.Write(t, root.Derived("data", "former", "x.json"), "{}")
	archivetest.Write(t, root.Hosts("gone"), "{}")
	updated(t, root)
	if !maps.Equal(derived(t, root), want) {
		t.Error("something is left, or was written again")
	}
}

// Nothing is derived from a file with a fault, which is named; what was derived before stays.
func TestAFaultIsNamed(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := derived(t, root)
	path := root.Result("11-threads", archivetest.Measured)
	archivetest.Edit(t, path, `"experiment": "`, `"experiment": "x`)
	if _, err := Update(root); err == nil || !strings.HasPrefix(err.Error(), root.Rel(path)+": ") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if !maps.Equal(derived(t, root), before) {
		t.Error("derived files were changed")
	}
}

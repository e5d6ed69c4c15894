package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const threadsDesign = "lab/experiments/11-threads.toml"

// What a run was made with is kept, so that a claim cannot be moved under it.
func TestAClaimThatMovedAfterARunIsNamed(t *testing.T) {
	kept := "data/designs/" + measuredDesign + ".toml"
	run := "data/results/11-threads/" + measured + ".json"
	withdraw := func(id string) func(*testing.T, Root) {
		return func(t *testing.T, r Root) {
			path := r.path(threadsDesign)
			write(t, path, strings.Replace(read(t, path), `id = "threads-flat"`, `id = "threads-flatter"`, 1)+"\n[[withdrawn]]\nid = \""+id+"\"\nwhy = \"Its margin was wide.\"\n")
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, r Root)
		path  string // empty: no fault
		says  string
	}{
		{"a bar moved", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), "margin = 0.25", "margin = 0.5") }, threadsDesign, "was changed after a run had been made with it; give the changed claim a new id"},
		{"a need taken away or added", func(t *testing.T, r Root) {
			edit(t, r.path(threadsDesign), "margin = ", "needs = { cores = 2 }\nmargin = ")
		}, threadsDesign, "was changed after a run"},
		{"a claim dropped", func(t *testing.T, r Root) {
			edit(t, r.path(threadsDesign), `id = "threads-flat"`, `id = "threads-flatter"`)
		}, threadsDesign, `claim "threads-flat" is gone, but a run decided it; name it under [[withdrawn]]`},
		{"another withdrawn instead", withdraw("threads-other"), threadsDesign, `claim "threads-flat" is gone`},
		{"a claim withdrawn", withdraw("threads-flat"), "", ""},
		{"only its words changed", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), `text = "`, `text = "As before: `) }, "", ""},
		{"only the budget changed", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), "budget_s = ", "budget_s = 1") }, "", ""},
		// No later design is that of a run of version 1: its claims are held by
		// what they ask.
		{"another block, after a run of version 1", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), "slot_s = 0.1", "slot_s = 0.2") }, "", ""},
		{"another level, after a run of version 1", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), "[20, 200, 1000]", "[20, 200, 2000]") }, "", ""},
		{"a run of version 1 of a later design", func(t *testing.T, r Root) {
			now := read(t, r.path(threadsDesign))
			sum := sha256.Sum256([]byte(now))
			write(t, r.Design(hex.EncodeToString(sum[:])), now)
			edit(t, r.path(run), measuredDesign, hex.EncodeToString(sum[:]))
		}, run, ".toml: a design with [block], but runs of version 1 have one with [sizes]"},
		{"a bar moved after a run that could not be made", func(t *testing.T, r Root) {
			edit(t, r.path(threadsDesign), "margin = 0.25", "margin = 0.5")
			text := read(t, r.path(run))
			from, to := strings.Index(text, `"conditions": [`), strings.LastIndex(text, "}")
			write(t, r.path(run), text[:from]+`"conditions": [], "trials": [], "not_applicable": "no wire here"`+"\n"+text[to:])
		}, "", ""},
		{"a design that was edited", func(t *testing.T, r Root) { edit(t, r.path(kept), "margin = 0.25", "margin = 0.5") }, run, "/provenance/experiment_sha256: " + kept + ": its SHA-256 is "},
		{"a design that is gone", func(t *testing.T, r Root) {
			if err := os.Remove(r.path(kept)); err != nil {
				t.Fatal(err)
			}
		}, run, "/provenance/experiment_sha256: " + kept + ": missing; add the experiment's file as it was"},
		{"a design of no run", func(t *testing.T, r Root) { write(t, r.Design(strings.Repeat("0", 64)), read(t, r.path(kept))) },
			"data/designs/" + strings.Repeat("0", 64) + ".toml", "no run was made with it"},
		{"a run that names another digest", func(t *testing.T, r Root) { edit(t, r.path(run), measuredDesign, strings.Repeat("0", 64)) },
			run, strings.Repeat("0", 64) + ".toml: missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := clone(t)
			c.spoil(t, root)
			_, faults, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			if c.path == "" {
				if len(faults) > 0 {
					t.Errorf("faults %v, want none", faults)
				}
				return
			}
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) || !strings.Contains(faults[0].Err.Error(), c.says) {
				t.Errorf("faults %v, want %s: %s", faults, c.path, c.says)
			}
		})
	}
}

// From version 2 on, the claims of a run are held by their locks: blocks of
// another design are no evidence for them.
func TestAClaimWhoseDesignMovedAfterARunIsNamed(t *testing.T) {
	root := Root(repository)
	text := read(t, root.path(threadsDesign))
	was, err := experiment.Parse("11-threads", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, new string
		says           string // empty: no fault
	}{
		{"nothing", "", "", ""},
		{"the words", `text = "`, `text = "As before: `, ""},
		{"the budget", "budget_s = ", "budget_s = 1", ""},
		{"the slot", "slot_s = 0.1", "slot_s = 0.2", `claim "threads-flat" was changed after a run had been made with it`},
		{"the rounds", "rounds = ", "rounds = 1", `claim "threads-flat" was changed`},
		{"a level", "[20, 200, 1000]", "[20, 200, 2000]", `claim "threads-flat" was changed`},
		{"a bar", "margin = 0.25", "margin = 0.5", `claim "threads-flat" was changed`},
		{"the id", `id = "threads-flat"`, `id = "threads-flatter"`, `claim "threads-flat" is gone, but a run decided it`},
	} {
		x, err := experiment.Parse("11-threads", []byte(strings.Replace(text, c.old, c.new, 1)))
		if err != nil || c.old != "" && !strings.Contains(text, c.old) {
			t.Fatalf("%s: %v", c.name, err)
		}
		j := &Journal{
			Root: root, Experiments: []*experiment.Experiment{x}, designs: map[string]*experiment.Experiment{"11-threads " + was.SHA256: was},
			Runs: []*results.File{{SchemaVersion: 2, Experiment: "11-threads", Provenance: &results.Provenance{ExperimentSHA256: was.SHA256}}},
		}
		faults := j.moved()
		switch {
		case c.says == "" && len(faults) > 0:
			t.Errorf("%s changed: %v, want no fault", c.name, faults)
		case c.says != "" && (len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), c.says)):
			t.Errorf("%s changed: %v, want %s", c.name, faults, c.says)
		}
		// A run of an earlier load generator decides nothing, so how it measured
		// may change; what the claim asks may not.
		j.Runs[0].Source, j.Runs[0].Provenance.Generator = results.Measured, "http_load"
		if asked := c.name == "a bar" || c.name == "the id"; asked != (len(j.moved()) > 0) {
			t.Errorf("%s changed after a run of an earlier load generator: %v", c.name, j.moved())
		}
	}
}

// A claim that was withdrawn keeps its verdicts, apart from those that stand.
func TestAWithdrawnClaimKeepsItsVerdicts(t *testing.T) {
	root := clone(t)
	edit(t, root.path(threadsDesign), `id = "threads-flat"`, `id = "threads-flatter"`)
	path := root.path(threadsDesign)
	write(t, path, read(t, path)+"\n[[withdrawn]]\nid = \"threads-flat\"\nwhy = \"Its margin was wide.\"\n")
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	text := read(t, root.Verdict("11-threads", measured))
	claims, withdrawn, ok := strings.Cut(text, `"withdrawn": [`)
	if !ok || !strings.Contains(withdrawn, `"id": "threads-flat"`) || strings.Contains(claims, `"id": "threads-flat"`) {
		t.Errorf("the verdicts of the run:\n%s", text)
	}
	if strings.Contains(text, "threads-flatter") {
		t.Error("a claim that was made after the run is decided by it")
	}
}

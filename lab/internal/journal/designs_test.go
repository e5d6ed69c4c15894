package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{"only the budget changed", func(t *testing.T, r Root) { edit(t, r.path(threadsDesign), "blocks = 12", "blocks = 24") }, "", ""},
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

package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// The design that a run was made with is kept, so that a claim cannot be
// changed afterwards.
func TestAClaimThatMovedAfterARunIsNamed(t *testing.T) {
	kept := "data/designs/" + archivetest.MeasuredDesign + ".toml"
	run := "data/results/11-threads/" + archivetest.Measured + ".json"
	withdraw := func(id string) func(*testing.T, journal.Root) {
		return func(t *testing.T, r journal.Root) {
			path := r.Path(archivetest.ThreadsDesign)
			archivetest.Write(t, path, strings.Replace(archivetest.Read(t, path), `id = "threads-flat"`,
				`id = "threads-flatter"`, 1)+"\n[[withdrawn]]\nid = \""+id+"\"\nwhy = \"Its margin was wide.\"\n")
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, r journal.Root)
		path  string // empty: no fault
		says  string
	}{
		{"a bar moved", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), "margin = 0.25", "margin = 0.5")
		}, archivetest.ThreadsDesign, "was changed after 1 run had been made with it; give the changed claim a new id"},
		{"a need taken away or added", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), "margin = ", "needs = { cores = 2 }\nmargin = ")
		}, archivetest.ThreadsDesign, "was changed after 1 run"},
		{"a claim dropped", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), `id = "threads-flat"`, `id = "threads-flatter"`)
		}, archivetest.ThreadsDesign, `claim "threads-flat" is gone, but 1 run decided it; name it under [[withdrawn]]`},
		{"another withdrawn instead", withdraw("threads-other"), archivetest.ThreadsDesign, `claim "threads-flat" is gone`},
		{"a claim withdrawn", withdraw("threads-flat"), "", ""},
		{"only its words changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), `text = "`, `text = "As before: `)
		}, "", ""},
		{"only the budget changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), "budget_s = ", "budget_s = 1")
		}, "", ""},
		{"a design that was edited", func(t *testing.T,
			r journal.Root) {
			archivetest.Edit(t, r.Path(kept), "margin = 0.25", "margin = 0.5")
		}, run, "/provenance/experiment_sha256: " + kept + ": its SHA-256 is "},
		{"a design that is gone", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(kept)); err != nil {
				t.Fatal(err)
			}
		}, run, "/provenance/experiment_sha256: " + kept + ": missing; add the experiment's file as it was"},
		{"a run that names another digest", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(run), archivetest.MeasuredDesign, strings.Repeat("0", 64))
		},
			run, strings.Repeat("0", 64) + ".toml: missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := archivetest.Clone(t)
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
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) ||
				!strings.Contains(faults[0].Err.Error(), c.says) {
				t.Errorf("faults %v, want %s: %s", faults, c.path, c.says)
			}
		})
	}
}

// A run's claims are compared by their locks: blocks of
// another design are no evidence for them.
func TestAClaimWhoseDesignMovedAfterARunIsNamed(t *testing.T) {
	root := journal.Root(archivetest.Repository)
	text := archivetest.Read(t, root.Path(archivetest.ThreadsDesign))
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
		{"the slot", "slot_s = 0.1", "slot_s = 0.2", `claim "threads-flat" was changed after 1 run had been made with it`},
		{"the rounds", "rounds = ", "rounds = 1", `claim "threads-flat" was changed`},
		{"a level", "[20, 200, 1000]", "[20, 200, 2000]", `claim "threads-flat" was changed`},
		{"a bar", "margin = 0.25", "margin = 0.5", `claim "threads-flat" was changed`},
		{"the id", `id = "threads-flat"`, `id = "threads-flatter"`, `claim "threads-flat" is gone, but 1 run decided it`},
	} {
		x, err := experiment.Parse("11-threads", []byte(strings.Replace(text, c.old, c.new, 1)))
		if err != nil || c.old != "" && !strings.Contains(text, c.old) {
			t.Fatalf("%s: %v", c.name, err)
		}
		j := &Journal{
			Root: root, Experiments: []*experiment.Experiment{x},
			designs: map[string]*experiment.Experiment{"11-threads " + was.SHA256: was},
			Runs: []*results.File{{SchemaVersion: results.Version, Experiment: "11-threads",
				Provenance: &results.Provenance{ExperimentSHA256: was.SHA256}}},
		}
		faults := j.moved()
		switch {
		case c.says == "" && len(faults) > 0:
			t.Errorf("%s changed: %v, want no fault", c.name, faults)
		case c.says != "" && (len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), c.says)):
			t.Errorf("%s changed: %v, want %s", c.name, faults, c.says)
		}
	}
}

package archive

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

// A run has the locks that it was made with, so that a claim cannot be changed afterwards.
func TestAClaimThatMovedAfterARunIsNamed(t *testing.T) {
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

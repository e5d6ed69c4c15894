package session

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// files lists everything below a directory.
func (w *workshop) below(dir string) (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return found
}

func TestARunForTrialStaysOutOfTheJournal(t *testing.T) {
	w := newWorkshop(t)
	before := w.below(w.root.Path("data"))
	w.seen = func(int64) float64 { return 7 }
	status, out, err := w.run(context.Background(), Options{Trial: true})
	if err != nil || status != NotHeld || !strings.Contains(out, counted+"/count  refuted") {
		t.Fatalf("status %d, %v\n%s", status, err, out)
	}
	if after := w.below(w.root.Path("data")); !slices.Equal(before, after) {
		t.Errorf("data/ was changed:\n%q\n%q", before, after)
	}
	made, err := filepath.Glob(w.root.Tried().Result(counted, "*"))
	if err != nil || len(made) != 1 || !strings.Contains(out, "results: "+w.root.Rel(made[0])) {
		t.Fatalf("made %v, %v\n%s", made, err, out)
	}
	if f, err := results.Read(made[0]); err != nil || f.Experiment != counted {
		t.Errorf("%v", err)
	}
	if len(w.inOrder()) != 0 {
		t.Error("the journal knows of the run")
	}

	// The claim may still change, and what counts has not seen the trial.
	design := strings.Replace(archivetest.CountedDesign("97", true), "connections = 4", "connections = 8", 1)
	w.write(filepath.Join(w.root.Experiments(), counted+".toml"), design)
	w.seen = nil
	if status, out, err := w.run(context.Background(), Options{}); err != nil || status != Held ||
		!strings.Contains(out, counted+"/count  confirmed") {
		t.Errorf("status %d, %v\n%s", status, err, out)
	}
	if got := w.inOrder(); len(got) != 1 {
		t.Errorf("%d runs", len(got))
	}

	// Nor does a trial see what counts.
	w.seen = func(int64) float64 { return 7 }
	if _, out, _ := w.run(context.Background(), Options{Trial: true}); !strings.Contains(out, counted+"/count  refuted") {
		t.Errorf("the verdict rests on more than the run:\n%s", out)
	}
}

// Profiles that no results file names are removed by the next call; those that one names stay.
func TestProfilesThatNoRunNamesAreRemoved(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	named := root.Packed(archivetest.Profiled + "/c1")
	whole := archivetest.Read(t, named)
	f := archivetest.AddRun(t, root, "c6in-8xlarge", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 1)
	left := []string{root.Packed("09-mutex/killed/c1"), root.Packed(f.Experiment + "/" + f.Run + "/c1")}
	for _, path := range left {
		archivetest.Write(t, path, whole)
	}
	s := &Session{j: &archive.Journal{Root: root}}
	if err := s.tidy(); err != nil || archivetest.Read(t, named) != whole {
		t.Errorf("what a run names is changed: %v", err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}

// A run never takes the place of another.
func TestARunOfATakenNameIsRefused(t *testing.T) {
	w := newWorkshop(t)
	began := w.at
	if _, _, err := w.run(t.Context(), Options{}); err != nil {
		t.Fatal(err)
	}
	w.at = began
	if _, _, err := w.run(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
}

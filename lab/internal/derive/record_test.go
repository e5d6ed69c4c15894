package derive

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// Runs of one design on one host count together; runs on another host do not.
func TestRunsOfOneDesignOnOneHostAreARecord(t *testing.T) {
	const host = "c6i-4xlarge"
	root := archivetest.Clone(t)
	day := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	later := archivetest.AddRun(t, root, host, day.Add(time.Hour), 7)
	first := archivetest.AddRun(t, root, host, day, 6)
	other := archivetest.AddRun(t, root, "c6in-8xlarge", day.Add(2*time.Hour), 9)
	updated(t, root)
	said := func(run string) (f verdict.File) {
		t.Helper()
		if err := json.Unmarshal([]byte(published(t, root.Verdict("11-threads", run))), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		run    string
		record []string
		blocks int
	}{
		{first.Run, []string{first.Run}, 6},
		{later.Run, []string{first.Run, later.Run}, 13},
		{other.Run, []string{other.Run}, 9},
	} {
		f := said(c.run)
		if !slices.Equal(f.Record.Runs, c.record) || f.Record.Blocks != c.blocks || len(f.Claims) != 1 ||
			f.Claims[0].Blocks != c.blocks || f.Claims[0].Runs != len(c.record) {
			t.Errorf("%s: %+v, %+v", c.run, f.Record, f.Claims)
		}
	}
	// Pages show the figures of all blocks of a record.
	if f := said(first.Run); f.Together != nil {
		t.Errorf("%+v", f.Together)
	}
	if f := said(later.Run); f.Together == nil || len(f.Together.Conditions) != len(f.Conditions) ||
		f.Together.Conditions[0].Trials != 13 || f.Conditions[0].Trials != 7 {
		t.Errorf("%+v beside %+v", f.Together, f.Conditions)
	}
	var page pages.Page
	if err := json.Unmarshal([]byte(archivetest.Read(t, root.Run("11-threads", later.Run))), &page); err != nil {
		t.Fatal(err)
	}
	if all := page.Together.Table.Rows[0]; all.Trials+all.Invalid != 13 {
		t.Errorf("%+v", all)
	}
	// Each host counts with its newest record.
	var hosts pages.Hosts
	if err := json.Unmarshal([]byte(archivetest.Read(t, root.Hosts("11-threads"))), &hosts); err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, on := range hosts.Claims[0].Hosts {
		runs = append(runs, on.Run)
	}
	if want := []string{archivetest.Measured, later.Run, other.Run}; !slices.Equal(runs, want) {
		t.Errorf("hosts %q, want %q", runs, want)
	}
}

// Each experiment has a file with its claims over all hosts, which is removed
// together with it.
func TestClaimsOverHostsAreDerived(t *testing.T) {
	root := archivetest.Clone(t)
	archivetest.Write(t, root.Hosts("gone"), "{}")
	j := open(t, root)
	updated(t, root)
	if _, err := os.Stat(root.Hosts("gone")); err == nil {
		t.Error("the claims of an experiment that is gone were left")
	}
	for _, x := range j.Experiments {
		var got pages.Hosts
		if err := json.Unmarshal([]byte(archivetest.Read(t, root.Hosts(x.Name))), &got); err != nil {
			t.Fatal(err)
		}
		var ids, want []string
		for _, c := range got.Claims {
			if ids = append(ids, c.ID); c.Says == "" {
				t.Errorf("%s/%s: nothing is said", x.Name, c.ID)
			}
		}
		for _, c := range x.Claims {
			want = append(want, c.ID)
		}
		if got.Experiment != x.Name || !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", got.Experiment, ids, want)
		}
	}
}

// A withdrawn claim keeps its verdicts, listed apart from present claims.
func TestAWithdrawnClaimKeepsItsVerdicts(t *testing.T) {
	root := archivetest.Clone(t)
	archivetest.Edit(t, root.Path(archivetest.ThreadsDesign), `id = "threads-flat"`, `id = "threads-flatter"`)
	path := root.Path(archivetest.ThreadsDesign)
	archivetest.Write(t, path, archivetest.Read(t, path)+
		"\n[[withdrawn]]\nid = \"threads-flat\"\nwhy = \"Its margin was wide.\"\n")
	updated(t, root)
	text := archivetest.Read(t, root.Verdict("11-threads", archivetest.Measured))
	claims, withdrawn, ok := strings.Cut(text, `"withdrawn":[`)
	if !ok || !strings.Contains(withdrawn, `"id":"threads-flat"`) || strings.Contains(claims, `"id":"threads-flat"`) {
		t.Errorf("the verdicts of the run:\n%s", text)
	}
	if strings.Contains(text, "threads-flatter") {
		t.Error("a claim that was made after the run is decided by it")
	}
}

// The machine with the most blocks of a page is shown of each of its experiments, also if another
// experiment's new runs make it that one.
func TestAPageShowsOneMachine(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	day := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	most := archivetest.AddRun(t, root, "c6i-4xlarge", day, 30)
	other := archivetest.AddRun(t, root, "c6in-8xlarge", day.Add(time.Hour), 29)
	shown := func(want, packed string) {
		t.Helper()
		updated(t, root)
		var hosts pages.Hosts
		if err := json.Unmarshal([]byte(archivetest.Read(t, root.Hosts("11-threads"))), &hosts); err != nil {
			t.Fatal(err)
		}
		if hosts.Shown != want || hosts.Claims[0].Own != want {
			t.Errorf("%s is shown, and %s of the claim, want %s", hosts.Shown, hosts.Claims[0].Own, want)
		}
		for run, end := range map[string]string{want: "", packed: ".gz"} {
			var page pages.Page
			if err := json.Unmarshal([]byte(archivetest.Read(t, root.Run("11-threads", run))), &page); err != nil {
				t.Fatal(err)
			}
			if page.Packed != (end != "") || (page.Results.Trials == nil) != page.Packed || (page.Each == nil) != page.Packed {
				t.Errorf("%s is packed: %v, with %d trials", run, page.Packed, len(page.Results.Trials))
			}
			paths := []string{root.Verdict("11-threads", run), root.Sheet("11-threads", run), root.Published("11-threads", run)}
			for _, path := range paths {
				if all, err := filepath.Glob(path + "*"); err != nil || !slices.Equal(all, []string{path + end}) {
					t.Errorf("%v, %v; want %s", all, err, path+end)
				}
			}
			if published(t, paths[2]) != archivetest.Read(t, root.Result("11-threads", run)) {
				t.Errorf("%s is not published as it was measured", run)
			}
		}
	}
	shown(most.Run, other.Run)
	archivetest.Write(t, root.Path("content", "journal", "both.md"), "+++\nexperiments = [\"11-threads\", \"98-made-lock\"]\n+++\n")
	shown(other.Run, most.Run)
	before := tree(t, root)
	updated(t, root)
	if after := tree(t, root); !maps.Equal(before, after) {
		t.Error("what had not changed was derived again")
	}
}

// published is a run's published file, which may be compressed.
func published(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return archivetest.Read(t, path)
	}
	r, err := gzip.NewReader(strings.NewReader(archivetest.Read(t, path+".gz")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

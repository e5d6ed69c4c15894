package derive

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

func open(t *testing.T, root journal.Root) *archive.Journal {
	t.Helper()
	j, faults, err := archive.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Fatalf("%s: %v", f.Path, f.Err)
	}
	return j
}

func drift(t *testing.T, j *archive.Journal) []string {
	t.Helper()
	lines, err := Drift(j)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

const (
	verdictOfThreads = "data/verdicts/11-threads/" + archivetest.Measured + ".json"
	sheetOfMeasured  = "data/csv/11-threads/" + archivetest.Measured + ".csv"
	pageOfMeasured   = "data/runs/11-threads/" + archivetest.Measured + ".json"
)

// A file that nothing made is named, and left for its owner to remove.
func TestDriftNamesForeignFiles(t *testing.T) {
	root := journal.Root(t.TempDir())
	archivetest.Write(t, root.Path(archivetest.ThreadsDesign), archivetest.Read(t, filepath.Join(archivetest.Repository, archivetest.ThreadsDesign)))
	if err := Write(open(t, root)); err != nil {
		t.Fatal(err)
	}
	want := []string{"data/extra/x.json: neither data nor derived from it; remove it", "data/notes.txt: neither data nor derived from it; remove it"}
	archivetest.Write(t, root.Path("data/notes.txt"), "x")
	archivetest.Write(t, root.Path("data/extra/x.json"), "{}")
	for range 2 {
		j := open(t, root)
		if got := drift(t, j); !slices.Equal(slashed(got), want) {
			t.Errorf("drift %q, want %q", got, want)
		}
		if err := Write(j); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDriftNamesWhatDiffersAndDeriveMendsIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, root journal.Root)
		want  []string
	}{
		{"nothing", func(*testing.T, journal.Root) {}, nil},
		{"a verdict that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(verdictOfThreads), `"verdict": "inconclusive"`, `"verdict": "reproduced"`)
		}, []string{verdictOfThreads + ": differs from what the data gives"}},
		{"a verdict that is missing", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(verdictOfThreads)); err != nil {
				t.Fatal(err)
			}
		}, []string{verdictOfThreads + ": missing"}},
		{"a verdict whose run is gone", func(t *testing.T, r journal.Root) {
			for _, p := range []string{r.Result("11-threads", archivetest.Measured), r.Design(archivetest.MeasuredDesign)} {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"data/claims/11-threads.json: differs from what the data gives", sheetOfMeasured + ": its run is gone", pageOfMeasured + ": its run is gone", "data/verdicts/11-threads/" + archivetest.Measured + ".json: its run is gone"}},
		{"a CSV that was changed", func(t *testing.T, r journal.Root) { archivetest.Edit(t, r.Path(sheetOfMeasured), ",true,", ",false,") },
			[]string{sheetOfMeasured + ": differs from what the data gives"}},
		{"a CSV that is missing", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(sheetOfMeasured)); err != nil {
				t.Fatal(err)
			}
		}, []string{sheetOfMeasured + ": missing"}},
		{"a CSV of no run", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Sheet("11-threads", "stray"), "seq\n") },
			[]string{"data/csv/11-threads/stray.csv: its run is gone"}},
		{"a page that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(pageOfMeasured), `"valid":true`, `"valid":false`)
		},
			[]string{pageOfMeasured + ": differs from what the data gives"}},
		{"a page that is missing", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(pageOfMeasured)); err != nil {
				t.Fatal(err)
			}
		}, []string{pageOfMeasured + ": missing"}},
		{"a page of no run", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Run("11-threads", "stray"), "{}") },
			[]string{"data/runs/11-threads/stray.json: its run is gone"}},
		{"a note that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Result("11-threads", archivetest.Measured), `"generator": "`, `"generator": "other than `)
		}, []string{pageOfMeasured + ": differs from what the data gives"}},
		{"a ledger that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.LedgerSheet(), "claim,verdict\n")
			archivetest.Edit(t, r.Ledger(), `"schema_version": 1`, `"schema_version": 2`)
		}, []string{"data/ledger.csv: differs from what the data gives", "data/ledger.json: differs from what the data gives"}},
		{"an audit that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Audit("10"), `"verdict": "disagrees"`, `"verdict": "agrees"`)
		}, []string{"data/audits/10.json: differs from what the data gives"}},
		{"an audit whose text is gone", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Audit("98"), "{}") },
			[]string{"data/audits/98.json: its text is gone"}},
		{"a text that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Text("10"), `printed = "~1,900"`, `printed = "~1,800"`)
		}, []string{"data/audits/10.json: differs from what the data gives"}},
		{"a verdict of no run", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Verdict("11-threads", "stray"), "{}") },
			[]string{"data/verdicts/11-threads/stray.json: its run is gone"}},
		{"a figure that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Result("11-threads", archivetest.Measured), `"threads_per_worker": `, `"threads_per_worker": 1`)
		}, []string{sheetOfMeasured + ": differs from what the data gives", pageOfMeasured + ": differs from what the data gives", "data/verdicts/11-threads/" + archivetest.Measured + ".json: differs from what the data gives"}},
		{"a schema that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path("static/schema/results-1.json"), "version 1", "version I")
		}, []string{"static/schema/results-1.json: differs from what the data gives"}},
		{"all that pages are told, missing", func(t *testing.T, r journal.Root) {
			for _, p := range []string{"data/method.json", "data/metrics.json", "data/reach.json", "static/schema/host-1.json"} {
				if err := os.Remove(r.Path(p)); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"data/method.json: missing", "data/metrics.json: missing", "data/reach.json: missing", "static/schema/host-1.json: missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := archivetest.Clone(t)
			if err := Write(open(t, root)); err != nil { // whatever the repository's own state is
				t.Fatal(err)
			}
			c.spoil(t, root)
			j := open(t, root)
			if got := drift(t, j); !slices.Equal(slashed(got), c.want) {
				t.Errorf("drift %q, want %q", got, c.want)
			}
			if err := Write(j); err != nil {
				t.Fatal(err)
			}
			if got := drift(t, j); len(got) != 0 {
				t.Errorf("still drifted after Derive: %q", got)
			}
			if left, _ := os.ReadDir(root.Scratch()); len(left) != 0 {
				t.Errorf("%d files were left in scratch", len(left))
			}
		})
	}
}

func slashed(lines []string) []string {
	for i := range lines {
		lines[i] = filepath.ToSlash(lines[i])
	}
	return lines
}

// tree lists every file below a root, with its modification time.
func tree(t *testing.T, root journal.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(string(root), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[root.Rel(p)] = info.ModTime().String() + archivetest.Read(t, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDeriveTwiceChangesNothing(t *testing.T) {
	root := archivetest.Clone(t)
	for _, dir := range []string{"verdicts", "csv", "runs"} {
		if err := os.RemoveAll(root.Path("data", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(open(t, root)); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	if err := Write(open(t, root)); err != nil {
		t.Fatal(err)
	}
	after := tree(t, root)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was written again", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
}

func TestDeriveLeavesWhatPeopleWroteAlone(t *testing.T) {
	root := archivetest.Clone(t)
	before := tree(t, root)
	for _, dir := range []string{"verdicts", "csv", "runs"} {
		if err := os.RemoveAll(root.Path("data", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(open(t, root)); err != nil {
		t.Fatal(err)
	}
	after := tree(t, root)
	for path, was := range before {
		path = filepath.ToSlash(path)
		ours := strings.HasPrefix(path, "data/verdicts/") || strings.HasPrefix(path, "data/csv/") || strings.HasPrefix(path, "data/runs/") || strings.HasPrefix(path, "data/flames/") || strings.HasPrefix(path, "data/audits/") || strings.HasPrefix(path, "data/claims/") || strings.HasPrefix(path, "static/") || strings.HasPrefix(path, "data/ledger.") || path == "data/method.json" || path == "data/metrics.json" || path == "data/reach.json"
		if !ours && after[filepath.FromSlash(path)] != was {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestDerivedFilesEndInANewline(t *testing.T) {
	all, err := derived(open(t, archivetest.Clone(t)))
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{".json": "}\n", ".csv": "\n"}
	for path, text := range all {
		if end, known := ends[filepath.Ext(path)]; !known || !bytes.HasSuffix(text, []byte(end)) {
			t.Errorf("%s ends in %q", path, text[max(0, len(text)-5):])
		}
	}
}

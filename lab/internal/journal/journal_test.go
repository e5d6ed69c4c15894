package journal

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestTheRepositoryIsInOrder(t *testing.T) {
	j := open(t, Root(repository))
	if len(j.Experiments) < 5 || len(j.Hosts) < 2 || len(j.Runs) < 5 {
		t.Errorf("%d experiments, %d hosts, %d runs", len(j.Experiments), len(j.Hosts), len(j.Runs))
	}
	if !slices.IsSortedFunc(j.Runs, func(a, b *results.File) int {
		return strings.Compare(a.Experiment+"/"+a.Run, b.Experiment+"/"+b.Run)
	}) {
		t.Error("runs are not in the order of their names")
	}
}

func TestOpenNamesEveryFaultByItsPath(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, root Root)
		path  string
		says  string
	}{
		{"an unknown version", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"schema_version": 1`, `"schema_version": 99`)
		}, threads, "/schema_version: version 99 is not known"},
		{"a host of an unknown version", func(t *testing.T, r Root) {
			write(t, r.Host("new"), `{"schema_version": 99, "id": "new", "name": "N"}`)
		}, "data/hosts/new.json", "/schema_version: version 99 is not known"},
		{"a key that stands twice", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"source": "published"`, "\"source\": \"published\",\n  \"source\": \"measured\"")
		}, threads, `line 6: /source: key "source" stands twice`},
		{"a file cut short", func(t *testing.T, r Root) {
			write(t, r.path(threads), read(t, r.path(threads))[:200])
		}, threads, "the file ends in the middle"},
		{"an empty file", func(t *testing.T, r Root) { write(t, r.path(threads), "") }, threads, "line 1: the file ends"},
		{"an unknown field", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"source"`, `"best_of": 3, "source"`)
		}, threads, "additional properties 'best_of' not allowed"},
		{"an unknown experiment", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"11-threads"`, `"11-thread"`)
		}, threads, `/experiment: no experiment "11-thread"; there are `},
		{"an experiment that is not the directory's", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"11-threads"`, `"10-workers"`)
		}, threads, `/experiment: "10-workers", but the file lies in data/results/11-threads`},
		{"an unknown host", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"client": "c6in-8xlarge"`, `"client": "nobodys"`)
		}, threads, "/hosts/client: no profile data/hosts/nobodys.json"},
		{"a host whose profile is gone", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"server": "c6in-8xlarge"`, `"server": "c6in-9xlarge"`)
		}, threads, "/hosts/server: no profile data/hosts/c6in-9xlarge.json"},
		{"a run of another name than its file", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"run": "published-2026-06-11-c6in-8xlarge"`, `"run": "published-2026-06-11-c6in-9xlarge"`)
		}, threads, `/run: "published-2026-06-11-c6in-9xlarge" differs from the file's name`},
		{"a host of another name than its file", func(t *testing.T, r Root) {
			write(t, r.Host("new"), `{"schema_version": 1, "id": "old", "name": "N"}`)
		}, "data/hosts/new.json", `/id: "old" differs from the file's name`},
		{"a trial that contradicts itself", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"bound": "unknown"`, `"bound": "wire"`)
		}, threads, `/trials/0/bound: "wire", but the figures give "unknown"`},
		{"a run that lies beside the directories", func(t *testing.T, r Root) {
			write(t, r.path("data/results/stray.json"), read(t, r.path(threads)))
		}, "data/results/stray.json", `/experiment: "11-threads", but the file lies in data/results`},
		{"a host in a directory further down", func(t *testing.T, r Root) {
			write(t, r.path("data/hosts/more/c6in-8xlarge.json"), read(t, r.path(c6in)))
		}, "data/hosts/more/c6in-8xlarge.json", `/id: "c6in-8xlarge", but the file lies in data/hosts/more`},
		{"a figure that is not the printed one", func(t *testing.T, r Root) {
			edit(t, r.path(threads), `"threads_per_worker": 10.1`, `"threads_per_worker": 10.2`)
		}, threads, `/trials/0/printed: threads_per_worker is 10.2, but printed as "10.1"`},
		{"a text that leans on a run that is gone", func(t *testing.T, r Root) {
			if err := os.Remove(r.path(threads)); err != nil {
				t.Fatal(err)
			}
		}, "data/texts/11.toml", "there is no " + threads},
		{"a text with a word that means nothing", func(t *testing.T, r Root) {
			edit(t, r.Text("10"), `place = "opening: workers"`, `plaice = "opening: workers"`)
		}, "data/texts/10.toml", `unknown key "figures.plaice"`},
		{"a text that is no text", func(t *testing.T, r Root) { write(t, r.path("data/texts/notes.md"), "") },
			"data/texts/notes.md", "only texts belong there"},
		// Its verdict would be written over that of the run in its place.
		{"a run in a directory further down", func(t *testing.T, r Root) {
			write(t, r.path("data/results/more/11-threads/published-2026-06-11-c6in-8xlarge.json"), read(t, r.path(threads)))
		}, "data/results/more/11-threads/published-2026-06-11-c6in-8xlarge.json", `/experiment: "11-threads", but the file lies in data/results/more/11-threads`},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := clone(t)
			c.spoil(t, root)
			_, faults, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) || !strings.Contains(faults[0].Err.Error(), c.says) {
				t.Errorf("faults %v, want %s: %s", faults, c.path, c.says)
			}
			for _, f := range faults {
				if strings.Contains(f.Err.Error(), string(root)) {
					t.Errorf("%v repeats where the clone lies", f.Err)
				}
			}
		})
	}
}

func TestOnePassNamesAllFaults(t *testing.T) {
	root := clone(t)
	edit(t, root.path(threads), `"schema_version": 1`, `"schema_version": 99`)
	write(t, root.Host("new"), `{}`)
	write(t, root.Host("other"), `[`)
	j, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range faults {
		paths = append(paths, filepath.ToSlash(f.Path))
	}
	if want := []string{"data/hosts/new.json", "data/hosts/other.json", threads}; !slices.Equal(paths, want) {
		t.Errorf("faults in %v, want %v", paths, want)
	}
	// What is in order is there all the same.
	if len(j.Hosts) < 2 || len(j.Runs) < 4 {
		t.Errorf("%d hosts, %d runs", len(j.Hosts), len(j.Runs))
	}
}

func TestARunOfAFaultyHostIsFaultyToo(t *testing.T) {
	root := clone(t)
	edit(t, root.path(c6in), `"schema_version": 1`, `"schema_version": 2`)
	_, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) < 2 || filepath.ToSlash(faults[0].Path) != c6in || filepath.ToSlash(faults[len(faults)-1].Path) != threads {
		t.Errorf("faults %v", faults)
	}
}

func TestAFileThatIsNoJSONIsNamed(t *testing.T) {
	for _, stray := range []string{"data/results/11-threads/notes.txt", "data/hosts/README", "data/results/11-threads/run.json~"} {
		root := clone(t)
		write(t, root.path(stray), "x")
		_, _, err := Open(root)
		if err == nil || !strings.Contains(err.Error(), filepath.FromSlash(stray)) {
			t.Errorf("%s: %v", stray, err)
		}
	}
}

func TestABrokenExperimentEndsIt(t *testing.T) {
	root := clone(t)
	path := filepath.Join(root.Experiments(), "11-threads.toml")
	edit(t, path, "margin", "margn")
	if _, _, err := Open(root); err == nil || !strings.Contains(err.Error(), path+": line ") {
		t.Errorf("%v, want %s and the line", err, path)
	}
	if _, _, err := Open(Root(t.TempDir())); err == nil {
		t.Error("a directory without experiments was opened")
	}
}

func TestAJournalWithoutDataIsEmpty(t *testing.T) {
	root := clone(t)
	if err := os.RemoveAll(root.path("data")); err != nil {
		t.Fatal(err)
	}
	j := open(t, root)
	if len(j.Hosts) != 0 || len(j.Runs) != 0 {
		t.Errorf("%d hosts, %d runs", len(j.Hosts), len(j.Runs))
	}
}

func TestExperimentIsFoundByName(t *testing.T) {
	j := open(t, Root(repository))
	if x, err := j.Experiment("11-threads"); err != nil || x.Name != "11-threads" {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := j.Experiment("11"); err == nil || !strings.Contains(err.Error(), `no experiment "11"; there are `) {
		t.Errorf("%v", err)
	}
}

func TestFindLooksUpwards(t *testing.T) {
	root := clone(t)
	deep := root.path("data", "results", "11-threads")
	for _, dir := range []string{string(root), deep, root.path("lab", "experiments")} {
		if got, err := Find(dir); err != nil || got != root {
			t.Errorf("from %s: %s, %v; want %s", dir, got, err, root)
		}
	}
	if got, err := Find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not inside a clone") {
		t.Errorf("outside: %s, %v", got, err)
	}
}

func TestRelShortensWhatIsInside(t *testing.T) {
	root := Root(filepath.FromSlash("/a/b"))
	for path, want := range map[string]string{"/a/b/data/x.json": "data/x.json", "/a/b": ".", "/a/c/x.json": "/a/c/x.json", "/x": "/x"} {
		if got := root.Rel(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func drift(t *testing.T, j *Journal) []string {
	t.Helper()
	lines, err := j.Drift()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

const (
	verdictOfThreads = "data/verdicts/11-threads/published-2026-06-11-c6in-8xlarge.json"
	sheetOfMeasured  = "data/csv/11-threads/" + measured + ".csv"
)

func TestDriftNamesWhatDiffersAndDeriveMendsIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, root Root)
		want  []string
	}{
		{"nothing", func(*testing.T, Root) {}, nil},
		{"a verdict that was changed", func(t *testing.T, r Root) {
			edit(t, r.path(verdictOfThreads), `"verdict": "inconclusive"`, `"verdict": "reproduced"`)
		}, []string{verdictOfThreads + ": differs from what the data gives"}},
		{"a verdict that is missing", func(t *testing.T, r Root) {
			if err := os.Remove(r.path(verdictOfThreads)); err != nil {
				t.Fatal(err)
			}
		}, []string{verdictOfThreads + ": missing"}},
		{"a verdict whose run is gone", func(t *testing.T, r Root) {
			for _, p := range []string{r.Result("11-threads", measured), r.Design(measuredDesign)} {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{sheetOfMeasured + ": its run is gone", "data/verdicts/11-threads/" + measured + ".json: its run is gone"}},
		{"a CSV that was changed", func(t *testing.T, r Root) { edit(t, r.path(sheetOfMeasured), ",true,", ",false,") },
			[]string{sheetOfMeasured + ": differs from what the data gives"}},
		{"a CSV that is missing", func(t *testing.T, r Root) {
			if err := os.Remove(r.path(sheetOfMeasured)); err != nil {
				t.Fatal(err)
			}
		}, []string{sheetOfMeasured + ": missing"}},
		{"a CSV of no run", func(t *testing.T, r Root) { write(t, r.Sheet("11-threads", "stray"), "seq\n") },
			[]string{"data/csv/11-threads/stray.csv: its run is gone"}},
		{"an audit that was changed", func(t *testing.T, r Root) {
			edit(t, r.Audit("10"), `"verdict": "disagrees"`, `"verdict": "agrees"`)
		}, []string{"data/audits/10.json: differs from what the data gives"}},
		{"an audit whose text is gone", func(t *testing.T, r Root) { write(t, r.Audit("98"), "{}") },
			[]string{"data/audits/98.json: its text is gone"}},
		{"a text that was changed", func(t *testing.T, r Root) {
			edit(t, r.Text("10"), `printed = "~1,900"`, `printed = "~1,800"`)
		}, []string{"data/audits/10.json: differs from what the data gives"}},
		{"a verdict of no run", func(t *testing.T, r Root) { write(t, r.Verdict("11-threads", "stray"), "{}") },
			[]string{"data/verdicts/11-threads/stray.json: its run is gone"}},
		{"a figure that was changed", func(t *testing.T, r Root) {
			edit(t, r.Result("11-threads", measured), `"threads_per_worker": `, `"threads_per_worker": 1`)
		}, []string{sheetOfMeasured + ": differs from what the data gives", "data/verdicts/11-threads/" + measured + ".json: differs from what the data gives"}},
		{"a schema that was changed", func(t *testing.T, r Root) {
			edit(t, r.path("static/schema/results-1.json"), "version 1", "version I")
		}, []string{"static/schema/results-1.json: differs from what the data gives"}},
		{"all that pages are told, missing", func(t *testing.T, r Root) {
			for _, p := range []string{"data/method.json", "data/metrics.json", "static/schema/host-1.json"} {
				if err := os.Remove(r.path(p)); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"data/method.json: missing", "data/metrics.json: missing", "static/schema/host-1.json: missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := clone(t)
			if err := open(t, root).Derive(); err != nil { // whatever the repository's own state
				t.Fatal(err)
			}
			c.spoil(t, root)
			j := open(t, root)
			if got := drift(t, j); !slices.Equal(slashed(got), c.want) {
				t.Errorf("drift %q, want %q", got, c.want)
			}
			if err := j.Derive(); err != nil {
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

// tree is every file below a root, with the time it was written.
func tree(t *testing.T, root Root) map[string]string {
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
		out[root.Rel(p)] = info.ModTime().String() + read(t, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDeriveTwiceChangesNothing(t *testing.T) {
	root := clone(t)
	for _, dir := range []string{"verdicts", "csv"} {
		if err := os.RemoveAll(root.path("data", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	if err := open(t, root).Derive(); err != nil {
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
	root := clone(t)
	before := tree(t, root)
	for _, dir := range []string{"verdicts", "csv"} {
		if err := os.RemoveAll(root.path("data", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	after := tree(t, root)
	for path, was := range before {
		path = filepath.ToSlash(path)
		ours := strings.HasPrefix(path, "data/verdicts/") || strings.HasPrefix(path, "data/csv/") || strings.HasPrefix(path, "data/flames/") || strings.HasPrefix(path, "data/audits/") || strings.HasPrefix(path, "data/claims/") || strings.HasPrefix(path, "static/") || path == "data/method.json" || path == "data/metrics.json"
		if !ours && after[filepath.FromSlash(path)] != was {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestDerivedFilesEndInANewline(t *testing.T) {
	all, err := open(t, clone(t)).derived()
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

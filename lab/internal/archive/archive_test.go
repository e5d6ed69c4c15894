package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func open(t *testing.T, root journal.Root) *Journal {
	t.Helper()
	j, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Fatalf("%s: %v", f.Path, f.Err)
	}
	return j
}

// The run and the host that tests break.
const (
	threads = "data/results/11-threads/20260102t030405z-c6in-8xlarge.json"
	c6in    = "data/hosts/c6in-8xlarge.json"
)

// cloned is a clone with that run, which is made up.
func cloned(t *testing.T) journal.Root {
	t.Helper()
	root := archivetest.Clone(t)
	archivetest.AddRun(t, root, "c6in-8xlarge", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 2)
	return root
}

func TestTheRepositoryIsInOrder(t *testing.T) {
	j := open(t, journal.Root(archivetest.Repository))
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
		spoil func(t *testing.T, root journal.Root)
		path  string
		says  string
	}{
		{"an unknown version", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"schema_version": 3`, `"schema_version": 99`)
		}, threads, "/schema_version: version 99 is not known"},
		{"a host of an unknown version", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Host("new"), `{"schema_version": 99, "id": "new", "name": "N"}`)
		}, "data/hosts/new.json", "/schema_version: version 99 is not known"},
		{"a key that stands twice", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"dirty": false`, "\"dirty\": false,\n  \"dirty\": false")
		}, threads, `/provenance/dirty: key "dirty" stands twice`},
		{"a file cut short", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path(threads), archivetest.Read(t, r.Path(threads))[:200])
		}, threads, "the file ends in the middle"},
		{"an empty file", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Path(threads), "") }, threads,
			"line 1: the file ends"},
		{"an unknown field", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"experiment"`, `"best_of": 3, "experiment"`)
		}, threads, "json: unknown field \"best_of\""},
		{"an unknown experiment", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"11-threads"`, `"11-thread"`)
		}, threads, `/experiment: no experiment "11-thread"; did you mean "11-threads"?`},
		{"an experiment that is not the directory's", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"11-threads"`, `"10-workers"`)
		}, threads, `/experiment: "10-workers", but the file lies in data/results/11-threads`},
		{"an unknown host", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"client": "c6in-8xlarge"`, `"client": "nobodys"`)
		}, threads, "/hosts/client: no profile data/hosts/nobodys.json"},
		{"a host whose profile is gone", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"server": "c6in-8xlarge"`, `"server": "c6in-9xlarge"`)
		}, threads, "/hosts/server: no profile data/hosts/c6in-9xlarge.json"},
		{"a run of another name than its file", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(threads), `"run": "20260102t030405z-c6in-8xlarge"`,
				`"run": "20260102t030405z-c6in-9xlarge"`)
		}, threads, `/run: "20260102t030405z-c6in-9xlarge" differs from the file's name`},
		{"a host of another name than its file", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Host("new"), `{"schema_version": 2, "id": "old", "name": "N"}`)
		}, "data/hosts/new.json", `/id: "old" differs from the file's name`},
		{"a run that lies beside the directories", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path("data/results/stray.json"), archivetest.Read(t, r.Path(threads)))
		}, "data/results/stray.json", `/experiment: "11-threads", but the file lies in data/results`},
		{"a host in a directory further down", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path("data/hosts/more/c6in-8xlarge.json"), archivetest.Read(t, r.Path(c6in)))
		}, "data/hosts/more/c6in-8xlarge.json", `/id: "c6in-8xlarge", but the file lies in data/hosts/more`},
		{"a text that leans on an experiment that is gone", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Text("11"), `experiment = "11-threads"`, `experiment = "11-thread"`)
		}, "data/texts/11.toml", `tables "threads": no experiment "11-thread"`},
		{"a text of a host without a profile", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Text("11"), `host = "c6in-8xlarge"`, `host = "c6in-9xlarge"`)
		}, "data/texts/11.toml", `tables "threads": no host "c6in-9xlarge" in data/hosts; did you mean "c6in-8xlarge"?`},
		{"a text with a word that means nothing", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Text("10"), `place = "opening: workers"`, `plaice = "opening: workers"`)
		}, "data/texts/10.toml", `unknown key "figures.plaice"`},
		{"a text that is no text", func(t *testing.T,
			r journal.Root) {
			archivetest.Write(t, r.Path("data/texts/notes.md"), "")
		},
			"data/texts/notes.md", "only texts belong there"},
		// Its verdict file would overwrite that of the run in its place.
		{"a run in a directory further down", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path("data/results/more/11-threads/20260102t030405z-c6in-8xlarge.json"),
				archivetest.Read(t, r.Path(threads)))
		}, "data/results/more/11-threads/20260102t030405z-c6in-8xlarge.json",
			`/experiment: "11-threads", but the file lies in data/results/more/11-threads`},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := cloned(t)
			c.spoil(t, root)
			_, faults, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) ||
				!strings.Contains(faults[0].Err.Error(), c.says) {
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
	root := cloned(t)
	archivetest.Edit(t, root.Path(threads), `"schema_version": 3`, `"schema_version": 99`)
	archivetest.Write(t, root.Host("new"), `{}`)
	archivetest.Write(t, root.Host("other"), `[`)
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
	// Everything without a fault was read all the same.
	if len(j.Hosts) < 2 || len(j.Runs) < 1 {
		t.Errorf("%d hosts, %d runs", len(j.Hosts), len(j.Runs))
	}
}

func TestARunOfAFaultyHostIsFaultyToo(t *testing.T) {
	root := cloned(t)
	archivetest.Edit(t, root.Path(c6in), `"schema_version": 2`, `"schema_version": 3`)
	_, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) < 2 || filepath.ToSlash(faults[0].Path) != c6in {
		t.Fatalf("faults %v", faults)
	}
	// Any number of runs are of this host, and more may be added.
	known := false
	for _, f := range faults[1:] {
		known = known || filepath.ToSlash(f.Path) == threads
		if !strings.Contains(f.Err.Error(), c6in) {
			t.Errorf("%s: %v", f.Path, f.Err)
		}
	}
	if !known {
		t.Errorf("no fault in %s: %v", threads, faults)
	}
}

// A run depends on its design.
func TestFaultsOfARunInTurns(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"a slot that never was", `"slots":[`, `"slots":[[],`, "slot 0 has 0 numbers"},
		{"another seed", `"seed": 1`, `"seed": 2`, "but the seed draws"},
		{"more blocks than there are", `"blocks": 6`, `"blocks": 7`, "7 complete blocks of 4 conditions"},
		{"an end that is none", `"ended": "blocks"`, `"ended": "tired"`, "/provenance/ended"},
		{"another warm-up than the design's", `"warmup_s":0`, `"warmup_s":0.2`, "/provenance/block"},
	} {
		root := archivetest.Clone(t)
		f := archivetest.AddRun(t, root, "c6in-8xlarge", time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), 6)
		path := root.Result("11-threads", f.Run)
		archivetest.Edit(t, path, c.old, c.new)
		_, faults, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) != 1 || faults[0].Path != root.Rel(path) || !strings.Contains(faults[0].Err.Error(), c.says) {
			t.Errorf("%s: faults %v, want %s", c.name, faults, c.says)
		}
	}
}

func TestAFileThatIsNoJSONIsNamed(t *testing.T) {
	for _, stray := range []string{"data/results/11-threads/notes.txt", "data/hosts/README",
		"data/results/11-threads/run.json~"} {
		root := archivetest.Clone(t)
		archivetest.Write(t, root.Path(stray), "x")
		_, _, err := Open(root)
		if err == nil || !strings.Contains(err.Error(), filepath.FromSlash(stray)) {
			t.Errorf("%s: %v", stray, err)
		}
	}
}

func TestABrokenExperimentEndsIt(t *testing.T) {
	root := archivetest.Clone(t)
	path := filepath.Join(root.Experiments(), "11-threads.toml")
	archivetest.Edit(t, path, "margin =", "margn =")
	if _, _, err := Open(root); err == nil || !strings.Contains(err.Error(), path+": line ") {
		t.Errorf("%v, want %s and the line", err, path)
	}
	if _, _, err := Open(journal.Root(t.TempDir())); err == nil {
		t.Error("a directory without experiments was opened")
	}
}

func TestAJournalWithoutDataIsEmpty(t *testing.T) {
	root := archivetest.Clone(t)
	if err := os.RemoveAll(root.Path("data")); err != nil {
		t.Fatal(err)
	}
	j := open(t, root)
	if len(j.Hosts) != 0 || len(j.Runs) != 0 {
		t.Errorf("%d hosts, %d runs", len(j.Hosts), len(j.Runs))
	}
}

func TestExperimentIsFoundByName(t *testing.T) {
	j := open(t, archivetest.Clone(t))
	if x, err := j.Experiment("11-threads"); err != nil || x.Name != "11-threads" {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := j.Experiment("11"); err == nil ||
		!strings.Contains(err.Error(), `no experiment "11"; did you mean "11-pipelining-read", "11-pipelining-simple" or "11-threads"?`) {
		t.Errorf("%v", err)
	}
}

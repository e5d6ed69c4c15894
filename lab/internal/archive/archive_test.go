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
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
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

// hasFault opens a journal, and fails unless it has this one fault, or none if says is empty.
func hasFault(t *testing.T, root journal.Root, path, says string) {
	t.Helper()
	_, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if says == "" && len(faults) == 0 {
		return
	}
	if len(faults) != 1 || filepath.ToSlash(faults[0].Path) != path || !strings.Contains(faults[0].Err.Error(), says) {
		t.Fatalf("faults %v, want %s: %s", faults, path, says)
	}
	if text := faults[0].Err.Error(); strings.Contains(text, string(root)) || strings.Contains(text, "\n") {
		t.Errorf("%q is not one line, or says where the clone lies", text)
	}
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

// isFlat begins the claim of a design, and withdrawn puts another in its place and one under [[withdrawn]].
const isFlat = "[[claims]]\nid = \"threads-flat\""

func withdrawn(id string) string {
	return "[[withdrawn]]\nid = \"" + id + "\"\nwhy = \"Its margin was wide.\"\n[[claims]]\nid = \"threads-flatter\""
}

func TestOpenNamesEveryFaultByItsPath(t *testing.T) {
	// A test edits a file, or writes one, like another or with a text.
	for name, c := range map[string]struct{ path, old, new, says string }{
		"an unknown version":         {threads, `"schema_version": 3`, `"schema_version": 99`, "/schema_version: version 99 is not known"},
		"a host of such":             {"data/hosts/new.json", "", `{"schema_version": 99, "id": "new", "name": "N"}`, "/schema_version: version 99 is not known"},
		"a doubled key":              {threads, `"dirty": false`, "\"dirty\": false,\n  \"dirty\": false", `duplicate object member name "dirty"`},
		"an empty file":              {threads, "", "", "line 1: "},
		"an unknown field":           {threads, `"experiment"`, `"best_of": 3, "experiment"`, "unknown object member name \"best_of\""},
		"an unknown experiment":      {threads, `"11-threads"`, `"11-thread"`, `/experiment: no experiment "11-thread"; did you mean "11-threads"?`},
		"another experiment":         {threads, `"11-threads"`, `"10-workers"`, `whose file is data/results/10-workers/`},
		"an unknown host":            {threads, `"client": "c6in-8xlarge"`, `"client": "nobodys"`, "/hosts/client: no profile data/hosts/nobodys.json"},
		"a run of another name":      {threads, `"run": "20260102t030405z-c6in-8xlarge"`, `"run": "x"`, `/run: "x" of "11-threads", whose file is data/results/11-threads/x.json`},
		"more blocks than it has":    {threads, `"blocks": 2`, `"blocks": 3`, "3 complete blocks of 4 conditions"},
		"a host of another name":     {"data/hosts/new.json", "", `{"schema_version": 2, "id": "old", "name": "N"}`, `/id: "old", whose file is data/hosts/old.json`},
		"a run beside directories":   {"data/results/stray.json", "", threads, `whose file is data/results/11-threads`},
		"a host further down":        {"data/hosts/more/c6in-8xlarge.json", "", c6in, `/id: "c6in-8xlarge", whose file is data/hosts/c6in-8xlarge.json`},
		"a text of no experiment":    {"data/texts/11.toml", `experiment = "11-threads"`, `experiment = "11-thread"`, `tables "threads": no experiment "11-thread"`},
		"a text of no host":          {"data/texts/11.toml", `host = "c6in-8xlarge"`, `host = "c6in-9xlarge"`, `tables "threads": no host "c6in-9xlarge" in data/hosts; did you mean`},
		"a word that means nothing":  {"data/texts/10.toml", `place = "opening: workers"`, `plaice = "opening: workers"`, `plaice"`},
		"a formula of no row":        {"data/texts/10.toml", `to = "t.c1.workers"`, `to = "t.c99.workers"`, `no figure "t.c99.workers"`},
		"a run further down":         {"data/results/more/" + strings.TrimPrefix(threads, "data/results/"), "", threads, `whose file is data/results/11-threads`},
		"a claim with another bar":   {archivetest.ThreadsDesign, "margin = 0.25", "margin = 0.5", "was changed after 2 runs had been made with it; give the changed claim a new id"},
		"a claim with another need":  {archivetest.ThreadsDesign, "margin = ", "needs = { cores = 2 }\nmargin = ", "was changed after 2 runs"},
		"a claim that is gone":       {archivetest.ThreadsDesign, `id = "threads-flat"`, `id = "threads-flatter"`, `claim "threads-flat" is gone, but 2 runs decided it; name it under [[withdrawn]]`},
		"a claim withdrawn":          {archivetest.ThreadsDesign, isFlat, withdrawn("threads-flat"), ""},
		"another withdrawn":          {archivetest.ThreadsDesign, isFlat, withdrawn("threads-other"), `claim "threads-flat" is gone`},
		"a claim with other words":   {archivetest.ThreadsDesign, `text = "`, `text = "As before: `, ""},
		"a design of another budget": {archivetest.ThreadsDesign, "budget_s = ", "budget_s = 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := cloned(t)
			switch at := root.Path(c.path); {
			case c.old != "":
				archivetest.Edit(t, at, c.old, c.new)
			case strings.HasPrefix(c.new, "data/"):
				archivetest.Write(t, at, archivetest.Read(t, root.Path(c.new)))
			default:
				archivetest.Write(t, at, c.new)
			}
			hasFault(t, root, c.path, c.says)
		})
	}
}

func TestOnlyTextsBelongAmongTexts(t *testing.T) {
	root := cloned(t)
	archivetest.Write(t, root.Path("data/texts/notes.md"), "")
	if _, _, err := Open(root); err == nil || !strings.Contains(err.Error(), "only .toml files belong there") {
		t.Error(err)
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
	// It read everything without a fault all the same.
	if len(j.Hosts) < 2 || len(j.Runs) < 1 {
		t.Errorf("%d hosts, %d runs", len(j.Hosts), len(j.Runs))
	}
}

func TestWhatIsNoDataOrNoDesignEndsIt(t *testing.T) {
	for _, path := range []string{"data/results/11-threads/notes.txt", "data/hosts/README", "data/results/11-threads/run.json~",
		archivetest.ThreadsDesign} {
		root := archivetest.Clone(t)
		archivetest.Write(t, root.Path(path), "x")
		if _, _, err := Open(root); err == nil || !strings.Contains(err.Error(), filepath.FromSlash(path)) {
			t.Errorf("%s: %v", path, err)
		}
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
	if x, err := j.Experiment("11-threads"); err != nil || x.Name != "11-threads" {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := j.Experiment("11"); err == nil || !strings.Contains(err.Error(), `no experiment "11"; did you mean "11-pipelining-read"`) {
		t.Errorf("%v", err)
	}
}

func TestOpenNamesFaultsOfProfiles(t *testing.T) {
	const packed = "data/profiles/" + archivetest.Profiled + ".zip"
	// pack packs one raw profile alone, with these bytes.
	pack := func(name, to string) string {
		data, err := results.PackRaw(map[string][]byte{archivetest.Profiled + "/" + name: []byte(to)})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for says, text := range map[string]string{
		"missing":                            "",
		"zip: ":                              "x",
		"the archive has no c1-cpu.pb.gz":    pack("x", ""),
		"its SHA-256 is 2d711642b726b044016": pack("c1-cpu.pb.gz", "x"),
	} {
		root := archivetest.ProfiledClone(t)
		if archivetest.Write(t, root.Path(packed), text); text == "" {
			os.Remove(root.Path(packed))
		}
		hasFault(t, root, "data/results/"+archivetest.Profiled+".json", "/conditions/0/profiles/0: "+packed+": "+says)
	}
}

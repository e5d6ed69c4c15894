package derive

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// updated derives, and counts what was derived anew.
func updated(t *testing.T, root journal.Root) Done {
	t.Helper()
	done, err := Update(root)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// tree lists the derived files, each with what it says and, after that, its time.
func tree(t *testing.T, root journal.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root.Derived(), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[filepath.ToSlash(root.Rel(p))] = archivetest.Read(t, p) + info.ModTime().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// says has what the derived files say, without their times.
func says(t *testing.T, root journal.Root) map[string]string {
	t.Helper()
	out := tree(t, root)
	for path := range out {
		out[path] = archivetest.Read(t, root.Path(path))
	}
	return out
}

const threads = "11-threads"

// others are the clone's experiments without the one that tests change. Any of their figures
// may show what texts print.
var others = []string{
	"03-rps-rfs", "08-cpu-bound", "08-irq-pinning", "09-mutex", "09-prefork", "10-workers",
	"11-pipelining-read", "11-pipelining-simple", "11-workers-at-the-wall",
}

// What a change derives anew is what deriving everything would give, and no more than the
// experiments that the change is about.
func TestOnlyWhatChangedIsDerivedAnew(t *testing.T) {
	verdictOf := func(r journal.Root) string { return r.Verdict(threads, archivetest.Measured) }
	remove := func(t *testing.T, paths ...string) {
		for _, p := range paths {
			if err := os.RemoveAll(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, r journal.Root)
		anew   []string // experiments
	}{
		{"nothing", func(*testing.T, journal.Root) {}, nil},
		{"a run that was read again", func(t *testing.T, r journal.Root) {
			path := r.Result(threads, archivetest.Measured)
			archivetest.Write(t, path, archivetest.Read(t, path))
		}, nil},
		{"a word of a run", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Result(threads, archivetest.Measured), `"generator": "`, `"generator": "other than `)
		}, []string{threads}},
		{"a run that is gone", func(t *testing.T, r journal.Root) {
			remove(t, r.Result(threads, archivetest.Measured), r.Design(archivetest.MeasuredDesign))
		}, []string{threads}},
		{"a new run", func(t *testing.T, r journal.Root) {
			archivetest.AddRun(t, r, "c6in-8xlarge", time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), 7)
		}, []string{threads}},
		{"a host that a run names", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Host("amd-epyc-2c-18587e00"), `"cores": `, `"cores": 1`)
		}, []string{threads}},
		{"an experiment's words", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.ThreadsDesign), `question = "`, `question = "Now `)
		}, []string{threads}},
		{"an experiment that is gone", func(t *testing.T, r journal.Root) {
			remove(t, r.Path(archivetest.ThreadsDesign), r.Results(threads), r.Texts(), r.Design(archivetest.MeasuredDesign))
		}, others},
		{"a text's figure", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Text("10"), `printed = "~1,900"`, `printed = "~1,800"`)
		}, append(others, threads)},
		{"a derived file that is missing", func(t *testing.T, r journal.Root) { remove(t, verdictOf(r)) }, []string{threads}},
		{"a derived file of no run", func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Sheet(threads, "x"), "x") },
			[]string{threads}},
		{"derived files of no experiment", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Run("x", "x"), "{}")
			archivetest.Write(t, r.Hosts("x"), "{}")
			archivetest.Write(t, r.Audit("x"), "{}")
		}, nil},
		{"what all experiments say, missing", func(t *testing.T, r journal.Root) { remove(t, r.LedgerSheet(), r.Method()) },
			nil},
		{"an update that was killed", func(t *testing.T, r journal.Root) {
			remove(t, r.Derived("inputs", threads+".json"))
			archivetest.Write(t, verdictOf(r), "{")
		}, []string{threads}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := archivetest.Clone(t)
			updated(t, root)
			before := tree(t, root)
			c.change(t, root)
			done := updated(t, root)
			if done.Anew != len(c.anew) {
				t.Errorf("%d experiments were derived anew, want %q", done.Anew, c.anew)
			}
			after := tree(t, root)
			for path, was := range before {
				dir := func(name string) bool {
					return strings.Contains(path, "/"+name+"/") || strings.Contains(path, "/"+name+".json")
				}
				if is, there := after[path]; there && is != was && !slices.ContainsFunc(c.anew, dir) &&
					strings.Contains(path, "/runs/") {
					t.Errorf("%s was written again", path)
				}
			}
			got := says(t, root)
			if err := os.RemoveAll(root.Derived()); err != nil {
				t.Fatal(err)
			}
			if done := updated(t, root); done.Anew != done.Experiments {
				t.Errorf("without derived files, %d of %d experiments were derived", done.Anew, done.Experiments)
			}
			want := says(t, root)
			for path := range want {
				if got[path] != want[path] {
					t.Errorf("%s: not what deriving everything gives", path)
				}
			}
			for path := range got {
				if _, made := want[path]; !made {
					t.Errorf("%s is left, and follows from nothing", path)
				}
			}
		})
	}
}

func TestDeriveTwiceWritesNothing(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := tree(t, root)
	if done := updated(t, root); done.Anew != 0 || done.Runs != 0 || done.Experiments == 0 {
		t.Errorf("%+v", done)
	}
	if after := tree(t, root); !maps.Equal(before, after) {
		t.Error("files were written again")
	}
}

// Whatever another lab derived goes, since its rules may be others.
func TestAnotherLabDerivesEverything(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	want := says(t, root)
	archivetest.Write(t, root.Derived("inputs", "lab"), "another")
	archivetest.Write(t, root.Derived("data", "former", "x.json"), "{}")
	archivetest.Write(t, root.Verdict(threads, archivetest.Measured), "{}")
	if done := updated(t, root); done.Anew != done.Experiments {
		t.Errorf("%+v", done)
	}
	if !maps.Equal(says(t, root), want) {
		t.Error("not what this lab derives")
	}
}

// Nothing is derived from a file with a fault, which is named; what was derived before
// stays, and is not taken for what the file gives.
func TestAFaultIsNamed(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	path, was := root.Result(threads, archivetest.Measured), root.Verdict(threads, archivetest.Measured)
	text, derived := archivetest.Read(t, path), archivetest.Read(t, was)
	archivetest.Edit(t, path, `"experiment": "`, `"experiment": "x`)
	for range 2 {
		if _, err := Update(root); err == nil || !strings.HasPrefix(err.Error(), root.Rel(path)+": ") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
	if archivetest.Read(t, was) != derived {
		t.Error("the derived file was changed")
	}
	archivetest.Write(t, path, text)
	if done := updated(t, root); done.Anew != 0 {
		t.Errorf("%+v", done)
	}
}

func TestDerivedFilesEndInANewline(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	ends := map[string]string{".json": "}\n", ".csv": "\n"}
	for path, text := range says(t, root) {
		if end, known := ends[filepath.Ext(path)]; !strings.HasPrefix(path, "derived/inputs/") &&
			(!known || !strings.HasSuffix(text, end)) {
			t.Errorf("%s ends in %q", path, text[max(0, len(text)-5):])
		}
	}
}

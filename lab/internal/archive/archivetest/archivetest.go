// Package archivetest copies the repository's data to a temporary directory,
// for tests that break it, and adds made-up runs.
//
// Tests break some of the journal's own files, so that they check files as they
// really are. A file that is added to the journal changes none of them.
//
// It finds the repository from the directory of a package in lab/internal,
// where that package's tests run. It cannot import archive, whose tests use it,
// so callers open the clone themselves.
package archivetest

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	// Repository is the repository's top directory, seen from a package in
	// lab/internal.
	Repository = "../../.."

	// Measured is a run of 11-threads that no text refers to.
	Measured = "20261123t224152z-amd-epyc-2c-18587e00"

	// ThreadsDesign is today's design of the same experiment.
	ThreadsDesign = "lab/experiments/11-threads.toml"

	// LockRun and LockFile are the paths of the run of ProfiledClone.
	LockRun  = "98-made-lock/20260101t000000z-c6in-8xlarge"
	LockFile = "data/results/" + LockRun + ".json"
)

var (
	//go:embed counted.toml
	countedDesign string
	//go:embed lock.toml
	lockDesign string

	// CountedWorkers is what small experiments compare and claim.
	CountedWorkers = countedDesign[strings.Index(countedDesign, "[[factors]]"):]
)

// CountedDesign is a small experiment of an entry.
func CountedDesign(entry string, core bool) string {
	return strings.NewReplacer(`"97"`, fmt.Sprintf("%q", entry), "core = true", fmt.Sprintf("core = %v", core)).
		Replace(countedDesign)
}

// cloned are the files that a clone has: the texts of some entries with the experiments and
// hosts that they refer to, and a run.
var cloned = []string{
	"data/results/11-threads/" + Measured + ".json",
	"data/hosts/amd-epyc-2c-18587e00.json", "data/hosts/c6i-4xlarge.json", "data/hosts/c6in-8xlarge.json",
	"data/hosts/c8i-32xlarge.json", "data/calibration/pairs.csv",
	"data/texts/03.toml", "data/texts/08.toml", "data/texts/09.toml", "data/texts/10.toml", "data/texts/11.toml",
	"lab/experiments/03-rps-rfs.toml", "lab/experiments/08-cpu-bound.toml", "lab/experiments/06-irq-pinning.toml",
	"lab/experiments/09-mutex.toml", "lab/experiments/09-prefork.toml", "lab/experiments/10-workers.toml",
	"lab/experiments/11-pipelining-read.toml", "lab/experiments/11-pipelining-simple.toml", ThreadsDesign,
	"lab/experiments/11-workers-at-the-wall.toml",
}

// Clone copies some of the journal's files, so that a test can break them. They are copied by
// name: whatever else is added to the journal, a clone stays the same, and so does what tests
// say of it.
func Clone(t *testing.T) journal.Root {
	t.Helper()
	root := journal.Root(t.TempDir())
	for _, path := range cloned {
		Write(t, root.Path(path), Read(t, filepath.Join(Repository, path)))
	}
	return root
}

// Read returns a file's text.
func Read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Write writes a file and makes its directory.
func Write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Edit replaces the first occurrence of a text in a file.
func Edit(t *testing.T, path, old, new string) {
	t.Helper()
	text := Read(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%q does not stand in %s", old, path)
	}
	Write(t, path, strings.Replace(text, old, new, 1))
}

// AddRun adds a made-up run of today's threads experiment.
func AddRun(t *testing.T, root journal.Root, host string, started time.Time, blocks int) *results.File {
	t.Helper()
	return add(t, root, ThreadsDesign, madeup.Plan{Host: host, Started: started, Seed: uint64(started.Unix()), Blocks: blocks},
		func(*results.File) {})
}

// add writes a made-up run of a design, with what more it has.
func add(t *testing.T, root journal.Root, design string, p madeup.Plan, more func(*results.File)) *results.File {
	t.Helper()
	var err error
	if p.Experiment, err = experiment.Load(root.Path(design)); err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(p)
	more(f)
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, root.Result(f.Experiment, f.Run), string(data))
	return f
}

// ProfiledClone is a clone with a made-up experiment over two routes, with and without a lock in each request, and its
// made-up run with profiles.
func ProfiledClone(t *testing.T) journal.Root {
	t.Helper()
	root, raw := Clone(t), map[string][]byte{}
	Write(t, root.Experiment("98-made-lock"), lockDesign)
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add(t, root, "lab/experiments/98-made-lock.toml", madeup.Plan{Host: "c6in-8xlarge", Started: started, Seed: 1, Blocks: 2,
		NoControl: true}, func(f *results.File) {
		for i := range f.Conditions {
			c := &f.Conditions[i]
			file := LockRun + "/" + c.ID + "-block.pb.gz"
			raw[file] = []byte("made up, of " + c.ID)
			c.Profiles = []results.RawProfile{{Kind: profile.Block, File: file, SHA256: fmt.Sprintf("%x", sha256.Sum256(raw[file])),
				Trials: 2}}
		}
		for i := range f.Trials {
			f.Trials[i].Profiles = []profile.Profile{{Kind: profile.Block, Unit: "s", Total: 9, Events: 2, Stacks: 2, DurationS: 3,
				Work: map[string]float64{"lock": 0.75, "wait": 0.25}, Packages: map[string]float64{"sync": 0.75, "runtime": 0.25}}}
		}
	})
	packed, err := results.PackRaw(raw)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, root.Packed(LockRun+"/c1"), string(packed))
	return root
}

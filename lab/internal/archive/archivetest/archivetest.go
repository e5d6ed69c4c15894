// Package archivetest copies some of the repository's data to a temporary directory, for tests that break it, and
// adds made-up runs.
//
// Tests break some of the journal's own files, so that they check files as they really are. A file that is added to
// the journal changes none of them.
//
// It finds the repository from the directory of a package in lab/internal, where that package's tests run. It
// cannot import archive, whose tests use it, so callers open the clone themselves.
package archivetest

import (
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
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	// Repository is the repository's top directory, seen from a package in lab/internal.
	Repository = "../../.."

	// Host is the journal's machine.
	Host = "amd-epyc-2c-def2dd10"

	// Measured is a run of 11-threads that no text refers to.
	Measured = "20261129t205437z-" + Host

	// ThreadsDesign is today's design of the same experiment.
	ThreadsDesign = "lab/experiments/11-threads.toml"

	// Profiled is the run with profiles of ProfiledClone, with its experiment.
	Profiled = "09-mutex/20261129t205244z-" + Host
)

var (
	//go:embed counted.toml
	countedDesign string

	// CountedWorkers is what small experiments compare and claim.
	CountedWorkers = countedDesign[strings.Index(countedDesign, "[[factors]]"):]
)

// CountedDesign is a small experiment of an entry.
func CountedDesign(entry string, core bool) string {
	return strings.NewReplacer(`"97"`, fmt.Sprintf("%q", entry), "core = true", fmt.Sprintf("core = %v", core)).
		Replace(countedDesign)
}

// cloned are the files that a clone has: the texts of some entries with the experiments and hosts that they refer
// to, and a run.
var cloned = []string{
	"data/results/11-threads/" + Measured + ".json",
	"data/hosts/" + Host + ".json", "data/hosts/c6i-4xlarge.json", "data/hosts/c6in-8xlarge.json",
	"data/hosts/c8i-32xlarge.json", "data/calibration/pairs.csv",
	"data/texts/03.toml", "data/texts/08.toml", "data/texts/09.toml", "data/texts/10.toml", "data/texts/11.toml",
	"lab/experiments/03-rps-rfs.toml", "lab/experiments/08-cpu-bound.toml", "lab/experiments/06-irq-pinning.toml",
	"lab/experiments/09-mutex.toml", "lab/experiments/09-prefork.toml", "lab/experiments/10-workers.toml",
	"lab/experiments/11-pipelining-read.toml", "lab/experiments/11-pipelining-simple.toml", ThreadsDesign,
	"lab/experiments/11-workers-at-the-wall.toml",
}

// Clone copies some of the journal's files, so that a test can break them. It copies them by name:
// whatever else enters the journal, a clone stays the same, and so do the tests' expectations.
func Clone(t *testing.T) journal.Root {
	t.Helper()
	root := journal.Root(t.TempDir())
	for _, path := range cloned {
		Write(t, root.Path(path), Read(t, filepath.Join(Repository, path)))
	}
	return root
}

// ProfiledClone is a clone with one run more, which has profiles.
func ProfiledClone(t *testing.T) journal.Root {
	t.Helper()
	root := Clone(t)
	for _, path := range []string{"data/results/" + Profiled + ".json", "data/profiles/" + Profiled + ".zip"} {
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
		t.Fatalf("there is no %q in %s", old, path)
	}
	Write(t, path, strings.Replace(text, old, new, 1))
}

// AddRun adds a made-up run of today's threads experiment.
func AddRun(t *testing.T, root journal.Root, host string, started time.Time, blocks int) *results.File {
	t.Helper()
	x, err := experiment.Load(root.Path(ThreadsDesign))
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{Experiment: x, Host: host, Started: started, Seed: uint64(started.Unix()), Blocks: blocks})
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, root.Result(f.Experiment, f.Run), string(data))
	return f
}

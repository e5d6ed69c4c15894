// Package archivetest copies the repository's data to a temporary directory,
// for tests that break it, and adds made-up runs.
//
// Tests break the journal's own data, so that they check files as they really
// are.
//
// It finds the repository from the directory of a package in lab/internal,
// where that package's tests run. It cannot import archive, whose tests use it,
// so callers open the clone themselves.
package archivetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	// Repository is the repository's top directory, seen from a package in
	// lab/internal.
	Repository = "../../.."

	// Measured is a run of 11-threads that no text refers to.
	Measured = "20261121t133317z-intel-xeon-processor-2c-ca1b5bc8"

	// MeasuredDesign is the design of that run, whose budget is not today's.
	MeasuredDesign = "3ee3b62a83a838d92ca27ce7171668f451edb7d0ccb358c55b2abf40325a89a6"

	// ThreadsDesign is today's design of the same experiment.
	ThreadsDesign = "lab/experiments/11-threads.toml"
)

// Clone copies the data that the journal reads and the files derived from it,
// so that a test can break them. It copies only the runs that texts refer to
// and one measured run: each run is derived again by every test, and their
// number only grows. One test of package archive reads all runs, and lab check
// derives them.
func Clone(t *testing.T) journal.Root {
	t.Helper()
	root := journal.Root(t.TempDir())
	for _, dir := range []string{"lab/experiments", "data", "static/schema"} {
		from := filepath.Join(Repository, dir)
		err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
			run := strings.TrimSuffix(filepath.Base(p), filepath.Ext(p))
			if ofAProfile.MatchString(filepath.ToSlash(p)) {
				run = filepath.Base(filepath.Dir(p))
			}
			if err != nil || d.IsDir() || strings.Contains(filepath.ToSlash(p), "/data/designs/") && run != MeasuredDesign || ofARun.MatchString(filepath.ToSlash(p)) && !strings.HasPrefix(run, "published-") && run != Measured {
				return err
			}
			to := root.Path(dir, strings.TrimPrefix(p, from))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var (
	ofARun     = regexp.MustCompile(`/data/(results|verdicts|csv|runs|profiles|flames)/`)
	ofAProfile = regexp.MustCompile(`/data/(profiles|flames)/`)
)

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
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
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
	text := Read(t, root.Path(ThreadsDesign))
	x, err := experiment.Parse("11-threads", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{Experiment: x, Hosts: results.Hosts{Server: host, Client: host}, Started: started, Seed: uint64(started.Unix()), Blocks: blocks, Ended: results.Blocks})
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, root.Result("11-threads", f.Run), string(data))
	Write(t, root.Design(x.SHA256), text)
	return f
}

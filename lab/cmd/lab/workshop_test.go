package main

import (
	"bytes"
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const (
	counted = "97-counted"
	other   = "98-other"
)

// A workshop is a journal of two experiments.
type workshop struct {
	t    *testing.T
	root journal.Root
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{t, journal.Root(t.TempDir())}
	for name, entry := range map[string]string{counted: "97", other: "98"} {
		w.write(w.root.Experiment(name), archivetest.CountedDesign(entry, true))
	}
	return w
}

func (w *workshop) open() *archive.Journal {
	w.t.Helper()
	j, faults, err := archive.Open(w.root)
	if err != nil || len(faults) > 0 {
		w.t.Fatal(err, faults)
	}
	return j
}

func (w *workshop) write(path, text string) {
	w.t.Helper()
	archivetest.Write(w.t, path, text)
}

func (w *workshop) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", string(w.root), "-c", "user.name=a", "-c",
		"user.email=a@example.invalid"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// measured adds a made-up run of so many blocks, in which there are as many workers as were
// asked for.
func (w *workshop) measured(blocks int) {
	w.t.Helper()
	j := w.open()
	x, err := j.Experiment(counted)
	if err != nil {
		w.t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: "made-up", Client: "made-up"},
		Started: time.Now().Add(-time.Hour).Truncate(time.Second),
		Seed:    1, Blocks: blocks, Ended: results.Blocks,
	})
	f.Provenance.Commit, f.Provenance.Dirty = host.UnknownCommit, true
	for path, v := range map[string]any{
		w.root.Result(counted, f.Run): f, w.root.Host("made-up"): &host.Profile{SchemaVersion: host.Version, ID: "made-up",
			Name: "a made-up machine", Cores: 2},
	} {
		text, err := results.Encode(v)
		if err != nil {
			w.t.Fatal(err)
		}
		w.write(path, string(text))
	}
}

// call is one call of the lab in the workshop's journal.
func (w *workshop) call(args ...string) (status int, out, errs string) {
	w.t.Helper()
	w.t.Chdir(string(w.root))
	var said, complained bytes.Buffer
	status = command(context.Background(), args, &said, &complained)
	return status, said.String(), complained.String()
}

// holds lists the files of the workshop's journal, but for those in scratch.
func (w *workshop) holds() (paths []string) {
	w.t.Helper()
	err := filepath.WalkDir(string(w.root), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && p == w.root.Path(".tools") {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return paths
}

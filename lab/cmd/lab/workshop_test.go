package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
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

func (w *workshop) write(path, text string) {
	w.t.Helper()
	archivetest.Write(w.t, path, text)
}

// call is one call of the lab in the workshop's journal.
func (w *workshop) call(args ...string) (status int, out, errs string) {
	w.t.Helper()
	w.t.Chdir(string(w.root))
	var said, complained bytes.Buffer
	status = command(context.Background(), args, &said, &complained)
	return status, said.String(), complained.String()
}

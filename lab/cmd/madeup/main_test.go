package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestRunsAreWrittenWhereTheJournalReadsThem(t *testing.T) {
	root := journal.Root(t.TempDir())
	text, err := os.ReadFile("../../../test/site/fixture/lab/experiments/94-turns.toml")
	if err == nil {
		err = os.MkdirAll(root.Experiments(), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root.Experiments(), "94-turns.toml"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan := `{"experiment": "94-turns", "host": "h", "started": "2026-01-02T03:04:05Z", "seed": 1, "blocks": 6, "ended": "decided", "costs": {"1": 1, "10": 0.5, "50": 0.2}}`
	if err := add(root, strings.NewReader(plan+"\n")); err != nil {
		t.Fatal(err)
	}
	x, err := experiment.Parse("94-turns", text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := results.Read(root.Result("94-turns", "20260102t030405z-h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check.File(f, x); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(root.Design(x.SHA256)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{`, `{"experiment": "none"}`} {
		if err := add(root, strings.NewReader(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

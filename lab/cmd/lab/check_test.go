package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
)

// checked runs lab check and returns its status and what it printed.
func (w *workshop) checked(args ...string) (int, string) {
	w.t.Helper()
	status, out, errs := w.call(append([]string{"check"}, args...)...)
	return status, out + errs
}

func TestCheckWithoutHistorySaysSoInALine(t *testing.T) {
	w := newWorkshop(t)
	status, says := w.checked()
	if want := "written down before they ran: not checked: no git history here\n"; status != exitHeld ||
		strings.Count(says, want) != 1 || strings.Count(says, "\n") != 2 {
		t.Errorf("status %d: %s", status, says)
	}
	if status, says = w.checked("--against", "main"); status != exitFailed ||
		says != "lab: cannot compare with main: no git history here\n" {
		t.Errorf("status %d: %s", status, says)
	}
}

// A variable that is not set in a script must not pass for a comparison.
func TestCheckAgainstNothingIsAnError(t *testing.T) {
	w := newWorkshop(t)
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "first")
	status, says := w.checked("--against", "")
	if want := "lab: --against is given and empty; give a value, or leave it out\n"; status != exitFailed || says != want {
		t.Errorf("status %d: %q, want %q", status, says, want)
	}
}

// Of a change that makes other files wrong, only the cause is printed.
func TestCheckAgainstNamesTheCauseAlone(t *testing.T) {
	w := newWorkshop(t)
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "first")
	w.measured(1)
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "a run")
	// The workshop's run says that it was made outside a checkout.
	status, says := w.checked("--against", "main")
	if status != exitHeld || !strings.Contains(says, ": not proved: made outside a git checkout") ||
		!strings.Contains(says, "written down before they ran: 0 of 1 measured runs") {
		t.Errorf("status %d: %s", status, says)
	}
	runs, err := filepath.Glob(w.root.Path("data/results", counted, "*.json"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	path := w.root.Rel(runs[0])
	// A figure that follows from no other is in order in itself. Only git has what was measured.
	measured, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	forged := regexp.MustCompile(`"server_rss_bytes": \[?`).ReplaceAll(measured, []byte("${0}1"))
	if err := os.WriteFile(runs[0], forged, 0o644); err != nil {
		t.Fatal(err)
	}
	if status, says = w.checked(); status != exitHeld {
		t.Errorf("status %d: %s", status, says)
	}
	status, says = w.checked("--against", "main")
	first, rest, _ := strings.Cut(says, "\n")
	if status != exitFailed || !strings.HasPrefix(first, path+": /figures/server_rss_bytes") ||
		rest != "lab: 1 change of what only grows\n" {
		t.Errorf("status %d: %s", status, says)
	}
	if err := os.Remove(runs[0]); err != nil {
		t.Fatal(err)
	}
	status, says = w.checked("--against", "main")
	first, rest, _ = strings.Cut(says, "\n")
	if status != exitFailed || !strings.HasPrefix(first, path+": deleted; results are only ever added: git checkout ") ||
		rest != "lab: 1 change of what only grows\n" {
		t.Errorf("status %d: %s", status, says)
	}
}

func TestADesignThatCouldNotDecideIsRefused(t *testing.T) {
	w := newWorkshop(t)
	archivetest.Edit(t, w.root.Experiment(counted), "budget_s = 60", "budget_s = 1")
	for _, command := range []string{"check", "audit"} {
		status, out, errs := w.call(command)
		if want := "lab/experiments/" + counted + ".toml: budget_s = 1: it holds 0 blocks"; status != exitFailed ||
			!strings.Contains(out+errs, want) {
			t.Errorf("lab %s: exit %d, %s%s", command, status, out, errs)
		}
	}
}

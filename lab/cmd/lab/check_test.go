package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs lab check in a workshop and returns its status and what it printed.
func checked(t *testing.T, w *workshop, args ...string) (int, string) {
	t.Helper()
	t.Chdir(string(w.root))
	var out bytes.Buffer
	status := command(t.Context(), append([]string{"check"}, args...), &out, &out)
	return status, out.String()
}

func TestCheckWithoutHistorySaysSoInALine(t *testing.T) {
	w := newWorkshop(t)
	status, says := checked(t, w)
	if want := "written down before they ran: not checked: no git history here\n"; status != exitHeld || strings.Count(says, want) != 1 || strings.Count(says, "\n") != 2 {
		t.Errorf("status %d: %s", status, says)
	}
	if status, says = checked(t, w, "--against", "main"); status != exitFailed || says != "lab: cannot compare with main: no git history here\n" {
		t.Errorf("status %d: %s", status, says)
	}
}

// A variable that is not set in a script must not pass for a comparison.
func TestCheckAgainstNothingIsAnError(t *testing.T) {
	w := newWorkshop(t)
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "first")
	status, says := checked(t, w, "--against", "")
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
	if _, _, err := w.run(t.Context(), options{Blocks: 1}); err != nil {
		t.Fatal(err)
	}
	w.git("add", "-A")
	w.git("commit", "-q", "--no-verify", "-m", "a run")
	// The workshop's runs say that they were made outside a checkout.
	status, says := checked(t, w, "--against", "main")
	if status != exitHeld || !strings.Contains(says, ": not proved: made outside a git checkout") || !strings.Contains(says, "written down before they ran: 0 of 1 measured runs") {
		t.Errorf("status %d: %s", status, says)
	}
	runs, err := filepath.Glob(w.root.Path("data/results", counted, "*.json"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	path := w.root.Rel(runs[0])
	// A figure that follows from no other, with everything derived anew, is in order in
	// itself. Only git has what was measured.
	measured, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(measured), `"workers": [`, `"workers": [1`, 1)
	if err := os.WriteFile(runs[0], []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if status := command(t.Context(), []string{"verdicts"}, &out, &out); status != exitHeld {
		t.Fatalf("status %d: %s", status, &out)
	}
	if status, says = checked(t, w); status != exitHeld {
		t.Errorf("status %d: %s", status, says)
	}
	status, says = checked(t, w, "--against", "main")
	first, rest, _ := strings.Cut(says, "\n")
	if status != exitFailed || !strings.HasPrefix(first, path+": /figures/workers/0: 1") || rest != "lab: 1 change of what only grows\n" {
		t.Errorf("status %d: %s", status, says)
	}
	if err := os.Remove(runs[0]); err != nil {
		t.Fatal(err)
	}
	status, says = checked(t, w, "--against", "main")
	first, rest, _ = strings.Cut(says, "\n")
	if status != exitFailed || !strings.HasPrefix(first, path+": deleted; results are only ever added: git checkout ") || rest != "lab: 1 change of what only grows\n" {
		t.Errorf("status %d: %s", status, says)
	}
}

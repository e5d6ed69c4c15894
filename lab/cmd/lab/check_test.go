package main

import (
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
}

func TestADesignThatCouldNotDecideIsRefused(t *testing.T) {
	w := newWorkshop(t)
	archivetest.Edit(t, w.root.Experiment(counted), "budget_s = 60", "budget_s = 1")
	status, says := w.checked()
	if want := "lab/experiments/" + counted + ".toml: budget_s = 1: it holds 0 blocks"; status != exitFailed ||
		!strings.Contains(says, want) {
		t.Errorf("exit %d, %s", status, says)
	}
}

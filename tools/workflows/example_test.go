package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// compares is the step of the workflow that the site offers for copying in which servers are
// compared.
func compares(t *testing.T) step {
	t.Helper()
	data, err := os.ReadFile("../../static/examples/compare.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct{ Jobs map[string]job }
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	for _, s := range w.Jobs["compare"].Steps {
		if strings.Contains(s.Run, "linerate compare") {
			return s
		}
	}
	t.Fatal("no step calls linerate compare")
	return step{}
}

// A runner that is too noisy, or a budget that is too short, is a warning. The job fails
// where the new server costs too much, and where nothing was compared.
func TestTheExampleFailsOnlyWhereThePageSaysSo(t *testing.T) {
	run := compares(t).Run
	for _, c := range []struct{ lab, step, says string }{
		{"0", "0", ""},
		{"1", "0", "::warning::"},
		{"2", "0", "::warning::"},
		{"3", "3", "::error::"},
		{"4", "4", "::error::"},
	} {
		dir := t.TempDir()
		lab := filepath.Join(dir, "line-rate", ".tools", "bin", "linerate")
		if err := os.MkdirAll(filepath.Dir(lab), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lab, []byte("#!/bin/sh\nexit "+c.lab+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		// As the workflow's own shell, and that of GitHub's runners for it.
		made := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run)
		made.Dir = dir
		made.Env = append(os.Environ(), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
		out, _ := made.CombinedOutput()
		if got := strconv.Itoa(made.ProcessState.ExitCode()); got != c.step || !strings.HasPrefix(string(out), c.says) ||
			c.says == "" && len(out) > 0 {
			t.Errorf("lab exits with %s: the step exits with %s and says %q, want %s and %q", c.lab, got, out, c.step, c.says)
		}
	}
}

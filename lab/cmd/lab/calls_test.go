package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHelpIsOfTheCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"help"}, "  3  a run failed, a check found faults, or the call was wrong\n"},
		{[]string{"-h"}, "Usage: lab <command>"},
		{[]string{"--help"}, "Verdicts of run count all blocks"},
		{[]string{"run", "--help"}, "Usage: lab run <experiment> [flags]"},
		{[]string{"help", "reproduce"}, "--keep-going"},
		{[]string{"profile", "-help"}, "--from=SOURCE"},
		{[]string{"tune", "-h"}, "irq-pin     --dev D --cpus LIST"},
		{[]string{"tune", "rps", "--help"}, "irq-pin     --dev D --cpus LIST"},
	} {
		var out, errs bytes.Buffer
		if status := command(context.Background(), c.args, &out, &errs); status != exitHeld || errs.Len() > 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%q: exit %d, %s\n%s", c.args, status, &errs, &out)
		}
		if strings.Contains(out.String(), "watch-") || strings.Contains(out.String(), "--size") {
			t.Errorf("%q: what is hidden stands in\n%s", c.args, &out)
		}
	}
}

// The script is called as bash calls it, with a lab that knows two experiments.
func TestBashCompletesWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	lab := filepath.Join(t.TempDir(), "lab")
	if err := os.WriteFile(lab, []byte("#!/bin/sh\necho '11-threads (entry 11, loopback): Why?'\necho '    c1 (order): So.'\necho '12-more (entry 12, netns): How?'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var script bytes.Buffer
	if status := command(context.Background(), []string{"completion", "bash"}, &script, &script); status != exitHeld {
		t.Fatal(&script)
	}
	script.WriteString("COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n_lab\necho \"${COMPREPLY[*]}\"\n")
	for _, c := range []struct{ words, want []string }{
		{[]string{"re"}, []string{"reproduce", "report"}},
		{[]string{"run", "1"}, []string{"11-threads", "12-more"}},
		{[]string{"run", "11-threads", "--b"}, []string{"--blocks", "--budget"}},
		{[]string{"check", "-"}, []string{"--help", "--against"}},
		{[]string{"tune", "rp"}, []string{"rps"}},
		{[]string{"wat"}, nil},
		{[]string{"nothing", ""}, nil},
	} {
		out, err := exec.Command(bash, slices.Concat([]string{"-c", script.String(), "bash", lab}, c.words)...).Output()
		if err != nil || !slices.Equal(strings.Fields(string(out)), c.want) {
			t.Errorf("%q: %q, %v; want %q", c.words, out, err, c.want)
		}
	}
}

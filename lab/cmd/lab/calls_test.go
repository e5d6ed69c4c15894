package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

func TestHelpIsOfTheCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"help"}, "  3  a run failed, a check found faults, or the call was wrong\n"},
		{[]string{"-h"}, "Usage: lab <command>"},
		{nil, "Usage: lab <command>"},
		{[]string{"--version"}, "lab, built from "},
		{[]string{"version"}, " by go"},
		{[]string{"new", "experiment", "--help"}, "Usage: lab new experiment <name>"},
		{[]string{"--help"}, "Verdicts count all blocks"},
		{[]string{"run", "--help"}, "Usage: lab run [<name> ...] [flags]"},
		{[]string{"help", "run"}, "--budget"},
	} {
		var out, errs bytes.Buffer
		if status := command(context.Background(), c.args, &out, &errs); status != exitHeld || errs.Len() > 0 ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("%q: exit %d, %s\n%s", c.args, status, &errs, &out)
		}
		if strings.Contains(out.String(), "watch-") {
			t.Errorf("%q: a hidden word is in\n%s", c.args, &out)
		}
	}
}

func TestHelpNamesEveryKnob(t *testing.T) {
	var out bytes.Buffer
	command(context.Background(), []string{"help", "tune"}, &out, &out)
	for _, knob := range tune.Knobs() {
		if !strings.Contains(out.String(), "\n    "+knob+" ") {
			t.Errorf("no %s in\n%s", knob, &out)
		}
	}
}

// The lab refuses each in one line that says what is wrong, before it reads the journal.
func TestACallThatIsWrongIsRefusedInOneLine(t *testing.T) {
	refused := func(says string, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		status := command(context.Background(), args, &out, &errs)
		if status != exitFailed || !strings.Contains(errs.String(), says) || strings.Count(errs.String(), "\n") != 1 ||
			errs.Len() > 500 || strings.ContainsAny(errs.String(), "\x1b\a") || out.Len() > 0 {
			t.Errorf("%.60q: exit %d, %q, want %q", args, status, errs.String(), says)
		}
	}
	for _, c := range []struct{ call, says string }{
		{"frobnicate", `no command "frobnicate"`},
		{"doctr", `no command "doctr", did you mean "doctor"?`},
		{"new experiment", `expected "<name>"; see lab help new experiment`},
		{"new", "see lab help new"},
		{"run", "name experiments or entries, or say --core, or --all"},
		{"run --all 11", "one of these"},
		{"run 11-theads", `no experiment and no entry "11-theads"; did you mean "11-threads"?`},
		{"run 99", `no experiment and no entry "99"`},
		{"run 11-threads --blocks -1", "--blocks -1: use 1 to 1000"},
		{"run 11-threads -port 0", "--port 0: use 1 to 65535"},
		{"run 11-threads --budget 25h", "--budget 25h0m0s: use 1s to 24h"},
		{"run 11-threads --budget 5", "write it with its unit, as 90s or 20m"},
		{"run 11-threads --host", "--host: expected string value but nothing follows"},
		{"run 11-threads --prot 1", `unknown flag --prot, did you mean "--port"? (see lab help run)`},
		{"run a\x1b]0;pwn\a", `\x1b]0;pwn`},
		{"a\x1b[2J", `a\x1b[2J`},
		{"check now", "unexpected argument now"},
		{"tune aply rps", `must be one of "plan"`},
		{"tune plan rsp", `no knob "rsp"; did you mean "rps"? There are rps`},
	} {
		refused(c.says, strings.Fields(c.call)...)
	}
	refused("--host is given and empty", "run", "11-threads", "--host", "")
	t.Chdir(t.TempDir())
	refused("not inside a clone", "check")
}

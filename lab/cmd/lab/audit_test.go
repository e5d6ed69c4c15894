package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
)

// at runs a command in a journal with some texts and the runs that they printed.
func at(t *testing.T, spoil func(root string), args ...string) (status int, out, errs string) {
	t.Helper()
	root := string(archivetest.Clone(t))
	spoil(root)
	t.Chdir(root)
	var o, e bytes.Buffer
	status = command(context.Background(), args, &o, &e)
	return status, o.String(), e.String()
}

func TestAuditPrintsFindingsAndLeavesTheStatusAlone(t *testing.T) {
	status, out, errs := at(t, func(string) {}, "audit", "10")
	if status != exitHeld || errs != "" {
		t.Errorf("exit %d, %q", status, errs)
	}
	for _, want := range []string{"entry 10:", "standfirst: workers before", "129", "128.5 to 129.5", "disagrees"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "entry 11") || strings.Contains(out, "threads in all") {
		t.Errorf("more than was asked for:\n%s", out)
	}
}

func TestAuditAllShowsAgreementToo(t *testing.T) {
	if _, out, _ := at(t, func(string) {}, "audit", "--all", "10"); !strings.Contains(out, "threads in all") {
		t.Errorf("agreement is left out:\n%s", out)
	}
}

func TestAuditRefusesBadInputInOneLine(t *testing.T) {
	const text = "data/texts/10.toml"
	for name, c := range map[string]struct {
		old, new string
		says     []string
	}{
		"syntax":         {`printed = "129"`, `printed = `, []string{text, "line "}},
		"an unknown key": {`printed = "129"`, `print = "129"`, []string{text, "line ", `unknown key "figures.print"`}},
		"no figure":      {`printed = "129"`, `printed = "a lot"`, []string{text, `figures[0] "before"`, "such as"}},
		"an unknown name": {`equals = "t.c1.workers"`, `equals = "t.c1.wokers"`,
			[]string{text, `checks "before_workers"`, `"wokers" is neither`}},
		"a broken formula": {`equals = "workers * threads"`, `equals = "workers * "`,
			[]string{text, `checks "threads_sum"`, "expected operand"}},
		"no such row": {`equals = "t.c1.workers"`, `equals = "t.c99.workers"`, []string{text, `no row "c99"`}},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, errs := at(t, func(root string) {
				path := filepath.Join(root, text)
				data, err := os.ReadFile(path)
				if err != nil || !strings.Contains(string(data), c.old) {
					t.Fatal(c.old, " does not stand in ", text, err)
				}
				if err := os.WriteFile(path, []byte(strings.Replace(string(data), c.old, c.new, 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}, "audit")
			if status != exitFailed || strings.Count(errs, "\n") != 1 {
				t.Errorf("exit %d, %q", status, errs)
			}
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("%q lacks %q", errs, want)
				}
			}
		})
	}
	status, _, errs := at(t, func(string) {}, "audit", "77")
	if status != exitFailed || !strings.Contains(errs, `no figures of an entry "77"; there are 03, 08, `) {
		t.Errorf("an unknown entry: exit %d, %q", status, errs)
	}
}

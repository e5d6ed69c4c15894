package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestWhatIsNewIsInOrder(t *testing.T) {
	w := newWorkshop(t)
	for _, c := range []struct {
		args []string
		path string
		says []string // in the file
	}{
		{[]string{"experiment", "12-tryout"}, "lab/experiments/12-tryout.toml",
			[]string{`entry = "12"`, "\n# "}},
		{[]string{"experiment", "slow-start", "--entry", "batch"}, "lab/experiments/slow-start.toml",
			[]string{`entry = "batch"`}},
		{[]string{"entry", "12-tryout"}, "content/journal/12-tryout.md",
			[]string{"+++\nnumber = \"12\"", `experiments = ["12-tryout"]`,
				`{{< n "12-tryout outcomes same-cost longer-wait" >}}`}},
		{[]string{"entry", "batch-again"}, "content/journal/batch-again.md",
			[]string{"+++\nentry = \"batch\"", `chapter = "studies"`, `{{< n "slow-start outcomes `}},
	} {
		status, out, errs := w.call(append([]string{"new"}, c.args...)...)
		if status != exitHeld || out != "wrote "+c.path+"\n" || errs != "" {
			t.Fatalf("%v: exit %d, %q, %q", c.args, status, out, errs)
		}
		text, err := os.ReadFile(w.root.Path(c.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.says {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s lacks %q:\n%s", c.path, want, text)
			}
		}
		if status, out, errs := w.call("check"); status != exitHeld {
			t.Fatalf("after %v, lab check: %s%s", c.args, out, errs)
		}
		// A second call finds it, and leaves it as it is.
		status, _, errs = w.call(append([]string{"new"}, c.args...)...)
		again, err := os.ReadFile(w.root.Path(c.path))
		if status != exitFailed || errs != "lab: "+c.path+" is there already; it was not changed\n" || err != nil ||
			!bytes.Equal(text, again) {
			t.Errorf("%v again: exit %d, %q, %v", c.args, status, errs, err)
		}
	}
	x, err := experiment.Load(w.root.Experiment("12-tryout"))
	if err != nil || len(x.Claims) != 2 || len(x.Conditions()) != 2 {
		t.Errorf("%v, %+v", err, x)
	}
}

func TestNothingIsWrittenOfWhatWouldBeRefused(t *testing.T) {
	w := newWorkshop(t)
	files := func() (all []string) {
		all, _ = filepath.Glob(filepath.Join(string(w.root), "*", "*", "*")) // experiments and entries
		return all
	}
	before := files()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"experiment", "12_tryout", "--entry", "12"}, "must be lower-case words joined by hyphens"},
		{[]string{"experiment", "../12-tryout", "--entry", "12"}, "must be lower-case words joined by hyphens"},
		{[]string{"experiment", "tryout", "--entry", "12-3"}, `entry "12-3": give a number of two digits`},
		{[]string{"experiment", "12-tryout", "--entry", "12\"\ntitle = \"x"}, "give a number of two digits"},
		{[]string{"experiment", "12-tryout", "--entrie", "12"}, "--entry"},
		{[]string{"entry", "12-tryout"}, `no experiment belongs to entry "12"; write one first: lab new experiment 12-tryout`},
		{[]string{"entry", "97"}, "as 12-compression"},
		{[]string{"entry", "97-../x"}, "as 12-compression"},
		{[]string{"experimnt", "12-tryout"}, `did you mean "experiment"?`},
		{nil, "expected one of"},
	} {
		status, out, errs := w.call(append([]string{"new"}, c.args...)...)
		if status != exitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit %d, %q, %q, want one line with %q", c.args, status, out, errs, c.says)
		}
	}
	// Nor while anything else has a fault, since nobody could say whose it is.
	broken := filepath.Join(w.root.Experiments(), other+".toml")
	text, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	w.write(broken, strings.Replace(string(text), "/read", "/raed", 1))
	if status, _, errs := w.call("new", "experiment", "12-other"); status != exitFailed ||
		!strings.Contains(errs, `no route "/raed"; did you mean "/read"?`) || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %q", status, errs)
	}
	after := files()
	if !slices.Equal(before, after) {
		t.Errorf("files were written:\n%q\n%q", before, after)
	}
}

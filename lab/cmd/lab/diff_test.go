package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// called runs a command in a workshop and returns its status and all that it printed.
func called(t *testing.T, w *workshop, args ...string) (int, string) {
	t.Helper()
	t.Chdir(string(w.root))
	var out bytes.Buffer
	status := command(t.Context(), args, &out, &out)
	return status, out.String()
}

func TestDiffOfRunsAndItsRefusals(t *testing.T) {
	w := newWorkshop(t)
	for range 2 {
		if _, _, err := w.run(t.Context(), options{Blocks: 4}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(w.root.Path("data/results", counted, "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	a, b := strings.TrimSuffix(filepath.Base(files[0]), ".json"), strings.TrimSuffix(filepath.Base(files[1]), ".json")
	status, says := called(t, w, "diff", a, b)
	for _, want := range []string{
		"A  97-counted on made-up: " + a + "; 8 trials, none invalid\n",
		"B  97-counted on made-up: " + b + "; 4 trials, none invalid\n",
		"\n\nCONDITION  METRIC   A  B  B/A    INTERVAL  BLOCKS  \n",
		"\nWorkers 1  Workers  1  1  1.000            4, 2    too few blocks for an interval\n",
	} {
		if status != exitHeld || !strings.Contains(says, want) {
			t.Errorf("status %d, no %q in:\n%s", status, want, says)
		}
	}
	// The same by file, as JSON.
	status, says = called(t, w, "diff", "--json", w.root.Rel(files[0]), counted+"/"+b)
	var diffs []verdict.Diff
	if err := json.Unmarshal([]byte(says), &diffs); status != exitHeld || err != nil || len(diffs) != 1 || len(diffs[0].Conditions) != 2 || diffs[0].Conditions[1].Ratios[0].A.N != 4 {
		t.Errorf("status %d, %v: %s", status, err, says)
	}
	w.write(w.root.Path("other.json"), "{}")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{a, a}, a + " is compared with itself; name two runs or two hosts"},
		{[]string{a, counted + "/" + a}, a + " and 97-counted/" + a + " are the same run"},
		{[]string{a, "made-up"}, "made-up is a host and " + a + " is a run; name two runs or two hosts"},
		{[]string{a, "no\x1bsuch"}, `no run, host or file "no\u001bsuch"; data/results and data/hosts have them`},
		{[]string{a, "data"}, `no run, host or file "data"; data/results and data/hosts have them`},
		{[]string{a, "other.json"}, "other.json: "},
		{[]string{a, b, "--experiment", "nothing"}, `no experiment "nothing"; there are 97-counted, 98-other`},
		{[]string{a, files[1], "--experiment", other}, "no run, host or file "},
		{[]string{a}, `expected "<b>"; see lab help diff`},
	} {
		status, says := called(t, w, append([]string{"diff"}, c.args...)...)
		if status != exitFailed || !strings.HasPrefix(says, "lab: "+c.says) || strings.Count(says, "\n") != 1 {
			t.Errorf("%q: status %d: %s", c.args, status, says)
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "missing flags: --against=REVISION; see lab help report\n"},
		{[]string{"--against", "main"}, "cannot compare with main: no git history here\n"},
	} {
		if status, says := called(t, w, append([]string{"report"}, c.args...)...); status != exitFailed || says != "lab: "+c.says {
			t.Errorf("%q: status %d: %s", c.args, status, says)
		}
	}
}

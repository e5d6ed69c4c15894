package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

// The files of four blocks each tell too little alone, and enough together.
func TestFilesOfSeveralRunnersAreCombined(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, seed uint64, change func(*compare.Outcome)) string {
		t.Helper()
		each := slices.Repeat([]float64{1.1}, 6)
		of := compare.Ratios{Least: each, Most: each}
		c := compare.Comparison{Name: "head", Base: "base", Verdict: compare.Undecided, CPUPerRequest: of.Interval(0.05),
			Evidence: compare.Weigh(of, 0.03, 0)}
		c.Says, c.Evidence.Agreed = c.NotDecided(0.03, 0.05, ""), true
		o := &compare.Outcome{SchemaVersion: compare.Version, Seed: seed, Machine: fmt.Sprintf("runner <b>%d</b>", seed),
			Margin: 0.03, Confidence: 0.95, Exit: compare.ExitUndecided, Says: []string{c.Says},
			Servers: []compare.Measured{{Name: "base"}, {Name: "head"}}, Comparisons: []compare.Comparison{c}}
		change(o)
		text, err := json.Marshal(o)
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	as := func(*compare.Outcome) {}
	one, two := write("1.json", 1, as), write("2.json", 2, as)
	other := write("3.json", 3, func(o *compare.Outcome) { o.Margin = 0.01 })
	short := write("4.json", 4, func(o *compare.Outcome) { o.Servers = o.Servers[:1] })
	for _, c := range []struct {
		call combineCall
		exit int
		says string // in the output, or the error
	}{
		{combineCall{Files: []string{one}}, compare.ExitUndecided, "not decided: 6 valid blocks"},
		{combineCall{Files: []string{one, two}}, compare.ExitDecided, "head costs more CPU a request than base; 2 of 2 runs tell"},
		{combineCall{Files: []string{one, two}, outputs: outputs{Markdown: true}}, compare.ExitDecided,
			"`runner <b>2</b>`"},
		{combineCall{Files: []string{one, two}, outputs: outputs{JSON: true}}, compare.ExitDecided,
			`"verdict": "dearer"`},
		{combineCall{Files: []string{one, one}}, 3, "the same run as"},
		{combineCall{Files: []string{one, other}}, 3, "3.json: margin is 0.01, and in " + one},
		{combineCall{Files: []string{one, short}}, 3, "4.json: it is no outcome of linerate compare --json"},
		{combineCall{Files: []string{filepath.Join(dir, "none")}}, 3, "none"},
	} {
		var out bytes.Buffer
		exit, err := c.call.do(context.Background(), &out)
		if err != nil {
			out.WriteString(err.Error())
		}
		if exit != c.exit || !strings.Contains(out.String(), c.says) {
			t.Errorf("%v: %d, %s; want %d, %q", c.call.Files, exit, out.String(), c.exit, c.says)
		}
	}
}

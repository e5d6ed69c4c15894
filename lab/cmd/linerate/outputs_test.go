package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/bench"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
)

// One call writes all forms at once; it replaces files that were there, and leaves nothing else in
// their directory.
func TestAllOutputsAreOfOneOutcome(t *testing.T) {
	text, err := os.ReadFile("../../../data/examples/compare-write-buffer.json")
	if err != nil {
		t.Fatal(err)
	}
	var made compare.Outcome
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	o := outputs{JSONFile: at("a.json"), MarkdownFile: at("a.md")}
	if err := os.WriteFile(o.MarkdownFile, []byte("an older one"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := o.check(); err == nil {
		err = o.print(&out, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	verdict := made.Comparisons[0].Says
	if !strings.HasPrefix(out.String(), verdict+"; ") {
		t.Errorf("printed: %s", &out)
	}
	for name, want := range map[string]string{"a.json": `"` + verdict, "a.md": "**" + verdict} {
		if text, err := os.ReadFile(at(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, text)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%v", files)
	}
}

// The examples that pages show are what this program prints of their figures, and their command is
// one that it takes.
func TestTheExamplesAreOfThisProgram(t *testing.T) {
	paths, err := filepath.Glob("../../../data/examples/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var o compare.Outcome
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(tell.Lines(&o, true), "\n"), strings.Join(o.Says, "\n"); got != want {
			t.Errorf("%s: it would print\n%s\nand says\n%s", path, got, want)
		}
		words, err := strict.Words(o.Typed)
		if err != nil || len(words) == 0 || words[0] != "linerate" {
			t.Errorf("%s: %q is no call of linerate, %v", path, o.Typed, err)
			continue
		}
		commands := &subcommands{}
		parser, err := kong.New(commands, kong.Vars{"version": ""})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(words[1:]); err != nil {
			t.Errorf("%s: %q: %v", path, o.Typed, err)
		} else if _, err := bench.New(commands.Compare.Flags); err != nil {
			t.Errorf("%s: %q: %v", path, o.Typed, err)
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
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

// The comment that a page shows has the lines that this program writes of the example.
func TestTheCommentIsOfTheExample(t *testing.T) {
	page, err := os.ReadFile("../../../content/compare.md")
	text, other := os.ReadFile("../../../data/examples/compare-write-buffer.json")
	var o compare.Outcome
	if err := errors.Join(err, other, json.Unmarshal(text, &o)); err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "```markdown\n")
	shown, _, _ = strings.Cut(shown, "```")
	written := tell.Markdown(&o)
	for line := range strings.Lines(shown) {
		if !strings.Contains(written, line) {
			t.Errorf("the page has\n%sand the program writes\n%s", line, written)
		}
	}
	if !found {
		t.Error("the page shows no comment")
	}
}

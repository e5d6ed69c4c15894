package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

// One outcome is told in all forms at once; files that were there are replaced, and nothing else is
// left in their directory.
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
	o := outputs{JSONFile: at("a.json"), MarkdownFile: at("a.md"), HTML: at("a.html"), Badge: at("badge.json")}
	if err := os.WriteFile(o.HTML, []byte("an older page"), 0o644); err != nil {
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
	if !strings.HasPrefix(out.String(), verdict+"\n") {
		t.Errorf("printed: %s", &out)
	}
	for name, want := range map[string]string{"a.json": `"` + verdict, "a.md": "**" + verdict + "**", "a.html": "<h1>" + verdict,
		"badge.json": `"message": "34.1 % less (31.2 to 36.5 %)"`} {
		if text, err := os.ReadFile(at(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, text)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 4 {
		t.Errorf("%v", files)
	}
}

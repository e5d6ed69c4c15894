package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLinesBreakBetweenWords(t *testing.T) {
	text := "  11-threads block 3  workers=1: invalid: other-load: others ran on the server's cores for 0.94 of a " +
		"core, more than 0.10"
	for _, width := range []int{40, 60, 80, 200, 0} {
		got := Fit(text, width)
		if !slices.Equal(strings.Fields(got), strings.Fields(text)) {
			t.Errorf("%d columns: %q", width, got)
		}
		for i, line := range strings.Split(got, "\n") {
			if width > 0 && len(line) > width || i > 0 && !strings.HasPrefix(line, "    ") || width == 0 && line != text {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

// A rewritten line stays one line of the terminal.
func TestProgressStaysOneLine(t *testing.T) {
	var b bytes.Buffer
	r := &Line{Out: &b, Columns: 40}
	r.rewrite("  11-pipelining-simple block 12 (2/3): 1 min 20 s, at most 2 min 05 s left, 0 of 3 claims decided")
	if got := strings.Trim(b.String(), "\r "); strings.Contains(got, "\n") || len([]rune(got)) > 39 ||
		!strings.HasSuffix(got, " …") {
		t.Errorf("%q", got)
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if NewLine(f).Columns > 0 {
		t.Error("a file passes for a terminal; a log would be full of carriage returns")
	}
}

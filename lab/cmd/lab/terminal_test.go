package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestLinesBreakBetweenWords(t *testing.T) {
	text := "  11-threads block 3  workers=1: invalid: other-load: others ran on the server's cores for 0.94 of a core, more than 0.10"
	for _, width := range []int{40, 60, 80, 200, 0} {
		got := fitted(text, width)
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

func TestTheTableOfClaimsFitsATerminal(t *testing.T) {
	reason := strings.TrimSpace(strings.Repeat("some figures and words ", 12))
	for name, c := range map[string]struct {
		claim string
		width int
		has   string
	}{
		"a file":            {"11-threads/c1", 0, "11-threads/c1  reproduced  " + reason + "\n"},
		"a wide terminal":   {"11-threads/c1", 400, "11-threads/c1  reproduced  " + reason + "\n"},
		"one that is small": {"11-pipelining-simple/rises-to-the-line-rate", 80, "11-pipelining-simple/rises-to-the-line-rate: reproduced\n    some figures"},
	} {
		var b bytes.Buffer
		showClaims(&b, []row{{c.claim, "reproduced", reason}, {"x/y", "refuted", "short"}}, c.width)
		if !strings.Contains(b.String(), c.has) || strings.Count(b.String(), "figures") != 12 {
			t.Errorf("%s:\n%s", name, b.String())
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if c.width > 0 && len(line) > c.width {
				t.Errorf("%s: %d columns: %q", name, len(line), line)
			}
		}
	}
}

// What is rewritten on a terminal stays one line of it.
func TestProgressStaysOneLine(t *testing.T) {
	var b bytes.Buffer
	r := &reporter{out: &b, terminal: true, columns: 40}
	r.rewrite("  11-pipelining-simple block 12 (2/3): 1 min 20 s, at most 2 min 05 s left, 0 of 3 claims decided")
	if got := strings.Trim(b.String(), "\r "); strings.Contains(got, "\n") || len([]rune(got)) > 39 || !strings.HasSuffix(got, " …") {
		t.Errorf("%q", got)
	}
}

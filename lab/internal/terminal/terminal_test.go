package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// What is rewritten on a terminal stays one line of it.
func TestProgressStaysOneLine(t *testing.T) {
	var b bytes.Buffer
	r := &Line{Out: &b, Terminal: true, Columns: 40}
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
	if NewLine(f).Terminal {
		t.Error("a file passes for a terminal; a log would be full of carriage returns")
	}
}

func TestAWaitOnATerminalIsOneLine(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	r := &Line{Out: &out, Terminal: true, Now: func() time.Time { return at }}
	end := r.Wait("profiles", time.Minute)
	first := "  profiles: 0 s of 1 min 00 s, 1 min 00 s left"
	wrote(t, &out, "\r"+first)
	r.waited("profiles", 12*time.Second, time.Minute)
	second := "  profiles: 12 s of 1 min 00 s, 48 s left"
	wrote(t, &out, "\r"+second+blanks(len(first)-len(second)))
	r.waited("profiles", 61*time.Second, time.Minute)
	last := "  profiles: waiting for the last answers"
	wrote(t, &out, "\r"+last+blanks(len(second)-len(last)))
	at = at.Add(time.Minute)
	end()
	wrote(t, &out, "\r"+blanks(len(last))+"\r")
}

func TestAWaitInALogIsPlainLines(t *testing.T) {
	var out bytes.Buffer
	r := &Line{Out: &out, Now: time.Now}
	end := r.Wait("profiles", 30*time.Second)
	wrote(t, &out, "profiles: 0 s of 30 s, 30 s left\n")
	r.waited("profiles", 10*time.Second, 30*time.Second)
	wrote(t, &out, "profiles: 10 s of 30 s, 20 s left\n")
	end()
	wrote(t, &out, "")
}

func wrote(t *testing.T, out *bytes.Buffer, want string) {
	t.Helper()
	if out.String() != want {
		t.Errorf("wrote %q\nwant  %q", out.String(), want)
	}
	out.Reset()
}

func blanks(n int) string { return strings.Repeat(" ", n) }

package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// stillClock stands still until the test moves it on.
type stillClock struct{ at time.Time }

func (c *stillClock) now() time.Time { return c.at }

func reporting(is bool) (*Progress, *bytes.Buffer, *stillClock) {
	var out bytes.Buffer
	c := &stillClock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return &Progress{Line: &terminal.Line{Out: &out, Terminal: is, Now: c.now}}, &out, c
}

var progressed = &experiment.Experiment{Name: "7-made-up", Title: "A made-up comparison"}

// after is a run after so many blocks.
func after(blocks int, ended results.Ended) *results.File {
	return &results.File{
		Provenance: &results.Provenance{Blocks: blocks, Ended: ended},
		Conditions: []results.Condition{{ID: "c1", Levels: setting.Levels{setting.Workers: setting.Int(2)}}},
	}
}

func wrote(t *testing.T, out *bytes.Buffer, want string) {
	t.Helper()
	if out.String() != want {
		t.Errorf("wrote %q\nwant  %q", out.String(), want)
	}
	out.Reset()
}

func TestLogHasALineABlockOrTenSeconds(t *testing.T) {
	r, out, c := reporting(false)
	decided := 0
	r.Whole(2*time.Minute, func() (int, int) { return decided, 5 })
	r.Begin(progressed, 4*time.Second, 2*time.Minute)
	wrote(t, out, "7-made-up (a block takes about 4 s): A made-up comparison\n")
	r.Turn(1, 1, 2)
	r.Turn(1, 2, 2)
	wrote(t, out, "")
	c.at = c.at.Add(4 * time.Second)
	r.Block(after(1, ""), nil)
	wrote(t, out, "  7-made-up block 1: 4 s, at most 1 min 56 s left, 0 of 5 claims decided\n")
	c.at = c.at.Add(4 * time.Second)
	r.Block(after(2, ""), nil)
	wrote(t, out, "")
	c.at, decided = c.at.Add(6*time.Second), 2
	r.Block(after(3, ""), nil)
	wrote(t, out, "  7-made-up block 3: 14 s, at most 1 min 46 s left, 2 of 5 claims decided\n")
	c.at = c.at.Add(time.Second)
	r.Block(after(4, results.Decided), nil)
	wrote(t, out, "  7-made-up block 4, the last (decided): 15 s, at most 1 min 45 s left, 2 of 5 claims decided\n")
	// If more time has passed than the budget had, nothing is left, and not less than
	// nothing.
	c.at = c.at.Add(time.Hour)
	r.Begin(progressed, time.Second, time.Second)
	out.Reset()
	r.Block(after(1, ""), nil)
	if !strings.Contains(out.String(), "at most 0 s left") {
		t.Errorf("%q", out)
	}
}

func TestWhatMadeTrialsInvalidIsToldOnceARun(t *testing.T) {
	r, out, c := reporting(false)
	r.Whole(time.Minute, nil)
	bad := []results.Trial{{Condition: "c1",
		Reasons: []results.Reason{{Gate: "non-2xx", Detail: "3 answers were not 2xx"}, {Gate: "errors", Detail: "1 error"}}}}
	const told = "  7-made-up block 1  workers=2: invalid: non-2xx: 3 answers were not 2xx\n  7-made-up block 1  " +
		"workers=2: invalid: errors: 1 error\n"
	for range 2 {
		r.Begin(progressed, time.Second, time.Minute)
		out.Reset()
		r.Block(after(1, ""), bad)
		if !strings.HasPrefix(out.String(), told) {
			t.Errorf("%q", out)
		}
		out.Reset()
		c.at = c.at.Add(time.Second)
		r.Block(after(2, ""), bad)
		wrote(t, out, "")
	}
}

// A call that goes round names the round and what it waits for. A gate is told once in a
// run, though others had their turns in between.
func TestRoundsAreNamed(t *testing.T) {
	r, out, c := reporting(false)
	r.Whole(2*time.Minute, func() (int, int) { return 1, 5 })
	second := &experiment.Experiment{Name: "8-other", Title: "Another"}
	bad := []results.Trial{{Condition: "c1", Reasons: []results.Reason{{Gate: "errors", Detail: "1 error"}}}}
	for _, x := range []*experiment.Experiment{progressed, second} {
		r.Visit(x, 1)
		r.Begin(x, 4*time.Second, time.Minute)
		r.Turn(1, 1, 1)
		out.Reset()
		c.at = c.at.Add(10 * time.Second)
		r.Block(after(1, ""), bad)
	}
	wrote(t, out, "  8-other block 1  workers=2: invalid: errors: 1 error\n  round 1, 8-other block 1: 20 s, at most 1 "+
		"min 40 s left, 1 of 5 claims decided\n")
	r.Visit(progressed, 2)
	r.Turn(2, 1, 1)
	c.at = c.at.Add(10 * time.Second)
	r.Block(after(2, ""), bad)
	wrote(t, out, "  round 2, 7-made-up block 2: 30 s, at most 1 min 30 s left, 1 of 5 claims decided\n")
	c.at = c.at.Add(10 * time.Second)
	r.Pause(second, 6*time.Second)
	wrote(t, out, "  round 2, 8-other is left alone for 6 s: 40 s, at most 1 min 20 s left, 1 of 5 claims decided\n")
}

func TestTerminalRewritesOneLine(t *testing.T) {
	r, out, c := reporting(true)
	r.Whole(20*time.Second, func() (int, int) { return 1, 3 })
	r.Begin(progressed, 4*time.Second, 20*time.Second)
	first := "  7-made-up: 0 s, at most 20 s left, 1 of 3 claims decided"
	wrote(t, out, "\r"+first)
	r.Turn(1, 2, 2)
	second := "  7-made-up block 1 (2/2): 0 s, at most 20 s left, 1 of 3 claims decided"
	wrote(t, out, "\r"+second)
	c.at = c.at.Add(4 * time.Second)
	r.Block(after(1, ""), nil)
	third := "  7-made-up block 1: 4 s, at most 16 s left, 1 of 3 claims decided"
	wrote(t, out, "\r"+third+blanks(len(second)-len(third)))
	// A separate line stands alone, after the whole progress line is cleared.
	r.Say("kept %d blocks", 7)
	wrote(t, out, "\r"+blanks(len(third))+"\rkept 7 blocks\n")
	r.Turn(2, 1, 1)
	fourth := "  7-made-up block 2: 4 s, at most 16 s left, 1 of 3 claims decided"
	wrote(t, out, "\r"+fourth)
	r.End()
	wrote(t, out, "\r"+blanks(len(fourth))+"\r")
	r.End()
	wrote(t, out, "")
}

func TestARunThatCannotBeMadeIsNamed(t *testing.T) {
	r, out, _ := reporting(false)
	r.Whole(time.Minute, nil)
	r.Begin(progressed, 0, 0)
	wrote(t, out, "7-made-up: cannot be run here\n")
}

func blanks(n int) string { return string(bytes.Repeat([]byte{' '}, n)) }

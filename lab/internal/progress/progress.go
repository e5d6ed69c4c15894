// Package progress tells a person how a run goes on: one line that is
// rewritten on a terminal, one plain line a trial or ten seconds in a log.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Reporter writes the progress of runs, one after the other.
type Reporter struct {
	// Runs is how many runs there will be; with more than one, each says
	// which it is.
	Runs int

	out      io.Writer
	terminal bool
	now      func() time.Time

	run     int // how many have begun
	planned int
	each    time.Duration
	began   time.Time
	current string
	last    string
	width   int // of the line on the terminal
}

// New reports to a file, as to a terminal if it is one.
func New(f *os.File) *Reporter {
	info, err := f.Stat()
	return &Reporter{out: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, now: time.Now}
}

// Begin names a run that starts.
func (r *Reporter) Begin(x *experiment.Experiment, size string, trials int, each time.Duration) {
	r.planned, r.each, r.began, r.last, r.width = trials, each, r.now(), "", 0
	r.run++
	if r.Runs > 1 {
		fmt.Fprintf(r.out, "[%d/%d] ", r.run, r.Runs)
	}
	if trials == 0 {
		fmt.Fprintf(r.out, "%s: cannot be run here\n", x.Name)
	} else {
		fmt.Fprintf(r.out, "%s (%s, %d trials, about %s): %s\n", x.Name, size, trials, short(time.Duration(trials)*each), x.Title)
	}
}

// Trial says which trial is under way.
func (r *Reporter) Trial(seq, block int, levels setting.Levels) {
	r.planned = max(r.planned, seq)
	r.current = fmt.Sprintf("trial %d/%d  block %d  %s", seq, r.planned, block, levels.Key())
	if r.terminal {
		r.rewrite(fmt.Sprintf("  %s  %s left%s", r.current, short(r.left(seq-1)), r.last))
	}
}

// left is how long the rest should take, by the pace so far.
func (r *Reporter) left(done int) time.Duration {
	each := r.each
	if done > 0 {
		each = r.now().Sub(r.began) / time.Duration(done)
	}
	return time.Duration(r.planned-done) * each
}

// Result says what a trial showed.
func (r *Reporter) Result(t results.Trial) {
	seen := "invalid"
	if t.Valid {
		seen = fmt.Sprintf("%s, bound %s", rate(t), t.Bound)
	}
	r.last = "  (last: " + seen + ")"
	if !r.terminal {
		fmt.Fprintf(r.out, "  %s: %s, %s left\n", r.current, seen, short(r.left(t.Seq)))
	} else if t.Seq == r.planned {
		r.rewrite("")
	}
	for _, why := range t.Reasons {
		if r.terminal {
			r.rewrite("")
		}
		fmt.Fprintf(r.out, "  %s: invalid: %s: %s\n", r.current, why.Gate, why.Detail)
	}
}

// rate is what went through in a trial: events where it was about events.
func rate(t results.Trial) string {
	if limit, ok := t.Metrics["limit_per_s"]; ok {
		return fmt.Sprintf("%.0f events/s at most", limit)
	}
	if events, ok := t.Metrics["delivered_per_s"]; ok {
		return fmt.Sprintf("%.0f events/s", events)
	}
	return fmt.Sprintf("%.0f requests/s", t.Metrics["throughput_rps"])
}

// rewrite replaces the terminal's line; an empty text clears it.
func (r *Reporter) rewrite(text string) {
	fmt.Fprintf(r.out, "\r%s%s", text, strings.Repeat(" ", max(0, r.width-len(text))))
	if text == "" {
		fmt.Fprint(r.out, "\r")
	}
	r.width = len(text)
}

func short(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A reporter shows a person the progress of a call. On a terminal that is one line for
// the whole call, which is rewritten; in a log it is plain lines, one for each block and
// at most one in ten seconds.
type reporter struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	began  time.Time
	budget time.Duration
	tally  func() (decided, claims int)

	what  string // experiment and block
	round int    // of a call that goes round its experiments; 0 of another
	said  time.Time
	told  map[string]map[string]bool // gates that were reported, by experiment
	width int                        // of the line on the terminal

	columns int // of the terminal; 0 if unknown
}

// newReporter reports to a file, in the way of a terminal if the file is one.
func newReporter(f *os.File) *reporter {
	info, err := f.Stat()
	return &reporter{out: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, columns: columns(f), now: time.Now}
}

// Whole begins a call that may take so long. tally counts how many of its claims are
// decided so far.
func (r *reporter) Whole(budget time.Duration, tally func() (decided, claims int)) {
	r.began, r.budget, r.tally = r.now(), budget, tally
}

// Say writes a separate line.
func (r *reporter) Say(format string, args ...any) {
	if r.terminal {
		r.rewrite("")
	}
	fmt.Fprintln(r.out, fitted(fmt.Sprintf(format, args...), r.columns))
}

// End clears the line.
func (r *reporter) End() {
	if r.terminal {
		r.rewrite("")
	}
}

// Begin names a run that starts. The budget is 0 if the run cannot be made.
func (r *reporter) Begin(x *experiment.Experiment, block, budget time.Duration) {
	if r.told == nil {
		r.told = map[string]map[string]bool{}
	}
	r.what, r.said, r.told[x.Name] = x.Name, time.Time{}, map[string]bool{}
	switch {
	case budget == 0:
		r.Say("%s: cannot be run here", x.Name)
	case r.terminal:
		r.rewrite(r.line())
	default:
		r.Say("%s (a block takes about %s): %s", x.Name, short(block), x.Title)
	}
}

// Visit names the run that has the next turn, and the round.
func (r *reporter) Visit(x *experiment.Experiment, round int) {
	r.what, r.round = x.Name, max(r.round, round)
}

// Pause says that an experiment is left alone for so long before its next block.
func (r *reporter) Pause(x *experiment.Experiment, length time.Duration) {
	r.what = fmt.Sprintf("%s is left alone for %s", x.Name, short(length))
	r.progress(false)
}

// Turn says which block is being made, and which of its groups.
func (r *reporter) Turn(block, group, groups int) {
	name, _, _ := strings.Cut(r.what, " ")
	r.what = fmt.Sprintf("%s block %d", name, block)
	if groups > 1 {
		r.what += fmt.Sprintf(" (%d/%d)", group, groups)
	}
	if r.terminal {
		r.rewrite(r.line())
	}
}

// Block shows the progress after a block. Each gate that made trials invalid is reported
// once in a run.
func (r *reporter) Block(f *results.File, trials []results.Trial) {
	name, _, _ := strings.Cut(r.what, " ")
	n := f.Provenance.Blocks
	for _, t := range trials {
		for _, why := range t.Reasons {
			if told := r.told[name]; !told[why.Gate] {
				told[why.Gate] = true
				r.Say("  %s block %d  %s: invalid: %s: %s", name, n, levels(f, t), why.Gate, cmp.Or(why.Here, why.Detail))
			}
		}
	}
	r.what = fmt.Sprintf("%s block %d", name, n)
	ended := f.Provenance.Ended
	if ended != "" {
		r.what += fmt.Sprintf(", the last (%s)", ended)
	}
	r.progress(ended != "")
}

// progress shows the line; in a log, if it matters or none was written for a while.
func (r *reporter) progress(matters bool) {
	switch {
	case r.terminal:
		r.rewrite(r.line())
	case matters || r.said.IsZero() || r.now().Sub(r.said) >= logEvery:
		r.said = r.now()
		r.Say("%s", r.line())
	}
}

// levels names a trial's condition.
func levels(f *results.File, t results.Trial) string {
	for _, c := range f.Conditions {
		if c.ID == t.Condition {
			return c.Levels.Key()
		}
	}
	return t.Condition
}

// line is the progress of the whole call.
func (r *reporter) line() string {
	over := r.now().Sub(r.began)
	what := r.what
	if r.round > 0 {
		what = fmt.Sprintf("round %d, %s", r.round, what)
	}
	text := fmt.Sprintf("  %s: %s, at most %s left", what, short(over), short(max(0, r.budget-over)))
	if r.tally != nil {
		decided, claims := r.tally()
		text += fmt.Sprintf(", %d of %d claims decided", decided, claims)
	}
	return text
}

// rewrite replaces the terminal's line; an empty text clears it.
func (r *reporter) rewrite(text string) {
	if text == "" && r.width == 0 {
		return
	}
	if first, _, cut := strings.Cut(fitted(text, r.columns-2), "\n"); cut { // what is rewritten has to be one line
		text = first + " …"
	}
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

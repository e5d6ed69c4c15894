package session

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Progress shows a person how far a session is. On a terminal that is one line for all
// of it, which is rewritten; in a log it is plain lines, one for each block and at most one
// in ten seconds.
type Progress struct {
	*terminal.Line

	began  time.Time
	budget time.Duration
	tally  func() (decided, claims int)

	what  string                     // experiment and block
	round int                        // of a session that goes round its experiments; 0 of another
	gates map[string]map[string]bool // that were reported, by experiment
}

func newProgress(f *os.File) *Progress { return &Progress{Line: terminal.NewLine(f)} }

// Whole begins a session that may take so long. tally counts how many of its claims are
// decided so far.
func (p *Progress) Whole(budget time.Duration, tally func() (decided, claims int)) {
	p.began, p.budget, p.tally = p.Now(), budget, tally
}

// Begin names a run that starts. The budget is 0 if the run cannot be made.
func (p *Progress) Begin(x *experiment.Experiment, block, budget time.Duration) {
	if p.gates == nil {
		p.gates = map[string]map[string]bool{}
	}
	p.what, p.gates[x.Name] = x.Name, map[string]bool{}
	p.Due()
	switch {
	case budget == 0:
		p.Say("%s: cannot be run here", x.Name)
	case p.Terminal:
		p.Show(p.line(), false)
	default:
		p.Say("%s (a block takes about %s): %s", x.Name, words.Duration(block), x.Title)
	}
}

// Visit names the run that has the next turn, and the round.
func (p *Progress) Visit(x *experiment.Experiment, round int) {
	p.what, p.round = x.Name, max(p.round, round)
}

// Pause says that an experiment is left alone for so long before its next block.
func (p *Progress) Pause(x *experiment.Experiment, length time.Duration) {
	p.what = fmt.Sprintf("%s is left alone for %s", x.Name, words.Duration(length))
	p.Show(p.line(), false)
}

// Turn says which block is being made, and which of its groups.
func (p *Progress) Turn(block, group, groups int) {
	name, _, _ := strings.Cut(p.what, " ")
	p.what = fmt.Sprintf("%s block %d", name, block)
	if groups > 1 {
		p.what += fmt.Sprintf(" (%d/%d)", group, groups)
	}
	if p.Terminal {
		p.Show(p.line(), false)
	}
}

// Block shows the progress after a block. Each gate that made trials invalid is reported
// once in a run.
func (p *Progress) Block(f *results.File, trials []results.Trial) {
	name, _, _ := strings.Cut(p.what, " ")
	n := f.Provenance.Blocks
	for _, t := range trials {
		for _, why := range t.Reasons {
			if seen := p.gates[name]; !seen[why.Gate] {
				seen[why.Gate] = true
				p.Say("  %s block %d  %s: invalid: %s: %s", name, n, levels(f, t), why.Gate, why.Detail)
			}
		}
	}
	p.what = fmt.Sprintf("%s block %d", name, n)
	ended := f.Provenance.Ended
	if ended != "" {
		p.what += fmt.Sprintf(", the last (%s)", ended)
	}
	p.Show(p.line(), ended != "")
}

// levels names a trial's condition.
func levels(f *results.File, t results.Trial) string {
	if c, ok := strict.First(f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition }); ok {
		return c.Levels.Key()
	}
	return t.Condition
}

// line is the progress of the whole session.
func (p *Progress) line() string {
	over := p.Now().Sub(p.began)
	what := p.what
	if p.round > 0 {
		what = fmt.Sprintf("round %d, %s", p.round, what)
	}
	text := fmt.Sprintf("  %s: %s, at most %s left", what, words.Duration(over), words.Duration(max(0, p.budget-over)))
	if p.tally != nil {
		decided, claims := p.tally()
		text += fmt.Sprintf(", %d of %d claims decided", decided, claims)
	}
	return text
}

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// watched shows the progress of a comparison, with what is known of cost so far.
type watched struct {
	*comparison
	began  time.Time
	block  time.Duration // about how long one takes, with the servers' start
	assess func(*results.File) *compare.Outcome
	told   map[string]bool // gates that were reported
}

func (w *watched) Begin(*experiment.Experiment, time.Duration, time.Duration) {
	w.line.Say("blocks of about %.1f s, for %s at the most", w.block.Seconds(), words.Duration(w.Budget))
}

func (w *watched) Turn(block, _, _ int) { w.show(fmt.Sprintf("block %d", block)) }

// Block tells of each gate that made a trial invalid, once.
func (w *watched) Block(f *results.File, trials []results.Trial) {
	for _, t := range trials {
		for _, why := range t.Reasons {
			if !w.told[why.Gate] {
				w.told[why.Gate] = true
				w.line.Say("  block %d: %s invalid: %s: %s", f.Provenance.Blocks, w.called(f, t), why.Gate,
					w.Named(why.Detail))
			}
		}
	}
	text := fmt.Sprintf("block %d", f.Provenance.Blocks)
	for _, c := range w.assess(f).Comparisons {
		for _, r := range []*compare.Ratio{c.CPUPerRequest, c.Throughput} {
			if r != nil {
				text += fmt.Sprintf(", %s/%s %s", c.Name, c.Base, r)
				break
			}
		}
	}
	w.show(text)
}

// show is one line on a terminal, and now and then a line in a log.
func (w *watched) show(text string) {
	over := time.Since(w.began)
	w.line.Show(fmt.Sprintf("  %s; %s, at most %s left", text, words.Duration(over),
		words.Duration(max(0, w.Budget-over))), false)
}

// called is the server of a trial, as the caller calls it.
func (w *watched) called(f *results.File, t results.Trial) string {
	i := slices.IndexFunc(f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition })
	if 0 <= i && i < len(w.Servers) {
		return w.Servers[i].Name
	}
	return "the server measured twice"
}

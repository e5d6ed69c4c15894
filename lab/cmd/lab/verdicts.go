package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type verdictsCall struct {
	Check bool `help:"Only compare."`
}

func (c verdictsCall) do(_ context.Context, out io.Writer) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	if c.Check {
		return drift(j, out)
	}
	if err := derive.Write(j); err != nil {
		return exitFailed, err
	}
	var all []*pages.Hosts
	for _, x := range j.Experiments {
		path := j.Root.Hosts(x.Name)
		data, err := os.ReadFile(path)
		if err != nil {
			return exitFailed, err
		}
		h := &pages.Hosts{}
		if err := json.Unmarshal(data, h); err != nil {
			return exitFailed, fmt.Errorf("%s: %w", j.Root.Rel(path), err)
		}
		all = append(all, h)
	}
	overHosts(out, all)
	fmt.Fprintf(out, "verdicts of %d runs are up to date\n", len(j.Runs))
	return exitHeld, nil
}

// overHosts prints a line for each claim that several hosts measured, and the number of
// claims on which the hosts agree.
func overHosts(out io.Writer, all []*pages.Hosts) {
	several, alike, apart := 0, 0, 0
	for _, h := range all {
		for _, c := range h.Claims {
			if len(c.Hosts) < 2 {
				continue
			}
			several++
			says := c.Says
			if c.Agree != "" {
				says += "; " + c.Agree
			}
			fmt.Fprintf(out, "%s/%s: %s\n", h.Experiment, c.ID, says)
			switch held, refuted := c.Verdicts[verdict.Reproduced], c.Verdicts[verdict.Refuted]; {
			case held > 0 && refuted > 0:
				apart++
			case held+refuted > 1:
				alike++
			}
		}
	}
	if several > 0 {
		fmt.Fprintf(out, "%s measured on more than one machine: on %d several decide alike, on %d they contradict each other, on %d fewer than two decide\n",
			words.Count(several, "claim"), alike, apart, several-alike-apart)
	}
}

func drift(j *archive.Journal, out io.Writer) (int, error) {
	lines, err := derive.Drift(j)
	if err != nil {
		return exitFailed, err
	}
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	if len(lines) > 0 {
		return exitFailed, fmt.Errorf("%d derived files have drifted; run lab verdicts and commit what it writes", len(lines))
	}
	return exitHeld, nil
}

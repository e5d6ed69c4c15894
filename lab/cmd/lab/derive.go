package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type deriveCall struct {
	Check bool `help:"Fail where a page's words say more than the record that it shows."`
	Hosts bool `help:"Also print the claims that several machines measured, and on how many of them the machines agree."`
}

func (c deriveCall) do(_ context.Context, out io.Writer) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	began := time.Now()
	done, err := derive.Update(root)
	if err != nil {
		return exitFailed, err
	}
	if c.Hosts {
		if err := overHosts(out, root); err != nil {
			return exitFailed, err
		}
	}
	fmt.Fprintf(out, "%s with %s derived anew in %.1f s; %d had not changed\n", words.Count(done.Anew, "experiment"),
		words.Count(done.Runs, "run"), time.Since(began).Seconds(), done.Experiments-done.Anew)
	wrong := 0
	for _, s := range done.Moved {
		fmt.Fprintln(out, s)
		if s.Wrong() {
			wrong++
		}
	}
	if c.Check && wrong > 0 {
		return exitFailed, fmt.Errorf("%s more than the record", words.Count(wrong, "page says", "pages say"))
	}
	return exitHeld, nil
}

// overHosts prints a line for each claim that several hosts measured, and the number of
// claims on which the hosts agree.
func overHosts(out io.Writer, root journal.Root) error {
	xs, err := experiment.LoadDir(root.Experiments())
	if err != nil {
		return err
	}
	several, alike, apart := 0, 0, 0
	for _, x := range xs {
		h, err := derive.OverHosts(root, x)
		if err != nil {
			return err
		}
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
		fmt.Fprintf(out, "%s measured on more than one machine: on %d several decide alike, on %d they contradict each "+
			"other, on %d fewer than two decide\n",
			words.Count(several, "claim"), alike, apart, several-alike-apart)
	}
	return nil
}

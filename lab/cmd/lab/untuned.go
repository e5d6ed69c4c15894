package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/doctor"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// untuned has this machine's kernel settings as they were before the lab turned any. It
// restores what a run that was killed left turned. What it cannot restore, and what
// somebody turned by hand, ends the call; with a run that counts for nothing, the latter
// is only said. A service that was stopped by hand stays so, since designs need that.
func untuned(trial bool, say func(format string, args ...any)) error {
	restored, left, err := tune.Settle()
	for _, l := range restored {
		say("restored %s, which a run that was killed had left at %q", l.Path, strings.TrimSpace(l.Now))
	}
	for _, l := range left {
		if l.Service || trial && l.By == tune.ByHand {
			say("%v, and stays so for this run", l)
			continue
		}
		return withSetting(l)
	}
	return err
}

// withSetting says why nothing is measured with a setting, and the way out.
func withSetting(l tune.Left) error {
	if l.By == tune.Held {
		return fmt.Errorf("nothing was measured: %v; wait for its end, or end it", l)
	}
	return fmt.Errorf("nothing was measured: %v; restore it first: %s (on a fleet: make fleet-restore)", l, doctor.Restore)
}

// turned is an error with a line for each setting that is turned on a fleet's hosts.
func turned(on *fleet.Fleet) error {
	var lines []string
	for i, h := range on.Hellos() {
		for _, l := range h.Left {
			lines = append(lines, fmt.Sprintf("%s: %s; make fleet-restore turns it back", on.Names()[i], l))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

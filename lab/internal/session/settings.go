package session

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// RestoreSettings has this machine's kernel settings as they were before the lab turned any. It
// restores what a run that was killed left turned. What it cannot restore, and what
// somebody turned by hand, ends the call; with a run that counts for nothing, the latter
// is only said. A service that was stopped by hand stays so, since designs need that.
func RestoreSettings(trial bool, say func(format string, args ...any)) error {
	restored, left, err := tune.Settle()
	for _, l := range restored {
		say("restored %s, which a run that was killed had left at %q", l.Path, strings.TrimSpace(l.Now))
	}
	for _, l := range left {
		if l.Service || trial && l.By == tune.ByHand {
			say("%v, and stays so for this run", l)
			continue
		}
		way := "restore it first: " + tune.Restore
		if l.By == tune.Held {
			way = "wait for its end, or end it"
		}
		return fmt.Errorf("nothing was measured: %v; %s", l, way)
	}
	return err
}

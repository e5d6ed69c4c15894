package main

import (
	"fmt"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// roomBytes is more than the largest run comes to, with its profiles and all that
// is derived from it.
const roomBytes = 8 << 20

// writable tells before a run whether it could be kept, by writing where it would
// be written.
func writable(root journal.Root, x *experiment.Experiment, h *host.Profile) error {
	dirs := []string{
		filepath.Dir(root.Result(x.Name, "")), filepath.Dir(root.Host(h.ID)),
		filepath.Dir(root.Verdict(x.Name, "")), filepath.Dir(root.Sheet(x.Name, "")), filepath.Dir(root.Design("")),
	}
	if x.Profile != nil {
		dirs = append(dirs, filepath.Dir(root.Profile(x.Name+"/run")), filepath.Dir(root.Flame(x.Name, "", "")))
	}
	if err := results.Room(root.Scratch(), roomBytes, dirs...); err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}

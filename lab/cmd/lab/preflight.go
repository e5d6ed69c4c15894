package main

import (
	"fmt"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// roomBytes is more than the largest run takes, with its profiles and all derived files.
const roomBytes = 8 << 20

// writable checks before a run whether it could be kept, by writing a file where it would
// be kept.
func writable(scratch string, root journal.Root, x *experiment.Experiment, h *host.Profile) error {
	dirs := []string{
		filepath.Dir(root.Result(x.Name, "")), filepath.Dir(root.Host(h.ID)),
		filepath.Dir(root.Verdict(x.Name, "")), filepath.Dir(root.Sheet(x.Name, "")), filepath.Dir(root.Run(x.Name, "")),
		filepath.Dir(root.Design("")),
	}
	if x.Profile != nil {
		dirs = append(dirs, filepath.Dir(root.Profile(x.Name+"/run")), filepath.Dir(root.Flame(x.Name, "", "")))
	}
	if err := results.Room(scratch, roomBytes, dirs...); err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}

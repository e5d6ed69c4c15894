package run

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// children are the test's own processes of a command name, however deep below it.
func children(name string) (pids []int) {
	for _, pid := range telemetry.Descendants(os.Getpid()) {
		if telemetry.Command(pid) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

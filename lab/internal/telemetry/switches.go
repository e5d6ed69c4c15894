package telemetry

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Switches are the context switches of threads so far, by the threads' ids: first those with
// which a thread went to sleep, then those that took it off its core.
type Switches map[int][2]int64

// SwitchesOf reads all threads of some processes. A thread that has ended takes its counts
// with it: no other place of the kernel's has them.
func SwitchesOf(pids []int) Switches {
	out := Switches{}
	for _, pid := range pids {
		paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, path := range paths {
			text, err := os.ReadFile(path + "/status")
			tid, bad := strconv.Atoi(filepath.Base(path))
			if err != nil || bad != nil {
				continue // it has ended meanwhile
			}
			one := [2]int64{}
			for line := range strings.Lines(string(text)) {
				name, value, _ := strings.Cut(line, ":")
				n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
				switch name {
				case "voluntary_ctxt_switches":
					one[0] = n
				case "nonvoluntary_ctxt_switches":
					one[1] = n
				}
			}
			out[tid] = one
		}
	}
	return out
}

// Since adds up the switches since an earlier moment, and says how many threads have begun and
// ended since then. Of those that did both nothing is seen.
func (s Switches) Since(before Switches) (switches [2]int64, begun, ended int) {
	for tid, now := range s {
		was, known := before[tid]
		if !known {
			begun++
		}
		switches[0], switches[1] = switches[0]+now[0]-was[0], switches[1]+now[1]-was[1]
	}
	return switches, begun, len(before) - (len(s) - begun)
}

// Forks is how many threads and processes this machine has started since it was booted; 0 if
// the kernel does not tell.
func Forks() int64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "processes "); ok {
			n, _ := strconv.ParseInt(text, 10, 64)
			return n
		}
	}
	return 0
}

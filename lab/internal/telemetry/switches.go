package telemetry

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Switches are the context switches of threads so far, by the threads' ids: first those with
// which a thread went to sleep, then those that took it off its core.
type Switches map[int][2]int64

var (
	ofThread = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)\nnonvoluntary_ctxt_switches:\s*(\d+)$`)
	forks    = regexp.MustCompile(`(?m)^processes (\d+)$`)
)

// SwitchesOf reads all threads of some processes. A thread that has ended takes its counts
// with it: no other place of the kernel's has them.
func SwitchesOf(pids []int) Switches {
	out := Switches{}
	for _, pid := range pids {
		paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, path := range paths {
			tid, _ := strconv.Atoi(filepath.Base(path))
			if n := counts(path+"/status", ofThread); len(n) == 2 {
				out[tid] = [2]int64(n)
			}
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
	if n := counts("/proc/stat", forks); len(n) == 1 {
		return n[0]
	}
	return 0
}

// counts are the numbers of a line or two in a file; nil if they are not there.
func counts(path string, lines *regexp.Regexp) (out []int64) {
	text, _ := os.ReadFile(path)
	for i, word := range lines.FindSubmatch(text) {
		if n, err := strconv.ParseInt(string(word), 10, 64); i > 0 && err == nil {
			out = append(out, n)
		}
	}
	return out
}

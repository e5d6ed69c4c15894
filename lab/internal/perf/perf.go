// Package perf samples the stacks of processes, in the kernel too, with the program perf.
//
// It samples all cores and keeps what the processes did. A clock of each thread alone would need
// fewer rights, but Linux 6.18 was seen to stop such a clock after a sample, until the thread is
// next switched out: a busy server then has a few dozen samples where thousands are due.
package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Hertz is how many samples are taken in a second of CPU time. It is odd, so that they do not fall
// in step with timers.
const Hertz = 1999

// A Frame is one call of a stack.
type Frame struct {
	Kernel bool
	Symbol string // empty: it has none
	Object string // the file that it is in, as perf calls it; empty: unknown
}

// A Stack has its innermost call first.
type Stack []Frame

// Usable says why no process can be sampled on this machine, and the way out; empty if it can be.
func Usable() string {
	if _, err := exec.LookPath("perf"); err != nil {
		return "perf is not installed (Debian: apt-get install linux-perf; Ubuntu: linux-tools-generic)"
	}
	if os.Geteuid() == 0 {
		return ""
	}
	level, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if n, bad := strconv.Atoi(strings.TrimSpace(string(level))); err != nil || bad != nil || n > 0 {
		return "this user may not sample the kernel (as root: sysctl kernel.perf_event_paranoid=0 kernel.kptr_restrict=0)"
	}
	return ""
}

// Record samples processes for a while, by a clock. Its file goes to a directory of its own
// below dir, which it removes.
func Record(ctx context.Context, dir string, pids []int, window time.Duration) (stacks []Stack, err error) {
	own, err := os.MkdirTemp(dir, "perf-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	list := strict.Called(pids, strconv.Itoa)
	data := filepath.Join(own, "data")
	if _, err := call(ctx, window+10*time.Second, "record", "--quiet", "--all-cpus",
		"--event", "cpu-clock:I", // not the idle loop
		"--freq", strconv.Itoa(Hertz), "-g", "--no-buildid", "--no-buildid-cache", "--output", data,
		"--", "sleep", strconv.FormatFloat(window.Seconds(), 'f', 3, 64)); err != nil {
		return nil, err
	}
	text, err := call(ctx, 20*time.Second, "script", "--input", data, "--fields", "ip,sym,dso",
		"--pid", strings.Join(list, ","))
	return Parse(text), err
}

// Parse reads the stacks that perf script prints: a frame a line, as "ADDRESS SYMBOL (OBJECT)",
// and an empty line after each stack. A symbol may have spaces and brackets as well.
func Parse(script []byte) (all []Stack) {
	var stack Stack
	for line := range strings.SplitSeq(string(script)+"\n\n", "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			if len(stack) > 0 {
				all, stack = append(all, stack), nil
			}
			continue
		}
		address, symbol, _ := strings.Cut(line, " ")
		// The kernel is at the upper end of the addresses, on each machine with 64 bits.
		f := Frame{Kernel: len(address) == 16 && address[0] == 'f', Symbol: symbol}
		if rest, ok := strings.CutSuffix(symbol, ")"); ok {
			rest = strings.TrimSuffix(rest, " (deleted)")
			if at := strings.LastIndex(" "+rest, " ("); at >= 0 {
				f.Symbol, f.Object = strings.TrimSpace((" " + rest)[:at]), (" " + rest)[at+2:]
			}
		}
		for _, text := range []*string{&f.Symbol, &f.Object} {
			if *text == "[unknown]" {
				*text = ""
			}
		}
		stack = append(stack, f)
	}
	return all
}

// call runs perf on a leash, and returns what it printed.
func call(ctx context.Context, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	p, err := proc.Start(proc.Spec{Argv: append([]string{"perf"}, args...), Stdout: &out})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Stop(p.Pid(), time.Second) }()
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil, fmt.Errorf("perf %s: %w", args[0], context.Cause(ctx))
	}
	if err := p.Err(); err != nil {
		return nil, fmt.Errorf("perf %s failed: %s", args[0], p.LastLine())
	}
	return out.Bytes(), nil
}

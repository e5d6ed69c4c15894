// Package kernel tells what any program does by what the kernel sees: its stacks, which the program
// perf samples, and its system calls, which ptrace counts.
package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Hertz is how many samples perf takes in a second of CPU time. It is odd, so that they do not fall in step with timers.
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
	level := func(setting string) int {
		text, _ := os.ReadFile("/proc/sys/kernel/" + setting)
		n, _ := strconv.Atoi(strings.TrimSpace(string(text))) // a kernel without it says why when perf begins
		return n
	}
	// Where the addresses of the kernel's functions are hidden, perf cannot name them.
	paranoid, hidden := level("perf_event_paranoid"), level("kptr_restrict")
	if root := os.Geteuid() == 0; hidden > 1 || !root && max(paranoid, hidden) > 0 {
		return "this user may not sample the kernel (as root: sysctl kernel.perf_event_paranoid=0 kernel.kptr_restrict=0)"
	}
	return ""
}

// Record samples processes for a while, by a clock.
//
// It samples all cores and keeps what the processes did. A clock of each thread alone would need fewer rights, but Linux
// 6.18 was seen to stop such a clock after a sample, until the thread is next switched out.
func Record(ctx context.Context, pids []int, window time.Duration) ([]Stack, error) {
	if why := Usable(); why != "" {
		return nil, errors.New(why)
	}
	data, err := perf(ctx, nil, window+10*time.Second, "record", "--quiet", "--all-cpus",
		"--event", "cpu-clock:I", // not the idle loop
		"--freq", strconv.Itoa(Hertz), "-g", "--no-buildid", "--no-buildid-cache", "--output", "-",
		"--", "sleep", strconv.FormatFloat(window.Seconds(), 'f', 3, 64))
	if err != nil {
		return nil, err
	}
	text, err := perf(ctx, data, 20*time.Second, "script", "--input", "-", "--fields", "ip,sym,dso",
		"--pid", strings.Join(strict.Map(pids, strconv.Itoa), ","))
	return parse(string(text)), err
}

// perf runs the program, and returns what it printed.
func perf(ctx context.Context, in []byte, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	err := proc.Run(ctx, proc.Spec{Argv: append([]string{"perf"}, args...), Stdin: bytes.NewReader(in), Stdout: &out})
	if err != nil {
		err = fmt.Errorf("perf %s: %w", args[0], err)
	}
	return out.Bytes(), err
}

// line is a frame of perf script's, as "ADDRESS SYMBOL (OBJECT)". A symbol may have spaces and brackets as well.
var line = regexp.MustCompile(`^\s*([0-9a-f]+) ?(.*?)(?: ?\(([^()]*)(?: \(deleted\))?\))?$`)

// parse reads the stacks that perf script prints: a frame a line, and an empty line after each stack.
func parse(script string) (all []Stack) {
	for block := range strings.SplitSeq(script, "\n\n") {
		var stack Stack
		for text := range strings.SplitSeq(block, "\n") {
			if m := line.FindStringSubmatch(text); m != nil {
				// The kernel is at the upper end of the addresses, on each machine with 64 bits.
				stack = append(stack, Frame{len(m[1]) == 16 && m[1][0] == 'f', strings.TrimPrefix(m[2], "[unknown]"),
					strings.TrimPrefix(m[3], "[unknown]")})
			}
		}
		if stack != nil {
			all = append(all, stack)
		}
	}
	return all
}

// The fewest samples that tell how much a client's work is: at a share of a fifth, its standard error is then 0.02.
const leastSamples = 400

// ReceiveShare is the part of a server's CPU time that is its client's work; 0 if there are too few samples to tell.
//
// Between processes on one machine there is no network card. What a server sends runs through the receiving side of the
// network stack at once, on the server's core and clock, before its system call returns. That holds for loopback and
// for a veth pair. So a raw CPU time a request is too high by that part, and the ratio of two servers lies too near to
// 1. What a client would do elsewhere (interrupts, a card's driver, checksums) is not seen.
func ReceiveShare(stacks []Stack) float64 {
	if len(stacks) < leastSamples {
		return 0
	}
	handed := strict.Count(stacks, func(s Stack) bool { // a packet to the protocol that receives it
		return slices.ContainsFunc(s, func(f Frame) bool { return strings.HasPrefix(f.Symbol, "__netif_receive_skb") })
	})
	return float64(handed) / float64(len(stacks))
}

// Names that classify a stack. The kernel's functions of one system call, on amd64 and arm64, where the compiler leaves
// of some only what they call. The files of runtimes, and of libraries that work for their caller. And the functions of
// garbage collectors.
var (
	inCall   = regexp.MustCompile(`^(?:__(?:x64|ia32|arm64)_(?:compat_)?sys_|__(?:se_|do_)?sys_|ksys_|do_sys_|do_(epoll_p?wait|futex|writev|readv)$)(.*)`)
	runtimes = regexp.MustCompile(`^(lib)?(python|node|nodejs|jvm|ruby|php|php-fpm|beam\.smp|coreclr|clrjit|bun|deno)[-0-9.t]*(so[0-9.]*)?$`)
	anyones  = regexp.MustCompile(`^(lib(c|m|dl|pthread|stdc\+\+|gcc_s)[-.]|ld-|\[v)`)
	collects = regexp.MustCompile(`^(gc_collect|deduce_unreachable|visit_(decref|reachable)|subtract_refs|` +
		`(G1|Z|PS|Shenandoah|Serial)(Mark|Scavenge|Par|Full|Young|Conc|Evac|CM|Reloc|Heap)|GCTaskThread|GangWorker|rb_gc|gc_(mark|sweep)|` +
		`v8::internal::([A-Za-z:]*(Scaveng|MarkCompact|Marking|Sweep|Evacuat)|Heap::(Collect|Perform)Garbage))`)
)

// Analyse sums up stacks as a CPU profile, by kind of work alone.
func Analyse(stacks []Stack) profile.Profile {
	out := profile.Profile{Kind: profile.CPU, Events: float64(len(stacks)), Work: map[string]float64{}}
	for _, s := range stacks {
		out.Work[string(workOf(s))] += 1 / out.Events
	}
	return out
}

// workOf is the kind of work of a stack.
func workOf(s Stack) (own profile.Work) {
	user := strict.Filter(s, func(f Frame) bool { return !f.Kernel })
	if slices.ContainsFunc(user, func(f Frame) bool { return strings.HasPrefix(f.Symbol, "runtime.") }) { // each goroutine of Go has some
		names := strict.Map(user, func(f Frame) string { return f.Symbol })
		slices.Reverse(names)
		file := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "os.(*File).") })
		if own = profile.WorkOf(names); own != profile.WorkHandler || file { // else it may be a raw call of the handler's
			return own
		}
	}
	for _, f := range slices.Backward(s) {
		if m := inCall.FindStringSubmatch(f.Symbol); f.Kernel && m != nil {
			if work := profile.WorkOfCall(m[1] + m[2]); work != "" {
				return work
			}
		}
	}
	// A page fault, an interrupt or another call belongs to the work under way.
	if own != "" {
		return own
	}
	who := slices.IndexFunc(user, func(f Frame) bool { return !anyones.MatchString(path.Base(f.Object)) })
	switch {
	case who < 0:
		return profile.WorkOther
	case !runtimes.MatchString(path.Base(user[who].Object)):
		return profile.WorkHandler
	case slices.ContainsFunc(user[who:], func(f Frame) bool { return collects.MatchString(f.Symbol) }):
		return profile.WorkCollector
	}
	return profile.WorkRuntime
}

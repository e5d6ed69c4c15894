// Package probe counts the system calls that running processes make between
// two moments.
//
// Its stance: a count is worth only what it leaves of the thing counted. Of
// the tools at hand, on one worker at 84,000 small requests a second, perf stat
// with a few counters left nine tenths or more, strace -c left 28 % and, since
// a slow server batches otherwise, changed the count from 3.6 calls a request
// to 3.0; perf trace left 9 %, and under pipelining lost nine tenths
// of the events without a word. So perf stat is tried first: it counts in the
// kernel and can lose nothing. It needs root, as the kernel keeps its
// tracepoints from others; strace is there for those.
//
// Its limits: perf names the calls that a server makes for requests and counts
// the rest together. strace changes what it counts; a trial under it is good
// for its count per request and for no figure of speed. Which of the two
// counted is part of the answer.
package probe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

// Counts are numbers of system calls by the call's name.
type Counts map[string]int64

// Other is the name under which calls stand that were not counted by name.
const Other = "other"

// Total is how many calls there were in all.
func (c Counts) Total() int64 {
	var sum int64
	for _, n := range c {
		sum += n
	}
	return sum
}

// A Probe is a tracer attached to processes. It dies with the lab, and leaves
// the processes running whichever way it ends.
type Probe struct {
	Tracer string // what counts: "perf stat" or "strace"

	proc *leash.Proc
	dir  string
	stop func() error // ends the counting, and lets the tracer write
	read func(text string) (Counts, error)
}

// patience is how long a tracer may take to attach or to end. An attached
// tracer has to stop each thread once.
const patience = 10 * time.Second

// Start attaches a tracer to processes, with all their threads and what they
// start from now on. Once it returns, calls are counted.
func Start(pids []int) (*Probe, error) {
	if len(pids) == 0 {
		return nil, errors.New("no process to count the system calls of")
	}
	var refused []error
	for _, start := range []func([]int, string) (*Probe, error){perf, strace} {
		dir, err := os.MkdirTemp("", "probe-")
		if err != nil {
			return nil, err
		}
		p, err := start(pids, dir)
		if err == nil {
			p.dir = dir
			return p, nil
		}
		os.RemoveAll(dir)
		refused = append(refused, err)
	}
	return nil, fmt.Errorf("system calls cannot be counted here: %w; %w", refused[0], refused[1])
}

// Stop ends the counting and gives the counts. The processes go on.
func (p *Probe) Stop() (Counts, error) {
	defer os.RemoveAll(p.dir)
	defer p.end()
	if err := p.stop(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Tracer, err)
	}
	select {
	case <-p.proc.Done():
	case <-time.After(patience):
		return nil, fmt.Errorf("%s did not end within %v", p.Tracer, patience)
	}
	text, err := os.ReadFile(report(p.dir))
	if err != nil {
		return nil, fmt.Errorf("%s left no report: %s", p.Tracer, p.proc.LastLine())
	}
	counts, err := p.read(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Tracer, err)
	}
	return counts, nil
}

// interrupt sends the signal at which tracers let go and write their report. One
// that has ended with its processes has done both.
func interrupt(proc *leash.Proc) error {
	if err := syscall.Kill(proc.Pid(), syscall.SIGINT); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

func (p *Probe) end() { _ = p.proc.Stop(p.proc.Pid(), time.Second) }

// report is the file that a tracer writes its counts to.
func report(dir string) string { return filepath.Join(dir, "report") }

func missing(tool, what string) error {
	if _, err := exec.LookPath(tool); err != nil {
		return fmt.Errorf("%s is not installed (Debian and Ubuntu: apt-get install %s)", tool, what)
	}
	return nil
}

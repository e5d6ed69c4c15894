package probe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

// yama is the setting that keeps processes from tracing others of their user.
const yama = "/proc/sys/kernel/yama/ptrace_scope"

func strace(pids []int, dir string) (*Probe, error) {
	if err := missing("strace", "strace"); err != nil {
		return nil, err
	}
	argv := []string{"strace", "-f", "-c", "-S", "calls", "-o", report(dir)}
	for _, pid := range pids {
		argv = append(argv, "-p", strconv.Itoa(pid))
	}
	var all attachment
	all.todo, all.done = len(pids), make(chan error, 1)
	proc, err := leash.Start(leash.Spec{Argv: argv, Env: []string{"LC_ALL=C"}, Lines: all.line})
	if err != nil {
		return nil, err
	}
	p := &Probe{Tracer: "strace", proc: proc, read: parseStrace}
	p.stop = func() error { return interrupt(proc) }
	select {
	case err = <-all.done:
	case <-proc.Done():
		select {
		case err = <-all.done:
		default:
			err = fmt.Errorf("strace: %s", proc.LastLine())
		}
	case <-time.After(patience):
		err = fmt.Errorf("strace had not attached within %v", patience)
	}
	if err != nil {
		p.end()
		return nil, permission(err, yama)
	}
	return p, nil
}

// An attachment waits for strace to say that it holds each process.
type attachment struct {
	mu   sync.Mutex
	todo int
	done chan error
}

func (a *attachment) line(l string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.todo <= 0:
	case strings.Contains(l, " attached"):
		// What the processes start is announced alike, but not before strace
		// holds, or has complained of, each that it was told.
		if a.todo--; a.todo == 0 {
			a.done <- nil
		}
	case strings.Contains(l, "ptrace("), strings.Contains(l, "No such process"):
		a.todo = 0
		a.done <- errors.New(strings.TrimSpace(l))
	}
}

// permission adds to a refusal what refuses, and the way out.
func permission(err error, setting string) error {
	if !strings.Contains(err.Error(), "not permitted") {
		return err
	}
	text, _ := os.ReadFile(setting)
	if scope := strings.TrimSpace(string(text)); scope != "" && scope != "0" {
		return fmt.Errorf("%w; kernel.yama.ptrace_scope is %s: run as root, or sudo sysctl -w kernel.yama.ptrace_scope=0", err, scope)
	}
	return fmt.Errorf("%w; run as root, or as the user whose processes they are, and in a container with --cap-add SYS_PTRACE", err)
}

// parseStrace reads the table of strace -c. Its columns have changed over the
// versions; calls stand under "calls", the name is last, and a row without
// errors has one field less.
func parseStrace(text string) (Counts, error) {
	counts := Counts{}
	column, total, seen := -1, int64(0), false
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(f[0], "---"):
		case column < 0:
			// "% time" is one column of two words.
			for i, head := range f {
				if head == "calls" {
					column = i - 1
				}
			}
		case len(f) <= column+1:
			return nil, fmt.Errorf("a line that is not understood: %q", line)
		default:
			n, err := strconv.ParseInt(f[column], 10, 64)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("a line that is not understood: %q", line)
			}
			if name := f[len(f)-1]; name == "total" {
				total, seen = n, true
			} else {
				counts[name] += n
			}
		}
	}
	switch {
	case column < 0:
		return counts, nil // no call was made, and strace writes no table then
	case !seen:
		return nil, errors.New("its table has no total")
	case total != counts.Total():
		return nil, fmt.Errorf("its table sums to %d calls and says %d", counts.Total(), total)
	}
	return counts, nil
}

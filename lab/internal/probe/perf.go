package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

// named are the calls that perf counts each by its own. All of them at once
// would take a third of the server's speed, because each counter is switched
// with its thread; these few, and one counter for all calls, take a tenth or
// less.
var named = []string{
	"read", "write", "readv", "writev", "sendto", "recvfrom", "epoll_wait", "epoll_pwait", "epoll_ctl",
	"accept4", "close", "futex", "nanosleep", "sched_yield",
}

const every = "raw_syscalls:sys_enter"

func perf(pids []int, dir string) (*Probe, error) {
	if err := missing("perf", "linux-perf or linux-tools-generic"); err != nil {
		return nil, err
	}
	control, err := newControl(dir)
	if err != nil {
		return nil, err
	}
	mounted()
	events := []string{every}
	for _, c := range available(named, tracing) {
		events = append(events, "syscalls:sys_enter_"+c)
	}
	var ids []string
	for _, pid := range pids {
		ids = append(ids, strconv.Itoa(pid))
	}
	var said []string
	proc, err := leash.Start(leash.Spec{
		Argv: []string{"perf", "stat", "-x,", "-D", "-1", "--control", "fifo:" + control.name + "," + control.answer,
			// One group: its counters start and stop as one on each thread.
			"-e", "{" + strings.Join(events, ",") + "}", "-p", strings.Join(ids, ","), "-o", report(dir)},
		Env:   []string{"LC_ALL=C"},
		Lines: func(l string) { said = append(said, l) },
	})
	if err != nil {
		control.close()
		return nil, err
	}
	p := &Probe{Tracer: "perf stat", proc: proc, read: parsePerf}
	p.stop = func() error {
		defer control.close()
		if err := control.tell("disable", proc); err != nil {
			return err
		}
		return interrupt(proc)
	}
	if err := control.tell("enable", proc); err != nil {
		control.close()
		p.end()
		return nil, fmt.Errorf("perf cannot attach (%s)", complaint(said, err))
	}
	return p, nil
}

// tracing is where the kernel shows its tracepoints.
var tracing = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// mounted has perf mount the kernel's tracepoints where nobody has yet since
// the machine was started. perf mounts them when it first looks one up; calls
// whose tracepoints were looked for before that would not be counted by name.
// Where it may not, it cannot count either, and says why itself.
func mounted() {
	for _, root := range tracing {
		if _, err := os.Stat(filepath.Join(root, "events")); err == nil {
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = exec.CommandContext(ctx, "perf", "list", every).Run()
}

// available leaves out the calls that this machine's kernel does not have; of
// epoll_wait arm64 has none, and perf refuses a list with one unknown.
func available(calls, roots []string) []string {
	var have []string
	for _, c := range calls {
		for _, root := range roots {
			if _, err := os.Stat(filepath.Join(root, "events", "syscalls", "sys_enter_"+c)); err == nil {
				have = append(have, c)
				break
			}
		}
	}
	return have
}

// complaint picks the line that says what is wrong from those around it.
func complaint(said []string, otherwise error) string {
	for _, sign := range []string{"permission", "error:", "problems"} {
		for _, l := range said {
			if text := strings.TrimSpace(l); strings.Contains(strings.ToLower(text), sign) && !strings.EqualFold(text, "error:") {
				return strings.TrimPrefix(text, "Error:\t")
			}
		}
	}
	return otherwise.Error()
}

// A control is the pair of pipes over which perf is told when to count, and
// says when it has begun.
type control struct {
	name, answer string
	to, from     *os.File
}

func newControl(dir string) (*control, error) {
	c := &control{name: filepath.Join(dir, "control"), answer: filepath.Join(dir, "answer")}
	for _, pipe := range []struct {
		name string
		file **os.File
	}{{c.name, &c.to}, {c.answer, &c.from}} {
		if err := syscall.Mkfifo(pipe.name, 0o600); err != nil {
			c.close()
			return nil, err
		}
		// For reading and writing: neither open nor a perf that is not there
		// yet can block.
		f, err := os.OpenFile(pipe.name, os.O_RDWR|syscall.O_NONBLOCK, 0)
		if err != nil {
			c.close()
			return nil, err
		}
		*pipe.file = f
	}
	return c, nil
}

// tell gives a command and waits until it is obeyed, or the tracer is gone.
func (c *control) tell(command string, proc *leash.Proc) error {
	if _, err := fmt.Fprintln(c.to, command); err != nil {
		return err
	}
	buf := make([]byte, 64)
	var got string
	for end := time.Now().Add(patience); time.Now().Before(end); {
		_ = c.from.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		n, err := c.from.Read(buf)
		if got += string(buf[:n]); strings.Contains(got, "ack") {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		select {
		case <-proc.Done():
			if proc.Err() == nil {
				return nil // with the last of the processes, and its report is written
			}
			return fmt.Errorf("it ended: %s", proc.LastLine())
		default:
		}
	}
	return fmt.Errorf("it did not answer within %v", patience)
}

func (c *control) close() {
	for _, f := range []*os.File{c.to, c.from} {
		if f != nil {
			f.Close()
		}
	}
}

// parsePerf reads perf stat's comma-separated report. A counter that did not
// count, or only some of the time, makes the whole unusable.
func parsePerf(text string) (Counts, error) {
	counts := Counts{}
	total, seen := int64(0), false
	for _, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, ",")
		if len(f) < 5 {
			return nil, fmt.Errorf("a line that is not understood: %q", line)
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s: %s", f[2], strings.Trim(f[0], "<>"))
		}
		if f[4] != "100.00" {
			return nil, fmt.Errorf("%s was counted for %s %% of the time only", f[2], f[4])
		}
		if f[2] == every {
			total, seen = n, true
		} else if name, ok := strings.CutPrefix(f[2], "syscalls:sys_enter_"); ok && n > 0 {
			counts[name] = n
		}
	}
	if !seen {
		return nil, errors.New("its report has no total")
	}
	switch rest := total - counts.Total(); {
	case rest < 0:
		return nil, fmt.Errorf("the calls counted by name are %d more than all", -rest)
	case rest > 0:
		counts[Other] = rest
	}
	return counts, nil
}

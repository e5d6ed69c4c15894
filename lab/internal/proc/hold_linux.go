package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Exit statuses of Hold that are not the command's own: those of a shell.
const (
	notFound = 127
	bySignal = 128 // and the signal's number
)

// endingWithin is how long the other processes of a command may take to end
// once its first has ended.
const endingWithin = 300 * time.Millisecond

// Hold starts a command and stays beside it, so that no process of it outlives
// the lab: one whose parent has ended becomes a child of this process, and when
// lifeline ends, all of them are killed. The lifeline's other end is the lab's,
// and the kernel closes it if the lab dies. So this process itself is not killed
// with the lab. It writes to the lifeline when the command itself has ended.
//
// It returns the command's exit status, or Forked.
func Hold(argv []string, lifeline io.ReadWriter, errs io.Writer) int {
	runtime.LockOSThread() // for the kernel, this thread is the command's parent
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(errs, "the kernel does not let a process take in others' children: %v\n", err)
		return notFound
	}
	path, err := exec.LookPath(argv[0])
	var p *os.Process
	if err == nil {
		p, err = os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr},
			Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return notFound
	}
	// A signal for the command may miss it and come here. Handled, not ignored: the
	// command would have inherited that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	h := holder{command: p.Pid, ended: make(chan syscall.WaitStatus, 1), none: make(chan struct{})}
	go h.reap()
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		close(over)
	}()
	var status syscall.WaitStatus
	select {
	case status = <-h.ended:
	case <-over:
		h.kill()
		return bySignal + int(syscall.SIGKILL)
	}
	_, _ = lifeline.Write([]byte{'.'})
	left := ""
	if status.Exited() && status.ExitStatus() == 0 {
		select {
		case <-h.none:
		case <-over:
		case <-time.After(endingWithin):
			left = h.left()
		}
	}
	h.kill()
	switch {
	case left != "":
		fmt.Fprintf(errs, "the command ended and left %s running; have it stay in the foreground\n", left)
		return Forked
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // so that the lab says the same of it
		select {}
	case status.Signaled():
		return bySignal + int(status.Signal())
	}
	return status.ExitStatus()
}

// attributes are those of a started process. A holder outlives the lab for as long as it takes to end
// what it holds.
func attributes(held bool) *syscall.SysProcAttr {
	if held {
		return &syscall.SysProcAttr{Setpgid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// lifeline makes the two ends of a lifeline, each of which the kernel closes
// with its process.
func lifeline() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	// Only a file that never blocks can be closed while another goroutine reads it.
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "lifeline"), os.NewFile(uintptr(fds[1]), "lifeline"), nil
}

// A holder reaps the processes below this one.
type holder struct {
	command int
	ended   chan syscall.WaitStatus // has the command's own end
	none    chan struct{}           // closed when no process is left
}

func (h *holder) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			close(h.none)
			return
		case pid == h.command && !status.Stopped() && !status.Continued():
			h.ended <- status
		}
	}
}

// kill ends everything below this process.
func (h *holder) kill() {
	for {
		select {
		case <-h.none:
			return
		case <-time.After(time.Millisecond): // and again, since one may have forked meanwhile
		}
		for _, p := range below() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// left names the processes below this one.
func (h *holder) left() string {
	all := below()
	if len(all) == 0 {
		return ""
	}
	if len(all) == 1 {
		return fmt.Sprintf("a process %.15q", all[0].name)
	}
	return fmt.Sprintf("%d processes, of which one is %.15q,", len(all), all[0].name)
}

// A descendant is a process below this one, by the id that it has in this
// process's namespace.
type descendant struct {
	pid  int
	name string
}

// below lists the processes below this one, parents first. In a wire's
// namespaces /proc is that of the outside, and so are the ids there: each
// process's status has all of its ids.
func below() (all []descendant) {
	self, err := procfs.Self()
	if err != nil {
		return nil
	}
	own, err := self.NewStatus()
	if err != nil {
		return nil
	}
	level := len(own.NSpids) - 1
	for _, pid := range Descendants(self.PID)[1:] {
		stat, err := ReadStat(pid)
		if err != nil || stat.State == 'Z' || stat.State == 'X' {
			continue
		}
		p, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		if status, err := p.NewStatus(); err == nil && len(status.NSpids) > level {
			all = append(all, descendant{int(status.NSpids[level]), stat.Name})
		}
	}
	return all
}

// Become goes on as a command on some cores. It returns only where that fails.
func Become(cpus []int, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	runtime.LockOSThread() // the kernel goes on with this thread alone
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("CPU %v: %w", cpus, err)
	}
	return syscall.Exec(path, argv, os.Environ())
}

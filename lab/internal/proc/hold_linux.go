package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endingWithin is how long the other processes of a command may take to end
// once its first has ended.
const endingWithin = 300 * time.Millisecond

// Hold starts a command and stays beside it, so that none of its processes outlives the
// lab. One whose parent has ended becomes a child of this process, which kills all of
// them when lifeline ends. The lifeline's other end is the lab's, and the kernel closes
// it if the lab dies. So this process itself does not die with the lab. It writes to the
// lifeline when the command itself has ended.
//
// It returns the command's exit status, or Forked.
func Hold(argv []string, lifeline io.ReadWriter, errs io.Writer) int {
	runtime.LockOSThread() // for the kernel, this thread is the command's parent
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(errs, "the kernel does not let a process take in others' children: %v\n", err)
		return NotFound
	}
	path, err := exec.LookPath(argv[0])
	var p *os.Process
	if err == nil {
		p, err = os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr},
			Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return NotFound
	}
	// A signal for the command may miss it and come here. Handled, not ignored: the
	// command would have inherited that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ended, none := make(chan syscall.WaitStatus, 1), make(chan struct{})
	go reap(p.Pid, ended, none)
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		close(over)
	}()
	var status syscall.WaitStatus
	select {
	case status = <-ended:
	case <-over:
		kill(none)
		return bySignal + int(syscall.SIGKILL)
	}
	_, _ = lifeline.Write([]byte{'.'})
	left := ""
	if status.Exited() && status.ExitStatus() == 0 {
		select {
		case <-none:
		case <-over:
		case <-time.After(endingWithin):
			_, left = below()
		}
	}
	kill(none)
	if left != "" {
		fmt.Fprintf(errs, "the command ended and left %.15q running; have it stay in the foreground\n", left)
		return Forked
	}
	return Alike(status)
}

// Alike is the exit status of a process that takes another's place. Where a signal killed the
// other, this process dies of the same signal, so that its caller sees no difference.
func Alike(end syscall.WaitStatus) int {
	switch {
	case end.Signaled() && end.Signal() == syscall.SIGKILL:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case end.Signaled():
		return bySignal + int(end.Signal())
	}
	return end.ExitStatus()
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
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil { // only a file that never blocks can be closed while another goroutine reads it
		err = unix.SetNonblock(fds[0], true)
	}
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "lifeline"), os.NewFile(uintptr(fds[1]), "lifeline"), nil
}

// reap waits for all processes below this one. ended has the command's own end; none is closed when no process is
// left.
func reap(command int, ended chan<- syscall.WaitStatus, none chan<- struct{}) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			close(none)
			return
		case pid == command:
			ended <- status
		}
	}
}

// kill ends everything below this process.
func kill(none <-chan struct{}) {
	for {
		select {
		case <-none:
			return
		case <-time.After(time.Millisecond): // and again, since one may have forked meanwhile
		}
		pids, _ := below()
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// below lists the processes that run below this one, parents first, and names the first of them. In a wire's
// namespaces /proc is that of the outside, and so are the ids there: each process's status has all of its ids,
// of which the one in this process's namespace is given.
func below() (pids []int, name string) {
	link, _ := os.Readlink("/proc/self")
	self, _ := strconv.Atoi(link)
	level := len(strings.Fields(Status(self, "NSpid"))) - 1
	for _, pid := range Descendants(self) {
		ids := strings.Fields(Status(pid, "NSpid"))
		if s, err := ReadStat(pid); err == nil && pid != self && s.State != 'Z' && s.State != 'X' && len(ids) > level {
			id, _ := strconv.Atoi(ids[level])
			pids, name = append(pids, id), cmp.Or(name, s.Name)
		}
	}
	return pids, name
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

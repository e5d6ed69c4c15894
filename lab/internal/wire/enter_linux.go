package wire

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A shell's exit statuses for a command that cannot be started, and for one that a signal ended.
const (
	notFound = 127
	bySignal = 128
)

// An entry is what a process needs to enter namespaces and go on as a command. All of it is there
// before the fork, since a forked process may not allocate.
type entry struct {
	spaces       [3]int // user, PID and network; -1: the one that this process is in
	path         *byte
	argv, env    []*byte
	all, signals uint64 // every signal, and those that were blocked before
	failed       int    // pipe that takes the error number of a failure; success closes it
}

// enter runs a command in the namespaces of a process, as its parent, and gives its exit status.
// Both die together.
func enter(pid string, argv []string) (status int, err error) {
	e := entry{spaces: [3]int{-1, -1, -1}, all: ^uint64(0)}
	for i, kind := range []string{"/ns/user", "/ns/pid", "/ns/net"} {
		there, err := os.Readlink("/proc/" + pid + kind)
		if err != nil {
			return notFound, fmt.Errorf("there is no process %s; is the wire still up?", pid)
		}
		if here, _ := os.Readlink("/proc/self" + kind); here == there {
			continue // and a process may not enter its own user namespace
		}
		if e.spaces[i], err = unix.Open("/proc/"+pid+kind, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return notFound, fmt.Errorf("the namespaces of process %s: %w", pid, err)
		}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return notFound, err
	}
	// What a process was given has no zero bytes in it, which would be the errors here.
	e.path, _ = syscall.BytePtrFromString(path)
	e.argv, _ = syscall.SlicePtrFromStrings(argv)
	e.env, _ = syscall.SlicePtrFromStrings(os.Environ())
	var failure [2]int
	if err := unix.Pipe2(failure[:], unix.O_CLOEXEC); err != nil {
		return notFound, err
	}
	e.failed = failure[1]
	runtime.LockOSThread() // for the kernel, this thread is the command's parent
	first, no := e.fork()
	if no != 0 {
		return notFound, no
	}
	_ = unix.Close(failure[1])
	var number [1]byte
	if n, _ := unix.Read(failure[0], number[:]); n == 1 {
		return notFound, fmt.Errorf("%s cannot be started there: %w", argv[0], syscall.Errno(number[0]))
	}
	for {
		var w unix.WaitStatus
		switch ended, err := unix.Wait4(-1, &w, 0, nil); {
		case err == unix.EINTR || ended == first:
		case err != nil:
			return notFound, err
		case w.Signaled() && w.Signal() == unix.SIGKILL:
			_ = unix.Kill(os.Getpid(), unix.SIGKILL) // so that the caller sees the same end
			select {}
		case w.Signaled():
			return bySignal + int(w.Signal()), nil
		case w.Exited():
			return w.ExitStatus(), nil
		}
	}
}

// fork starts a process that enters the namespaces and starts the command. A process with several
// threads, as each of Go's is, cannot enter a user namespace; its fork has one thread. And who enters
// a PID namespace is not in it, only its children are: so the fork makes a second one, as a sister,
// which becomes the command. Neither may do anything but plain system calls.
//
//go:norace
func (e *entry) fork() (first int, no syscall.Errno) {
	kinds := [3]uintptr{unix.CLONE_NEWUSER, unix.CLONE_NEWPID, unix.CLONE_NEWNET}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.all)),
		uintptr(unsafe.Pointer(&e.signals)), 8, 0, 0)
	pid, _, no := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if no != 0 || pid != 0 {
		syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.signals)), 0, 8, 0, 0)
		return int(pid), no
	}
	for i := range e.spaces {
		if e.spaces[i] >= 0 && no == 0 {
			_, _, no = syscall.RawSyscall(unix.SYS_SETNS, uintptr(e.spaces[i]), kinds[i], 0)
		}
	}
	if no == 0 {
		pid, _, no = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	if no == 0 && pid == 0 {
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
		syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.signals)), 0, 8, 0, 0)
		_, _, no = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(e.path)),
			uintptr(unsafe.Pointer(&e.argv[0])), uintptr(unsafe.Pointer(&e.env[0])))
	}
	if no != 0 {
		number := byte(no)
		syscall.RawSyscall(unix.SYS_WRITE, uintptr(e.failed), uintptr(unsafe.Pointer(&number)), 1)
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

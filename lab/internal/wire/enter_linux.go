package wire

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// enter runs a command in the namespaces of a process and gives its exit status. Both die together.
func enter(pid string, argv []string) (status int, err error) {
	child, err := approach(pid, argv)
	if err != nil {
		return proc.NotFound, err
	}
	state, err := child.Wait()
	if err != nil {
		return proc.NotFound, err
	}
	return proc.Alike(state.Sys().(syscall.WaitStatus)), nil
}

// approach starts this program anew in the user namespace of a process, or from there in the others, and becomes
// the command where it is in all of them. Who enters a PID namespace is not in it, only its children are.
func approach(pid string, argv []string) (child *os.Process, err error) {
	runtime.LockOSThread() // this thread alone enters, and for the kernel it is the child's parent
	entered := false
	for _, kind := range []string{"/ns/user", "/ns/pid", "/ns/net"} {
		there, err := os.Readlink("/proc/" + pid + kind)
		if err != nil {
			return nil, fmt.Errorf("there is no process %s; is the wire still up?", pid)
		}
		if here, _ := os.Readlink("/proc/self" + kind); here == there {
			continue // and a process may not enter its own user namespace
		}
		space, err := unix.Open("/proc/"+pid+kind, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil && kind == "/ns/user" {
			return fork(space)
		}
		if err == nil {
			err = unix.Setns(space, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("the namespaces of process %s: %w", pid, err)
		}
		entered = true
	}
	if entered {
		return os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // which every kernel has
	if os.Getppid() == 1 {
		return nil, errors.New("what entered the wire has ended")
	}
	return nil, fmt.Errorf("%s cannot be started there: %w", argv[0], syscall.Exec(path, argv, os.Environ()))
}

// fork starts this program anew, with the same arguments, in a user namespace. A process of several threads,
// as each of Go's is, cannot enter one, but its fork can. Until then the fork may do nothing but plain
// system calls, since the threads are not there that would let go of their locks.
//
//go:norace
func fork(user int) (*os.Process, error) {
	// A process's own arguments hold no zero bytes, which would be the errors here.
	path, _ := syscall.BytePtrFromString("/proc/self/exe")
	argv, _ := syscall.SlicePtrFromStrings(os.Args)
	env, _ := syscall.SlicePtrFromStrings(os.Environ())
	refused := []byte(EnterCall + ": the command cannot be started there: the kernel refuses to enter the user namespace\n")
	pid, _, no := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if no != 0 {
		return nil, no
	}
	if pid != 0 {
		return os.FindProcess(int(pid))
	}
	if _, _, no = syscall.RawSyscall(unix.SYS_SETNS, uintptr(user), 0, 0); no == 0 {
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
		syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])),
			uintptr(unsafe.Pointer(&env[0])))
	}
	syscall.RawSyscall(unix.SYS_WRITE, 2, uintptr(unsafe.Pointer(&refused[0])), uintptr(len(refused)))
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, proc.NotFound, 0, 0)
	}
}

package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Tracer counts the system calls of some processes, by name, until it is stopped.
//
// Every call stops its thread twice, so the processes are several times slower meanwhile, and calls that depend on time (a
// wait, a lock, a timer) are made more or less often than else. Those that each request needs are counted exactly. The
// kernel lets go of traced processes when the tracer ends, however it ends.
type Tracer struct {
	done chan struct{}

	mu     sync.Mutex
	stop   bool
	seen   int64 // stops so far
	counts map[string]int64
	ended  string
}

// Trace begins to count the calls of all threads of the processes that list names, again and again until it names no
// further ones, and of all that they start. own says that the processes are the caller's, and are to be killed if it dies.
// The error is one line with the way out; no process is traced then.
func Trace(list func() []int, own bool) (*Tracer, error) {
	t := &Tracer{done: make(chan struct{}), counts: map[string]int64{}}
	began := make(chan error)
	go t.run(list, own, began)
	if err := <-began; err != nil {
		<-t.done
		return nil, err
	}
	return t, nil
}

// Nothing may be counted for so long before what was asked of a server is over. In a program that is never quiet that is
// waited for no longer than mostQuiet.
const (
	quiet     = 30 * time.Millisecond
	mostQuiet = 300 * time.Millisecond
)

// Counts is what was counted so far, once the processes are quiet. It is an error if a process has ended by a signal, or
// none is left.
func (t *Tracer) Counts() (map[string]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := time.Now().Add(mostQuiet)
	for before := int64(-1); before != t.seen && time.Now().Before(limit); {
		before = t.seen
		t.mu.Unlock()
		time.Sleep(quiet)
		t.mu.Lock()
	}
	if t.ended != "" {
		return nil, errors.New(t.ended)
	}
	return maps.Clone(t.counts), nil
}

// Stop lets go of all processes, which go on.
func (t *Tracer) Stop() {
	t.mu.Lock()
	t.stop = true
	t.mu.Unlock()
	<-t.done
}

// Each call's stops are told from those of signals, and new threads and processes are traced from their beginning.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// letGoWithin is how long threads may take to stop, so that they can be let go. What is left then, the kernel lets go of.
const letGoWithin = 3 * time.Second

// run is the tracer. For the kernel that is a thread, and all requests must come from it.
func (t *Tracer) run(list func() []int, own bool, began chan<- error) {
	defer close(t.done)
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, and so does tracing
	threads, set := map[int]bool{}, uintptr(options)
	if own {
		set |= unix.PTRACE_O_EXITKILL
	}
	err := seize(list, set, threads)
	began <- err
	if err == nil {
		t.follow(threads, time.Time{})
	}
	for tid := range threads { // a thread can be let go while it is stopped
		_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0)
	}
	t.follow(threads, time.Now().Add(letGoWithin))
}

// follow answers stops until the tracer is to stop. With a limit it lets go of each thread that stops, until none is left.
func (t *Tracer) follow(threads map[int]bool, limit time.Time) {
	letting := !limit.IsZero()
	over := func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return !letting && t.stop || letting && time.Now().After(limit)
	}
	for idle := 0; len(threads) > 0; idle++ {
		if over() {
			return
		}
		// One by one: this thread of the caller's may have children of another kind, whose end is for others to wait for.
		for tid := range threads {
			var status unix.WaitStatus
			switch got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil); {
			case err != nil && !errors.Is(err, unix.EINTR), got == tid && !status.Stopped():
				delete(threads, tid)
				if status.Signaled() && !letting {
					t.end(fmt.Sprintf("a process ended while its calls were counted (signal: %v)", status.Signal()))
				}
			case got == tid:
				idle = 0
				t.answer(threads, tid, status, letting)
			}
		}
		if idle > 100 { // until then it looks again at once, since what it traces waits for it
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil) // and not Go's, which would give the thread away
		}
	}
	t.end("its last process ended while its calls were counted")
}

func (t *Tracer) end(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == "" {
		t.ended = why
	}
}

// answer lets a stopped thread go on, with the signal that it stopped for.
func (t *Tracer) answer(threads map[int]bool, tid int, status unix.WaitStatus, letting bool) {
	signal, event := int(status.StopSignal()), int(status)>>16
	request, deliver := unix.PTRACE_SYSCALL, 0
	switch {
	case signal == int(unix.SIGTRAP)|0x80:
		t.count(tid)
	case event == unix.PTRACE_EVENT_STOP && signal != int(unix.SIGTRAP):
		request = unix.PTRACE_LISTEN // all of its process was stopped by a signal, and stays so
	case event == unix.PTRACE_EVENT_CLONE || event == unix.PTRACE_EVENT_FORK || event == unix.PTRACE_EVENT_VFORK:
		if child, err := unix.PtraceGetEventMsg(tid); err == nil {
			threads[int(child)] = true // traced from its beginning
		}
	case event == 0:
		deliver = signal
	}
	if letting {
		request = unix.PTRACE_DETACH
		delete(threads, tid)
	}
	_ = ptrace(request, tid, 0, uintptr(deliver)) // of a thread that was killed in its stop the next wait tells
}

// The kernel's struct ptrace_syscall_info, as far as it is read.
type callInfo struct {
	Op     uint8
	_      [3]uint8
	_      uint32
	_, _   uint64
	Number uint64 // where the call begins, as the next
	Args   [6]uint64
	_      [8]uint8
}

// count notes the begin of a call, which is op 1. One that a signal interrupts may begin again.
func (t *Tracer) count(tid int) {
	var info callInfo
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)))
	if errors.Is(err, unix.EIO) {
		t.end("this kernel does not tell a tracer which call was made; Linux 5.3 and later do")
	}
	if err != nil {
		return // it was killed in its stop
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen++; info.Op != 1 {
		return
	}
	name, known := names[info.Number]
	if !known {
		name = fmt.Sprintf("syscall %d", info.Number)
	}
	// By an eventfd, which has 8 bytes, and libuv's buffer for it 1,024, a runtime's threads wake each other, more often while
	// they are traced, and no request needs one.
	if (name == "read" || name == "write") && info.Args[2] <= 1024 {
		if of, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, info.Args[0])); of == "anon_inode:[eventfd]" {
			name += " (eventfd)"
		}
	}
	t.counts[name]++
}

// seize begins to trace all threads that there are.
func seize(list func() []int, set uintptr, threads map[int]bool) error {
	for more := true; more; {
		more = false
		for _, pid := range list() {
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none of a process that has ended
			for _, task := range tasks {
				tid, err := strconv.Atoi(task.Name())
				if threads[tid] || err != nil {
					continue
				}
				switch err := ptrace(unix.PTRACE_SEIZE, tid, 0, set); {
				case errors.Is(err, unix.ESRCH):
					continue
				case err != nil && tracerOf(tid) == strconv.Itoa(unix.Gettid()):
					// Its parent is traced, and so was it from its beginning.
				case err != nil:
					return refused(tid, err)
				default:
					_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) // so that its calls stop from now on
				}
				threads[tid], more = true, true
			}
		}
	}
	if len(threads) == 0 {
		return errors.New("there is no process whose calls could be counted")
	}
	return nil
}

// refused says why a thread may not be traced, and the way out.
func refused(tid int, err error) error {
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch by := tracerOf(tid); {
	case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES):
		return fmt.Errorf("the kernel does not trace (%w)", err)
	case by != "" && by != "0":
		return fmt.Errorf("process %s traces it already; end that first", by)
	case bytes.ContainsAny(scope, "123"):
		return errors.New("only processes that were started here may be traced, or none; give its command instead, or as root: " +
			"sysctl kernel.yama.ptrace_scope=0")
	}
	return errors.New("it may not be traced: it is another user's, or this is a container (docker run --cap-add=SYS_PTRACE)")
}

// tracerOf is the process that traces a thread, "0" if none does; empty if the thread has ended.
func tracerOf(tid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	_, rest, _ := strings.Cut(string(text), "\nTracerPid:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// names are those of the calls that servers make, by their numbers on this machine.
var names = map[uint64]string{
	unix.SYS_READ: "read", unix.SYS_WRITE: "write", unix.SYS_READV: "readv", unix.SYS_WRITEV: "writev",
	unix.SYS_PREAD64: "pread64", unix.SYS_PWRITE64: "pwrite64", unix.SYS_SENDTO: "sendto", unix.SYS_RECVFROM: "recvfrom",
	unix.SYS_SENDMSG: "sendmsg", unix.SYS_RECVMSG: "recvmsg", unix.SYS_SENDMMSG: "sendmmsg", unix.SYS_RECVMMSG: "recvmmsg",
	unix.SYS_SENDFILE: "sendfile", unix.SYS_SPLICE: "splice", unix.SYS_ACCEPT: "accept", unix.SYS_ACCEPT4: "accept4",
	unix.SYS_SOCKET: "socket", unix.SYS_CONNECT: "connect", unix.SYS_BIND: "bind", unix.SYS_LISTEN: "listen",
	unix.SYS_SHUTDOWN: "shutdown", unix.SYS_SETSOCKOPT: "setsockopt", unix.SYS_GETSOCKOPT: "getsockopt",
	unix.SYS_GETSOCKNAME: "getsockname", unix.SYS_GETPEERNAME: "getpeername", unix.SYS_EPOLL_CTL: "epoll_ctl",
	unix.SYS_EPOLL_PWAIT: "epoll_pwait", unix.SYS_EPOLL_PWAIT2: "epoll_pwait2", unix.SYS_PPOLL: "ppoll",
	unix.SYS_PSELECT6: "pselect6", unix.SYS_IO_URING_ENTER: "io_uring_enter", unix.SYS_FUTEX: "futex",
	unix.SYS_NANOSLEEP: "nanosleep", unix.SYS_CLOCK_NANOSLEEP: "clock_nanosleep", unix.SYS_CLOCK_GETTIME: "clock_gettime",
	unix.SYS_GETTIMEOFDAY: "gettimeofday", unix.SYS_SCHED_YIELD: "sched_yield", unix.SYS_OPENAT: "openat",
	unix.SYS_CLOSE: "close", unix.SYS_NEWFSTATAT: "newfstatat", unix.SYS_FSTAT: "fstat", unix.SYS_STATX: "statx",
	unix.SYS_LSEEK: "lseek", unix.SYS_FCNTL: "fcntl", unix.SYS_IOCTL: "ioctl", unix.SYS_FADVISE64: "fadvise64",
	unix.SYS_MMAP: "mmap", unix.SYS_MUNMAP: "munmap", unix.SYS_MPROTECT: "mprotect", unix.SYS_MADVISE: "madvise",
	unix.SYS_BRK: "brk", unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXECVE: "execve",
	unix.SYS_WAIT4: "wait4", unix.SYS_EXIT: "exit", unix.SYS_EXIT_GROUP: "exit_group", unix.SYS_GETPID: "getpid",
	unix.SYS_GETTID: "gettid", unix.SYS_TGKILL: "tgkill", unix.SYS_KILL: "kill", unix.SYS_RT_SIGRETURN: "rt_sigreturn",
	unix.SYS_RT_SIGPROCMASK: "rt_sigprocmask", unix.SYS_RT_SIGACTION: "rt_sigaction", unix.SYS_RESTART_SYSCALL: "restart_syscall",
	unix.SYS_GETRANDOM: "getrandom", unix.SYS_TIMERFD_SETTIME: "timerfd_settime", unix.SYS_GETRUSAGE: "getrusage",
}

// Calls that only amd64 has.
func init() {
	if runtime.GOARCH == "amd64" {
		maps.Copy(names, map[uint64]string{2: "open", 4: "stat", 6: "lstat", 7: "poll", 21: "access", 23: "select", 57: "fork",
			58: "vfork", 232: "epoll_wait", 281: "epoll_pwait"})
	}
}

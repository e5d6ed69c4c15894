package calls

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
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Tracer counts the calls of some processes until it is stopped.
type Tracer struct {
	stop atomic.Bool
	done chan struct{}
	seen atomic.Int64 // stops so far

	mu     sync.Mutex
	counts Counts
	ended  string
}

// Trace begins to count the calls of all threads of the processes that list names, again
// and again until it names no further ones, and of all that they start. own says that the
// processes are the caller's, and are to be killed if it dies. The error is one line with
// the way out; no process is traced then.
func Trace(list func() []int, own bool) (*Tracer, error) {
	if native[runtime.GOARCH] == 0 {
		return nil, fmt.Errorf("system calls are counted on amd64 and arm64, and this is %s", runtime.GOARCH)
	}
	t := &Tracer{done: make(chan struct{}), counts: Counts{}}
	began := make(chan error)
	go t.run(list, own, began)
	if err := <-began; err != nil {
		<-t.done
		return nil, err
	}
	return t, nil
}

// Counts is what was counted so far, once the processes are quiet. It waits for that a while. It is
// an error if a process has ended by a signal, or none is left.
func (t *Tracer) Counts() (Counts, error) {
	limit := time.Now().Add(mostQuiet)
	for before := int64(-1); before != t.seen.Load() && time.Now().Before(limit); time.Sleep(quiet) {
		before = t.seen.Load()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != "" {
		return nil, errors.New(t.ended)
	}
	return maps.Clone(t.counts), nil
}

// Stop lets go of all processes, which go on. It may be called twice.
func (t *Tracer) Stop() {
	t.stop.Store(true)
	<-t.done
}

// options has each call's stops told from those of signals, and new threads and processes
// traced from their beginning.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// The tracer looks at once again so often where nothing has stopped, since what it traces
// waits for it, and then sleeps between two looks.
const spins = 100

var nap = unix.Timespec{Nsec: 100_000}

// letGoWithin is how long threads may take to stop, so that they can be let go. What is
// left then, the kernel lets go of.
const letGoWithin = 3 * time.Second

// run is the tracer. For the kernel that is a thread, and all requests must come from it.
func (t *Tracer) run(list func() []int, own bool, began chan<- error) {
	defer close(t.done)
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, and so does tracing
	threads := map[int]bool{}
	set := uintptr(options)
	if own {
		set |= unix.PTRACE_O_EXITKILL
	}
	if err := seize(list, set, threads); err != nil {
		t.letGo(threads)
		began <- err
		return
	}
	began <- nil
	t.follow(threads, time.Time{})
	t.letGo(threads)
}

// letGo stops each thread once more, which is when it can be let go.
func (t *Tracer) letGo(threads map[int]bool) {
	for tid := range threads {
		_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0)
	}
	t.follow(threads, time.Now().Add(letGoWithin))
}

// follow answers stops until the tracer is to stop. With a limit it lets go of each thread
// that stops, until none is left.
func (t *Tracer) follow(threads map[int]bool, limit time.Time) {
	letting := !limit.IsZero()
	for idle := 0; len(threads) > 0; {
		if !letting && t.stop.Load() || letting && time.Now().After(limit) {
			return
		}
		idle++
		// One by one: this thread of the caller's may have children of another kind, whose
		// end is for others to wait for.
		for tid := range threads {
			var status unix.WaitStatus
			switch got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil); {
			case err != nil && !errors.Is(err, unix.EINTR), got == tid && !status.Stopped():
				delete(threads, tid)
				if status.Signaled() && !letting {
					t.over(fmt.Sprintf("a process ended while its calls were counted (signal: %v)", status.Signal()))
				}
			case got == tid:
				idle = 0
				t.answer(threads, tid, status, letting)
			}
		}
		if idle > spins {
			_ = unix.Nanosleep(&nap, nil) // and not Go's, which would give the thread away
		}
	}
	t.over("its last process ended while its calls were counted")
}

func (t *Tracer) over(why string) {
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
	// A thread that was killed in its stop is gone, which the next wait tells.
	_ = ptrace(request, tid, 0, uintptr(deliver))
}

// The kernel's struct ptrace_syscall_info, as far as it is read.
type callInfo struct {
	Op     uint8
	_      [3]uint8
	Arch   uint32
	_, _   uint64
	Number uint64 // where the call begins, as the next
	Args   [6]uint64
	_      [8]uint8
}

// begins is the op of a call's begin.
const begins = 1

// count notes the begin of a call. One that a signal interrupts may begin again.
func (t *Tracer) count(tid int) {
	var info callInfo
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)))
	if errors.Is(err, unix.EIO) {
		t.over("this kernel does not tell a tracer which call was made; Linux 5.3 and later do")
	}
	if err != nil {
		return // it was killed in its stop
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.Add(1); info.Op == begins {
		name := nameOf(info.Arch, info.Number)
		if onEvents(tid, name, info.Args) {
			name += " (eventfd)"
		}
		t.counts[name]++
	}
}

// onEvents tells whether a call reads or writes an eventfd, which has 8 bytes, and libuv's buffer for it
// 1,024. By these a runtime's threads wake each other, more often while they are traced, and no request
// needs one.
func onEvents(tid int, name string, args [6]uint64) bool {
	if name != "read" && name != "write" || args[2] > 1024 {
		return false
	}
	of, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, args[0]))
	return of == "anon_inode:[eventfd]"
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
				case err != nil && statusOf(tid, "TracerPid") == strconv.Itoa(unix.Gettid()):
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
	switch by := statusOf(tid, "TracerPid"); {
	case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES):
		return fmt.Errorf("the kernel does not trace (%w)", err)
	case by != "" && by != "0":
		return fmt.Errorf("process %s traces it already; end that first", by)
	case bytes.HasPrefix(scope, []byte("3")):
		return errors.New("this kernel lets nobody trace until it is started again (kernel.yama.ptrace_scope=3)")
	case os.Geteuid() != 0 && bytes.HasPrefix(scope, []byte("2")):
		return errors.New("only root may trace here (as root: sysctl kernel.yama.ptrace_scope=1)")
	case os.Geteuid() != 0 && bytes.HasPrefix(scope, []byte("1")):
		return errors.New("only processes that were started here may be traced; give its command instead, or as root: " +
			"sysctl kernel.yama.ptrace_scope=0")
	case statusOf(os.Getpid(), "Seccomp") == "2":
		return errors.New("tracing is not permitted in this container (docker run --cap-add=SYS_PTRACE)")
	}
	return errors.New("it may not be traced: it is another user's, or has rights of its own, or forbids it (as root it may)")
}

// statusOf is a field of a thread's status; empty if it has ended.
func statusOf(tid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

package kernel

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// Count counts the system calls, by name, that all threads of the processes that list names make while they are loaded, and
// all that they start. It lists them again and again until there are no further ones. An error is one line with the way out;
// if the processes may not be traced, nothing is loaded.
//
// Every call stops its thread twice, so the processes are several times slower meanwhile, and calls that depend on time (a
// wait, a lock, a timer) are made more or less often than else. Those that each request needs are counted exactly. The
// kernel lets go of traced processes when the tracer ends, however it ends.
func Count(list func() []int, load func() error) (map[string]int64, error) {
	t := &tracer{threads: map[int]bool{}, counts: map[string]int64{}}
	var all sync.WaitGroup
	var failed error
	all.Go(func() {
		runtime.LockOSThread() // for the kernel the tracer is this thread; it ends with the goroutine, and so does tracing
		failed = t.seize(list)
		all.Go(func() {
			if failed == nil {
				time.Sleep(quiet) // a call that waited when tracing began is made anew
				t.counting.Store(true)
				failed = load()
				time.Sleep(quiet)
			}
			t.counting.Store(false)
			t.leaving.Store(true)
		})
		t.follow()
	})
	all.Wait()
	return t.counts, cmp.Or(failed, t.ended)
}

const (
	// quiet is how long after the last answer a server makes the calls that belong to it.
	quiet = 100 * time.Millisecond
	// letGoWithin is when the tracer ends at the latest; what it has not let go of by then, the kernel lets go of.
	letGoWithin = 3 * time.Second
)

// A tracer is the state of one thread that traces.
type tracer struct {
	counting, leaving atomic.Bool // whether calls count, and whether threads are let go of

	threads map[int]bool // that are traced
	counts  map[string]int64
	ended   error // why the counts are not all
}

// It tells a call's stops from those of signals, and traces new threads and processes from their
// beginning.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// seize begins to trace all threads that there are.
func (t *tracer) seize(list func() []int) error {
	for before := -1; before < len(t.threads); {
		before = len(t.threads)
		for _, pid := range list() {
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none of a process that has ended
			for _, task := range tasks {
				tid, _ := strconv.Atoi(task.Name())
				if t.threads[tid] {
					continue
				}
				err := ptrace(unix.PTRACE_SEIZE, tid, 0, options)
				switch by := proc.Status(tid, "TracerPid"); {
				case err == nil:
					_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) // so that its calls stop from now on
				case errors.Is(err, unix.ESRCH): // it has ended
					continue
				case by == strconv.Itoa(unix.Gettid()):
					// as a child of a traced process, it was traced from its beginning
				case by != "" && by != "0":
					return fmt.Errorf("process %s traces it already; end that first", by)
				default:
					return fmt.Errorf("it may not be traced (%w): give its command if it ran already, or as root: "+
						"sysctl kernel.yama.ptrace_scope=0; in a container: docker run --cap-add=SYS_PTRACE", err)
				}
				t.threads[tid] = true
			}
		}
	}
	if len(t.threads) == 0 {
		return errors.New("there is no process whose calls could be counted")
	}
	return nil
}

// follow answers stops until no thread is left. In the end it lets go of each thread at its next stop.
func (t *tracer) follow() {
	var limit time.Time // of letting go
	for idle := 0; len(t.threads) > 0; idle++ {
		if letGo := t.leaving.Load(); letGo && limit.IsZero() {
			limit = time.Now().Add(letGoWithin)
			for tid := range t.threads {
				_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0)
			}
		} else if letGo && time.Now().After(limit) {
			return
		}
		if idle > 100 { // until then it looks again at once, since what it traces waits for it
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil) // and not Go's, which would give the thread away
		}
		// One by one: this thread of the caller's may have children of another kind, whose end is for others to wait for.
		for tid := range t.threads {
			var status unix.WaitStatus
			switch got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil); {
			case err != nil && !errors.Is(err, unix.EINTR), got == tid && !status.Stopped():
				delete(t.threads, tid)
				if !t.leaving.Load() && (status.Signaled() || len(t.threads) == 0) {
					t.ended = errors.New("a process ended while its calls were counted")
				}
			case got == tid:
				idle = 0
				t.answer(tid, status)
			}
		}
	}
}

// answer lets a stopped thread go on, with the signal that it stopped for.
func (t *tracer) answer(tid int, status unix.WaitStatus) {
	signal, request, deliver := int(status.StopSignal()), unix.PTRACE_SYSCALL, 0
	switch event := int(status) >> 16; {
	case signal == int(unix.SIGTRAP)|0x80:
		t.count(tid)
	case event == unix.PTRACE_EVENT_CLONE || event == unix.PTRACE_EVENT_FORK || event == unix.PTRACE_EVENT_VFORK:
		if child, err := unix.PtraceGetEventMsg(tid); err == nil {
			t.threads[int(child)] = true // traced from its beginning
		}
	case event == 0:
		deliver = signal
	}
	if t.leaving.Load() {
		request = unix.PTRACE_DETACH
		delete(t.threads, tid)
	}
	_ = ptrace(request, tid, 0, uintptr(deliver)) // of a thread that was killed in its stop the next wait tells
}

// count notes the begin of a call. One that a signal interrupts may begin again.
func (t *tracer) count(tid int) {
	var info struct { // the kernel's struct ptrace_syscall_info
		Op     uint8 // 1 at a call's begin
		_      [7]uint8
		_, _   uint64
		Number uint64
		Args   [6]uint64
		_      [8]uint8
	}
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)))
	if errors.Is(err, unix.EIO) {
		t.ended = errors.New("this kernel does not tell a tracer which call was made; Linux 5.3 and later do")
	}
	if err != nil || info.Op != 1 || !t.counting.Load() { // an error: a signal killed it in its stop
		return
	}
	name := cmp.Or(names()[info.Number], fmt.Sprintf("syscall %d", info.Number))
	// By an eventfd, which has 8 bytes, and libuv's buffer for it 1,024, a runtime's threads wake each other, more often while
	// they are traced, and no request needs one.
	if (name == "read" || name == "write") && info.Args[2] <= 1024 {
		if of, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, info.Args[0])); of == "anon_inode:[eventfd]" {
			name += " (eventfd)"
		}
	}
	t.counts[name]++
}

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// calls.txt has the calls that servers make: their names, and their numbers on amd64 and on arm64.
//
//go:embed calls.txt
var table string

// names are the calls' names by their numbers on this machine.
var names = sync.OnceValue(func() map[uint64]string {
	names := map[uint64]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if number, err := strconv.ParseUint(words[map[string]int{"amd64": 1, "arm64": 2}[runtime.GOARCH]], 10, 64); err == nil {
			names[number] = words[0]
		}
	}
	return names
})

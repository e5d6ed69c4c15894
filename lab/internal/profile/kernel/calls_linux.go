package kernel

import (
	"cmp"
	_ "embed"
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

// A Tracer counts the system calls of some processes, by name, until it is stopped.
//
// Every call stops its thread twice, so the processes are several times slower meanwhile, and calls that depend on time (a
// wait, a lock, a timer) are made more or less often than else. Those that each request needs are counted exactly. The
// kernel lets go of traced processes when the tracer ends, however it ends.
type Tracer struct {
	stop    atomic.Bool
	done    chan struct{}
	threads map[int]bool

	mu     sync.Mutex
	seen   int // stops so far
	counts map[string]int64
	ended  error
}

// Trace begins to count the calls of all threads of the processes that list names, again and again until it names no
// further ones, and of all that they start. The error is one line with the way out; no process is traced then.
func Trace(list func() []int) (*Tracer, error) {
	t := &Tracer{done: make(chan struct{}), threads: map[int]bool{}, counts: map[string]int64{}}
	began := make(chan error)
	go func() {
		defer close(t.done)
		runtime.LockOSThread() // for the kernel the tracer is this thread; it ends with the goroutine, and so does tracing
		err := t.seize(list)
		if began <- err; err == nil {
			t.follow(false)
		}
		for tid := range t.threads { // a thread can be let go while it is stopped
			_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0)
		}
		t.follow(true)
	}()
	err := <-began
	if err != nil {
		<-t.done
	}
	return t, err
}

// Nothing may be counted for so long before what was asked of a server is over; in a program that is never quiet that is
// waited for no longer than mostQuiet. What threads are not let go of in letGoWithin, the kernel lets go of.
const (
	quiet       = 30 * time.Millisecond
	mostQuiet   = 300 * time.Millisecond
	letGoWithin = 3 * time.Second
)

// Counts is what was counted so far, once the processes are quiet. It is an error if a process has ended by a signal, or
// none is left.
func (t *Tracer) Counts() (map[string]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := time.Now().Add(mostQuiet)
	for before := -1; before != t.seen && time.Now().Before(limit); {
		before = t.seen
		t.mu.Unlock()
		time.Sleep(quiet)
		t.mu.Lock()
	}
	return maps.Clone(t.counts), t.ended
}

// Stop lets go of all processes, which go on.
func (t *Tracer) Stop() {
	t.stop.Store(true)
	<-t.done
}

// end notes why there will be no more counts.
func (t *Tracer) end(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = cmp.Or(t.ended, errors.New(why))
}

// Each call's stops are told from those of signals, and new threads and processes are traced from their beginning.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// seize begins to trace all threads that there are.
func (t *Tracer) seize(list func() []int) error {
	for more := true; more; {
		more = false
		for _, pid := range list() {
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none of a process that has ended
			for _, task := range tasks {
				tid, _ := strconv.Atoi(task.Name())
				if t.threads[tid] {
					continue
				}
				err := ptrace(unix.PTRACE_SEIZE, tid, 0, options)
				switch by := tracerOf(tid); {
				case err == nil:
					_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) // so that its calls stop from now on
				case errors.Is(err, unix.ESRCH):
					continue
				case by == unix.Gettid():
					// Its parent is traced, and so was it from its beginning.
				case by != 0:
					return fmt.Errorf("process %d traces it already; end that first", by)
				default:
					return fmt.Errorf("it may not be traced (%w): give its command if it ran already, or as root: "+
						"sysctl kernel.yama.ptrace_scope=0; in a container: docker run --cap-add=SYS_PTRACE", err)
				}
				t.threads[tid], more = true, true
			}
		}
	}
	if len(t.threads) == 0 {
		return errors.New("there is no process whose calls could be counted")
	}
	return nil
}

// tracerOf is the process that traces a thread; 0 if none does.
func tracerOf(tid int) (by int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if _, rest, ok := strings.Cut(string(text), "\nTracerPid:"); ok {
		_, _ = fmt.Sscan(rest, &by)
	}
	return by
}

// follow answers stops until the tracer is to stop. Letting go, it lets go of each thread that stops, until none is left.
func (t *Tracer) follow(lettingGo bool) {
	limit := time.Now().Add(letGoWithin)
	for idle := 0; len(t.threads) > 0; idle++ {
		if !lettingGo && t.stop.Load() || lettingGo && time.Now().After(limit) {
			return
		}
		// One by one: this thread of the caller's may have children of another kind, whose end is for others to wait for.
		for tid := range t.threads {
			var status unix.WaitStatus
			switch got, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil); {
			case err != nil && !errors.Is(err, unix.EINTR), got == tid && !status.Stopped():
				delete(t.threads, tid)
				if status.Signaled() && !lettingGo {
					t.end(fmt.Sprintf("a process ended while its calls were counted (signal: %v)", status.Signal()))
				}
			case got == tid:
				idle = 0
				t.answer(tid, status, lettingGo)
			}
		}
		if idle > 100 { // until then it looks again at once, since what it traces waits for it
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil) // and not Go's, which would give the thread away
		}
	}
	t.end("its last process ended while its calls were counted")
}

// answer lets a stopped thread go on, with the signal that it stopped for.
func (t *Tracer) answer(tid int, status unix.WaitStatus, lettingGo bool) {
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
	if lettingGo {
		request = unix.PTRACE_DETACH
		delete(t.threads, tid)
	}
	_ = ptrace(request, tid, 0, uintptr(deliver)) // of a thread that was killed in its stop the next wait tells
}

// count notes the begin of a call. One that a signal interrupts may begin again.
func (t *Tracer) count(tid int) {
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
		t.end("this kernel does not tell a tracer which call was made; Linux 5.3 and later do")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen++
	if err != nil || info.Op != 1 { // an error: it was killed in its stop
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

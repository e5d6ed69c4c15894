package telemetry

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/prometheus/procfs"
)

// The test binary starts itself as the process to sample.
const (
	beBusy   = "TELEMETRY_TEST_BUSY"
	beSpent  = "TELEMETRY_TEST_SPENT"
	spendsNs = 120_000_000
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(beSpent) != "":
		spend(syscall.RUSAGE_SELF)
	case os.Getenv(beBusy) != "":
		runtime.LockOSThread() // a process keeps its first thread, so the work must not run on it
		busy()
	default:
		os.Exit(m.Run())
	}
}

// spend uses CPU time, and returns once the kernel reports it.
func spend(who int) {
	for end := cpuOf(who) + spendsNs; cpuOf(who) < end; {
	}
}

// busy uses CPU time as told, and prints how much.
func busy() {
	const thisThread = 1
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("up")
	for in.Scan() {
		before := cpuOf(syscall.RUSAGE_SELF) + cpuOf(syscall.RUSAGE_CHILDREN)
		switch in.Text() {
		case "a thread that ends":
			tid := make(chan int)
			go func() {
				runtime.LockOSThread() // the thread ends with the goroutine
				spend(thisThread)
				tid <- syscall.Gettid()
			}()
			path := fmt.Sprintf("/proc/self/task/%d", <-tid)
			for _, err := os.Stat(path); err == nil; _, err = os.Stat(path) {
				time.Sleep(time.Millisecond)
			}
		case "a child that ends":
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), beSpent+"=1")
			if err := child.Run(); err != nil {
				fmt.Println(err)
			}
		}
		fmt.Println(int64(cpuOf(syscall.RUSAGE_SELF) + cpuOf(syscall.RUSAGE_CHILDREN) - before))
	}
}

// A process's CPU time includes threads and children that ended within the
// window.
func TestWhatEndedWithinTheWindowIsCounted(t *testing.T) {
	for _, how := range []string{"a thread that ends", "a child that ends"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), beBusy+"=1")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			said := bufio.NewScanner(out)
			line := func() string {
				if !said.Scan() {
					t.Fatal("the process has ended")
				}
				return said.Text()
			}
			line()
			pid := cmd.Process.Pid
			fs, err := procfs.NewDefaultFS()
			if err != nil {
				t.Fatal(err)
			}
			s := &Sampler{fs: fs, began: time.Now(), kernels: map[int]bool{},
				targets: Targets{Pairs: []Pair{{[]int{pid}, func() int { return pid }}}, NetPID: pid}}
			s.look()
			a := s.take(nil)[0]
			fmt.Fprintln(in, how)
			var spent time.Duration
			fmt.Sscan(line(), (*int64)(&spent))
			if spent < spendsNs {
				t.Fatalf("%v were spent", spent)
			}
			s.look()
			b := s.take(nil)[0]
			d := delta{a, b, b.at.Sub(a.at).Seconds()}
			w := Window{Metrics: map[string]float64{}}
			d.server(w.Metrics, s.targets, 1)
			d.client(&w, s.targets, 1)
			// Times of children are in ticks.
			for name, got := range map[string]float64{
				"server_cpu_s":             w.Metrics["server_cpu_s"],
				"client_cpu_per_request_s": w.Metrics["client_cpu_per_request_s"] * d.seconds,
			} {
				if least := (spent - 3*proc.Tick).Seconds(); got < least {
					t.Errorf("%s: %v s, and %v were spent", name, got, spent)
				}
			}
			// The busiest thread has ended, so no other may be reported as the busiest.
			if busiest, ok := w.Metrics["client_thread_busy_max"]; ok && strings.Contains(how, "thread") {
				t.Errorf("busiest of the client's threads is one with %v, of those that are left", busiest)
			}
		})
	}
}

package cores

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// allowed gives the CPUs on which this thread may run.
func allowed(t testing.TB) (unix.CPUSet, []int) {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return set, cpus
}

func TestLoopMeasuresAndLeavesTheCallerWhereItWas(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, cpus := allowed(t)
	for _, on := range [][]int{nil, cpus[:1], cpus, cpus[len(cpus)-1:]} {
		d, err := TimeLoop(on)
		if err != nil || d <= 0 {
			t.Fatalf("on %v: %v, %v", on, d, err)
		}
		if after, _ := allowed(t); after != before {
			t.Errorf("on %v: the caller's CPUs were %v and are %v", on, before, after)
		}
	}
}

// No bound thread may be left on which a goroutine could run, or from which a
// started process could inherit its CPUs.
func TestNoThreadStaysBound(t *testing.T) {
	set, cpus := allowed(t)
	if len(cpus) < 2 {
		t.Skip("one CPU: bound and unbound are the same")
	}
	for range 5 {
		if _, err := TimeLoop(cpus[:1]); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		got := make(chan unix.CPUSet)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var own unix.CPUSet
			_ = unix.SchedGetaffinity(0, &own)
			got <- own
		}()
		if own := <-got; own != set {
			t.Fatalf("a goroutine runs on %d CPUs of %d", own.Count(), set.Count())
		}
	}
}

func TestACPUThatDoesNotExistIsAnError(t *testing.T) {
	for _, cpu := range []int{1 << 20, 1023, -1} {
		if d, err := TimeLoop([]int{cpu}); err == nil || d != 0 || !strings.Contains(err.Error(), "CPU") {
			if _, there := allowed(t); len(there) > 1000 {
				continue
			}
			t.Errorf("CPU %d: %v, %v", cpu, d, err)
		}
	}
}

func TestLoopClosesWhatItOpens(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if _, err := TimeLoop(nil); err != nil { // opens what is opened once and kept
		t.Fatal(err)
	}
	before := open()
	for range 10 {
		_, _ = TimeLoop(nil)
		_, _ = TimeLoop([]int{1 << 20})
	}
	if after := open(); after > before {
		t.Errorf("%d files were open before, %d after", before, after)
	}
}

func BenchmarkLoop(b *testing.B) {
	_, cpus := allowed(b)
	for b.Loop() {
		d, err := TimeLoop(cpus[:1])
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(d.Nanoseconds()), "ns/pair")
	}
}

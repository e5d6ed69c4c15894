package machine

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// allowed gives the CPUs on which this thread may run.
func allowed(t testing.TB) []int {
	t.Helper()
	cpus, err := Allowed()
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

func TestLoopMeasuresAndLeavesTheCallerWhereItWas(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus := allowed(t)
	for _, on := range [][]int{nil, cpus[:1], cpus, cpus[len(cpus)-1:]} {
		d, err := TimeLoop(on)
		if err != nil || d <= 0 {
			t.Fatalf("on %v: %v, %v", on, d, err)
		}
		if after := allowed(t); !slices.Equal(after, cpus) {
			t.Errorf("on %v: the caller's CPUs were %v and are %v", on, cpus, after)
		}
	}
	// Nor is a bound thread left on which a goroutine could run, or from which a process could inherit its CPUs.
	for range 20 {
		got := make(chan []int)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			got <- allowed(t)
		}()
		if own := <-got; !slices.Equal(own, cpus) {
			t.Fatalf("a goroutine runs on %v of %v", own, cpus)
		}
	}
}

func TestACPUThatDoesNotExistIsAnError(t *testing.T) {
	for _, cpu := range []int{1 << 20, 1023, -1} {
		if d, err := TimeLoop([]int{cpu}); err == nil || d != 0 || !strings.Contains(err.Error(), "CPU") {
			if len(allowed(t)) > 1000 {
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

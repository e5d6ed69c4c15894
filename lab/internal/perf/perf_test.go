package perf

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStacksAreReadWhateverASymbolHasInIt(t *testing.T) {
	got := Parse([]byte("\tffffffff816bba2a ksys_write ([kernel.kallsyms])\n\t           990bb syscall.write (/srv/two)\n\n" +
		"\t          c494db v8::internal::(anonymous namespace)::Invoke (/usr/bin/node)\n" +
		"\t    7f13d800f6af [unknown] (/tmp/perf-1.map)\n\t    7f13d800f6b0 [unknown] ([unknown])\n\n\n" +
		"\t  4a1b2c f(int (*)()) (/srv/old (deleted))\n\t  4a1b2d main.parse\n\tffff8000816bba2a"))
	want := []Stack{
		{{true, "ksys_write", "[kernel.kallsyms]"}, {false, "syscall.write", "/srv/two"}},
		{{false, "v8::internal::(anonymous namespace)::Invoke", "/usr/bin/node"}, {false, "", "/tmp/perf-1.map"}, {}},
		{{false, "f(int (*)())", "/srv/old"}, {false, "main.parse", ""}, {Kernel: true}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\tffffffff816bba2a ksys_write ([kernel.kallsyms])\n\n\t 1 a (b (deleted))\n 2 ()\n 3 )\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range Parse(text) {
			if len(s) == 0 {
				t.Error("a stack without a frame")
			}
		}
	})
}

// A thread that is never switched out is sampled for all of its time, and one of another process
// not at all.
func TestABusyProcessIsSampledAlone(t *testing.T) {
	if why := Usable(); why != "" {
		t.Skip(why)
	}
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	other := exec.CommandContext(t.Context(), "sleep", "60")
	for _, c := range []*exec.Cmd{busy, other} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	}
	before := ticks(t, busy.Process.Pid)
	stacks, err := Record(t.Context(), t.TempDir(), []int{busy.Process.Pid}, 500*time.Millisecond)
	// perf begins and ends within the time that is read here, so it has at most these samples.
	due := Hertz * (ticks(t, busy.Process.Pid) - before) / 100
	if err != nil || len(stacks) < 20 || float64(len(stacks)) > 1.1*due+20 {
		t.Errorf("%d samples, at most %.0f are due, %v", len(stacks), due, err)
	}
	stacks, err = Record(t.Context(), t.TempDir(), []int{other.Process.Pid}, 50*time.Millisecond)
	if err != nil || len(stacks) > 0 {
		t.Errorf("of a sleeper: %d samples, %v", len(stacks), err)
	}
}

// ticks are hundredths of a second of CPU time.
func ticks(t *testing.T, pid int) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var user, system float64
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return user + system
}

// Nothing is left of sampling that is given up.
func TestFailedSamplingLeavesNothing(t *testing.T) {
	if why := Usable(); why != "" {
		t.Skip(why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	dir := t.TempDir()
	if s, err := Record(ctx, dir, []int{os.Getpid()}, time.Minute); err == nil {
		t.Errorf("it gave %d stacks", len(s))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

package load

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestACgroupsFileIsOfEitherVersion(t *testing.T) {
	for text, want := range map[string]int64{
		"usage_usec 1234\nuser_usec 1000\n": 1_234_000,
		"1234567\n":                         1_234_567,
		"10000000000000000\n":               10_000_000_000_000_000, // 116 days
		"0\n":                               0,
		"":                                  -1,
		"usage_usec \n":                     -1,
		"nr_periods 4\n":                    -1,
	} {
		if got := groupTime([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// cgroup makes a cgroup with a process in it, and gives the file of its CPU time.
func cgroup(t *testing.T, pid int) (file string) {
	t.Helper()
	for _, at := range [][2]string{{"/sys/fs/cgroup", "cpu.stat"}, {"/sys/fs/cgroup/unified", "cpu.stat"},
		{"/sys/fs/cgroup/cpuacct", "cpuacct.usage"}} {
		dir := filepath.Join(at[0], "line-rate-test-"+strconv.Itoa(os.Getpid()))
		file = filepath.Join(dir, at[1])
		if _, err := os.Stat(filepath.Join(at[0], "cgroup.procs")); err != nil || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			_ = os.WriteFile(filepath.Join(at[0], "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			t.Skip("no process can be put into a cgroup: ", err)
		}
		return file
	}
	t.Skip("no cgroup can be made here")
	return ""
}

// The kernel adds to a cgroup's time when it adds to a thread's. The two are read one after
// the other, and a tick of the kernel's clock may come between.
func TestACgroupsTimeIsThatOfItsProcesses(t *testing.T) {
	p := realPlan(t)
	p.Targets[1].CPUFile = cgroup(t, p.Targets[1].Processes[0])
	r := carryOut(t, p, func(SlotReport) {})
	if err := r.Fits(p); err != nil {
		t.Fatal(err)
	}
	const tick = 0.01
	for _, s := range r.Slots {
		if s.Target != 1 {
			continue
		}
		if len(s.ServerCPUS) != 2 || !(s.ServerCPUS[1] > 0) || math.Abs(s.ServerCPUS[0]-s.ServerCPUS[1]) > 2*tick {
			t.Errorf("slot %d: the process used %v s, its cgroup %v", s.Slot, s.ServerCPUS[0], s.ServerCPUS[1:])
		}
	}
	clean(t, r.Summary.Targets[1])
}

func TestACgroupThatIsNotThere(t *testing.T) {
	p := realPlan(t)
	p.Targets[0].CPUFile = "/sys/fs/cgroup/there/is/none/cpu.stat"
	if _, err := Run(t.Context(), p, Options{Bodies: ofTheLab}); err == nil || !strings.Contains(err.Error(), p.Targets[0].CPUFile) {
		t.Error(err)
	}
}

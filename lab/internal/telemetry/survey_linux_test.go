package telemetry

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
)

// stranger starts a process that is not a descendant of this one, since its
// parent ends at once. It ends by itself in any case.
func stranger(t *testing.T, command string) int {
	t.Helper()
	out, err := exec.Command("sh", "-c", "setsid timeout 30 sh -c '"+command+"' >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	return pid
}

// watched samples until the condition holds, for ten seconds at most.
func watched(t *testing.T, targets Targets, enough func(Window) bool) Window {
	t.Helper()
	if targets.Pairs == nil {
		targets.Pairs = make([]Pair, 1)
	}
	targets.Pairs[0].Client = os.Getpid
	targets.Window = time.Second
	s, err := Start(targets)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	var w Window
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if w = s.Between(0, time.Time{}, end, 1); enough(w) {
			return w
		}
	}
	return w
}

func TestABusyStrangerIsSeen(t *testing.T) {
	stranger(t, "while :; do :; done")
	found := func(w Window) *Load {
		for _, o := range w.Others {
			if o.Name == "sh" && o.Cores > 0.1 {
				return &o
			}
		}
		return nil
	}
	w := watched(t, Targets{ServerCPUs: []int{0}}, func(w Window) bool { return found(w) != nil })
	if found(w) == nil {
		t.Errorf("a busy loop is not among %v", w.Others)
	}
}

// Processes that the lab itself starts, such as the load, are not others.
func TestOwnChildrenAreNoStrangers(t *testing.T) {
	own := exec.Command("timeout", "30", "sh", "-c", "while :; do :; done")
	own.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-own.Process.Pid, syscall.SIGKILL)
		_ = own.Wait()
	}()
	s := &Sampler{targets: Targets{NetPID: os.Getpid()}, kernels: map[int]bool{}}
	var err error
	if s.fs, err = procfs.NewDefaultFS(); err != nil {
		t.Fatal(err)
	}
	v := s.look()
	for _, pid := range proc.Descendants(os.Getpid()) {
		if o, ok := v.others[pid]; ok {
			t.Errorf("%d %s counts as somebody else", pid, o.name)
		}
	}
	if len(v.others) == 0 {
		t.Error("nobody else runs on this machine, not even its first process")
	}
}

func TestAStoppedProcessIsSeen(t *testing.T) {
	shell, _ := family(t)
	if err := syscall.Kill(-shell.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w := watched(t, Targets{Pairs: []Pair{{Servers: []int{shell.Process.Pid}}}},
		func(w Window) bool { return len(w.Stopped) > 0 })
	// The test itself is the client, and the shell is its child too.
	if !slices.Contains(w.Stopped, "server") {
		t.Errorf("stopped: %v, want the server", w.Stopped)
	}
}

func TestTheKernelsCountersAreRead(t *testing.T) {
	w := watched(t, Targets{}, func(w Window) bool { _, ok := w.Metrics["swap_pages"]; return ok })
	for _, name := range []string{"interrupts_per_s", "softnet_drops", "softnet_squeezes", "tcp_retransmits",
		"listen_overflows", "listen_drops", "swap_pages", "sampler_busy", "clock_step_s"} {
		if v, ok := w.Metrics[name]; !ok || v < 0 {
			t.Errorf("%s is %v (there: %v)", name, v, ok)
		}
	}
}

// A made-up tree of a machine with quotas on the server's group and on one
// above the lab's, and with two cores held back by heat.
func TestThrottlingIsQuotaAndHeat(t *testing.T) {
	root := t.TempDir()
	s := &Sampler{proc: root + "/proc", sys: root + "/sys", targets: Targets{Pairs: []Pair{{Servers: []int{7}}}}}
	write := func(path, text string) {
		t.Helper()
		path = root + "/" + path
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, want float64, known bool) {
		t.Helper()
		if v, ok := s.throttled(); ok != known || v != want {
			t.Errorf("%s: %v s (known: %v), want %v (%v)", what, v, ok, want, known)
		}
	}
	expect("nothing is shown", 0, false)
	// Heat alone is not enough: a quota could still have held the lab back.
	write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "1000\n")
	write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms", "500\n")
	s.heat = s.heatFiles()
	expect("no groups are shown", 0, false)
	s.heat = nil

	write("proc/self/cgroup", "0::/a/lab\n")
	write("sys/fs/cgroup/cgroup.controllers", "cpu\n")
	expect("groups without a quota", 0, true)
	write("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
	write("sys/fs/cgroup/a/cpu.stat", "usage_usec 77\nnr_throttled 3\nthrottled_usec 250000\n")
	expect("the group above", 0.25, true)
	write("proc/7/cgroup", "0::/a/server\n")
	write("sys/fs/cgroup/a/server/cpu.max", "50000 100000\n")
	write("sys/fs/cgroup/a/server/cpu.stat", "nr_throttled 3\nthrottled_usec 500000\n")
	expect("and the server's own", 0.75, true)
	s.heat = s.heatFiles()
	expect("and heat", 2.25, true)

	// The same under version 1.
	write("proc/self/cgroup", "3:cpu,cpuacct:/a/lab\n0::/\n")
	write("proc/7/cgroup", "3:cpu,cpuacct:/a/server\n0::/\n")
	write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n")
	write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n")
	write("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 125000000\n")
	s.heat = nil
	expect("version 1", 0.125, true)
}

// If a quota's effect is unknown, the figure is left out. On a real machine
// without quotas it is 0 and not missing.
func TestNoQuotaIsSeen(t *testing.T) {
	if q := cores.ReadQuota("/proc", "/sys/fs/cgroup", "self"); !q.Seen {
		t.Skip("the control groups are not shown here")
	}
	w := watched(t, Targets{}, func(w Window) bool { _, ok := w.Metrics["throttled_s"]; return ok })
	if _, ok := w.Metrics["throttled_s"]; !ok {
		t.Error("throttling was not seen")
	}
}

// If server and client share cores, another process on them disturbs both.
func TestSharedCoresAreLookedAt(t *testing.T) {
	stranger(t, "while :; do :; done")
	beside := func(w Window) bool {
		return w.Metrics["server_foreign_load"] > gate.ForeignLoad && w.Metrics["client_foreign_load"] > gate.ForeignLoad
	}
	var shared []int
	if p, err := procfs.Self(); err == nil {
		if st, err := p.NewStatus(); err == nil {
			for _, c := range st.CpusAllowedList {
				shared = append(shared, int(c))
			}
		}
	}
	w := watched(t, Targets{ServerCPUs: shared, ClientCPUs: shared}, beside)
	if !beside(w) {
		t.Errorf("a loop beside both goes unseen: %v", w.Metrics)
	}
	for _, name := range []string{"server_steal", "client_steal"} {
		if _, ok := w.Metrics[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

package telemetry

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// stranger starts a process that is no descendant of this one: its parent ends
// at once. It ends by itself in any case.
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

// watched samples until the condition holds, or for ten seconds.
func watched(t *testing.T, targets Targets, enough func(Window) bool) Window {
	t.Helper()
	targets.Client = func() int { return os.Getpid() }
	targets.Window = time.Second
	s, err := Start(targets)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	var w Window
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if w = s.Between(time.Time{}, end, 1, 0); enough(w) {
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

// What the lab itself starts, the load above all, is nobody else's.
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
	s := &Sampler{targets: Targets{NetPID: os.Getpid(), Client: func() int { return 0 }}, kernels: map[int]bool{}}
	var err error
	if s.fs, err = procfs.NewDefaultFS(); err != nil {
		t.Fatal(err)
	}
	v := s.look()
	for _, pid := range Descendants(os.Getpid()) {
		if o, ok := v.others[pid]; ok {
			t.Errorf("%d %s counts as somebody else", pid, o.name)
		}
	}
	if len(v.others) == 0 {
		t.Error("nobody else runs on this machine, not even its first process")
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sampler{fs: fs, targets: Targets{NetPID: os.Getpid()}}
	_, before := s.kernel()
	const n = 200
	for range n {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	// Both ends lie in this namespace. Others on this machine may come and go
	// meanwhile, but hardly a hundred of them.
	if _, after := s.kernel(); after-before < 2*n-100 || after-before > 2*n+100 {
		t.Errorf("from %v to %v with %d connections more", before, after, n)
	}
	s.targets.NetPID = 1 << 30
	if counters, n := s.kernel(); n != -1 || counters["tcp_retransmits"] != 0 {
		t.Errorf("%v connections of a process that is not there", n)
	}
}

func TestAStoppedProcessIsSeen(t *testing.T) {
	shell, _ := family(t)
	if err := syscall.Kill(-shell.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w := watched(t, Targets{Server: shell.Process.Pid}, func(w Window) bool { return len(w.Stopped) > 0 })
	// The test itself stands for the client, and the shell is its child too.
	if !slices.Contains(w.Stopped, "server") {
		t.Errorf("stopped: %v, want the server", w.Stopped)
	}
}

func TestTheKernelsCountersAreRead(t *testing.T) {
	w := watched(t, Targets{}, func(w Window) bool { _, ok := w.Metrics["swap_pages"]; return ok })
	for _, name := range []string{"interrupts_per_s", "softnet_drops", "softnet_squeezes", "tcp_retransmits", "listen_overflows", "listen_drops", "swap_pages", "sampler_busy", "clock_step_s"} {
		if v, ok := w.Metrics[name]; !ok || v < 0 {
			t.Errorf("%s is %v (there: %v)", name, v, ok)
		}
	}
}

// This tree is made up: a machine with a quota on the lab's group and two
// cores that heat has held back.
func TestThrottlingIsQuotaAndHeat(t *testing.T) {
	s := &Sampler{sys: t.TempDir()}
	if v, ok := s.throttled(); ok {
		t.Errorf("%v s where nothing says so", v)
	}
	write := func(path, text string) {
		t.Helper()
		path = s.sys + "/" + path
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("fs/cgroup"+s.group()+"/cpu.stat", "usage_usec 77\nnr_throttled 3\nthrottled_usec 250000\n")
	write("devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "1000\n")
	write("devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms", "500\n")
	s.heat = s.heatFiles()
	if v, ok := s.throttled(); !ok || v != 1.75 {
		t.Errorf("%v s (known: %v), want 0.25 by quota and 1.5 by heat", v, ok)
	}
}

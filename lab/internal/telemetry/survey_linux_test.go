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
	// Both ends are in this namespace. Other programs may open and close
	// connections meanwhile, but hardly a hundred.
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

// A worker that never gets a connection is told from one that does, even if both
// do very little.
func TestWorkersThatHoldAConnectionServe(t *testing.T) {
	look := func(files map[int]int) *survey { return &survey{files: files} }
	workers := []process{{pid: 10}, {pid: 11, parent: 10}, {pid: 12, parent: 10}}
	began := look(map[int]int{10: 5, 11: 8, 12: 8})
	for _, c := range []struct {
		name  string
		began *survey
		found []*survey
		want  int
		ok    bool
	}{
		{"both", began, []*survey{look(map[int]int{10: 5, 11: 20, 12: 9})}, 2, true},
		{"one", began, []*survey{look(map[int]int{10: 5, 11: 20, 12: 8})}, 1, true},
		{"one, and only for a while", began, []*survey{look(map[int]int{11: 8, 12: 8}), look(map[int]int{11: 9, 12: 8}),
			look(map[int]int{11: 8, 12: 8})}, 1, true},
		{"none; the master's files are not a worker's", began, []*survey{look(map[int]int{10: 99, 11: 8, 12: 8})}, 0, true},
		{"one cannot be seen", began, []*survey{look(map[int]int{11: 20})}, 0, false},
		{"one came later", look(map[int]int{11: 8}), []*survey{look(map[int]int{11: 20, 12: 20})}, 0, false},
		{"nobody looked before", nil, []*survey{look(map[int]int{11: 20, 12: 20})}, 0, false},
		{"nobody looked", began, nil, 0, false},
	} {
		if n, ok := serving(c.began, c.found, workers, 10); n != c.want || ok != c.ok {
			t.Errorf("%s: %d (%v), want %d (%v)", c.name, n, ok, c.want, c.ok)
		}
	}
	if n, ok := serving(began, []*survey{began}, workers[:1], 10); n != 0 || ok {
		t.Errorf("without workers there are %d (%v)", n, ok)
	}
}

// Two real workers: one opens files, as a worker does that takes connections,
// the other never does. The file descriptor on which the worker waits is
// allocated before its open returns, so the first file opened is an additional
// one.
func TestOneWorkerOfTwoServes(t *testing.T) {
	fifo := t.TempDir() + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("sh", "-c", "sleep 60 & sh -c 'exec 3<"+fifo+" 4</dev/null; exec sleep 60' & wait")
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
		_ = server.Wait()
	}()
	// The first count is taken once both wait.
	waits := func() bool {
		all := Descendants(server.Process.Pid)
		if len(all) != 3 || Command(all[1]) != "sleep" {
			return false
		}
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(all[2]) + "/cmdline")
		st, _ := readStat(all[2])
		return strings.Contains(string(line), "\x00exec 3<") && st.state == 'S'
	}
	for end := time.Now().Add(10 * time.Second); !waits() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	var opened *os.File
	w := watched(t, Targets{Pairs: []Pair{{Servers: []int{server.Process.Pid}}}}, func(w Window) bool {
		if n, ok := w.Metrics["workers_serving"]; opened == nil && ok {
			if n != 0 {
				t.Errorf("%v serve before any has opened a file", n)
			}
			// Fails until the worker waits for the other end.
			opened, _ = os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		}
		return w.Metrics["workers_serving"] == 1
	})
	if opened != nil {
		opened.Close()
	}
	if w.Metrics["workers_serving"] != 1 || w.Metrics["workers"] != 2 {
		t.Errorf("%v of %v workers serve, want 1 of 2", w.Metrics["workers_serving"], w.Metrics["workers"])
	}
}

func TestOpenFilesAreCounted(t *testing.T) {
	before, ok := openFiles(os.Getpid())
	var held []*os.File
	for range 5 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, f)
	}
	after, also := openFiles(os.Getpid())
	for _, f := range held {
		f.Close()
	}
	if !ok || !also || after < before+5 {
		t.Errorf("%d (%v), then %d (%v)", before, ok, after, also)
	}
	if n, ok := openFiles(1 << 30); ok {
		t.Errorf("a process that does not exist has %d", n)
	}
}

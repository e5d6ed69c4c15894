package machine

import (
	"maps"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// sh starts a script. One that is a stranger is not below this process, as its parent has ended.
func sh(t *testing.T, script string) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children end with it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func stranger(t *testing.T, script string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", script+" >/dev/null 2>&1 & echo $!").Output()
	pid, wrong := strconv.Atoi(string(out[:max(0, len(out)-1)]))
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
}

// watched samples both sides for a while.
func watched(t *testing.T, server, client int, during func()) Window {
	t.Helper()
	all, err := Allowed()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Targets{Pairs: []Pair{{Servers: []int{server}, Client: client}}, ServerCPUs: all,
		ClientCPUs: all, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	time.Sleep(200 * time.Millisecond)
	if during != nil {
		during()
	}
	time.Sleep(800 * time.Millisecond)
	s.Stop()
	s.Stop()
	w := s.Between(0, began, time.Now(), 100)
	maps.Copy(w.Metrics, w.Machine)
	return w
}

const spin = "while :; do :; done"

func TestBothSidesAreSampled(t *testing.T) {
	w := watched(t, sh(t, spin+" & "+spin+" & wait"), sh(t, "sleep 300 & sleep 300"), nil)
	m := w.Metrics
	if m["workers_active"] != 2 || m["server_cpu_s"] <= 0 || m["server_cores_busy"] <= 0 || m["server_cores_busy"] > 1 ||
		m["server_workers_busy"] <= 0 || m["server_rss_bytes"] <= 0 || m["client_rss_bytes"] <= 0 {
		t.Errorf("%v", m)
	}
	if cost, want := m["server_cpu_per_request_s"], m["server_cpu_s"]/100; cost < want/2 || cost > want*2 {
		t.Errorf("%v a request at 100 a second, of %v", cost, m["server_cpu_s"])
	}
	for _, name := range []string{"interrupts_per_s", "sampler_busy", "client_thread_busy_max", "server_foreign_load", "client_foreign_load", "server_steal", "client_steal"} {
		if v, ok := m[name]; !ok || v < 0 || math.IsNaN(v) {
			t.Errorf("%s: %v, %v", name, v, ok)
		}
	}
	if len(w.Stopped) != 0 {
		t.Errorf("%+v", w)
	}
}

// What runs beside both sides counts as others' load.
func TestStrangersAreSeen(t *testing.T) {
	stranger(t, spin)
	if seen := watched(t, sh(t, spin), 0, nil).Metrics["server_foreign_load"]; seen < 0.05 {
		t.Errorf("%v of a core", seen)
	}
}

func TestAProcessThatWasStoppedAndAWorkerThatEndedAreSeen(t *testing.T) {
	client := sh(t, "sleep 300")
	w := watched(t, sh(t, "sleep 300 & sleep 0.5 & wait"), client, func() {
		_ = syscall.Kill(client, syscall.SIGSTOP)
	})
	if !slices.Equal(w.Stopped, []string{"client"}) || w.Ended != 1 {
		t.Errorf("%q, %d ended", w.Stopped, w.Ended)
	}
}

// The CPU time of a child that has ended and was waited for is its parent's.
func TestWhatEndedIsCounted(t *testing.T) {
	before := proc.Times{PIDs: []int{1, 2}, CPU: []time.Duration{10, 7}, Ended: proc.Tick}
	after := proc.Times{PIDs: []int{1, 3}, CPU: []time.Duration{12, 4}, Ended: 2 * proc.Tick}
	for _, c := range []struct {
		a, b proc.Times
		want time.Duration
		ok   bool
	}{
		{before, after, proc.Tick - 1, true},
		{before, proc.Times{}, 0, false},
		{proc.Times{}, after, 2*proc.Tick + 16, true},
		{proc.Times{PIDs: []int{2}, CPU: []time.Duration{time.Second}}, after, 0, false}, // nobody waited for it
	} {
		if got, ok := spent(c.a, c.b); ok != c.ok || ok && got != c.want {
			t.Errorf("%v to %v: %v, %v", c.a, c.b, got, ok)
		}
	}
}

func TestTooShortAWindowSaysNothing(t *testing.T) {
	s, err := Start(Targets{Pairs: []Pair{{}}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s.Stop()
	if w := s.Between(0, now.Add(time.Hour), now.Add(2*time.Hour), 1); len(w.Metrics)+len(w.Machine) > 0 {
		t.Errorf("%v", w.Metrics)
	}
	if w := s.Between(0, now.Add(-time.Hour), now.Add(time.Hour), 1); len(w.Machine) == 0 {
		t.Error("nothing was seen")
	}
}

func TestTookPart(t *testing.T) {
	for _, c := range []struct {
		cpus   []float64
		mean   float64
		active int
	}{{[]float64{1, 1, 0}, 2.0 / 3, 2}, {[]float64{0, 0}, 0, 0}, {[]float64{10, 0.9, 1}, 11.9 / 3, 2}} {
		if mean, active := TookPart(c.cpus); math.Abs(mean-c.mean) > 1e-9 || active != c.active {
			t.Errorf("%v: %v, %d", c.cpus, mean, active)
		}
	}
}

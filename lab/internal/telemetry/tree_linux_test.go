package telemetry

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// family starts a shell with two children, one of which has a child itself, and
// returns all four once they run.
func family(t *testing.T) (shell *exec.Cmd, pids []int) {
	t.Helper()
	shell = exec.Command("sh", "-c", `sleep 300 & echo $!; sh -c 'sleep 300 & echo $!; wait' & echo $!; wait`)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		_ = shell.Wait()
	})
	pids = []int{shell.Process.Pid}
	lines := bufio.NewScanner(out)
	for range 3 {
		if !lines.Scan() {
			t.Fatal("the shell did not say what it started")
		}
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	// A child has its parent's name until it has become its own program.
	for {
		if len(named(pids, "sleep")) == 2 {
			return shell, pids
		}
		time.Sleep(time.Millisecond)
	}
}

func named(pids []int, name string) (found []int) {
	for _, pid := range pids {
		if proc.Command(pid) == name {
			found = append(found, pid)
		}
	}
	return found
}

func TestDescendantsFindsChildrenAndTheirs(t *testing.T) {
	shell, want := family(t)
	got := proc.Descendants(shell.Process.Pid)
	if got[0] != shell.Process.Pid {
		t.Errorf("%v does not begin with its root %d", got, shell.Process.Pid)
	}
	slices.Sort(want)
	sorted := slices.Sorted(slices.Values(got))
	if !slices.Equal(sorted, want) {
		t.Errorf("%v, want %v", sorted, want)
	}
	// The child's child is listed after its parent.
	if last := proc.Command(got[3]); last != "sleep" {
		t.Errorf("the last of %v is %q; parents go first", got, last)
	}
}

func TestDescendantsOfWhatHasEndedIsItselfOnly(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if got := proc.Descendants(pid); !slices.Equal(got, []int{pid}) {
		t.Errorf("%v", got)
	}
	if got := proc.Command(pid); got != "" {
		t.Errorf("what has ended is called %q", got)
	}
}

func TestCommandIsTheNameWithoutItsPath(t *testing.T) {
	shell, _ := family(t)
	if got := proc.Command(shell.Process.Pid); got != "sh" {
		t.Errorf("%q, want sh", got)
	}
}

func TestSamplerWatchesRealProcesses(t *testing.T) {
	shell, pids := family(t)
	s, err := Start(Targets{
		Pairs:  []Pair{{Servers: []int{shell.Process.Pid}, Client: os.Getpid}},
		NetPID: os.Getpid(), Window: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Wait for two samples, however long it takes.
	for {
		s.mu.Lock()
		n := len(s.samples[0])
		s.mu.Unlock()
		if n >= 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.Stop()
	one := s.samples[0][0]
	var seen []int
	for _, p := range one.server {
		seen = append(seen, p.pid)
	}
	slices.Sort(seen)
	want := slices.Sorted(slices.Values(pids))
	if !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
	if len(one.threads) == 0 || one.cpus == nil {
		t.Errorf("%d threads of the client, cores %v", len(one.threads), one.cpus != nil)
	}
	w := s.Between(0, time.Time{}, time.Now().Add(time.Hour), 1)
	if _, ok := w.Metrics["client_thread_busy_max"]; !ok {
		t.Errorf("the client's threads are missing from %v", w.Metrics)
	}
	if v := w.Metrics["server_cpu_s"]; v < 0 {
		t.Errorf("processes that sleep used %v s", v)
	}
}

// Two servers sampled at once are told apart by their roots, and neither is an
// other process for the other pair.
func TestPairsOfRealProcesses(t *testing.T) {
	first, _ := family(t)
	second, pids := family(t)
	client := 0
	s := &Sampler{kernels: map[int]bool{}, targets: Targets{NetPID: os.Getpid(), Pairs: []Pair{
		{[]int{first.Process.Pid}, os.Getpid}, {[]int{second.Process.Pid}, func() int { return client }}}}}
	v := s.look()
	all := s.take(v)
	if len(all) != 2 || !all[0].at.Equal(all[1].at) {
		t.Fatalf("%d samples, of one time each", len(all))
	}
	var seen []int
	for _, p := range all[1].server {
		seen = append(seen, p.pid)
	}
	slices.Sort(seen)
	want := slices.Sorted(slices.Values(pids))
	if !slices.Equal(seen, want) || slices.ContainsFunc(all[0].server,
		func(p process) bool { return slices.Contains(want, p.pid) }) {
		t.Errorf("of the second %v, want %v; of the first %v", seen, want, all[0].server)
	}
	for _, pid := range append(pids, first.Process.Pid) {
		if o, there := v.others[pid]; there {
			t.Errorf("%d %s counts as somebody else", pid, o.name)
		}
	}
	if len(all[0].client) == 0 || len(all[1].client) != 0 || s.another() {
		t.Errorf("clients of %d and %d processes", len(all[0].client), len(all[1].client))
	}
	// A client that starts later is surveyed at once, before the next regular survey.
	if client = os.Getpid(); !s.another() {
		t.Error("a second client was started, and nobody looks")
	}
}

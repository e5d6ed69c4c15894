package endtoend

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// says asks that a run failed with one line that has all the words.
func (s said) says(t *testing.T, words ...string) {
	t.Helper()
	if s.status == 0 {
		t.Error("exit 0 in spite of the fault")
	}
	line := s.complaint(t)
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("%q lacks %q", line, word)
		}
	}
}

// must runs a command that has to succeed.
func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
	return string(out)
}

// afterABlock waits until the first block of a run is complete and the next one loads. The
// lab writes what it has measured when the run ends.
func (r *rig) afterABlock(s *started, client string) {
	r.t.Helper()
	s.until("a complete block", func() bool { return strings.Contains(s.errs.String(), "99-tiny block 1: ") })
	r.loading(s, client)
}

// blocks is how many complete blocks the results files hold.
func blocks(files []*results.File) int {
	n := 0
	for _, f := range files {
		seen := map[int]bool{}
		for _, trial := range f.Trials {
			seen[trial.Block] = true
		}
		n += len(seen)
	}
	return n
}

// expectGate asks that a trial is invalid by a gate, and returns the reason's text.
func expectGate(t *testing.T, f *results.File, gate string) string {
	t.Helper()
	for _, trial := range f.Trials {
		for _, reason := range trial.Reasons {
			if reason.Gate == gate && !trial.Valid {
				return reason.Detail
			}
		}
	}
	t.Errorf("no trial is invalid by %s", gate)
	return ""
}

func TestAClientLosesItsLink(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	s := start(t, r.run("--blocks", "9"))
	r.afterABlock(s, "client2")
	must(t, r.On("client2", "ip", "link", "set", "fleet0", "down"))
	s.wait().says(t, "client 2")
	if blocks(r.results("controller")) == 0 {
		t.Error("the block before was not kept")
	}
	r.clean()
	r.private()
}

// A generator has a lead of somewhat less than two seconds until its first slot. On one
// client, the program that pins it to cores takes five and a half, so its first slot comes two seconds late or more.
func TestAClientStartsTwoSecondsLate(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	bin := filepath.Join(r.Dir, "bin")
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip(err)
	}
	if err := errors.Join(os.Mkdir(bin, 0o755),
		os.WriteFile(filepath.Join(bin, "taskset"), []byte("#!/bin/sh\nsleep 5.5\nexec "+taskset+" \"$@\"\n"), 0o755),
		r.Environment("client2", "PATH", bin+":"+os.Getenv("PATH"))); err != nil {
		t.Fatal(err)
	}
	if s := finish(t, r.run("--blocks", "2")); s.status == 0 || s.status > 2 {
		t.Errorf("exit %d", s.status)
	}
	f := r.only()
	if why := expectGate(t, f, "clients-apart"); !strings.Contains(why, "client 2") {
		t.Errorf("%q does not name the client", why)
	}
	if f.Trials[len(f.Trials)-1].Block == f.Trials[0].Block {
		t.Error("the run did not go on")
	}
	r.clean()
}

// One kernel has one wall clock, so the agent of one client is told to be ahead.
func TestAClockIsTwoHundredMillisecondsOff(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	if err := r.Environment("client2", "LAB_TEST_CLOCK_AHEAD_S", "0.2"); err != nil {
		t.Fatal(err)
	}
	s := finish(t, r.run("--blocks", "1"))
	if s.status == 0 {
		t.Error("exit 0")
	}
	if !strings.Contains(s.err, "LAB_TEST_CLOCK_AHEAD_S") {
		t.Error("the run does not say that a clock was made to be off")
	}
	f := r.only()
	if why := expectGate(t, f, "clocks-off"); !strings.Contains(why, "client 2") {
		t.Errorf("%q does not name the client", why)
	}
	for _, trial := range f.Trials {
		if trial.Valid {
			t.Errorf("trial %d is valid", trial.Seq)
		}
		if len(trial.Clients) != 3 {
			t.Errorf("trial %d lacks the clients", trial.Seq)
		} else if c := trial.Clients[1]; math.Abs(c.OffsetS-0.2) > c.UncertaintyS {
			t.Errorf("trial %d: the clock is %v s ahead ± %v s, and should be 0.2 s", trial.Seq, c.OffsetS, c.UncertaintyS)
		}
	}
	r.clean()
}

func TestAHostHasAnotherCommit(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	script := filepath.Join(r.Root("client2"), "lab/scripts/trial.sh")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, append(text, "# another\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, exec.Command("git", "-C", r.Root("client2"), "-c", "user.name=test", "-c", "user.email=test@example.org",
		"commit", "-qam", "Another"))
	finish(t, r.run("--blocks", "1")).says(t, "client 2", "commit")
	if found := r.data("controller"); len(found) > 0 {
		t.Errorf("files in data/: %v", found)
	}
	r.clean()
}

func TestTheControllersDiskIsFull(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	root := r.Root("controller")
	// The whole checkout moves to a small disk, which is filled up.
	must(t, r.On("controller", "bash", "-c",
		`mv "$0" "$0.away" && mkdir "$0" && mount -n -t tmpfs -o size=32m tmpfs "$0" && cp -a "$0.away/." "$0"
		dd if=/dev/zero of="$0/filler" bs=64k status=none 2>/dev/null
		dd if=/dev/zero of="$0/rest" bs=1 status=none 2>/dev/null
		true`, root))
	before := r.data("controller")
	finish(t, r.run("--blocks", "1")).says(t, "no space left", "lab fleet collect")
	if after := r.data("controller"); !slices.Equal(before, after) {
		t.Errorf("half-written: %v", after)
	}
	if blocks(r.results("server")) != 1 {
		t.Error("the block is not on the server's host")
	}
	r.clean()
	must(t, r.On("controller", "rm", filepath.Join(root, "filler"), filepath.Join(root, "rest")))
	r.collects(1)
}

// collects fetches what the server's host has, and asks for so many blocks.
func (r *rig) collects(want int) {
	r.t.Helper()
	if s := finish(r.t, r.lab("fleet", "collect", "--inventory", r.Inventory())); s.status != 0 {
		r.t.Errorf("collect exits %d", s.status)
	}
	if got := blocks(r.results("controller")); got < want {
		r.t.Errorf("%d blocks were collected, want %d", got, want)
	}
	r.check()
}

func TestAnSSHHostKeyHasChanged(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	known := filepath.Join(r.Dir, "known_hosts")
	text, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	of := func(i int) []string { return strings.Fields(lines[i]) }
	lines[2] = strings.Join(append(of(2)[:1], of(1)[1:]...), " ") // client 2 has client 1's
	if err := os.WriteFile(known, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	finish(t, r.run("--blocks", "1")).says(t, "client 2", "host key")
	r.clean()
}

func TestTheControllerIsKilled(t *testing.T) {
	t.Parallel()
	r := up(t, nil)
	s := start(t, r.run("--blocks", "9"))
	r.afterABlock(s, "client1")
	for _, p := range r.Running("controller", "lab") {
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if s.wait().status == 0 {
		t.Error("exit 0")
	}
	r.clean()
	if blocks(r.results("server")) == 0 {
		t.Error("the server's host has kept no block")
	}
	r.collects(1)
	r.private()
}

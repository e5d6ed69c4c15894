package tune

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asLab, set in the environment, makes this test binary the lab, so that it can
// be killed: its arguments are "tune KNOB …".
const asLab = "TUNE_TEST_LAB"

// stopVariable makes it kill itself after that many writes, before the next
// write or before it forgets originals: there is no other way to be killed
// between two chosen writes.
const stopVariable = "TUNE_TEST_STOP_AFTER"

func TestMain(m *testing.M) {
	if os.Getenv(asLab) == "" {
		os.Exit(m.Run())
	}
	if n, err := strconv.Atoi(os.Getenv(stopVariable)); err == nil {
		beforeWrite = func(target, string) error {
			if n == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			n--
			return nil
		}
	}
	call, err := Read(os.Args[2:])
	if err == nil {
		err = call.Run(os.Stdout, os.Stderr)
	}
	var ended Ended
	switch {
	case err == nil:
		os.Exit(0)
	case errors.Is(err, ErrDiffers):
		os.Exit(1)
	case errors.As(err, &ended) && ended.Status > 0:
		os.Exit(ended.Status)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// lab runs a command line in this process.
func lab(args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	call, err := Read(args)
	if err == nil {
		err = call.Run(&o, &e)
	}
	return o.String(), e.String(), err
}

// must runs a command line that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, err := lab(args...)
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, errs)
	}
	return out
}

// refused runs a command line that must be refused with one line that contains
// some words. Nothing below the tree may change, and no original may be held.
func refused(t *testing.T, root, words string, args ...string) {
	t.Helper()
	before := snapshot(t, root)
	out, errs, err := lab(args...)
	if err == nil {
		t.Errorf("%q was not refused: %s", args, out)
		return
	}
	if !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") || errs != "" {
		t.Errorf("%q: %q, %q; want one line that says %q", args, err, errs, words)
	}
	if !maps.Equal(before, snapshot(t, root)) {
		t.Errorf("%q was refused and yet wrote something", args)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("LINE_RATE_STATE"), "originals.json")); err == nil {
		t.Errorf("%q was refused and yet holds originals", args)
	}
}

// process is the lab as a separate process. The race detector would otherwise
// make it wait a second before it ends.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"tune"}, args...)...)
	cmd.Env = append(os.Environ(), asLab+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// killed runs the lab as a separate process that is killed after that many
// writes, before the next; it tells whether it was.
func killed(t *testing.T, writes int, args ...string) bool {
	t.Helper()
	cmd := process(args...)
	cmd.Env = append(cmd.Env, stopVariable+"="+strconv.Itoa(writes))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return true
}

// turns has every knob with arguments that change something on a tree.
func (d model) turns() [][]string {
	return [][]string{
		{"rps", "--dev", d.dev, "--cpus", "0-5"},
		{"rfs", "--dev", d.dev},
		{"irq-pin", "--dev", d.dev, "--cpus", "6-7"},
		{"irqbalance"},
		{"crond"},
		{"mtu", "--dev", d.dev, "--entries", "1500"},
		{"sysctl"},
	}
}

func do(action string, turn []string) []string {
	return append([]string{turn[0], action}, turn[1:]...)
}

// The whole life of each knob, on made-up machines.
func TestEveryKnobIsTurnedAndTurnedBack(t *testing.T) {
	for _, d := range []model{c8i32xlarge, c6i2xlarge} {
		for _, turn := range d.turns() {
			t.Run(d.dev+"/"+turn[0], func(t *testing.T) {
				root := d.tree(t)
				path, _, _ := strings.Cut(os.Getenv("PATH"), ":")
				where := []string{root, path}
				before := snapshot(t, where...)
				states := unitStates(t)

				plan := must(t, turn...)
				if !strings.Contains(plan, "nothing was changed") || strings.Contains(plan, "refuse") {
					t.Errorf("plan:\n%s", plan)
				}
				if _, err := os.Stat(os.Getenv("LINE_RATE_STATE")); err == nil {
					t.Error("plan made a state directory")
				}
				if out, _, err := lab(do("verify", turn)...); !errors.Is(err, ErrDiffers) {
					t.Errorf("verify before: %v\n%s", err, out)
				}
				if !maps.Equal(before, snapshot(t, where...)) {
					t.Fatal("plan or verify changed something")
				}

				must(t, do("apply", turn)...)
				must(t, do("verify", turn)...)
				if out := must(t, turn...); !strings.Contains(out, "plan: 0 writes") {
					t.Errorf("a plan after apply:\n%s", out)
				}
				if out := must(t, do("show", turn)...); strings.Contains(out, "(not held)") {
					t.Errorf("show after apply:\n%s", out)
				}
				if maps.Equal(before, snapshot(t, where...)) && reflect.DeepEqual(states, unitStates(t)) {
					t.Fatal("apply changed nothing")
				}

				must(t, turn[0], "restore")
				if !maps.Equal(before, snapshot(t, where...)) || !reflect.DeepEqual(states, unitStates(t)) {
					t.Error("restore did not bring everything back")
				}
				if out := must(t, "show"); !strings.Contains(out, "no originals are held") {
					t.Errorf("after restore:\n%s", out)
				}
				if out := must(t, turn[0], "restore"); !strings.Contains(out, "0 originals") {
					t.Errorf("a second restore: %s", out)
				}
			})
		}
	}
}

func unitStates(t *testing.T) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, unit := range []string{"irqbalance", "crond"} {
		state, err := readUnit(target{Unit: unit})
		if err != nil {
			t.Fatal(err)
		}
		states[unit] = state
	}
	return states
}

// The process is killed before each of its writes in turn, and once between a
// restore's last write and forgetting the originals.
func TestKilledAnywhereItIsRestored(t *testing.T) {
	// Each write takes a process or two, and a few queues are enough.
	d := model{cores: 8, queues: 5, dev: "ens5", firstIRQ: 28}
	for _, turn := range d.turns() {
		t.Run(turn[0], func(t *testing.T) {
			root := d.tree(t)
			before, states := snapshot(t, root), unitStates(t)
			back := func(when string) {
				t.Helper()
				if !maps.Equal(before, snapshot(t, root)) || !reflect.DeepEqual(states, unitStates(t)) {
					t.Fatalf("killed %s: not everything came back", when)
				}
			}
			n := 0
			for ; killed(t, n, do("apply", turn)...); n++ {
				if out := must(t, "show"); strings.Contains(out, "no originals") {
					t.Fatalf("killed before write %d of apply: no originals are held", n+1)
				}
				must(t, turn[0], "restore")
				back(fmt.Sprintf("before write %d of apply", n+1))
			}
			if n == 0 {
				t.Fatal("it was never killed")
			}
			// The last run ends without being killed.
			for k := 0; killed(t, k, turn[0], "restore"); k++ {
				if k > n {
					t.Fatal("restore writes more than apply did")
				}
				must(t, turn[0], "restore")
				back(fmt.Sprintf("before write %d of restore", k+1))
				must(t, do("apply", turn)...)
			}
			back("never")
		})
	}
}

func TestASecondApplyKeepsTheFirstOriginals(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "0-3")
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "4-7")
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "4-7")
	if got := get(t, root, netDir+d.dev+"/queues/rx-3/rps_cpus"); got != "f0\n" {
		t.Errorf("rx-3 has %q", got)
	}
	// Another knob that writes the same file.
	must(t, "rfs", "apply", "--dev", d.dev, "--entries", "65536")
	must(t, "sysctl", "apply", "--cpus", "net.core.rps_sock_flow_entries=4096,net.core.somaxconn=1")
	must(t, "rps", "restore")
	must(t, "sysctl", "restore")
	if got := get(t, root, tableFile); got != "0\n" {
		t.Errorf("the table has %q; its first original is 0", got)
	}
	must(t, "rfs", "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

func TestRestoreOfOneInterfaceLeavesTheOther(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	put(t, root, netDir+"ens6/ifindex", "3\n")
	put(t, root, netDir+"ens6/mtu", "9001\n")
	must(t, "mtu", "apply", "--dev", "ens5", "--entries", "1500")
	must(t, "mtu", "apply", "--dev", "ens6", "--entries", "1600")
	must(t, "mtu", "restore", "--dev", "ens6")
	if a, b := get(t, root, netDir+"ens5/mtu"), get(t, root, netDir+"ens6/mtu"); a != "1500\n" || b != "9001\n" {
		t.Errorf("ens5 has %q, ens6 %q", a, b)
	}
	must(t, "restore")
	if a := get(t, root, netDir+"ens5/mtu"); a != "9001\n" {
		t.Errorf("ens5 has %q", a)
	}
}

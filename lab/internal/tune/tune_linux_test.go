package tune

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asLab, set in the environment, makes this test binary the lab, so that it can
// be killed: its arguments are "tune KNOB …".
const asLab = "TUNE_TEST_LAB"

// stopVariable has it kill itself before it writes again after so many writes,
// or forgets what it has restored: there is no other way to be killed between
// two writes of one's choice.
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

// refused runs a command line that has to be refused with one line that holds
// some words, and in vain: nothing below the tree may change, and no original
// may be held.
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

// process is the lab as a process of its own. The race detector would have it
// wait a second before it ends.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"tune"}, args...)...)
	cmd.Env = append(os.Environ(), asLab+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// killed runs the lab as a process of its own that is killed before it writes
// again after so many writes; it tells whether it was.
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

// turns are all knobs with arguments that change something on a tree.
func (d model) turns() [][]string {
	shell := strconv.Itoa(madeUpShell)
	return [][]string{
		{"rps", "--dev", d.dev, "--cpus", "0-5"},
		{"rfs", "--dev", d.dev},
		{"xps", "--dev", d.dev},
		{"irq-pin", "--dev", d.dev, "--cpus", "6-7"},
		{"irqbalance"},
		{"crond"},
		{"sysctl"},
		{"nofile", "--pid", shell},
		{"queues", "--dev", d.dev, "--count", "4"},
		{"mtu", "--dev", d.dev, "--mtu", "1500"},
	}
}

func do(action string, turn []string) []string {
	return append([]string{turn[0], action}, turn[1:]...)
}

func TestEveryKnobHasATurn(t *testing.T) {
	var names []string
	for _, turn := range c8i32xlarge.turns() {
		names = append(names, turn[0])
	}
	if !slices.Equal(names, Knobs()) || len(knobs) != len(names) {
		t.Errorf("turned are %v, there are %v", names, Knobs())
	}
}

// What is here is the whole life of each knob, on machines that are made up.
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
		state, err := readUnit(nil, target{Unit: unit})
		if err != nil {
			t.Fatal(err)
		}
		states[unit] = state
	}
	return states
}

// The process is killed before each of its writes in turn, and once between the
// last one of a restore and the forgetting of what was restored.
func TestKilledAnywhereItIsRestored(t *testing.T) {
	// Each write is a process or two; fewer queues say as much.
	d := model{cores: 8, queues: 5, dev: "ens5", firstIRQ: 28, combined: true}
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
			// The last one ran to its end.
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

func TestAnApplyAfterAKilledOneKeepsTheFirstOriginals(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	if !killed(t, 3, "rps", "apply", "--dev", d.dev) {
		t.Fatal("it was not killed")
	}
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "1")
	if !killed(t, 5, "rps", "restore") {
		t.Fatal("it was not killed")
	}
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "2")
	must(t, "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
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
	// Another knob that reaches the same file.
	must(t, "rfs", "apply", "--dev", d.dev, "--entries", "65536")
	must(t, "sysctl", "apply", "net.core.rps_sock_flow_entries=4096", "net.core.somaxconn=1")
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
	must(t, "mtu", "apply", "--dev", "ens5", "--mtu", "1500")
	must(t, "mtu", "apply", "--dev", "ens6", "--mtu", "1600")
	must(t, "mtu", "restore", "--dev", "ens6")
	if a, b := get(t, root, netDir+"ens5/mtu"), get(t, root, netDir+"ens6/mtu"); a != "1500\n" || b != "9001\n" {
		t.Errorf("ens5 has %q, ens6 %q", a, b)
	}
	must(t, "restore")
	if a := get(t, root, netDir+"ens5/mtu"); a != "9001\n" {
		t.Errorf("ens5 has %q", a)
	}
}

// Also where the process that is named is the one that would be meant anyway.
func TestRestoreOfOneProcessLeavesTheOther(t *testing.T) {
	root := c6i2xlarge.tree(t)
	for _, pid := range []int{os.Getppid(), madeUpShell} {
		for _, file := range []string{"stat", "limits"} {
			put(t, root, fmt.Sprintf("/proc/%d/%s", pid, file), get(t, root, fmt.Sprintf("/proc/%d/%s", madeUpShell, file)))
		}
		must(t, "nofile", "apply", "--pid", strconv.Itoa(pid))
	}
	must(t, "nofile", "restore", "--pid", strconv.Itoa(os.Getppid()))
	if out := must(t, "show"); strings.Count(out, "/proc/") != 1 || !strings.Contains(out, "/proc/4711/") {
		t.Errorf("still held:\n%s", out)
	}
}

// faulty asks a test before each write, until the function it returns is called.
func faulty(ask func(target, string) error) (mend func()) {
	old := beforeWrite
	beforeWrite = ask
	return func() { beforeWrite = old }
}

// refusing refuses the n-th write.
func refusing(n int, why error) func(target, string) error {
	return func(target, string) error {
		if n--; n == 0 {
			return why
		}
		return nil
	}
}

func TestAnApplyThatFailsHalfWayIsPutBack(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "0")
	before := snapshot(t, root)
	held := must(t, "show")
	for n := 1; n <= 8; n++ {
		call, err := Read([]string{"rps", "apply", "--dev", d.dev, "--cpus", "1-2"})
		if err != nil {
			t.Fatal(err)
		}
		err = call.run1(t, refusing(n, errors.New("the kernel does not like it")))
		if err == nil || !strings.Contains(err.Error(), "does not like it; what was written before it is put back") {
			t.Errorf("write %d: %v", n, err)
		}
		// Back to what the first apply left, whose originals are still held.
		if !maps.Equal(before, snapshot(t, root)) || must(t, "show") != held {
			t.Fatalf("write %d: not as before", n)
		}
	}
	must(t, "restore")
	if got := get(t, root, netDir+d.dev+"/queues/rx-0/rps_cpus"); got != "00\n" {
		t.Errorf("restored is %q", got)
	}
}

// run1 applies, and is asked before each write.
func (c *Call) run1(t *testing.T, ask func(target, string) error) error {
	t.Helper()
	defer faulty(ask)()
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := c.knob.changes(m, &c.options)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.apply(m, changes, io.Discard)
	return err
}

func TestWhatCannotBePutBackIsStillHeld(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	call, err := Read([]string{"rps", "apply", "--dev", d.dev})
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	err = call.run1(t, func(target, string) error {
		if writes++; writes > 3 {
			return errors.New("no more")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "could not be put back: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	must(t, "rps", "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

func TestARestoreThatFailsKeepsWhatItCouldNotRestore(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev)
	mend := faulty(refusing(3, errors.New("not now")))
	n, err := restoreAll(t)
	mend()
	if n != 7 || err == nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("%d restored, %v", n, err)
	}
	if out := must(t, "show"); strings.Count(out, "rps_cpus") != 1 {
		t.Errorf("still held:\n%s", out)
	}
	must(t, "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

// restoreAll restores what is held, and tells how much it was.
func restoreAll(t *testing.T) (int, error) {
	t.Helper()
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(m, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	return s.restore(func(original) bool { return true }, io.Discard)
}

// A kernel that takes a write and keeps something else.
func TestAWriteThatIsNotKeptIsAnError(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	name := root + netDir + d.dev + "/mtu"
	ask := func(_ target, value string) error {
		if value == "9001\n" { // put back
			return errors.Join(os.Remove(name), os.WriteFile(name, nil, 0o644))
		}
		return errors.Join(os.Remove(name), os.Symlink(os.DevNull, name))
	}
	call, err := Read([]string{"mtu", "apply", "--dev", d.dev, "--mtu", "1500"})
	if err != nil {
		t.Fatal(err)
	}
	err = call.run1(t, ask)
	if err == nil || !strings.Contains(err.Error(), `/mtu: "1500" was written, and the kernel made "" of it; what was written before it is put back`) {
		t.Errorf("%v", err)
	}
	if got := get(t, root, netDir+d.dev+"/mtu"); got != "9001\n" {
		t.Errorf("it has %q", got)
	}
	if out := must(t, "show"); !strings.Contains(out, "no originals") {
		t.Errorf("still held:\n%s", out)
	}
}

// After a reboot the kernel has its own values again; what the machine itself
// had is written back where it differs, what was a namespace's is gone.
func TestAfterAReboot(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev)
	must(t, "sysctl", "apply")
	must(t, "irq-pin", "apply", "--dev", d.dev, "--cpus", "0")
	must(t, "nofile", "apply", "--pid", strconv.Itoa(madeUpShell))
	applied := snapshot(t, root)
	// In another namespace, whose processes end with the boot.
	leave(t, root, 4026532000)
	must(t, "mtu", "apply", "--dev", d.dev, "--mtu", "1400")
	comeBack(t, root)

	for path, text := range before {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, sysctlDir+"kernel/random/boot_id", "22222222-2222-4222-8222-222222222222\n")
	put(t, root, netDir+d.dev+"/ifindex", "5\n") // numbered in another order
	// One value that outlives the boot, as a file of sysctl.d would make it.
	put(t, root, sysctlDir+"net/core/somaxconn", applied[root+sysctlDir+"net/core/somaxconn"])
	// And an interrupt that is now another device's.
	table := strings.Replace(get(t, root, "/proc/interrupts"), "ens5-Tx-Rx-2\n", "nvme1q2\n", 1)
	put(t, root, "/proc/interrupts", table)
	put(t, root, "/proc/irq/30/smp_affinity_list", "3\n")

	out, errs, err := lab("restore")
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, root, sysctlDir+"net/core/somaxconn"); got != "4096\n" {
		t.Errorf("somaxconn is %q", got)
	}
	if got := get(t, root, "/proc/irq/30/smp_affinity_list"); got != "3\n" {
		t.Errorf("an interrupt of another device was written to: %q", got)
	}
	for _, line := range []string{
		"forgotten: /proc/4711/limits: open files, soft and hard: process 4711 has ended",
		"forgotten: /sys/class/net/ens5/mtu: its network namespace went with the last boot",
		"forgotten: /proc/irq/30/smp_affinity_list: interrupt 30 is no longer ens5-Tx-Rx-2",
	} {
		if !strings.Contains(errs, line+"\n") {
			t.Errorf("not said: %s\n%s", line, errs)
		}
	}
	if strings.Count(errs, "\n") != 3 || !strings.Contains(out, "21 originals restored") {
		t.Errorf("%s%s", out, errs)
	}
	if out := must(t, "show"); !strings.Contains(out, "no originals") {
		t.Errorf("%s", out)
	}
}

// An apply after the reboot still knows the values of before the first one.
func TestAnApplyAfterARebootKeepsTheFirstOriginals(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "mtu", "apply", "--dev", d.dev, "--mtu", "1500")
	put(t, root, sysctlDir+"kernel/random/boot_id", "22222222-2222-4222-8222-222222222222\n")
	put(t, root, netDir+d.dev+"/ifindex", "5\n")
	must(t, "mtu", "apply", "--dev", d.dev, "--mtu", "1600")
	if out := must(t, "show"); strings.Count(out, "/mtu") != 1 {
		t.Errorf("held:\n%s", out)
	}
	must(t, "mtu", "restore")
	if got := get(t, root, netDir+d.dev+"/mtu"); got != "9001\n" {
		t.Errorf("restored is %q", got)
	}
}

func TestWhatIsGoneIsForgotten(t *testing.T) {
	d := c6i2xlarge
	for _, c := range []struct {
		name, want string
		turn       []string
		change     func(root string) error
	}{
		{"a process that has ended", "process 4711 has ended", []string{"nofile", "--pid", "4711"}, func(root string) error { return os.RemoveAll(root + "/proc/4711") }},
		{"a process of the same number", "process 4711 has ended", []string{"nofile", "--pid", "4711"}, func(root string) error {
			stat := root + "/proc/4711/stat"
			text, err := os.ReadFile(stat)
			return errors.Join(err, os.WriteFile(stat, bytes.Replace(text, []byte(" 8128 "), []byte(" 9128 "), 1), 0o644))
		}},
		{"an interface that is gone", "no interface ens5 any more", []string{"mtu", "--dev", d.dev, "--mtu", "1500"}, func(root string) error { return os.Remove(root + netDir + d.dev) }},
		{"an interface of the same name", "ens5 is another one now", []string{"mtu", "--dev", d.dev, "--mtu", "1500"}, func(root string) error {
			return os.WriteFile(root+netDir+d.dev+"/ifindex", []byte("9\n"), 0o644)
		}},
		{"a namespace that is gone", "network namespace 4026532000 is gone", []string{"rps", "--dev", d.dev}, func(root string) error {
			comeBack(t, root)
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := d.tree(t)
			if strings.Contains(c.want, "namespace") {
				leave(t, root, 4026532000)
			}
			must(t, do("apply", c.turn)...)
			if err := c.change(root); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, root)
			out, errs, err := lab("restore")
			if err != nil || !strings.Contains(errs, c.want) || strings.Count(out, "0 originals restored") != 1 {
				t.Errorf("%v\n%s%s; want %q", err, out, errs, c.want)
			}
			if !maps.Equal(before, snapshot(t, root)) {
				t.Error("something was written")
			}
		})
	}
}

func TestWhatLivesElsewhereIsKept(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "mtu", "apply", "--dev", d.dev, "--mtu", "1500")
	// From a namespace inside, the initial one's originals are out of reach.
	leave(t, root, 4026532001)
	if _, _, err := lab("restore"); err == nil || !strings.Contains(err.Error(), "belongs to the initial network namespace") {
		t.Errorf("%v", err)
	}
	// And those of a namespace in which a process lives are, from outside.
	put(t, root, netDir+"inner/ifindex", "7\n")
	put(t, root, netDir+"inner/mtu", "1500\n")
	must(t, "mtu", "apply", "--dev", "inner", "--mtu", "1400")
	comeBack(t, root)
	link(t, root, "/proc/4711/ns/net", "net:[4026532001]")
	_, errs, err := lab("restore")
	if err == nil || !strings.Contains(err.Error(), "restore it there (nsenter --net --target 4711)") || errs != "" {
		t.Errorf("%v, %q", err, errs)
	}
	if a, b := get(t, root, netDir+d.dev+"/mtu"), get(t, root, netDir+"inner/mtu"); a != "9001\n" || b != "1400\n" {
		t.Errorf("ens5 has %q, inner %q", a, b)
	}
	leave(t, root, 4026532001)
	must(t, "restore")
	if b := get(t, root, netDir+"inner/mtu"); b != "1500\n" {
		t.Errorf("inner has %q", b)
	}
}

func TestReadRefusesWhatIsNoCall(t *testing.T) {
	for words, args := range map[string][]string{
		"which knob?":               {},
		"no knob \"rsp\"":           {"rsp"},
		"neither an option":         {"rps", "aply", "--dev", "x"},
		"not defined: -gev":         {"rps", "--gev", "x"},
		"neither NAME=VALUE":        {"sysctl", "apply", "net.core.somaxconn"},
		"restore of all knobs":      {"restore", "rps"},
		"is no name of a sysctl":    {"sysctl", "net..core=1"},
		"stands twice":              {"sysctl", "net.core.somaxconn=1", "net.core.somaxconn=2"},
		"is no value of a sysctl":   {"sysctl", "net.core.somaxconn="},
		"\"net/core/somaxconn\" is": {"sysctl", "net/core/somaxconn=1"},
		"\"..\" is no name":         {"sysctl", "..=1"},
		"invalid value":             {"mtu", "--dev", "x", "--mtu", "many"},
	} {
		if _, err := Read(args); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %q", args, err, words)
		}
	}
	for _, args := range [][]string{{"-h"}, {"rps", "-h"}, {"rps", "apply", "--help"}} {
		if _, err := Read(args); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestOptionsAndActionsStandInAnyOrder(t *testing.T) {
	for _, args := range [][]string{
		{"rps", "verify", "--dev", "x", "--cpus", "0"}, {"rps", "--dev", "x", "verify", "--cpus", "0"}, {"rps", "--dev=x", "--cpus=0", "verify"},
	} {
		c, err := Read(args)
		if err != nil || c.action != "verify" || c.options.dev != "x" || c.options.cpus != "0" {
			t.Errorf("%q: %+v, %v", args, c, err)
		}
		// A hold hands these on to its worker.
		again, err := Read(append([]string{"rps", worker}, c.args...))
		if err != nil || !reflect.DeepEqual(again.options, c.options) {
			t.Errorf("%q became %q: %v", args, c.args, err)
		}
	}
}

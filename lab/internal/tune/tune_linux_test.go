package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// asLab, set in the environment, makes this test binary the lab, so that it can
// be killed: its arguments are an action, a knob and its options as JSON.
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
		beforeWrite = after(n, func() error {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		})
	}
	var o Options
	err := json.Unmarshal([]byte(os.Args[3]), &o)
	if err == nil {
		err = Do(os.Args[1], os.Args[2], o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// after lets that many writes pass, and the next one do something else.
func after(n int, then func() error) func() error {
	return func() error {
		if n--; n == -1 {
			return then()
		}
		return nil
	}
}

// labProcess is the lab as a separate process.
func labProcess(action, knob string, o Options) *exec.Cmd {
	options, _ := json.Marshal(o)
	cmd := exec.Command(os.Args[0], action, knob, string(options))
	cmd.Env = append(os.Environ(), asLab+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// must does what has to succeed.
func must(t *testing.T, action, knob string, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Do(action, knob, o, &out); err != nil {
		t.Fatalf("%s %s: %v\n%s", action, knob, err, &out)
	}
	return out.String()
}

// refused makes a call that must fail with one line that contains some words. Nothing may change.
func refused(t *testing.T, words, action, knob string, o Options) {
	t.Helper()
	before := snapshot()
	var out bytes.Buffer
	err := Do(action, knob, o, &out)
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
		t.Errorf("%s %s: %v, %q; want one line that says %q", action, knob, err, &out, words)
	}
	if !maps.Equal(before, snapshot()) {
		t.Errorf("%s %s was refused and yet wrote something", action, knob)
	}
}

// A turn is a knob with options.
type turn struct {
	knob string
	Options
}

func nothingHeld(t *testing.T) {
	t.Helper()
	out := must(t, "show", "", Options{})
	if _, err := os.Stat(originals()); err == nil || !strings.HasPrefix(out, "nothing is turned") {
		t.Errorf("held:\n%s", out)
	}
}

// killed runs the lab as a separate process that is killed after that many
// writes, before the next; it tells whether it was.
func killed(t *testing.T, cmd *exec.Cmd, writes int) bool {
	t.Helper()
	cmd.Env = append(cmd.Env, stopVariable+"="+strconv.Itoa(writes))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil && (!ok || status.Signal() != syscall.SIGKILL) {
		t.Fatalf("%v\n%s", err, out)
	}
	return err != nil
}

// A signal kills the process before each of its writes in turn, and once between a restore's last
// write and forgetting the originals.
func TestKilledAnywhereItIsRestored(t *testing.T) {
	d := model{cores: 128, queues: 3, dev: "ens5", firstIRQ: 28}
	for _, turn := range []turn{{"rps", Options{Dev: d.dev, CPUs: "0-5"}}, {"rfs", Options{Dev: d.dev}},
		{"irqbalance", Options{}}, {"crond", Options{}}, {"irq-pin", Options{Dev: d.dev, CPUs: "6-7"}}} {
		t.Run(turn.knob, func(t *testing.T) {
			_, isBack := d.tree(t)
			back := func(when string, n int) {
				t.Helper()
				must(t, "restore", turn.knob, Options{})
				isBack(fmt.Sprintf("%s killed before write %d", when, n+1))
			}
			n := 0
			for ; killed(t, labProcess("apply", turn.knob, turn.Options), n); n++ {
				// A run refuses to begin, or nothing was written.
				if left, err := All(); err != nil || len(left) != n || n > 0 && !left[0].ByHand() {
					t.Errorf("killed before write %d: %v, %v", n+1, left, err)
				}
				back("apply", n)
			}
			if n == 0 {
				t.Fatal("it was never killed")
			}
			for k := 0; killed(t, labProcess("restore", turn.knob, Options{}), k); k++ {
				back("restore", k)
				must(t, "apply", turn.knob, turn.Options)
			}
			back("nothing", 0)
			// A hold needs no command of a person: the next run settles it.
			for n := range n {
				killed(t, labProcess("hold", turn.knob, turn.Options), n)
				if restored, left, err := Settle(); err != nil || len(left) > 0 || n > 0 && len(restored) == 0 {
					t.Errorf("a hold killed before write %d: %v, %v, %v", n+1, restored, left, err)
				}
				back("hold", n)
			}
		})
	}
}

func TestAnApplyThatFailsHalfWayIsPutBack(t *testing.T) {
	root, isBack := c6i2xlarge.tree(t)
	rps := Options{Dev: "ens5"}
	never := beforeWrite
	t.Cleanup(func() { beforeWrite = never })
	fails := func() error { return errors.New("the kernel does not like it") }
	for n := range 8 {
		beforeWrite = after(n, fails)
		refused(t, "the kernel does not like it; what was written before it is put back", "apply", "rps", rps)
		nothingHeld(t)
	}
	// A kernel that accepts a write but keeps another value.
	name := root + netDir + "ens5/queues/rx-0/rps_cpus"
	link(t, name, os.DevNull)
	refused(t, `rps_cpus: wrote "ff", and the kernel made that ""; what was written`, "apply", "rps", rps)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	put(t, name, "0\n")
	must(t, "apply", "rps", rps)
	beforeWrite = after(2, fails)
	if err := Do("restore", "", Options{}, io.Discard); err == nil || !strings.Contains(err.Error(), "not like it") {
		t.Errorf("a restore that fails: %v", err)
	}
	if out := must(t, "restore", "", Options{}); !strings.HasPrefix(out, "1 original ") {
		t.Errorf("what had failed: %s", out)
	}
	isBack("restore")
	// What is gone, as an interface, is forgotten.
	must(t, "apply", "rps", rps)
	if err := os.Remove(root + netDir + "ens5"); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "restore", "", Options{}); !strings.HasPrefix(out, "0 originals ") {
		t.Error(out)
	}
	nothingHeld(t)
}

// The values of an interface go with its namespace; those of the machine are turned and restored outside.
func TestInANamespaceNothingIsSaved(t *testing.T) {
	root, _ := c6i2xlarge.tree(t)
	must(t, "apply", "rps", Options{Dev: "ens5"})
	must(t, "apply", "crond", Options{})
	if err := os.Remove(root + tableFile); err != nil { // as in a namespace
		t.Fatal(err)
	}
	refused(t, tableFile, "apply", "rfs", Options{Dev: "ens5"})
	for action, knob := range map[string]string{"restore": "", "apply": "irq-pin", "hold": "irqbalance"} {
		o := map[string]Options{"apply": {Dev: "ens5", CPUs: "0"}}[action]
		refused(t, "belongs to the machine's own network namespace, and this is another", action, knob, o)
	}
	if out := must(t, "apply", "rfs", Options{Dev: "ens5", QueuesOnly: true}); !strings.Contains(out, "go with this network namespace") {
		t.Error(out)
	}
	if out := must(t, "show", "", Options{}); strings.Contains(out, "ens5") || !strings.Contains(out, "crond") {
		t.Errorf("held:\n%s", out)
	}
	put(t, root+tableFile, "0\n")
	if out := must(t, "restore", "", Options{}); !strings.HasPrefix(out, "9 originals ") {
		t.Error(out)
	}
	nothingHeld(t)
}

func TestAStateThatCannotBeReadIsOneLineAndNothingIsWritten(t *testing.T) {
	c6i2xlarge.tree(t)
	must(t, "apply", "rps", Options{Dev: "ens5"})
	good, err := os.ReadFile(originals())
	if info, _ := os.Stat(originals()); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v: a user's run has to read it", info, err)
	}
	for _, text := range []string{string(good[:len(good)/2]), "", strings.Replace(string(good), `"knob"`, `"knop"`, 1)} {
		put(t, originals(), text)
		for _, action := range []string{"restore", "show", "apply", "hold"} {
			refused(t, "nothing was written. Mend the file", action, "rps", Options{Dev: "ens5"})
		}
		if _, _, err := Settle(); err == nil {
			t.Error("a run would begin")
		}
	}
}

// Applying and restoring at the same time wait for each other.
func TestTwoAtOnceWaitForEachOther(t *testing.T) {
	_, isBack := c6i2xlarge.tree(t)
	for _, action := range []string{"apply", "restore"} {
		var group sync.WaitGroup
		for _, turn := range []turn{{"rps", Options{Dev: "ens5"}}, {"rfs", Options{TableOnly: true}}, {"crond", Options{}}} {
			group.Go(func() {
				if out, err := labProcess(action, turn.knob, turn.Options).CombinedOutput(); err != nil {
					t.Errorf("%s %s: %v\n%s", action, turn.knob, err, out)
				}
			})
		}
		group.Wait()
		if by := left(t); action == "apply" && by != strings.Repeat("hand ", 8+1+1) {
			t.Errorf("turned: %s", by)
		}
	}
	nothingHeld(t)
	isBack("restore")
}

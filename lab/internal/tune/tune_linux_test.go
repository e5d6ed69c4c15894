package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
		beforeWrite = func() error {
			if n == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			n--
			return nil
		}
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

// process is the lab as a separate process.
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

// refused does what must be refused with one line that contains some words. Nothing may change.
func refused(t *testing.T, root, words, action, knob string, o Options) {
	t.Helper()
	before := snapshot(t, root)
	var out bytes.Buffer
	err := Do(action, knob, o, &out)
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
		t.Errorf("%s %s: %v, %q; want one line that says %q", action, knob, err, &out, words)
	}
	if !maps.Equal(before, snapshot(t, root)) {
		t.Errorf("%s %s was refused and yet wrote something", action, knob)
	}
}

// A turn is a knob with options.
type turn struct {
	knob string
	Options
}

// turns has every knob with options that change something on a tree.
func (d model) turns() []turn {
	return []turn{{"rps", Options{Dev: d.dev, CPUs: "0-5"}}, {"rfs", Options{Dev: d.dev}},
		{"irqbalance", Options{}}, {"crond", Options{}}, {"irq-pin", Options{Dev: d.dev, CPUs: "6-7"}}}
}

func nothingHeld(t *testing.T) {
	t.Helper()
	out := must(t, "show", "", Options{})
	if _, err := os.Stat(os.Getenv("LINE_RATE_STATE") + "/originals.json"); err == nil || !strings.HasPrefix(out, "nothing is turned") {
		t.Errorf("held:\n%s", out)
	}
}

// The whole life of each knob, on made-up machines.
func TestEveryKnobIsTurnedAndTurnedBack(t *testing.T) {
	for _, d := range []model{c8i32xlarge, c6i2xlarge} {
		root := d.tree(t)
		before := snapshot(t, root)
		for _, turn := range d.turns() {
			t.Run(d.dev+"/"+turn.knob, func(t *testing.T) {
				plan := must(t, "plan", turn.knob, turn.Options)
				if !strings.Contains(plan, "; nothing was changed\n") || strings.Contains(plan, "refuse") {
					t.Errorf("plan:\n%s", plan)
				}
				if err := errors.Join(Reach(turn.knob, &turn.Options), Reach(turn.knob, nil)); err != nil {
					t.Error(err)
				}
				if !maps.Equal(before, snapshot(t, root)) {
					t.Fatal("plan changed something")
				}
				nothingHeld(t)
				if out := must(t, "apply", turn.knob, turn.Options); !strings.Contains(out, "originals are in "+os.Getenv("LINE_RATE_STATE")) {
					t.Error(out)
				}
				if out := must(t, "plan", turn.knob, turn.Options); !strings.Contains(out, "plan: 0 writes") {
					t.Errorf("a plan after apply:\n%s", out)
				}
				if out := must(t, "show", turn.knob, Options{}); strings.Count(out, "\n") != strings.Count(plan, "\n")-2 {
					t.Errorf("show after apply:\n%s", out)
				}
				if maps.Equal(before, snapshot(t, root)) {
					t.Fatal("apply changed nothing")
				}
				must(t, "restore", turn.knob, Options{})
				if !maps.Equal(before, snapshot(t, root)) {
					t.Error("restore did not bring everything back")
				}
				nothingHeld(t)
				if out := must(t, "restore", "", Options{}); out != "0 originals restored, all read back\n" {
					t.Errorf("a second restore: %s", out)
				}
			})
		}
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

// The process is killed before each of its writes in turn, and once between a
// restore's last write and forgetting the originals.
func TestKilledAnywhereItIsRestored(t *testing.T) {
	d := model{cores: 128, queues: 3, dev: "ens5", firstIRQ: 28}
	for _, turn := range d.turns() {
		t.Run(turn.knob, func(t *testing.T) {
			root := d.tree(t)
			before := snapshot(t, root)
			back := func(when string, n int) {
				t.Helper()
				must(t, "restore", turn.knob, Options{})
				if !maps.Equal(before, snapshot(t, root)) {
					t.Fatalf("killed before write %d of %s: not everything came back", n+1, when)
				}
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

func TestASecondApplyKeepsTheFirstOriginals(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	for _, cpus := range []string{"0-3", "4-7", "4-7"} {
		must(t, "apply", "rps", Options{Dev: d.dev, CPUs: cpus})
	}
	must(t, "apply", "rfs", Options{Dev: d.dev, Entries: 65536})
	if got := get(t, root, netDir+d.dev+"/queues/rx-3/rps_cpus"); got != "f0\n" {
		t.Errorf("rx-3 has %q", got)
	}
	must(t, "restore", "rps", Options{})
	if got := get(t, root, tableFile); got != "65536\n" {
		t.Errorf("the table has %q", got)
	}
	must(t, "restore", "", Options{})
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

// failing makes one write fail.
func failing(t *testing.T, n int) (mend func()) {
	t.Helper()
	old := beforeWrite
	beforeWrite = func() error {
		if n--; n == 0 {
			return errors.New("the kernel does not like it")
		}
		return nil
	}
	return func() { beforeWrite = old }
}

func TestAnApplyThatFailsHalfWayIsPutBack(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	for n := 1; n <= d.queues; n++ {
		mend := failing(t, n)
		refused(t, root, "the kernel does not like it; what was written before it is put back", "apply", "rps", Options{Dev: d.dev})
		mend()
		nothingHeld(t)
	}
	// A kernel that accepts a write but keeps another value.
	name := root + netDir + d.dev + "/queues/rx-0/rps_cpus"
	if err := errors.Join(os.Remove(name), os.Symlink(os.DevNull, name)); err != nil {
		t.Fatal(err)
	}
	refused(t, root, `rps_cpus: "ff" was written, and the kernel made "" of it; what was written`, "apply", "rps", Options{Dev: d.dev})
	if err := errors.Join(os.Remove(name), os.WriteFile(name, []byte("00\n"), 0o644)); err != nil {
		t.Fatal(err)
	}

	must(t, "apply", "rps", Options{Dev: d.dev})
	mend := failing(t, 3)
	if err := Do("restore", "", Options{}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "not like it") {
		t.Errorf("a restore that fails: %v", err)
	}
	mend()
	if out := must(t, "show", "", Options{}); strings.Count(out, "rps_cpus") != 1 {
		t.Errorf("still held:\n%s", out)
	}
	must(t, "restore", "", Options{})
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

func TestWhatIsGoneIsForgotten(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "apply", "rps", Options{Dev: d.dev})
	must(t, "apply", "rfs", Options{TableOnly: true})
	if err := os.Remove(root + netDir + d.dev); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "restore", "", Options{}); !strings.HasPrefix(out, "1 original ") {
		t.Error(out)
	}
	nothingHeld(t)
}

// The values of an interface go with its namespace; those of the machine do not.
func TestInANamespaceNothingIsSaved(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "apply", "rps", Options{Dev: d.dev})
	for _, file := range []string{backlogFile, tableFile} { // as in a namespace
		if err := os.Rename(root+file, root+"/"+filepath.Base(file)); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, root, "belongs to the machine's own network namespace; restore it there", "restore", "", Options{})
	refused(t, root, "use --queues-only here, and --table-only there", "apply", "rfs", Options{Dev: d.dev})
	if out := must(t, "apply", "rfs", Options{Dev: d.dev, QueuesOnly: true}); !strings.Contains(out, "go with this network namespace") {
		t.Error(out)
	}
	must(t, "apply", "irq-pin", Options{Dev: d.dev, CPUs: "0"})
	if out := must(t, "show", "", Options{}); strings.Contains(out, "rps_flow_cnt") || !strings.Contains(out, "smp_affinity_list") {
		t.Errorf("held:\n%s", out)
	}
	must(t, "restore", "irq-pin", Options{})
	for _, file := range []string{backlogFile, tableFile} {
		if err := os.Rename(root+"/"+filepath.Base(file), root+file); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "apply", "rfs", Options{Dev: d.dev, QueuesOnly: true, Entries: 8}) // by hand, as nothing else brings it back
	must(t, "restore", "", Options{})
	for q := range d.queues {
		put(t, root, fmt.Sprintf("%s%s/queues/rx-%d/rps_flow_cnt", netDir, d.dev, q), "0\n")
	}
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

func TestAStateThatCannotBeReadIsOneLineAndNothingIsWritten(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "apply", "rps", Options{Dev: d.dev})
	file := filepath.Join(os.Getenv("LINE_RATE_STATE"), "originals.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v: a user's run has to read it", info, err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text, words := range map[string]string{
		string(good[:len(good)/2]): "line ", "": "line 1", "originals\n": "line 1",
		strings.Replace(string(good), `"knob"`, `"knop"`, 1): `unknown field "knop"`,
	} {
		put(t, file, "", text)
		for _, action := range []string{"restore", "show", "apply", "hold"} {
			refused(t, root, "nothing was written. Mend the file", action, "rps", Options{Dev: d.dev})
			refused(t, root, words, action, "rps", Options{Dev: d.dev})
		}
		if _, _, err := Settle(); err == nil {
			t.Error("a run would begin")
		}
	}
}

// Applying and restoring at the same time wait for each other.
func TestTwoAtOnceWaitForEachOther(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	for _, action := range []string{"apply", "restore"} {
		var group sync.WaitGroup
		for _, turn := range []turn{{"rps", Options{Dev: d.dev}}, {"rfs", Options{TableOnly: true}}, {"crond", Options{}}} {
			group.Go(func() {
				if out, err := labProcess(action, turn.knob, turn.Options).CombinedOutput(); err != nil {
					t.Errorf("%s %s: %v\n%s", action, turn.knob, err, out)
				}
			})
		}
		group.Wait()
		if out := must(t, "show", "", Options{}); action == "apply" && strings.Count(out, "\n") != 8+1+1 {
			t.Errorf("held:\n%s", out)
		}
	}
	nothingHeld(t)
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

package tune

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// veth makes the pair and gives it values other than the defaults, so that
// restoring them is more than writing zeros.
const veth = `set -e
mount -t sysfs sysfs /sys
ip link add name a numtxqueues 4 numrxqueues 4 type veth peer name b numtxqueues 4 numrxqueues 4
cd /sys/class/net/a
echo 1 >queues/rx-0/rps_cpus; echo 2 >queues/rx-3/rps_cpus
echo 512 >queues/rx-1/rps_flow_cnt; echo 64 >queues/rx-3/rps_flow_cnt
echo ` + Ready + `
exec cat`

// In a network namespace with a veth pair, a and b, of four queues, real settings of this kernel are turned; nothing
// of the machine itself is written. Only the process that keeps the namespace has a /sys that shows it; one that
// just enters sees the machine's.
func TestRealQueues(t *testing.T) {
	if err := (&system{}).may("queues"); err != nil {
		t.Skip(err)
	}
	script := []string{"--net", "--mount", "sh", "-c", veth}
	if out, err := exec.Command("unshare", script...).CombinedOutput(); err != nil {
		t.Skipf("no namespace with a veth pair can be made here: %v\n%s", err, out)
	}
	t.Setenv("LINE_RATE_STATE", t.TempDir()+"/state")
	t.Setenv(treeVariable, "")
	keeper := hold(t, exec.Command("unshare", script...)).Process.Pid
	enter := fmt.Sprintf("--net=/proc/%d/ns/net", keeper)
	if err := exec.Command("nsenter", enter, "test", "-e", "/sys/class/net/a").Run(); err == nil {
		t.Fatal("/sys shows the namespace already; this test is for when it does not")
	}
	output := func(cmd *exec.Cmd) string {
		t.Helper()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
		}
		return string(out)
	}
	// lab is the lab in the namespace, and files has every file that it touches, as the kernel shows it inside.
	lab := func(action string, turn turn) *exec.Cmd {
		lab := labProcess(action, turn.knob, turn.Options)
		cmd := exec.Command("nsenter", append([]string{enter, "--"}, lab.Args...)...)
		cmd.Env = lab.Env
		return cmd
	}
	files := func() string {
		return output(exec.Command("nsenter", "--target", fmt.Sprint(keeper), "--net", "--mount", "sh", "-c",
			"grep . /sys/class/net/[ab]/queues/rx-*/rps_*"))
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, turn := range []turn{{"rps", Options{Dev: "a"}}, {"rfs", Options{Dev: "a", QueuesOnly: true}}} {
		before := files()
		if out := output(lab("plan", turn)); !strings.Contains(out, "nothing was changed") || strings.Contains(out, "refuse") ||
			files() != before {
			t.Errorf("plan changed something, or would be refused:\n%s", out)
		}
		h := hold(t, lab("hold", turn))
		if files() == before {
			t.Errorf("%s: nothing is held", turn.knob)
		}
		if out := output(lab("plan", turn)); !strings.Contains(out, "plan: 0 writes") {
			t.Errorf("the kernel prints it otherwise:\n%s", out)
		}
		h.in.Close()
		if err := h.Wait(); err != nil || files() != before {
			t.Errorf("%v; was\n%s\nis\n%s", err, before, files())
		}
		output(lab("apply", turn))
		if files() == before {
			t.Errorf("%s: nothing is applied", turn.knob)
		}
		nothingHeld(t) // it goes with the namespace
	}
	if now, _ := os.ReadFile("/proc/self/mountinfo"); string(now) != string(mounts) {
		t.Error("others see a mount of the lab's")
	}
}

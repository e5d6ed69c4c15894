package tune

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A place is a network namespace with a veth pair, a and b, of four queues, and
// a process that keeps it. Only that process has a /sys that shows the
// namespace; a process that just enters the namespace sees the machine's. These tests change real
// settings of this kernel there; nothing of the machine itself is written.
type place struct{ pid int }

// veth makes the pair and gives it values other than the defaults, so that
// restoring them is more than writing zeros.
const veth = `set -e
mount -t sysfs sysfs /sys
ip link add name a numtxqueues 4 numrxqueues 4 type veth peer name b numtxqueues 4 numrxqueues 4
cd /sys/class/net/a
echo 1 >queues/rx-0/rps_cpus; echo 2 >queues/rx-3/rps_cpus
echo 512 >queues/rx-1/rps_flow_cnt; echo 64 >queues/rx-3/rps_flow_cnt
echo ready
exec cat`

func makePlace(t *testing.T) place {
	t.Helper()
	if err := (&machine{}).root("queues"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("unshare", "--net", "--mount", "sh", "-c", veth)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skipf("no namespace with a veth pair can be made here: %s", line)
	}
	t.Setenv("LINE_RATE_STATE", t.TempDir()+"/state")
	t.Setenv(treeVariable, "")
	return place{cmd.Process.Pid}
}

// process is the lab in the namespace, with the machine's /sys rather than the
// namespace's.
func (p place) process(action, knob string, o Options) *exec.Cmd {
	lab := labProcess(action, knob, o)
	cmd := exec.Command("nsenter", append([]string{fmt.Sprintf("--net=/proc/%d/ns/net", p.pid), "--"}, lab.Args...)...)
	cmd.Env = lab.Env
	return cmd
}

func (p place) must(t *testing.T, action, knob string, o Options) string {
	t.Helper()
	out, err := p.process(action, knob, o).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", action, knob, err, out)
	}
	return string(out)
}

// bytes has every file that the knobs touch, as the kernel shows it inside.
func (p place) bytes(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("nsenter", "--target", fmt.Sprint(p.pid), "--net", "--mount", "sh", "-c",
		"grep . /sys/class/net/[ab]/queues/rx-*/rps_*").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestRealQueues(t *testing.T) {
	p := makePlace(t)
	if err := exec.Command("nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", p.pid), "test", "-e", "/sys/class/net/a").Run(); err == nil {
		t.Fatal("/sys shows the namespace already: what is to be tested here is when it does not")
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, turn := range []turn{{"rps", Options{Dev: "a"}}, {"rfs", Options{Dev: "a", QueuesOnly: true}}} {
		before := p.bytes(t)
		if out := p.must(t, "plan", turn.knob, turn.Options); !strings.Contains(out, "nothing was changed") ||
			strings.Contains(out, "refuse") || p.bytes(t) != before {
			t.Errorf("plan changed something, or would be refused:\n%s", out)
		}
		h := hold(t, p.process("hold", turn.knob, turn.Options))
		if p.bytes(t) == before {
			t.Errorf("%s: nothing is held", turn.knob)
		}
		if out := p.must(t, "plan", turn.knob, turn.Options); !strings.Contains(out, "plan: 0 writes") {
			t.Errorf("the kernel prints it otherwise:\n%s", out)
		}
		h.in.Close()
		if err := h.cmd.Wait(); err != nil || p.bytes(t) != before {
			t.Errorf("%v; was\n%s\nis\n%s", err, before, p.bytes(t))
		}
		p.must(t, "apply", turn.knob, turn.Options)
		if out := p.must(t, "show", "", Options{}); !strings.Contains(out, "nothing is turned") || p.bytes(t) == before {
			t.Errorf("%s: it goes with the namespace:\n%s", turn.knob, out)
		}
	}
	if now, _ := os.ReadFile("/proc/self/mountinfo"); string(now) != string(mounts) {
		t.Error("a mount of the lab's is seen outside of it")
	}
}

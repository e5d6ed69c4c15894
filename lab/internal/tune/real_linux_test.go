package tune

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// These tests change real settings of this kernel, in network namespaces that
// end with the test. Nothing of the machine itself is written.

// A place is a network namespace with a veth pair, a and b, of four queues, and
// a process that keeps it. Only that process has a /sys that shows the
// namespace; a process that just enters the namespace sees the machine's.
type place struct {
	pid int
	end func()
}

// veth makes the pair and gives it values other than the defaults, so that
// restoring them is more than writing zeros.
const veth = `set -e
mount -t sysfs sysfs /sys
ip link add name a numtxqueues 4 numrxqueues 4 type veth peer name b numtxqueues 4 numrxqueues 4
cd /sys/class/net/a
[ ! -w queues/rx-0/rps_cpus ] || [ -n "$1" ] || {
  echo 1 >queues/rx-0/rps_cpus; echo 2 >queues/rx-3/rps_cpus
  echo 512 >queues/rx-1/rps_flow_cnt; echo 64 >queues/rx-3/rps_flow_cnt
  echo 1 >queues/tx-1/xps_cpus; echo 3 >queues/tx-3/xps_cpus
}
echo 1400 >mtu
echo 1111 >/proc/sys/net/core/somaxconn
echo "2000 3000" >/proc/sys/net/ipv4/ip_local_port_range
echo ready
exec cat`

func needRoot(t *testing.T) {
	t.Helper()
	if !realRoot(capNetAdmin) || !realRoot(unix.CAP_SYS_ADMIN) {
		t.Skip("needs root: queues' knobs can be written by no other, in namespaces too")
	}
}

func makePlace(t *testing.T, command ...string) place {
	t.Helper()
	for _, tool := range []string{"ip", "unshare", "nsenter", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
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
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skipf("no namespace with a veth pair can be made here: %s", line)
	}
	t.Setenv("LINE_RATE_STATE", t.TempDir()+"/state")
	t.Setenv(treeVariable, "")
	return place{cmd.Process.Pid, end}
}

func namespaceOf(t *testing.T) place {
	t.Helper()
	needRoot(t)
	return makePlace(t, "unshare", "--net", "--mount", "sh", "-c", veth, "sh", "")
}

// process is the lab in the namespace, with the machine's /sys rather than the
// namespace's.
func (p place) process(args ...string) *exec.Cmd {
	lab := process(args...)
	cmd := exec.Command("nsenter", append([]string{fmt.Sprintf("--net=/proc/%d/ns/net", p.pid), "--"}, lab.Args...)...)
	cmd.Env = lab.Env
	return cmd
}

func (p place) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.process(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p place) killed(t *testing.T, writes int, args ...string) bool {
	t.Helper()
	cmd := p.process(args...)
	cmd.Env = append(cmd.Env, stopVariable+"="+strconv.Itoa(writes))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGKILL {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return true
}

// bytes has every file that the knobs touch, byte for byte, as the kernel shows
// it inside, with the names of the queues.
func (p place) bytes(t *testing.T) string {
	t.Helper()
	script := `for f in /sys/class/net/[ab]/queues/*/*ps_* /sys/class/net/[ab]/mtu /proc/sys/net/core/somaxconn \
  /proc/sys/net/ipv4/tcp_max_syn_backlog /proc/sys/net/ipv4/ip_local_port_range /proc/sys/net/ipv4/tcp_tw_reuse /proc/sys/net/ipv4/tcp_fin_timeout
do echo "$f"; od -An -c "$f"; done 2>&1`
	out, err := exec.Command("nsenter", "--target", strconv.Itoa(p.pid), "--net", "--mount", "sh", "-c",
		script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

var realTurns = [][]string{
	{"rps", "--dev", "a"},
	{"rfs", "--dev", "a", "--queues-only"},
	{"mtu", "--dev", "a", "--entries", "9000"},
	{"sysctl", "--cpus", "net.core.somaxconn=65535,net.ipv4.tcp_max_syn_backlog=65535,net.ipv4.ip_local_port_range=1024 65535,net.ipv4.tcp_tw_reuse=1,net.ipv4.tcp_fin_timeout=15"},
}

func TestRealKnobsAreTurnedAndTurnedBack(t *testing.T) {
	p := namespaceOf(t)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", p.pid), "test", "-e",
		"/sys/class/net/a").Run(); err == nil {
		t.Fatal("/sys shows the namespace already: what is to be tested here is when it does not")
	}
	before := p.bytes(t)
	for _, turn := range realTurns {
		if out := p.must(t, turn...); !strings.Contains(out, "nothing was changed") || strings.Contains(out, "refuse") ||
			p.bytes(t) != before {
			t.Errorf("plan changed something, or would be refused:\n%s", out)
		}
		p.must(t, do("apply", turn)...)
		p.must(t, do("verify", turn)...)
		if p.bytes(t) == before {
			t.Errorf("%s: apply changed nothing", turn[0])
		}
		p.must(t, turn[0], "restore")
		if after := p.bytes(t); after != before {
			t.Fatalf("%s: was\n%s\nis\n%s", turn[0], before, after)
		}
	}
	// Each on top of the others, and twice.
	for range 2 {
		for _, turn := range realTurns {
			p.must(t, do("apply", turn)...)
		}
	}
	p.must(t, "restore")
	if after := p.bytes(t); after != before {
		t.Fatalf("all: was\n%s\nis\n%s", before, after)
	}
	now, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if string(now) != string(mounts) {
		t.Error("a mount of the lab's is seen outside of it")
	}
}

func TestRealKnobsAreRestoredAfterAKillAnywhere(t *testing.T) {
	p := namespaceOf(t)
	before := p.bytes(t)
	for _, turn := range realTurns {
		n := 0
		for ; p.killed(t, n, do("apply", turn)...); n++ {
			p.must(t, turn[0], "restore")
			if after := p.bytes(t); after != before {
				t.Fatalf("%s, killed before write %d: was\n%s\nis\n%s", turn[0], n+1, before, after)
			}
		}
		if n == 0 {
			t.Fatalf("%s was never killed", turn[0])
		}
		for k := 0; p.killed(t, k, turn[0], "restore"); k++ {
			if k > 10 {
				t.Fatal("restore does not end")
			}
			p.must(t, turn[0], "restore")
			if after := p.bytes(t); after != before {
				t.Fatalf("%s, killed before write %d of restore: was\n%s\nis\n%s", turn[0], k+1, before, after)
			}
			p.must(t, do("apply", turn)...)
		}
		if after := p.bytes(t); after != before {
			t.Fatalf("%s: was\n%s\nis\n%s", turn[0], before, after)
		}
	}
}

func TestRealHoldsEndWithTheirCaller(t *testing.T) {
	p := namespaceOf(t)
	before := p.bytes(t)
	var all []*holder
	for _, turn := range realTurns {
		h := startHold(t, p.process(do("hold", turn)...))
		if line, _ := h.out.ReadString('\n'); line != Ready+"\n" {
			t.Fatalf("%s: it said %q", turn[0], line)
		}
		all = append(all, h)
	}
	if p.bytes(t) == before {
		t.Error("nothing is held")
	}
	for i, h := range all {
		if i%2 == 0 {
			h.in.Close()
		} else if err := h.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the values are back", func() bool { return p.bytes(t) == before })
	within(t, "no original is held", func() bool { return strings.Contains(p.must(t, "show"), "no originals") })
}

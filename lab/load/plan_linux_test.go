package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// realPlan loads two of the lab's own servers in turn.
func realPlan(t *testing.T) *Plan {
	null, nullPID := start(t, "null_server")
	fiber, fiberPID := start(t, "fiber_server", "--prefork=false")
	p := &Plan{Threads: 1, Targets: []Target{
		{Name: "null", URL: "http://" + null + "/simple", Connections: 4, Pipelining: 8, Answers: "null",
			Processes: []int{nullPID}},
		{Name: "read", URL: "http://" + fiber + "/read", Connections: 4, Pipelining: 2, Answers: "fiber",
			Processes: []int{fiberPID}},
		{Name: "compute", URL: "http://" + fiber + "/compute", Connections: 2, Pipelining: 1, Answers: "fiber",
			Processes: []int{fiberPID}},
		{Name: "list", URL: "http://" + fiber + "/list", Connections: 2, Pipelining: 1, Rate: 200, Answers: "fiber",
			Processes: []int{fiberPID}},
	}}
	for i := range 12 {
		p.Slots = append(p.Slots, Slot{Target: i % 4, Seconds: 0.1, Counts: i >= 4})
	}
	return p
}

// The program as the lab starts it: a plan on standard input, a line for each slot, and
// connections that stay open until it is told to end.
func TestAPlanOverRealServers(t *testing.T) {
	p := realPlan(t)
	cmd := exec.Command(programtest.Path("linerate"), "load", "--plan", "-")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if err := p.Write(stdin); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	lines := bufio.NewScanner(io.TeeReader(stdout, &all))
	for lines.Scan() {
		l, err := ParseLine(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !l.Held {
			continue
		}
		if n := established(t, p.Targets[0].URL); n != 4 {
			t.Errorf("%d connections while it is held, want 4", n)
		}
		io.WriteString(stdin, "end\n")
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, &stderr)
	}
	r, err := ReadReport(&all)
	if err == nil {
		err = r.Fits(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range r.Slots {
		if s.Failed != "" || s.Requests == 0 || s.ServerCPUS[0] <= 0 || s.ClientCPUS <= 0 || s.BusiestThreadS <= 0 ||
			s.BusiestThreadS > s.ClientCPUS || len(s.Unread) > 0 {
			t.Errorf("slot %d: %+v", i, s)
		}
		// The idle server uses almost no CPU. The exception is Fiber in the turn of the
		// null server: it may still collect garbage.
		if i%4 != 0 && s.IdleCPUS > s.Seconds/4 {
			t.Errorf("slot %d: an idle server took %v s of CPU", i, s.IdleCPUS)
		}
	}
	for i, s := range r.Summary.Targets {
		clean(t, s)
		if s.Compared < 32 || s.Latency == nil || (s.SendLag != nil) != (i == 3) {
			t.Errorf("%+v", s)
		}
	}
	if !r.Held {
		t.Error("it was not held")
	}
}

// established counts the connections to a server, by its port.
func established(t *testing.T, url string) int {
	t.Helper()
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/simple"))
	var number int
	fmt.Sscan(port, &number)
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", number)) && f[3] == "01" {
			n++
		}
	}
	return n
}

// A server that is killed is reported by errors and by a clock that could not be read;
// all slots of the other server come.
func TestAServerThatIsKilled(t *testing.T) {
	p := realPlan(t)
	p.TimeoutS = 1
	r := carryOut(t, p, func(s SlotReport) {
		if s.Slot == 4 {
			_ = syscall.Kill(p.Targets[0].Processes[0], syscall.SIGKILL)
		}
	})
	if sum := r.Summary.Targets[0]; sum.Errors == 0 {
		t.Errorf("%+v", sum)
	}
	if r.Slots[8].Failed == "" {
		t.Errorf("%+v", r.Slots[8])
	}
	for i := 1; i < 4; i++ {
		clean(t, r.Summary.Targets[i])
	}
}

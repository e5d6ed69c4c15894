package load

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// A signal ends the load at once, and no measurement is printed.
func TestASignalEndsIt(t *testing.T) {
	s := serve(t, polite)
	for _, rate := range []float64{0, 10} {
		p := Plan{TimeoutS: 2, Slots: []Slot{{Seconds: 0.01}, {Seconds: 60, Counts: true}},
			Targets: []Target{{Name: "a", URL: s.url, Connections: 1, Pipelining: 1, Rate: rate}}}
		cmd := exec.Command(programtest.Path("linerate"), "load", "--plan", "-")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = p.Write(in)
		lines := bufio.NewScanner(out)
		lines.Scan() // the warm-up is over
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if lines.Scan() {
			t.Errorf("printed %q", lines.Text())
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != program.Failure || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v, %q", err, &stderr)
		}
	}
}

// Over a wire made by wire.sh, the shapers are read on both sides: the server's from its
// own network namespace.
func TestTheWireIsReadOnBothSides(t *testing.T) {
	scripts, _ := filepath.Abs("../scripts")
	wire := exec.Command(filepath.Join(scripts, "wire.sh"), "up", "--rate", "100000000")
	hold, _ := wire.StdinPipe()
	stdout, _ := wire.StdoutPipe()
	if err := wire.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { hold.Close(); _ = wire.Wait() })
	lines := bufio.NewScanner(stdout)
	var serverPID, clientPID int
	var serverAddr, clientAddr string
	if !lines.Scan() {
		t.Skip("no wire can be made here")
	}
	if _, err := fmt.Sscanf(lines.Text(), "wire ready server_pid=%d client_pid=%d server_addr=%s client_addr=%s",
		&serverPID, &clientPID, &serverAddr, &clientAddr); err != nil {
		t.Fatalf("%q: %v", lines.Text(), err)
	}
	in := func(side string, pid int, argv ...string) *exec.Cmd {
		return exec.Command(filepath.Join(scripts, "wire.sh"),
			append([]string{"in", side, fmt.Sprint(pid), "--"}, argv...)...)
	}
	server := in("server", serverPID, programtest.Path("null_server"), "--addr", serverAddr+":8083")
	listens, _ := server.StderrPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for said := bufio.NewScanner(listens); said.Scan() && !strings.Contains(said.Text(), "listening"); {
	}
	// wire.sh has become nsenter, which waits for the server.
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server.Process.Pid, server.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	var pid int
	fmt.Sscan(string(children), &pid)
	p := once(Target{Name: "wire", Processes: []int{pid}, URL: "http://" + serverAddr + ":8083/read", Connections: 4,
		Pipelining: 8, Answers: "null"}, 0.2)
	p.Slots = append(p.Slots, p.Slots[0])
	p.Wire = &Wire{ServerPID: serverPID, ServerDevice: "wire-server", ClientDevice: "wire-client"}
	var plan bytes.Buffer
	_ = p.Write(&plan)
	client := in("client", clientPID, programtest.Path("linerate"), "load", "--plan", "-")
	var stderr bytes.Buffer
	client.Stdin, client.Stderr = &plan, &stderr // the program ends at the end of its input
	out, err := client.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	r, err := ReadReport(bytes.NewReader(out))
	if err == nil {
		err = r.Fits(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Slots {
		// All answers went over the wire, and the wire adds packet headers of its own.
		if s.ServerCPUS[0] <= 0 || len(s.Unread) > 0 {
			t.Errorf("the server's CPU clock is of its number inside the wire: %+v", s)
		}
		if s.Wire.TxBytes <= s.Bytes*9/10 || s.Wire.RxBytes <= 0 || s.Wire.TxBytes < 10*s.Wire.RxBytes ||
			s.Wire.TxPackets <= 0 || s.Wire.RxPackets <= 0 {
			t.Errorf("%+v, %+v", s, s.Wire)
		}
	}
	clean(t, r.Summary.Targets[0])
}

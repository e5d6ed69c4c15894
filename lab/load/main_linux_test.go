package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/internal/wire"
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

// Over a wire the shapers are read on both sides: the server's from its own network namespace.
func TestTheWireIsReadOnBothSides(t *testing.T) {
	w, err := wire.Make(wire.Spec{LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02})
	if _, none := errors.AsType[wire.Unavailable](err); none {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Down)
	in := func(side func([]string) []string, argv ...string) *exec.Cmd {
		argv = side(argv)
		return exec.Command(argv[0], argv[1:]...)
	}
	server := in(w.Server, programtest.Path("null_server"), "--addr", w.Host()+":8083")
	listens, _ := server.StderrPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for said := bufio.NewScanner(listens); said.Scan() && !strings.Contains(said.Text(), "listening"); {
	}
	// What enters the wire waits for the server.
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server.Process.Pid, server.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	var pid int
	fmt.Sscan(string(children), &pid)
	p := once(Target{Name: "wire", Processes: []int{pid}, URL: "http://" + w.Host() + ":8083/read", Connections: 4,
		Pipelining: 8, Answers: "null"}, 0.2)
	p.Slots = append(p.Slots, p.Slots[0])
	p.Wire = &Wire{ServerPID: w.PID(), ServerDevice: wire.ServerDevice, ClientDevice: wire.ClientDevice}
	var plan bytes.Buffer
	_ = p.Write(&plan)
	client := in(w.Client, programtest.Path("linerate"), "load", "--plan", "-")
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

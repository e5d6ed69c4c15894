package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/program"
)

func command(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestOneURL(t *testing.T) {
	s := serve(t, polite)
	code, out, stderr := command(t, "", "--url", s.url, "--connections", "2", "--pipelining", "3", "--warmup", "0.05", "--duration", "0.1", "--threads", "1")
	r, err := generator.ReadReport(strings.NewReader(out))
	if code != program.OK || stderr != "" || err != nil {
		t.Fatalf("%d, %q, %v", code, stderr, err)
	}
	if len(r.Slots) != 2 || r.Held || r.Slots[1].Seconds < 0.1 || r.Summary.Targets[0].Requests != r.Slots[1].Requests {
		t.Errorf("%+v", r)
	}
	code, out, _ = command(t, "", "--url", s.url, "--connections", "2", "--rate", "100", "--duration", "0.2")
	if r, err = generator.ReadReport(strings.NewReader(out)); code != program.OK || err != nil || r.Summary.Targets[0].SendLag == nil {
		t.Errorf("%d, %v, %+v", code, err, r)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	const url = "http://127.0.0.1:1/"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--url is missing"},
		{[]string{"--rul", url}, "rul"},
		{[]string{"--url", "127.0.0.1:1"}, "give http://HOST:PORT/PATH"},
		{[]string{"--url", "https://127.0.0.1:1/"}, "give http://HOST:PORT/PATH"},
		{[]string{"--url", url, "more"}, `unexpected argument "more"`},
		{[]string{"--url", url, "--connections", "0"}, "whole number from 1 to 20000"},
		{[]string{"--url", url, "--pipelining", "1025"}, "whole number from 1 to 1024"},
		{[]string{"--url", url, "--rate", "-1"}, "number from 0.001"},
		{[]string{"--url", url, "--duration", "0"}, "seconds is 0"},
		{[]string{"--url", url, "--duration", "NaN"}, "give a number"},
		{[]string{"--plan", "file"}, "give -"},
		{[]string{"--plan", "-", "--url", url}, "leave out the others"},
	} {
		code, out, stderr := command(t, "", c.args...)
		if code != program.Refused || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %d, %q", c.args, code, stderr)
		}
	}
	if code, _, stderr := command(t, `{"threads":1}`, "--plan", "-"); code != program.Refused || !strings.Contains(stderr, "/timeout_s is missing") {
		t.Errorf("%d, %q", code, stderr)
	}
	if code, out, _ := command(t, "", "--help"); code != program.OK || !strings.Contains(out, "--pipelining") {
		t.Errorf("%d, %q", code, out)
	}
}

func TestNobodyListens(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	code, out, stderr := command(t, "", "--url", "http://"+ln.Addr().String()+"/", "--duration", "0.1")
	if code != program.NotReached || out != "" || !strings.Contains(stderr, "nothing listens there") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d, %q, %q", code, out, stderr)
	}
}

func TestAnswersThatNobodyKnows(t *testing.T) {
	s := serve(t, polite)
	code, _, stderr := command(t, "", "--url", strings.Replace(s.url, "simple", "other", 1), "--answers", "fiber", "--duration", "0.1")
	if code != program.Failure || !strings.Contains(stderr, "does not know") {
		t.Errorf("%d, %q", code, stderr)
	}
}

// A signal ends the load at once, and no measurement is printed.
func TestASignalEndsIt(t *testing.T) {
	s := serve(t, polite)
	for _, extra := range [][]string{nil, {"--rate", "10"}} {
		cmd := exec.Command(filepath.Join(built, "http_load"), append([]string{"--url", s.url, "--connections", "1", "--warmup", "0.01", "--duration", "60"}, extra...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan() // the warm-up is over
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if lines.Scan() {
			t.Errorf("printed %q", lines.Text())
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != program.Failure || !strings.Contains(stderr.String(), "ended by a signal") {
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
	if _, err := fmt.Sscanf(lines.Text(), "wire ready server_pid=%d client_pid=%d server_addr=%s client_addr=%s", &serverPID, &clientPID, &serverAddr, &clientAddr); err != nil {
		t.Fatalf("%q: %v", lines.Text(), err)
	}
	in := func(side string, pid int, argv ...string) *exec.Cmd {
		return exec.Command(filepath.Join(scripts, "wire.sh"), append([]string{"in", side, fmt.Sprint(pid), "--"}, argv...)...)
	}
	server := in("server", serverPID, filepath.Join(built, "null_server"), "--addr", serverAddr+":8083")
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
	p := once(generator.Target{Name: "wire", Processes: []int{pid}, URL: "http://" + serverAddr + ":8083/read", Connections: 4, Pipelining: 8, Answers: "null"}, 0.2)
	p.Slots = append(p.Slots, p.Slots[0])
	p.Wire = &generator.Wire{ServerPID: serverPID, ServerDevice: "wire-server", ClientDevice: "wire-client"}
	var plan bytes.Buffer
	_ = p.Write(&plan)
	client := in("client", clientPID, filepath.Join(built, "http_load"), "--plan", "-")
	var stderr bytes.Buffer
	client.Stdin, client.Stderr = &plan, &stderr // the program ends at the end of its input
	out, err := client.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	r, err := generator.ReadReport(bytes.NewReader(out))
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
		if s.Wire.TxBytes <= s.Bytes*9/10 || s.Wire.RxBytes <= 0 || s.Wire.TxBytes < 10*s.Wire.RxBytes || s.Wire.TxPackets <= 0 || s.Wire.RxPackets <= 0 {
			t.Errorf("%+v, %+v", s, s.Wire)
		}
	}
	clean(t, r.Summary.Targets[0])
}

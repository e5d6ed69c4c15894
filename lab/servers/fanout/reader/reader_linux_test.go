package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"fanout_server": "..", "fanout_floor": "../epoll"})
}

// start starts a server and gives its URL.
func start(t *testing.T, flags ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	return started(t, "fanout_server", flags...)
}

func started(t *testing.T, program string, flags ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd, addr := programtest.Start(t, append([]string{programtest.Path(program), "--addr", "127.0.0.1:0"}, flags...)...)
	return cmd, addr
}

// read runs a reader, and gives what it prints.
func read(t *testing.T, flags ...string) (out output) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"--connections", "40", "--warmup", "0.3", "--duration", "0.5", "--rate", "100"}, flags...)
	if status := run(args, &stdout, &stderr); status != program.OK {
		t.Fatalf("%v: status %d, %s", args, status, &stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, &stdout)
	}
	return out
}

func TestTheAccountClosesInEveryDesign(t *testing.T) {
	for _, flags := range []string{"fanout_floor", "fanout_server", "fanout_server --flush drained", "fanout_server --shards 8",
		"fanout_server --shards 8 --shard-by counter"} {
		_, url := started(t, strings.Fields(flags)[0], strings.Fields(flags)[1:]...)
		out := read(t, "--server", url)
		a := out.Account
		if !a.Closed || a.Due == 0 || a.Received != a.Written || a.Due != a.Written+a.Subscriber+a.Broadcast+a.Shard+a.Left+a.Socket {
			t.Errorf("%s: %+v", flags, a)
		}
		if out.Open != 40 || out.Events == 0 || out.Repeated+out.Refused != 0 || len(out.Faults) > 0 {
			t.Errorf("%s: %+v", flags, out)
		}
	}
}

// With --apart the reader learns from the writers' process where the readers' is.
func TestTwoProcessesAreInTheAccount(t *testing.T) {
	for _, how := range []string{"tcp --drainers 4", "unix --window 50ms"} {
		_, url := start(t, append([]string{"--apart"}, strings.Fields(how)...)...)
		out := read(t, "--server", url)
		a := out.Account
		if !a.Closed || a.Push == nil || a.Push.Pushed == 0 || a.Push.Pushed != a.Published || a.Push.Failed != 0 ||
			out.ShardsUsed != 1 || a.Received == 0 || (a.Push.Merged > 0) != strings.Contains(how, "window") {
			t.Errorf("%s: %+v, push %+v", how, a, a.Push)
		}
	}
}

// Whichever of two processes is killed, the other ends too.
func TestNeitherOfTwoProcessesIsLeft(t *testing.T) {
	for _, whose := range []string{"writers", "readers"} {
		cmd, url := start(t, "--apart", "tcp")
		l, err := ledgerOf(t.Context(), url)
		if err != nil || l.ReadersAt == "" {
			t.Fatal(l, err)
		}
		if _, err := ledgerOf(t.Context(), l.ReadersAt); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		if whose == "readers" {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if _, failed := fmt.Sscan(string(text), &pid); err != nil || failed != nil {
				t.Fatalf("%q %v", text, err)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{url, l.ReadersAt} {
			for n := 0; ; n++ {
				if _, err := ledgerOf(t.Context(), at); errors.Is(err, syscall.ECONNREFUSED) {
					break
				}
				if n == 500 {
					t.Fatalf("the %s' process was killed, and %s is still there", whose, at)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}

func TestWhatCannotBeMeasuredIsSaidInALine(t *testing.T) {
	dead, gone := start(t)
	_ = dead.Process.Kill()
	_ = dead.Wait()
	_, few := start(t, "--topics", "2")
	for _, c := range []struct {
		flags  string
		status int
		want   string
	}{
		{"", program.Refused, "--server is missing"},
		{"--server example.com:1", program.Refused, "loopback host"},
		{"--server " + gone, program.NotReached, "no server is there"},
		{"--server " + few + " --connections 4 --warmup 0.2 --duration 0.2", program.Failure, "status 404"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(c.flags), &stdout, &stderr)
		said := stderr.String()
		if status != c.status || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: status %d, %q, %q", c.flags, status, said, &stdout)
		}
	}
}

// A server that dies amid the trial ends it in a line, and soon.
func TestAServerThatDiesIsSaid(t *testing.T) {
	cmd, url := start(t)
	time.AfterFunc(800*time.Millisecond, func() { _ = cmd.Process.Kill() })
	var stdout, stderr bytes.Buffer
	status := run([]string{"--server", url, "--connections", "8", "--warmup", "0.3", "--duration", "3"}, &stdout, &stderr)
	if status == program.OK || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, &stderr, &stdout)
	}
}

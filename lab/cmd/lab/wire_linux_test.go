package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/wire"
)

// needsWire skips a test where none can be made.
func needsWire(t *testing.T) {
	if none, ok := errors.AsType[wire.Unavailable](wire.Try()); ok {
		t.Skip(none)
	}
}

// A person who has a wire enters both of its sides, and nothing is left after Ctrl-C, after kill
// -9, or at the end of its input.
func TestAPersonHasAWire(t *testing.T) {
	t.Parallel()
	needsWire(t)
	for _, how := range []string{"interrupt", "kill", "end"} {
		cmd := exec.Command(labBinary(), "wire", "--rate", "10000000")
		life, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var server, client string
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Sscanf(lines.Text(), "  SERVER=%s CLIENT=%s", &server, &client)
			if strings.HasPrefix(lines.Text(), "  tc -n client qdisc add dev wire-client root tbf rate 10000000bit") {
				break
			}
		}
		for pid, device := range map[string]string{server: "wire-server", client: "wire-client"} {
			said, err := exec.Command(labBinary(), "in-namespace", pid, "--", "cat", "/proc/net/dev").CombinedOutput()
			if err != nil || strings.Count(string(said), "wire-") != 1 || !strings.Contains(string(said), device+":") {
				t.Errorf("%s: %v, %s", device, err, said)
			}
		}
		// A process that has left its parent ends with the wire, since it would keep the namespace.
		if err := exec.Command(labBinary(), "in-namespace", server, "--", "sh", "-c", "setsid sleep 300 >/dev/null 2>&1 &").Run(); err != nil {
			t.Error(err)
		}
		switch how {
		case "interrupt":
			_ = cmd.Process.Signal(syscall.SIGINT)
		case "kill":
			_ = cmd.Process.Kill()
		default:
			life.Close()
		}
		if err := cmd.Wait(); (err != nil) != (how == "kill") {
			t.Errorf("%s: %v", how, err)
		}
		until(t, "the namespaces are gone", func() bool {
			_, err := os.Readlink(filepath.Join("/proc", server, "ns", "net"))
			return err != nil
		})
	}
}

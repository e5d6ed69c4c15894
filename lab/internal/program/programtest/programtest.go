// Package programtest builds the lab's programs for the tests that need processes, and
// starts them.
package programtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// Patience ends a test that would hang; it does not test speed.
const Patience = 20 * time.Second

// Dir is the directory of the programs that Main has built.
var Dir string

// Path is the path of a program that Main has built.
func Path(name string) string { return filepath.Join(Dir, name) }

// Main builds programs, by name from the directories of their packages, runs the tests,
// and exits.
func Main(m *testing.M, programs map[string]string) { os.Exit(run(m, programs)) }

func run(m *testing.M, programs map[string]string) int {
	dir, err := os.MkdirTemp("", "programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return program.Failure
	}
	defer os.RemoveAll(dir)
	Dir = dir
	for name, from := range programs {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", Path(name), ".")
		build.Dir = from // which may be in another module
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return program.Failure
		}
	}
	return m.Run()
}

var listens = regexp.MustCompile(`^(\w+): (?:worker|single) pid=(\d+) listening addr=(\S+)\n$`)

// Start runs a program until the test ends, and returns the address on which it says that
// it listens.
func Start(t testing.TB, words ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.Command(words[0], words[1:]...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for r := bufio.NewReader(stderr); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%q: %v, after %q", words, err, line)
		}
		said := listens.FindStringSubmatch(line)
		if said == nil {
			continue
		}
		if name := filepath.Base(words[0]); said[1] != name && name != "sh" || said[2] != fmt.Sprint(cmd.Process.Pid) {
			t.Fatalf("%s with pid %d said %q", name, cmd.Process.Pid, line)
		}
		go io.Copy(io.Discard, r)
		return cmd, said[3]
	}
}

// Calls are the arguments of a program, the status with which it then exits, and what it
// says.
type Calls []struct {
	Args   []string
	Status int
	Says   string
}

// Check makes the calls, of which each wrong one gets one line.
func (calls Calls) Check(t *testing.T, name string) {
	t.Helper()
	for _, c := range calls {
		cmd := exec.Command(name, c.Args...)
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != c.Status || !strings.Contains(string(out), c.Says) ||
			status != program.OK && bytes.Count(out, []byte("\n")) != 1 {
			t.Errorf("%q: exit status %d, want %d: %s", c.Args, status, c.Status, out)
		}
	}
}

// nextPort is where FreePorts looks next, below the range for clients, of which some are
// always taken. No two tests of a package get the same ports.
var nextPort atomic.Int64

func init() { nextPort.Store(rand.Int64N(20_000)) }

// FreePorts gives the first of n consecutive free ports: the servers of a block listen on
// neighbouring ones.
func FreePorts(t testing.TB, n int) int {
	t.Helper()
	for range 100 {
		port := 10_000 + int(nextPort.Add(int64(n))%20_000)
		free := 0
		for ; free < n; free++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+free))
			if err != nil {
				break
			}
			l.Close()
		}
		if free == n {
			return port
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}

package load

import (
	"bufio"
	"bytes"
	"os/exec"
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

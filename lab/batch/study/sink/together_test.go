package main

import (
	"bytes"
	"encoding/json"
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
	programtest.Main(m, map[string]string{"event_sink": ".", "event_producer": "../producer"})
}

// A process is a running program, which ends with the test.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

func begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(programtest.Path("event_sink"), args...), ended: make(chan struct{})}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	return p
}

// exit waits for the process and returns its status.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(programtest.Patience):
		t.Fatal("a process does not end")
	}
	return p.ProcessState.ExitCode()
}

// producing starts a producer and returns its address.
func producing(t *testing.T, args ...string) (p *exec.Cmd, addr string) {
	t.Helper()
	words := append([]string{programtest.Path("event_producer"), "--addr", "127.0.0.1:0"}, args...)
	return programtest.Start(t, words...)
}

// measured runs a sink to its end and reads its line.
func measured(t *testing.T, addr string, args ...string) output {
	t.Helper()
	p := begin(t, append([]string{"--producer", addr}, args...)...)
	if code := p.exit(t); code != program.OK || p.stderr.Len() > 0 || strings.Count(p.stdout.String(), "\n") != 1 {
		t.Fatalf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
	var out output
	if err := json.Unmarshal(p.stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if out.End.Unaccounted > 0 {
		t.Errorf("%+v", out.End)
	}
	return out
}

// files is how many files a process has open: a run of a producer has one to its sink, and those of its batches.
func files(t *testing.T, p *exec.Cmd) int {
	dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	return len(dir)
}

// until waits until a producer has at least, or at most, so many files open.
func until(t *testing.T, p *exec.Cmd, what string, ok func(files int) bool) {
	t.Helper()
	for by := time.Now().Add(programtest.Patience); !ok(files(t, p)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("not %s: %d files", what, files(t, p))
		}
	}
}

func TestTogether(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, addr := producing(t, "--variant", variant, "--event-rate", "5000", "--interval-ms", "50", "--event-bytes", "256",
				"--queue", "100")
			for range 2 { // the second is another run of the same producer
				out := measured(t, addr, "--warmup", "0.3", "--duration", "0.7", "--latency-ms", "20")
				if out.Events == 0 || out.Duplicates+out.Refused+out.Failed > 0 || out.Requests == 0 || out.Logged == 0 {
					t.Errorf("%+v", out)
				}
				if took := out.Finish.Sub(out.Start); took < 700*time.Millisecond || out.Offered < 5000*7/10 {
					t.Errorf("%d offered in %v", out.Offered, took)
				}
				// The delivery of an event takes more than no time.
				if out.Add == nil || out.PaceLag == nil || out.Delivery == nil || out.Delivery.P50 <= 0 || out.InFlightMax < 1 {
					t.Errorf("%+v", out)
				}
				e := out.End
				if e.Added < out.Added || e.Arrived != e.Added || e.Failed > 0 {
					t.Errorf("%+v", e)
				}
				if out.Limit != 0 {
					t.Errorf("a limit of no search: %+v", out)
				}
			}
		})
	}
}

// Whatever goes wrong, each event is accounted for.
func TestABadSinkIsAccountedFor(t *testing.T) {
	for _, variant := range []string{"pool-3", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, addr := producing(t, "--variant", variant, "--event-rate", "20000", "--interval-ms", "20", "--batch-size", "100",
				"--attempts", "20")
			out := measured(t, addr, "--duration", "1", "--errors-permille", "100", "--latency-ms", "1")
			e := out.End
			if out.Refused == 0 {
				t.Errorf("%+v", out)
			}
			if again := variant == "batch"; again != (e.Failed == 0) || out.Duplicates > 0 ||
				again != (e.Arrived == e.Added) {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A trial ends everything that it started.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	producer, addr := producing(t, "--variant", "pool-100", "--interval-ms", "20")
	before := files(t, producer)
	for range 3 {
		measured(t, addr, "--duration", "0.2", "--latency-ms", "10")
	}
	// The last request's connection may take a moment to be closed.
	until(t, producer, "ended", func(n int) bool { return n <= before+2 })
	_ = producer.Process.Signal(syscall.SIGTERM)
	if err := producer.Wait(); err != nil {
		t.Error(err)
	}
}

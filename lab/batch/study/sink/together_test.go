package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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

// A process is a running sink, which ends with the test.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func begin(t *testing.T, addr string, args ...string) *process {
	t.Helper()
	args = append(args, "--producer", addr)
	p := &process{Cmd: exec.CommandContext(t.Context(), programtest.Path("event_sink"), args...)}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// exit waits for the process and returns its status.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(programtest.Patience, func() { _ = p.Process.Kill() })
	_ = p.Wait()
	if !late.Stop() {
		t.Fatal("a process does not end")
	}
	return p.ProcessState.ExitCode()
}

// fails tells whether the process ends with a status and one line that says why.
func (p *process) fails(t *testing.T, status int, says string) {
	t.Helper()
	if code := p.exit(t); code != status || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 ||
		!strings.HasPrefix(p.stderr.String(), "event_sink: "+says) {
		t.Errorf("%v: exit status %d, %q, %q", p.Args[1:], code, &p.stdout, &p.stderr)
	}
}

// producing starts a producer and returns its address.
func producing(t *testing.T, args ...string) (p *exec.Cmd, addr string) {
	t.Helper()
	return programtest.Start(t, append([]string{programtest.Path("event_producer"), "--addr", "127.0.0.1:0"}, args...)...)
}

// measured runs a sink to its end and reads its line.
func measured(t *testing.T, addr string, args ...string) (out output) {
	t.Helper()
	p := begin(t, addr, args...)
	if code := p.exit(t); code != program.OK || p.stderr.Len() > 0 || strings.Count(p.stdout.String(), "\n") != 1 {
		t.Fatalf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if out.End.Unaccounted > 0 {
		t.Errorf("%+v", out.End)
	}
	return out
}

// until waits until a producer has so many files open: one to its sink, and those of its batches.
func until(t *testing.T, p *exec.Cmd, what string, ok func(files int) bool) {
	t.Helper()
	for by := time.Now().Add(programtest.Patience); !ok(files(t, p)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("not %s: %d files", what, files(t, p))
		}
	}
}

func files(t *testing.T, p *exec.Cmd) int {
	dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	return len(dir)
}

func TestTogether(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, addr := producing(t, "--variant", variant, "--event-rate", "5000", "--interval-ms", "50", "--event-bytes", "256",
				"--queue", "100")
			first := begin(t, addr, "--duration", "0.2")
			// The next waits for the end of the first, and has a run of its own.
			out := measured(t, addr, "--warmup", "0.3", "--duration", "0.7", "--latency-ms", "20")
			if code := first.exit(t); code != program.OK {
				t.Errorf("the first: %d, %q", code, &first.stderr)
			}
			if out.Events == 0 || out.Duplicates+out.Refused+out.Failed > 0 || out.Requests == 0 || out.Logged == 0 ||
				out.Add == nil || out.PaceLag == nil || out.Delivery == nil || out.Delivery.P50 <= 0 || out.InFlightMax < 1 ||
				out.End.Added < out.Added || out.End.Arrived != out.End.Added || out.End.Failed > 0 || out.Limit != 0 {
				t.Errorf("%+v", out)
			}
			if took := out.Finish.Sub(out.Start); took < 700*time.Millisecond || out.Offered < 5000*6/10 {
				t.Errorf("%d offered in %v", out.Offered, took)
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
			e, again := out.End, variant == "batch"
			if out.Refused == 0 || out.Duplicates > 0 || again != (e.Failed == 0) || again != (e.Arrived == e.Added) {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A hundred events in twenty milliseconds are 5000 a second at most. On a busy machine there may be no limit.
func TestFindLimit(t *testing.T) {
	t.Parallel()
	_, addr := producing(t, "--variant", "pool-1", "--batch-size", "100", "--interval-ms", "50", "--queue", "100")
	p := begin(t, addr, "--duration", "0.5", "--latency-ms", "20", "--find-limit")
	var out output
	if code := p.exit(t); code == program.OK {
		if err := json.Unmarshal(p.stdout.Bytes(), &out); err != nil || out.Limit == 0 || out.Limit >= 8000 ||
			out.Offered < int64(out.Limit)*4/10 {
			t.Errorf("%+v, %v", out, err)
		}
	} else if !strings.Contains(p.stderr.String(), "found no limit") {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
}

// A signal, or a kill, ends the sink and the producer's run, and the producer serves the next.
func TestASinkEnds(t *testing.T) {
	for _, args := range [][]string{{"--warmup", "600"}, {"--duration", "600"}, {"--find-limit", "--duration", "600"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
			t.Run(fmt.Sprint(args[0], sig), func(t *testing.T) {
				t.Parallel()
				producer, addr := producing(t, "--interval-ms", "10")
				before := files(t, producer)
				p := begin(t, addr, args...)
				until(t, producer, "sending", func(n int) bool { return n >= before+2 })
				_ = p.Process.Signal(sig)
				if sig == syscall.SIGKILL {
					p.exit(t)
				} else {
					p.fails(t, program.Failure, "ended by a signal; nothing was measured")
				}
				until(t, producer, "ended", func(n int) bool { return n <= before+1 })
				if out := measured(t, addr, "--duration", "0.2"); out.End.Added != out.End.Arrived {
					t.Errorf("%+v", out.End)
				}
			})
		}
	}
}

// A producer that is killed, that is none, or that is not there is an error of one line.
func TestNoProducer(t *testing.T) {
	producer, addr := producing(t, "--interval-ms", "10")
	before := files(t, producer)
	p := begin(t, addr, "--duration", "1")
	until(t, producer, "sending", func(n int) bool { return n >= before+2 })
	_ = producer.Process.Kill()
	p.fails(t, program.Failure, "the producer at "+addr)

	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	addr = other.Listener.Addr().String()
	begin(t, addr, "--duration", "0.1").fails(t, program.Failure, "the producer at "+addr)

	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	begin(t, nobody).fails(t, program.NotReached, "no producer is there: dial tcp "+nobody+": connect: connection refused")
}

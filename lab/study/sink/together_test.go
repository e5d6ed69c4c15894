package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/study/event"
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

// producing starts a producer and returns its control's URL.
func producing(t *testing.T, args ...string) (p *exec.Cmd, url string) {
	t.Helper()
	words := append([]string{programtest.Path("event_producer"), "--addr", "127.0.0.1:0"}, args...)
	p, addr := programtest.Start(t, words...)
	return p, "http://" + addr
}

// measured runs a sink to its end and reads its line.
func measured(t *testing.T, url string, args ...string) output {
	t.Helper()
	p := begin(t, append([]string{"--producer", url}, args...)...)
	if code := p.exit(t); code != program.OK || p.stderr.Len() > 0 || strings.Count(p.stdout.String(), "\n") != 1 {
		t.Fatalf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
	var out output
	if err := json.Unmarshal(p.stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asked(t *testing.T, method, url string) (int, event.Figures) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var f event.Figures
	_ = json.Unmarshal(body, &f)
	return resp.StatusCode, f
}

// until waits until a producer's figures are as expected.
func until(t *testing.T, url, what string, ok func(event.Figures) bool) {
	t.Helper()
	for by := time.Now().Add(programtest.Patience); ; time.Sleep(5 * time.Millisecond) {
		code, f := asked(t, http.MethodGet, url+"/figures")
		if code == 200 && ok(f) {
			return
		}
		if time.Now().After(by) {
			t.Fatalf("not %s: %d, %+v", what, code, f)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, url := producing(t, "--variant", variant, "--event-rate", "5000", "--interval-ms", "50", "--event-bytes", "256",
				"--queue", "100")
			for range 2 { // the second is another run of the same producer
				out := measured(t, url, "--warmup", "0.3", "--duration", "0.7", "--latency-ms", "20")
				if out.Events == 0 || out.Events != out.Bytes/256 || out.Duplicates+out.Refused+out.Dropped+
					out.Failed > 0 || out.Requests == 0 || out.Logged == 0 || out.Lines == 0 {
					t.Errorf("%+v", out)
				}
				if took := out.Finish.Sub(out.Start); took < 700*time.Millisecond || out.Offered < 5000*7/10 {
					t.Errorf("%d offered in %v", out.Offered, took)
				}
				// The delivery of an event takes more than no time.
				if out.Add == nil || out.PaceLag == nil || out.Delivery == nil || out.Delivery.Max <= 0 || out.InFlightMax < 1 {
					t.Errorf("%+v", out)
				}
				e := out.End
				if e.Added < out.Added || e.Arrived != e.Added || e.Dropped+e.Failed+e.Returned+e.Unaccounted > 0 || !e.Drained {
					t.Errorf("%+v", e)
				}
				if out.Limit != nil || out.Steps != nil {
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
			_, url := producing(t, "--variant", variant, "--event-rate", "20000", "--interval-ms", "20", "--batch-size", "100",
				"--attempts", "20")
			out := measured(t, url, "--duration", "1", "--errors-permille", "100", "--latency-ms", "1")
			e := out.End
			if out.Refused == 0 || e.Unaccounted > 0 || e.Returned+e.Dropped > 0 {
				t.Errorf("%+v", out)
			}
			if again := variant == "batch"; again != (e.Failed == 0) || out.Duplicates > 0 ||
				again != (e.Arrived == e.Added) {
				t.Errorf("%+v", out)
			}
		})
	}
}

// Events that a full queue drops are counted, and the rest arrives.
func TestDrops(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--when-full", "drop", "--queue", "10", "--batch-size", "10",
		"--event-rate", "10000")
	out := measured(t, url, "--warmup", "0.1", "--duration", "0.4", "--latency-ms", "50")
	e := out.End
	if out.Dropped == 0 || e.Dropped < out.Dropped || e.Added != e.Arrived+e.Dropped || e.Unaccounted > 0 {
		t.Errorf("%+v", out)
	}
}

// A trial ends everything that it started.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	producer, url := producing(t, "--variant", "pool-100", "--interval-ms", "20")
	files := func() int {
		dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", producer.Process.Pid))
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(dir)
	}
	before := files()
	for range 3 {
		measured(t, url, "--duration", "0.2", "--latency-ms", "10")
	}
	// The last request's connection may take a moment to be closed.
	for by := time.Now().Add(programtest.Patience); files() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("%d open files before, %d after", before, files())
		}
	}
	_ = producer.Process.Signal(syscall.SIGTERM)
	if err := producer.Wait(); err != nil {
		t.Error(err)
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/line-rate/line-rate/lab/internal/event"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// The two programs, built for the tests that have them work together.
var sinkProgram, producerProgram string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "event_sink")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for program, from := range map[*string]string{&sinkProgram: ".", &producerProgram: "../producer"} {
		*program = filepath.Join(dir, "event_"+filepath.Base(from))
		if out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", *program, from).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// patience ends a test that would hang; it is no claim of speed.
const patience = 30 * time.Second

// A process is one of the programs, which ends with the test.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

func begin(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program, args...), ended: make(chan struct{})}
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
	case <-time.After(patience):
		t.Fatal("a process does not end")
	}
	return p.ProcessState.ExitCode()
}

// producing starts a producer and returns its control's URL.
func producing(t *testing.T, args ...string) (p *process, url string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p = &process{Cmd: exec.Command(producerProgram, append([]string{"--addr", "127.0.0.1:0"}, args...)...), ended: make(chan struct{})}
	p.Stderr = w
	err = p.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
		r.Close()
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, addr, _ := strings.Cut(strings.TrimSpace(line), " listening addr=")
	return p, "http://" + addr
}

// measured runs a sink to its end and reads its line.
func measured(t *testing.T, url string, args ...string) output {
	t.Helper()
	p := begin(t, sinkProgram, append([]string{"--producer", url}, args...)...)
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

// until waits for a producer's figures to be as they should.
func until(t *testing.T, url, what string, ok func(event.Figures) bool) {
	t.Helper()
	for by := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
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
			_, url := producing(t, "--variant", variant, "--event-rate", "5000", "--interval-ms", "50", "--event-bytes", "256", "--queue", "100")
			for range 2 { // the second is a fresh run of the same producer
				out := measured(t, url, "--warmup", "0.3", "--duration", "0.7", "--latency-ms", "20")
				if out.Events == 0 || out.Events != out.Bytes/256 || out.Duplicates+out.Refused+out.Late+out.Dropped+out.Failed > 0 || out.Requests == 0 || out.Logged == 0 || out.Lines == 0 {
					t.Errorf("%+v", out)
				}
				if took := out.Finish.Sub(out.Start); took < 700*time.Millisecond || out.Offered < 5000*7/10 {
					t.Errorf("%d offered in %v", out.Offered, took)
				}
				// Due at least as long ago as no answer takes.
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

// In every kind of trouble each event is somewhere.
func TestABadSinkIsAccountedFor(t *testing.T) {
	for _, variant := range []string{"pool-3", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, url := producing(t, "--variant", variant, "--event-rate", "20000", "--interval-ms", "20", "--batch-size", "100", "--attempts", "20")
			out := measured(t, url, "--duration", "1", "--errors-permille", "100", "--late-permille", "100", "--latency-ms", "1")
			e := out.End
			if out.Refused == 0 || out.Late == 0 || e.Unaccounted > 0 || e.Returned+e.Dropped > 0 {
				t.Errorf("%+v", out)
			}
			if again := variant == "batch"; again != (e.Failed == 0) || again != (out.Duplicates > 0) || again != (e.Arrived == e.Added) {
				t.Errorf("%+v", out)
			}
		})
	}
}

// What a queue that is full drops is counted, and the rest arrives.
func TestDrops(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--when-full", "drop", "--queue", "10", "--batch-size", "10", "--event-rate", "10000")
	out := measured(t, url, "--warmup", "0.1", "--duration", "0.4", "--latency-ms", "50")
	e := out.End
	if out.Dropped == 0 || e.Dropped < out.Dropped || e.Added != e.Arrived+e.Dropped || e.Unaccounted > 0 {
		t.Errorf("%+v", out)
	}
}

// A lateness is how late one that only sleeps wakes up, again and again.
type lateness struct {
	stop chan struct{}
	late chan []time.Duration
}

func sleeping() lateness {
	const each = 5 * time.Millisecond
	l := lateness{make(chan struct{}), make(chan []time.Duration, 1)}
	go func() {
		var all []time.Duration
		for {
			began := time.Now()
			select {
			case <-time.After(each):
				all = append(all, time.Since(began)-each)
			case <-l.stop:
				l.late <- all
				return
			}
		}
	}()
	return l
}

// tenth ends it, and gives what one waking in ten exceeded.
func (l lateness) tenth() time.Duration {
	close(l.stop)
	all := <-l.late
	slices.Sort(all)
	return all[len(all)*9/10]
}

// One worker, a hundred events a batch, twenty milliseconds each: 5000 a second
// by arithmetic, and a step is too short to see the last tenths of that. Where
// somebody else has the processors it is less, and takes longer to see.
func TestFindLimit(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--batch-size", "100", "--interval-ms", "50", "--queue", "100")
	others := sleeping()
	out := measured(t, url, "--warmup", "0.2", "--duration", "5", "--latency-ms", "20", "--find-limit")
	late := others.tenth()
	if out.Limit == nil || *out.Limit < 2000 || *out.Limit >= 8000 || len(out.Steps) < 3 {
		if late > 2*time.Millisecond {
			t.Skipf("the machine is too busy: one that only sleeps wakes %v late, once in ten times", late)
		}
		t.Errorf("%+v", out)
	}
	if out.End.Unaccounted > 0 {
		t.Errorf("%+v", out.End)
	}
}

// A system that keeps up with nothing has no limit, which takes one step to see.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--batch-size", "10", "--interval-ms", "50", "--queue", "10")
	out := measured(t, url, "--duration", "1", "--latency-ms", "50", "--find-limit")
	if out.Limit != nil || len(out.Steps) != 1 || out.Steps[0].KeptUp || out.End.Unaccounted > 0 {
		t.Errorf("%+v", out)
	}
}

func TestNoProducer(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	p := begin(t, sinkProgram, "--producer", "http://"+nobody)
	if code := p.exit(t); code != program.NotReached || p.stdout.Len() > 0 || p.stderr.String() != "event_sink: no producer is there: nothing listens at http://"+nobody+"\n" {
		t.Errorf("exit status %d, %q, %q", code, &p.stdout, &p.stderr)
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, url := producing(t)
	p := begin(t, sinkProgram, "--producer", url, "--listen", ln.Addr().String())
	if code := p.exit(t); code != program.Failure || strings.Count(p.stderr.String(), "\n") != 1 || !strings.Contains(p.stderr.String(), "--listen: ") {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
	if code, _ := asked(t, http.MethodGet, url+"/figures"); code != http.StatusConflict {
		t.Errorf("the producer was started: %d", code)
	}
}

// Something that is no producer is told by what it answers.
func TestNotAProducer(t *testing.T) {
	other := newReceiver(Settings{})
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: other}
	go srv.Serve(ln)
	defer srv.Close()
	p := begin(t, sinkProgram, "--producer", "http://"+ln.Addr().String(), "--duration", "0.1")
	if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 || !strings.Contains(p.stderr.String(), "refuses /start") {
		t.Errorf("exit status %d, %q", code, &p.stderr)
	}
}

func TestASecondSinkIsRefused(t *testing.T) {
	_, url := producing(t, "--interval-ms", "10")
	first := begin(t, sinkProgram, "--producer", url, "--duration", "600")
	until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
	second := begin(t, sinkProgram, "--producer", url, "--duration", "0.1")
	if code := second.exit(t); code != program.Failure || second.stdout.Len() > 0 || strings.Count(second.stderr.String(), "\n") != 1 || !strings.Contains(second.stderr.String(), "409") {
		t.Errorf("exit status %d, %q, %q", code, &second.stdout, &second.stderr)
	}
	// It has not stopped what is not its own.
	_, before := asked(t, http.MethodGet, url+"/figures")
	until(t, url, "delivering still", func(f event.Figures) bool { return f.Delivered > before.Delivered })
	_ = first.Process.Signal(syscall.SIGTERM)
	first.exit(t)
}

// A signal stops the producer first, and nothing is printed that could pass for
// a trial.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, args := range [][]string{{"--warmup", "600"}, {"--duration", "600"}, {"--find-limit", "--duration", "600"}} {
			_, url := producing(t, "--interval-ms", "10")
			p := begin(t, sinkProgram, append([]string{"--producer", url}, args...)...)
			until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
			_ = p.Process.Signal(sig)
			if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || p.stderr.String() != "event_sink: ended by a signal; nothing was measured\n" {
				t.Errorf("%v, %v: exit status %d, %q, %q", sig, args, code, &p.stdout, &p.stderr)
			}
			if _, f := asked(t, http.MethodGet, url+"/figures"); f.Drained == nil || !*f.Drained || f.Delivered != f.Added {
				t.Errorf("%v, %v: the producer was not stopped: %+v", sig, args, f)
			}
		}
	}
}

// A sink that is killed leaves a producer that counts what it cannot deliver,
// and that can be stopped and started again.
func TestTheSinkIsKilled(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, url := producing(t, "--variant", variant, "--interval-ms", "10")
			p := begin(t, sinkProgram, "--producer", url, "--duration", "600", "--latency-ms", "5")
			until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
			_ = p.Process.Kill()
			p.exit(t)
			until(t, url, "failed", func(f event.Figures) bool { return f.Failed > 0 })
			code, f := asked(t, http.MethodPost, url+"/stop")
			if code != 200 || f.Added != f.Delivered+f.Failed || f.Queued != 0 || !*f.Drained {
				t.Errorf("%d, %+v", code, f)
			}
			if out := measured(t, url, "--duration", "0.2"); out.End.Added != out.End.Arrived {
				t.Errorf("%+v", out.End)
			}
		})
	}
}

// A producer that is killed is an error of one line, within the window.
func TestTheProducerIsKilled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--duration", "1"}, {"--duration", "1", "--find-limit"}} {
		producer, url := producing(t, "--interval-ms", "10")
		p := begin(t, sinkProgram, append([]string{"--producer", url}, args...)...)
		until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
		_ = producer.Process.Kill()
		<-producer.ended
		if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit status %d, %q, %q", args, code, &p.stdout, &p.stderr)
		}
	}
}

// A trial ends with all that it began.
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
	for by := time.Now().Add(patience); files() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("%d open files before, %d after", before, files())
		}
	}
	_ = producer.Process.Signal(syscall.SIGTERM)
	if code := producer.exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

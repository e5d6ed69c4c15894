package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/line-rate/line-rate/lab/internal/event"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// built is event_producer, built for the tests that need the process.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "event_producer")
	if err == nil {
		built = filepath.Join(dir, "event_producer")
		var out []byte
		if out, err = exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", built, ".").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// patience ends a test that would hang; it is no claim of speed.
const patience = 20 * time.Second

func settings(t *testing.T, args ...string) Settings {
	t.Helper()
	s, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A taker is a sink that remembers the numbers that came.
type taker struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[uint64]int64 // when each was due
	size string
	gone atomic.Bool // it ends connections, whatever is under way on them
}

func takes(t *testing.T, before func() (code int)) *taker {
	t.Helper()
	s := &taker{seen: map[uint64]int64{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code := before(); code != 0 {
			w.WriteHeader(code)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil && s.gone.Load() {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.size = r.Header.Get(event.SizeHeader)
		var size int
		fmt.Sscan(s.size, &size)
		if err != nil || size == 0 || len(body)%size != 0 {
			t.Errorf("%d bytes by %q: %v", len(body), s.size, err)
			return
		}
		for ; len(body) > 0; body = body[size:] {
			n, due := event.Get(body)
			if _, twice := s.seen[n]; twice {
				t.Errorf("event %d came twice", n)
			}
			s.seen[n] = due
			if string(body[event.Header:event.Header+4]) != "qrst" {
				t.Errorf("event %d is filled with %q", n, body[event.Header:])
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func willing() int { return 0 }

// Each size and each pacing: what was added arrives, under its number, with a
// time that it was due at.
func TestWhatIsAddedArrives(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		for _, size := range event.Sizes {
			for _, variant := range []string{"pool-3", "async", "swap", "batch"} {
				t.Run(fmt.Sprint(pacing, size, variant), func(t *testing.T) {
					t.Parallel()
					sink := takes(t, willing)
					s := settings(t, "--variant", variant, "--event-bytes", fmt.Sprint(size), "--pacing", pacing, "--batch-size", "50", "--interval-ms", "20")
					began := time.Now().UnixNano()
					r, err := begin(s, sink.URL+"/")
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond)
					f := r.stop()
					if f.Added == 0 || f.Delivered != f.Added || f.Queued+f.Failed+f.Dropped+f.Returned != 0 || !*f.Drained || f.Logged != f.Added || f.Offered == 0 {
						t.Errorf("%+v", f)
					}
					if f.Add == nil || f.PaceLag == nil || f.Interval != 0.02 {
						t.Errorf("%+v", f)
					}
					if int64(len(sink.seen)) != f.Added || sink.size != fmt.Sprint(size) {
						t.Errorf("%d came, of %s bytes: %+v", len(sink.seen), sink.size, f)
					}
					last := began
					for n := range uint64(f.Added) {
						due, ok := sink.seen[n]
						if !ok || due < last || due > time.Now().UnixNano() {
							t.Fatalf("event %d: %v, due at %d after %d", n, ok, due, last)
						}
						last = due
					}
				})
			}
		}
	}
}

// An open pacer owes all that fell due while an Add waited; a ticker does not.
func TestWhoWaitsIsOwed(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		release := make(chan struct{})
		sink := takes(t, func() int { <-release; return 0 })
		s := settings(t, "--variant", "pool-1", "--batch-size", "1", "--queue", "0", "--pacing", pacing, "--event-rate", "1000")
		r, err := begin(s, sink.URL+"/")
		if err != nil {
			t.Fatal(err)
		}
		for by := time.Now().Add(patience); r.figures(false).Offered < 300 && time.Now().Before(by); {
			time.Sleep(10 * time.Millisecond)
		}
		if f := r.figures(false); f.Added > 2 {
			t.Errorf("%s: one worker that waits took %d events", pacing, f.Added)
		}
		// No more is to fall due meanwhile: a machine that is busy may be slower than that.
		r.rate(1, 0)
		before := r.figures(true)
		close(release)
		owed := func(f event.Figures) bool { return f.Added >= before.Offered }
		for by := time.Now().Add(patience); !owed(r.figures(false)) && time.Now().Before(by) && pacing == pacingOpen; {
			time.Sleep(10 * time.Millisecond)
		}
		f := r.figures(false)
		if pacing == pacingOpen && !owed(f) || pacing == pacingTicker && f.Offered-f.Added < before.Offered-before.Added-1 {
			t.Errorf("%s: %+v, and before %+v", pacing, f, before)
		}
		if f := r.stop(); f.Added != f.Delivered || int64(len(sink.seen)) != f.Added {
			t.Errorf("%s: %d came: %+v", pacing, len(sink.seen), f)
		}
	}
}

// The run's clock stops with its pacer and not before it: events that were added
// after it would be more than were offered.
func TestNoMoreIsAddedThanWasOffered(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		sink := takes(t, willing)
		for range 50 {
			r, err := begin(settings(t, "--pacing", pacing, "--event-rate", "500000", "--batch-size", "1000", "--queue", "100000"), sink.URL+"/")
			if err != nil {
				t.Fatal(err)
			}
			for by := time.Now().Add(patience); r.figures(false).Added < 2000 && time.Now().Before(by); {
				time.Sleep(100 * time.Microsecond)
			}
			if f := r.stop(); f.Added > f.Offered {
				t.Fatalf("%s: %d added of %d offered", pacing, f.Added, f.Offered)
			}
			sink.mu.Lock()
			clear(sink.seen)
			sink.mu.Unlock()
		}
	}
}

func TestARateIsChanged(t *testing.T) {
	for _, pacing := range []string{pacingOpen, pacingTicker} {
		sink := takes(t, willing)
		r, err := begin(settings(t, "--pacing", pacing, "--event-rate", "1", "--interval-ms", "10"), sink.URL+"/")
		if err != nil {
			t.Fatal(err)
		}
		if !r.rate(1000, 0) {
			t.Error("refused")
		}
		for by := time.Now().Add(patience); r.figures(false).Delivered < 50 && time.Now().Before(by); {
			time.Sleep(time.Millisecond)
		}
		if f := r.stop(); f.Delivered < 50 || f.Offered < f.Added {
			t.Errorf("%s: %+v", pacing, f)
		}
	}
}

// A batch that is refused before it was read is not read on when post returns:
// its events are the variant's again.
func TestPostGivesTheEventsBack(t *testing.T) {
	n := 0
	sink := takes(t, func() int { n++; return []int{503, 0}[n%2] })
	p := newPoster[event.Of4096](sink.URL + "/")
	defer p.client.CloseIdleConnections()
	events := make([]event.Of4096, 500)
	for i := range 20 {
		for j := range events {
			copy(events[j].Raw(), bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 158))
			event.Put(events[j].Raw(), uint64(i*len(events)+j), 1)
		}
		if err := p.post(t.Context(), events); (err != nil) != (i%2 == 1) {
			t.Errorf("batch %d: %v", i, err)
		}
		clear(events) // the race detector sees who reads on
	}
	if len(sink.seen) != 10*len(events) {
		t.Errorf("%d came", len(sink.seen))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.post(ctx, events); err == nil {
		t.Error("posted after its context's end")
	}
}

func TestBody(t *testing.T) {
	events := make([]event.Of64, 5)
	var want []byte
	for i := range events {
		event.Put(events[i].Raw(), uint64(i), int64(i))
		want = append(want, events[i].Raw()...)
	}
	for name, reader := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader, "half": iotest.HalfReader} {
		b := &body[event.Of64, *event.Of64]{rest: events, closed: make(chan struct{})}
		got, err := io.ReadAll(reader(b))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	b := &body[event.Of64, *event.Of64]{rest: events, closed: make(chan struct{})}
	closed := b.closed
	b.Close()
	b.Close()
	<-closed
	if n, err := b.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes after its end, %v", n, err)
	}
}

// ask makes one request of a control.
func ask(t *testing.T, h http.Handler, method, path string) (int, event.Figures, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	var f event.Figures
	_ = json.Unmarshal(w.Body.Bytes(), &f)
	return w.Code, f, w.Body.String()
}

func TestControl(t *testing.T) {
	sink := takes(t, willing)
	h := (&control{Settings: settings(t, "--interval-ms", "10")}).handler()
	start := "/start?sink=" + url.QueryEscape(sink.URL+"/")
	for _, c := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"GET", "/start", 405, ""}, {"GET", "/stop", 405, ""}, {"POST", "/figures", 405, ""}, {"GET", "/", 404, ""},
		{"POST", "/stop", 409, "nothing runs"}, {"GET", "/figures", 409, "nothing was started"}, {"POST", "/rate?per_second=5", 409, "nothing runs"},
		{"POST", "/start", 400, "give http://"}, {"POST", "/start?sink=http://192.0.2.1:80/", 400, "loopback"}, {"POST", "/start?sink=x", 400, "loopback"},
		{"POST", "/rate?per_second=0", 400, "whole number from 1"}, {"POST", "/rate?per_second=64000001", 400, "64000000"}, {"POST", "/rate", 400, "whole number"}, {"POST", "/rate?per_second=1&for_ms=0", 400, "for_ms"},
		{"POST", start, 204, ""},
		{"POST", start, 409, "a run is under way"},
		{"POST", "/rate?per_second=5000", 204, ""},
	} {
		if code, _, said := ask(t, h, c.method, c.path); code != c.code || !strings.Contains(said, c.says) || strings.Count(said, "\n") > 1 {
			t.Errorf("%s %s: %d %q, want %d and %q", c.method, c.path, code, said, c.code, c.says)
		}
	}
	for by := time.Now().Add(patience); time.Now().Before(by); {
		if _, f, _ := ask(t, h, "GET", "/figures"); f.Delivered > 100 {
			break
		}
	}
	code, f, _ := ask(t, h, "GET", "/figures?reset=1")
	if code != 200 || f.Delivered <= 100 || f.Add == nil || f.Drained != nil || f.Offered < f.Added || f.LogLines == 0 {
		t.Errorf("%d %+v", code, f)
	}
	code, last, _ := ask(t, h, "POST", "/stop")
	if code != 200 || last.Drained == nil || !*last.Drained || last.Added != last.Delivered || last.Offered < f.Offered {
		t.Errorf("%d %+v", code, last)
	}
	if _, again, _ := ask(t, h, "GET", "/figures"); again.Added != last.Added || again.Offered != last.Offered {
		t.Errorf("after the stop %+v, then %+v", last, again)
	}
	// A fresh run counts from nothing.
	sink.mu.Lock()
	clear(sink.seen)
	sink.mu.Unlock()
	if code, _, said := ask(t, h, "POST", start); code != 204 {
		t.Fatalf("%d %s", code, said)
	}
	if _, f, _ := ask(t, h, "GET", "/figures"); f.Added >= last.Added {
		t.Errorf("a second run begins with %+v", f)
	}
	ask(t, h, "POST", "/stop")
}

// A sink that goes away in the middle is no end of the producer, which counts
// what it cannot deliver.
func TestASinkThatGoesAway(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		sink := takes(t, willing)
		r, err := begin(settings(t, "--variant", variant, "--interval-ms", "5", "--attempts", "2"), sink.URL+"/")
		if err != nil {
			t.Fatal(err)
		}
		until := func(what string, ok func(event.Figures) bool) {
			for by := time.Now().Add(patience); !ok(r.figures(false)); time.Sleep(time.Millisecond) {
				if time.Now().After(by) {
					t.Fatalf("%s: not %s: %+v", variant, what, r.figures(false))
				}
			}
		}
		until("delivered", func(f event.Figures) bool { return f.Delivered > 0 })
		sink.gone.Store(true)
		sink.CloseClientConnections()
		sink.Close()
		until("failed", func(f event.Figures) bool { return f.Failed > 0 })
		f := r.stop()
		if f.Added != f.Delivered+f.Failed || !*f.Drained {
			t.Errorf("%s: %+v", variant, f)
		}
	}
}

// start runs the real program and returns where its control listens.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.Command(built, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
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
	r := bufio.NewReader(stderr)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		said, at, found := strings.Cut(strings.TrimSpace(line), " listening addr=")
		if found && said == fmt.Sprintf("event_producer: worker pid=%d", cmd.Process.Pid) {
			return cmd, at
		}
	}
}

func TestExitStatuses(t *testing.T) {
	cmd, addr := start(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--addr", addr}, program.InUse, addr + " is already in use"},
		{[]string{"--addr", "0.0.0.0:8083"}, program.Refused, "loopback host"},
		{[]string{"--addr", "192.0.2.1:80"}, program.Refused, "loopback host"},
		{[]string{"--addr", "8083"}, program.Refused, "HOST:PORT"},
		{[]string{"--variant", "pool"}, program.Refused, "no variant"},
		{[]string{"--variant", "async", "--stagger"}, program.Refused, "only pool-N"},
		{[]string{"--stagger=maybe"}, program.Refused, "true or false"},
		{[]string{"--stagger", "false"}, program.Refused, "joined with ="},
		{[]string{"--event-rate", "0"}, program.Refused, "from 1 to 64000000"},
		{[]string{"--event-bytes", "100"}, program.Refused, "64, 256, 1024 or 4096"},
		{[]string{"--batch-size", "x"}, program.Refused, "whole number"},
		{[]string{"--interval-ms", "0"}, program.Refused, "from 1 to"},
		{[]string{"--queue", "-1"}, program.Refused, "from 0 to"},
		{[]string{"--pacing", "closed"}, program.Refused, "open or ticker"},
		{[]string{"--when-full", "wait"}, program.Refused, "block or drop"},
		{[]string{"--attempts", "0"}, program.Refused, "from 1 to"},
		{[]string{"--mutex-fraction", "0"}, program.Refused, "from 1 to"},
		{[]string{"--block-rate-ns", "0"}, program.Refused, "from 1 to"},
		{[]string{"--pprof-sockets", "/nowhere/at/all"}, program.Refused, "does not exist"},
		{[]string{"--nonsense"}, program.Refused, "-nonsense"},
		{[]string{"now"}, program.Refused, `"now"`},
		{[]string{"--help"}, program.OK, "POST /start"},
	} {
		other := exec.Command(built, c.args...)
		out, _ := other.CombinedOutput()
		if code := other.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) || code != 0 && bytes.Count(out, []byte("\n")) != 1 {
			t.Errorf("%q: exit status %d, want %d: %s", c.args, code, c.code, out)
		}
	}
	if conn, err := net.Dial("tcp", addr); err != nil {
		t.Errorf("the first one has gone: %v", err)
	} else {
		conn.Close()
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// A signal ends it at once, whatever runs, and its profiles' socket goes with it.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		dir, err := os.MkdirTemp("", "p") // short, and closed to others
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		hang := make(chan struct{})
		sink := takes(t, func() int { <-hang; return 0 })
		cmd, addr := start(t, "--variant", "pool-2", "--queue", "0", "--interval-ms", "10", "--pprof-sockets", dir)
		socket := filepath.Join(dir, fmt.Sprint(cmd.Process.Pid)+".sock")
		if _, err := os.Stat(socket); err != nil {
			t.Error(err)
		}
		resp, err := http.Post("http://"+addr+"/start?sink="+url.QueryEscape(sink.URL+"/"), "", nil)
		if err != nil || resp.StatusCode != 204 {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
		time.Sleep(50 * time.Millisecond) // let it send, and wait
		_ = cmd.Process.Signal(sig)
		late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("after %v: %v", sig, err)
		}
		late.Stop()
		close(hang)
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

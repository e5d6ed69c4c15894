package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// binary is the load generator, built for the tests that need processes.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fortio_load")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "fortio_load")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A site is a server that counts. Its handler gets the number of the request:
// from 1, those that open the connections included.
type site struct {
	*httptest.Server
	hits  atomic.Int64
	mu    sync.Mutex
	peers map[string]int
}

func serve(t *testing.T, handle func(n int64, w http.ResponseWriter)) *site {
	t.Helper()
	s := &site{peers: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.peers[r.RemoteAddr]++
		s.mu.Unlock()
		handle(s.hits.Add(1), w)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func hello(_ int64, w http.ResponseWriter) {
	w.Header()["Date"] = nil
	w.Header()["Content-Type"] = nil
	io.WriteString(w, "hello") // with its head, 43 bytes
}

const helloBytes = int64(len("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))

// measure runs the whole command in this process and reads its line.
func measure(t *testing.T, args ...string) output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit status %d: %s", code, &stderr)
	}
	if stderr.Len() > 0 || strings.Count(stdout.String(), "\n") != 1 {
		t.Errorf("not one line on stdout alone: %q, %q", &stdout, &stderr)
	}
	var out output
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v: %s", err, &stdout)
	}
	return out
}

func clean(t *testing.T, out output) {
	t.Helper()
	if out.Errors+out.Timeouts+out.Resets+out.Non2xx > 0 {
		t.Errorf("faults: %+v", out)
	}
}

func TestClosedLoop(t *testing.T) {
	s := serve(t, hello)
	out := measure(t, "--url", s.URL, "--connections", "3", "--duration", "0.3")
	clean(t, out)
	// All that was sent: one to open each connection, what is counted, and
	// at most one on each connection that was in flight at the end.
	if sent := s.hits.Load() - 3; out.Requests == 0 || sent < out.Requests || sent > out.Requests+3 {
		t.Errorf("%d requests counted of %d sent", out.Requests, sent)
	}
	if len(s.peers) != 3 {
		t.Errorf("%d connections for 3", len(s.peers))
	}
	if out.Bytes != out.Requests*helloBytes {
		t.Errorf("%d bytes in %d answers of %d", out.Bytes, out.Requests, helloBytes)
	}
	if d := out.Finish.Sub(out.Start); d != 300*time.Millisecond {
		t.Errorf("a window of %v", d)
	}
	l := out.Latency
	if l == nil || !(0 < l.Mean && l.Mean <= l.Max && 0 < l.P50 && l.P50 <= l.P90 && l.P90 <= l.P99 && l.P99 <= l.P999 && l.P999 <= l.Max) {
		t.Errorf("latencies %+v", l)
	}
	if out.SendLag != nil || out.AskedRate != 0 || out.Unanswered != 0 {
		t.Errorf("of no rate: %+v", out)
	}
}

func TestWarmUpIsNotCounted(t *testing.T) {
	s := serve(t, hello)
	out := measure(t, "--url", s.URL, "--connections", "2", "--warmup", "0.3", "--duration", "0.1")
	clean(t, out)
	if len(s.peers) != 2 {
		t.Errorf("%d connections for 2", len(s.peers))
	}
	if sent := s.hits.Load() - 2; sent <= out.Requests+2 {
		t.Errorf("%d requests counted of %d sent: the warm-up's are among them", out.Requests, sent)
	}
}

// Each request of the schedule is accounted for once.
func TestFixedRate(t *testing.T) {
	s := serve(t, hello)
	out, err := load(context.Background(), Settings{URL: s.URL, Connections: 4, Rate: 200,
		Warmup: 250 * time.Millisecond, Duration: 500 * time.Millisecond, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	clean(t, *out)
	// 200 a second for 0.75 s.
	if sum := out.warmedUp + out.Requests + out.Unanswered; sum != 150 {
		t.Errorf("%d in the warm-up, %d answered, %d not: %d, want 150", out.warmedUp, out.Requests, out.Unanswered, sum)
	}
	if sent := s.hits.Load() - 4; sent > 150 {
		t.Errorf("%d requests sent, and 150 asked for", sent)
	}
	if out.AskedRate != 200 || out.SendLag == nil {
		t.Errorf("%+v", out)
	}
	// A load this light takes turns over the connections.
	if len(s.peers) != 4 {
		t.Errorf("%d connections for 4", len(s.peers))
	}
	for peer, n := range s.peers {
		if n < 10 {
			t.Errorf("%d requests from %s, of 150 in turns over 4", n, peer)
		}
	}
}

// A stall of 300 ms is in the latency of every request that was due in it, not
// only of the two that were in flight when it began.
func TestAStallIsSeenByAllThatWereDue(t *testing.T) {
	const stall = 300 * time.Millisecond
	var once sync.Once
	var mu sync.Mutex
	var until time.Time
	s := serve(t, func(n int64, w http.ResponseWriter) {
		if n > 30 {
			once.Do(func() { mu.Lock(); until = time.Now().Add(stall); mu.Unlock() })
		}
		mu.Lock()
		wait := time.Until(until)
		mu.Unlock()
		time.Sleep(wait)
		hello(n, w)
	})
	out := measure(t, "--url", s.URL, "--connections", "2", "--rate", "200", "--duration", "1")
	clean(t, out)
	if out.Requests+out.Unanswered != 200 {
		t.Errorf("%d answered, %d not; want 200", out.Requests, out.Unanswered)
	}
	if out.Latency.Max < 0.25 {
		t.Errorf("a greatest latency of %v s, and the server stalled for 0.3", out.Latency.Max)
	}
	// Those due in the first 200 ms of the stall, a fifth of all, waited for
	// 100 ms at least.
	if out.Latency.P90 < 0.1 {
		t.Errorf("p90 is %v s: what was due in the stall is not in it", out.Latency.P90)
	}
}

// What is not answered is counted, and as late as it is known to be.
func TestUnanswered(t *testing.T) {
	hang := make(chan struct{})
	s := serve(t, func(n int64, w http.ResponseWriter) {
		if n > 2+5 { // two to open the connections
			<-hang
		}
		hello(n, w)
	})
	t.Cleanup(func() { close(hang) }) // before the server's own
	out := measure(t, "--url", s.URL, "--connections", "2", "--rate", "100", "--duration", "0.4")
	if out.Requests != 5 || out.Unanswered != 35 {
		t.Errorf("%d answered and %d not; want 5 and 35", out.Requests, out.Unanswered)
	}
	// Request 5 was due 50 ms after the start, 350 ms before the end; half of
	// all were due 200 ms before the end.
	if out.Latency.Max < 0.34 || out.Latency.P50 < 0.15 {
		t.Errorf("latencies %+v leave out what was not answered", out.Latency)
	}
}

func TestNothingAnswered(t *testing.T) {
	hang := make(chan struct{})
	s := serve(t, func(n int64, w http.ResponseWriter) {
		if n > 2 {
			<-hang
		}
		hello(n, w)
	})
	t.Cleanup(func() { close(hang) })
	out := measure(t, "--url", s.URL, "--connections", "2", "--duration", "0.2")
	if out.Requests != 0 || out.Latency != nil {
		t.Errorf("%+v", out)
	}
}

func abort(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}

func TestFaultsAreCounted(t *testing.T) {
	const late = "no answer in time"
	for _, c := range []struct {
		name   string
		handle func(n int64, w http.ResponseWriter)
		count  func(output) int64
		none   func(output) int64
	}{
		{"a wrong status", func(n int64, w http.ResponseWriter) { w.WriteHeader(404) },
			func(o output) int64 { return o.Non2xx }, func(o output) int64 { return o.Requests + o.Errors + o.Resets + o.Timeouts }},
		{"a code that fortio likes", func(n int64, w http.ResponseWriter) { w.WriteHeader(418) },
			func(o output) int64 { return o.Non2xx }, func(o output) int64 { return o.Requests + o.Errors + o.Resets + o.Timeouts }},
		{"a reset now and then, which fortio passes over", func(n int64, w http.ResponseWriter) {
			if n > 2 && n%10 == 0 {
				abort(w)
			} else {
				hello(n, w)
			}
		}, func(o output) int64 { return o.Resets }, func(o output) int64 { return o.Non2xx + o.Timeouts }},
		{"only resets", func(n int64, w http.ResponseWriter) {
			if n > 2 {
				abort(w)
			} else {
				hello(n, w)
			}
		}, func(o output) int64 { return o.Errors }, func(o output) int64 { return o.Requests + o.Non2xx + o.Timeouts }},
		{"a body cut short", func(n int64, w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			if n > 2 {
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			w.Write(make([]byte, 1000))
		}, func(o output) int64 { return o.Errors + o.Resets }, func(o output) int64 { return o.Non2xx + o.Timeouts }},
		{late, nil, func(o output) int64 { return o.Timeouts }, func(o output) int64 { return o.Requests + o.Non2xx + o.Errors + o.Resets }},
		{"an answer too long for the buffer", func(n int64, w http.ResponseWriter) {
			if n > 2 {
				w.Header().Set("Content-Length", fmt.Sprint(bufferKiB<<10))
				w.Write(make([]byte, bufferKiB<<10))
			} else {
				hello(n, w)
			}
		}, func(o output) int64 { return o.Errors }, func(o output) int64 { return o.Requests + o.Non2xx + o.Timeouts }},
	} {
		for _, rate := range []string{"0", "50"} {
			t.Run(c.name+", rate "+rate, func(t *testing.T) {
				t.Parallel() // each waits for most of its time
				handle, hang := c.handle, make(chan struct{})
				if c.name == late {
					handle = func(n int64, w http.ResponseWriter) {
						if n > 2 {
							<-hang
						}
						hello(n, w)
					}
				}
				s := serve(t, handle)
				t.Cleanup(func() { close(hang) }) // before the server's own
				args := []string{"--url", s.URL, "--connections", "2", "--duration", "0.6", "--rate", rate}
				if c.name == late { // and fortio tries twice
					args = append(args, "--duration", "3", "--timeout", "1")
				}
				out := measure(t, args...)
				if c.count(out) == 0 || c.none(out) > 0 {
					t.Errorf("%+v", out)
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	free.Close()
	resets := serve(t, func(_ int64, w http.ResponseWriter) { abort(w) })
	silent := serve(t, func(int64, http.ResponseWriter) { time.Sleep(300 * time.Millisecond) })
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "--url is missing"},
		{[]string{"--url", "https://127.0.0.1"}, exitUsage, "http://HOST"},
		{[]string{"--url", "127.0.0.1:80"}, exitUsage, "http://HOST"},
		{[]string{"--url", "http://"}, exitUsage, "http://HOST"},
		{[]string{"--url", nobody, "--connections", "0"}, exitUsage, "from 1 to 20000"},
		{[]string{"--url", nobody, "--connections", "20001"}, exitUsage, "from 1 to 20000"},
		{[]string{"--url", nobody, "--duration", "0"}, exitUsage, "seconds from 0.01"},
		{[]string{"--url", nobody, "--duration", "NaN"}, exitUsage, "seconds from 0.01"},
		{[]string{"--url", nobody, "--warmup", "-1"}, exitUsage, "seconds from 0"},
		{[]string{"--url", nobody, "--rate", "1.5"}, exitUsage, "whole number"},
		{[]string{"--url", nobody + "/simplest", "--answers", "fiber"}, exitUsage, "does not know what the fiber server has to answer on /simplest"},
		{[]string{"--url", nobody + "/simple", "--answers", "apache"}, exitUsage, "--answers"},
		{[]string{"--url", nobody, "--pipelining", "2"}, exitUsage, "-pipelining"},
		{[]string{"--url", nobody, "more"}, exitUsage, `"more"`},
		{[]string{"--url", nobody, "--connections", "2"}, exitNotReached, "connection refused"},
		{[]string{"--url", resets.URL, "--connections", "2"}, exitFailure, "not each of 2 got an HTTP answer"},
		{[]string{"--url", silent.URL, "--connections", "2", "--timeout", "0.05"}, exitFailure, "within 50ms"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(c.args, &stdout, &stderr)
		if text := stderr.String(); code != c.code || stdout.Len() > 0 || strings.Count(text, "\n") != 1 || !strings.Contains(text, c.says) {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want %d and %q", c.args, code, &stdout, text, c.code, c.says)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--help"}, &stdout, &stderr); code != exitOK || !strings.Contains(stdout.String(), "--rate") || stderr.Len() > 0 {
		t.Errorf("--help: exit status %d, %q", code, &stdout)
	}
}

// A chunked answer that fortio's buffer cannot hold has no end for fortio. In a
// process of its own, since what goes round in it cannot be stopped.
func TestAnAnswerWithoutEnd(t *testing.T) {
	s := serve(t, func(_ int64, w http.ResponseWriter) { w.Write(make([]byte, 2*bufferKiB<<10)) })
	out, err := exec.Command(binary, "--url", s.URL, "--connections", "1", "--timeout", "0.05").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not each of 1 got an HTTP answer") {
		t.Errorf("%v: %s", err, out)
	}
}

// A signal ends the process, also one that waits for an answer, and nothing is
// printed that could pass for a trial.
func TestSignals(t *testing.T) {
	hang := make(chan struct{})
	for _, when := range []struct {
		name string
		from int64 // the first request that is not answered
	}{{"connecting", 1}, {"hanging", 10}, {"under load", 1 << 60}} {
		for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
			reached := make(chan struct{})
			s := serve(t, func(n int64, w http.ResponseWriter) {
				if n == min(when.from, 20) {
					close(reached)
				}
				if n >= when.from {
					<-hang
				}
				hello(n, w)
			})
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(binary, "--url", s.URL, "--connections", "2", "--duration", "600", "--timeout", "600")
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			_ = cmd.Process.Signal(sig)
			late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			late.Stop()
			if code := cmd.ProcessState.ExitCode(); code != exitFailure || stdout.Len() > 0 || stderr.String() != "fortio_load: ended by a signal; nothing was measured\n" {
				t.Errorf("%s, %v: exit status %d, stdout %q, stderr %q", when.name, sig, code, &stdout, &stderr)
			}
		}
	}
	close(hang)
}

// Three a second from 1 s to 2 s: at 1, 1 1/3 and 1 2/3, and three before.
func TestSchedule(t *testing.T) {
	s := schedule{start: time.Second, finish: 2 * time.Second, rate: 3}
	for n, want := range map[int64]time.Duration{-3: 0, -1: 666666667, 0: time.Second, 1: 1333333333, 2: 1666666666} {
		if got := s.at(n); got != want {
			t.Errorf("request %d is due at %v, want %v", n, got, want)
		}
	}
	if s.first() != -3 || s.end() != 3 {
		t.Errorf("from %d to before %d, want -3 and 3", s.first(), s.end())
	}
	for _, s := range []schedule{{0, time.Second, 1}, {0, time.Second, 7}, {300 * time.Millisecond, 900 * time.Millisecond, 999}, {0, time.Hour, maxRate}} {
		first, end := s.first(), s.end()
		if s.at(first) < 0 || s.at(first-1) >= 0 && s.start > 0 {
			t.Errorf("%+v: first %d is due at %v", s, first, s.at(first))
		}
		if s.at(end-1) >= s.finish || s.at(end) < s.finish {
			t.Errorf("%+v: end %d, due at %v", s, end, s.at(end))
		}
	}
}

// The queue alone, on a clock of the test's.
func TestQueue(t *testing.T) {
	tally := newTally(0, time.Second)
	conns := []*connection{}
	for range 2 {
		c := &connection{hand: make(chan int64, 1), tally: tally}
		c.current.Store(none)
		conns = append(conns, c)
	}
	q := newQueue(schedule{0, time.Second, 10}, conns)
	clock := func() time.Duration { return 0 }
	q.release(0, 0)                    // nobody waits
	q.release(1, 150*time.Millisecond) // 50 ms late
	for n := range int64(2) {
		if due, ok := q.next(conns[n], clock, nil); !ok || due != q.at(n) || conns[n].current.Load() != int64(due) {
			t.Errorf("request %d: due %v, %v", n, due, ok)
		}
	}
	if q.most != 50*time.Millisecond {
		t.Errorf("the pacer was late by %v, want 50 ms", q.most)
	}
	got := make(chan string)
	for i, c := range conns {
		go func() {
			due, _ := q.next(c, func() time.Duration { return 900 * time.Millisecond }, nil)
			got <- fmt.Sprint(i, due)
		}()
		for waits := 0; waits <= i; time.Sleep(time.Millisecond) {
			q.mu.Lock()
			waits = q.waits
			q.mu.Unlock()
		}
	}
	q.release(2, 200*time.Millisecond)
	if g := <-got; g != "0 200ms" {
		t.Errorf("%s: the one that waited longest was to get request 2", g)
	}
	q.release(3, 300*time.Millisecond)
	if g := <-got; g != "1 300ms" {
		t.Errorf("%s: the other was to get request 3", g)
	}
	// The hand-over itself counts: request 2 was taken at 900 ms.
	if q.most != 700*time.Millisecond {
		t.Errorf("late by %v at most, want 700 ms", q.most)
	}
	if first, end := q.close(); first != 4 || end != 10 {
		t.Errorf("left: %d to before %d, want 4 and 10", first, end)
	}
	if _, ok := q.next(conns[0], clock, nil); ok {
		t.Error("a closed queue hands out")
	}
}

// simple answers as the lab's server does on /simple, but for what change makes
// of a body.
func simple(change func(n int64, body string) string) func(int64, http.ResponseWriter) {
	return func(n int64, w http.ResponseWriter) {
		body := change(n, `{"message":"hi"}`)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body)
	}
}

// Each answer of a short route is compared, and one that is not the route's is a
// mismatch, be it the only one.
func TestAnswersAreCompared(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(n int64, body string) string
		says   string // empty: all are right
	}{
		{"right", func(_ int64, b string) string { return b }, ""},
		{"half of each", func(_ int64, b string) string { return b[:8] }, "8 bytes of body, the route's have 16"},
		{"one of 107 bytes", func(n int64, b string) string {
			if n == 50 {
				return strings.Repeat("x", 107)
			}
			return b
		}, "107 bytes of body, the route's have 16"},
		{"one byte of one", func(n int64, b string) string {
			if n == 50 {
				return strings.Replace(b, "hi", "ho", 1)
			}
			return b
		}, "differs from the route's at byte 14"},
	} {
		s := serve(t, simple(c.change))
		out := measure(t, "--url", s.URL+"/simple", "--answers", "fiber", "--connections", "2", "--duration", "0.3", "--rate", "1000")
		if out.Compared != out.Requests || out.Requests < 60 || (out.Mismatches > 0) != (c.says != "") || !strings.Contains(out.Mismatch, c.says) {
			t.Errorf("%s: %+v", c.name, out)
		}
		if out := measure(t, "--url", s.URL+"/simple", "--connections", "2", "--duration", "0.05"); out.Mismatches+out.Compared > 0 {
			t.Errorf("%s, not asked to compare: %+v", c.name, out)
		}
	}
}

// What is wrong in the warm-up is wrong, though it is not counted as a request.
func TestAWrongAnswerInTheWarmUp(t *testing.T) {
	s := serve(t, simple(func(n int64, b string) string {
		if n == 10 {
			return b[:8]
		}
		return b
	}))
	if out := measure(t, "--url", s.URL+"/simple", "--answers", "fiber", "--connections", "2", "--warmup", "0.3", "--duration", "0.3", "--rate", "200"); out.Mismatches != 1 {
		t.Errorf("%+v", out)
	}
}

// fortio takes the end of a connection for the end of an answer. Nothing else
// tells a body that was cut off there.
func TestABodyThatIsCutOff(t *testing.T) {
	s := serve(t, func(n int64, w http.ResponseWriter) {
		if n != 50 {
			io.WriteString(w, `{"message":"hi"}`)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{\"messag"))
			conn.Close()
		}
	})
	out := measure(t, "--url", s.URL+"/simple", "--answers", "fiber", "--connections", "2", "--duration", "0.3", "--rate", "1000")
	if out.Mismatches != 1 || !strings.Contains(out.Mismatch, "8 bytes of body") {
		t.Errorf("%+v", out)
	}
}

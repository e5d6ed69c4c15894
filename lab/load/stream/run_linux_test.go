package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A site is a server of event streams in this process.
type site struct {
	*httptest.Server
	mutex sync.Mutex
	last  []string // the values of Last-Event-ID that came
}

// serve serves streams of what handle writes; each text that it is given to write is flushed.
func serve(t *testing.T, handle func(r *http.Request, write func(format string, a ...any))) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		s.last = append(s.last, r.Header.Get("Last-Event-ID"))
		s.mutex.Unlock()
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.(http.Flusher).Flush()
		handle(r, func(format string, a ...any) {
			fmt.Fprintf(w, format, a...)
			w.(http.Flusher).Flush()
		})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) plan(paths ...string) *Plan {
	return &Plan{Addresses: []string{s.Listener.Addr().String()}, Paths: paths, Connections: len(paths),
		Window: 100 * time.Millisecond, Drain: 5 * time.Second, Retry: 10 * time.Millisecond}
}

func carryOut(t *testing.T, p *Plan) *Report {
	t.Helper()
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) fault(kind string) (f Fault) {
	for _, f := range r.Faults {
		if f.Kind == kind {
			return f
		}
	}
	return f
}

// untilGone keeps a stream open until its reader closes it.
func untilGone(r *http.Request) { <-r.Context().Done() }

// What comes late is waited for, and not the end of streams that have gone quiet.
func TestADrainEndsOnceNothingComes(t *testing.T) {
	const all = 20
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		for n := range all {
			write("id: %d\ndata: x\n\n", n+1)
			time.Sleep(20 * time.Millisecond)
		}
		untilGone(r)
	})
	p := s.plan("/a")
	p.Drain, p.Quiet = time.Hour, 500*time.Millisecond
	if r := carryOut(t, p); r.Whole.Events != all || r.Window.Events == all || r.Open != 1 {
		t.Errorf("%d events, %d of them in the window, %d open", r.Whole.Events, r.Window.Events, r.Open)
	}
}

func TestRunSeesWhatOthersSee(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, ": a comment\nid: %d\nevent: tick\ndata: {\"at\":%d,\ndata: \"x\":%q}\n\n", i+5, time.Now().UnixNano(),
			strings.Repeat("y", i%90))
	}
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		for rest := text.String(); len(rest) > 0; {
			n := min(len(rest), 7777)
			write("%s", rest[:n])
			rest = rest[n:]
		}
	})
	answer, err := http.Get(s.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(bufio.NewReader(answer.Body))
	if err != nil {
		t.Fatal(err)
	}
	want := int64(len(reference(string(body), DefaultMost).events))
	if path, err := exec.LookPath("curl"); err != nil {
		t.Log("not compared with curl, which is not installed")
	} else if out, err := exec.Command(path, "-sN", s.URL+"/a").Output(); err != nil {
		t.Errorf("curl: %v", err)
	} else if n := int64(len(reference(string(out), DefaultMost).events)); n != want {
		t.Errorf("%d events by curl, %d by net/http", n, want)
	}
	p := s.plan("/a", "/b")
	p.Connections, p.Threads, p.Retry = 7, 2, time.Minute
	r := carryOut(t, p)
	if want != 3000 || r.Whole.Events != 7*want || r.Paths[0].Whole.Events != 4*want || r.Paths[1].Whole.Events != 3*want {
		t.Errorf("%d events of 7 × %d", r.Whole.Events, want)
	}
	if w := r.Whole; w.Missed+w.Repeated+w.Reordered+w.Cut+w.Early != 0 || w.Ends != 7 || w.Bytes < 7*int64(len(body)) {
		t.Errorf("%+v", w)
	}
	for i, c := range r.Connections {
		if c.Path != i%2 || c.Events != want || c.IDs != want || c.FirstID != 5 || c.LastID != 5+want-1 || c.Open {
			t.Errorf("connection %d: %+v", i, c)
		}
	}
	if r.FirstEvent.Latency().N != 7 {
		t.Errorf("%d first events", r.FirstEvent.Latency().N)
	}
}

func TestRunCountsItsWindow(t *testing.T) {
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		for i := 0; r.Context().Err() == nil; i++ {
			write("id: %d\ndata: {\"at\":%d}\n\n", i, time.Now().UnixNano())
			time.Sleep(time.Millisecond)
		}
	})
	p := s.plan("/")
	p.Connections, p.WarmUp, p.Drain = 3, 50*time.Millisecond, 0
	r := carryOut(t, p)
	if r.Window.Events == 0 || r.Window.Events >= r.Whole.Events || r.Open != 3 || r.Paths[0].Open != 3 || len(r.Faults) > 0 {
		t.Errorf("%+v", r)
	}
	if r.Gaps.Latency().N != r.Window.Events || r.Latency.Latency().N != r.Window.Events {
		t.Errorf("%d gaps, %d latencies, %d events", r.Gaps.Latency().N, r.Latency.Latency().N, r.Window.Events)
	}
	if r.Seconds < 0.09 || r.CPUSeconds <= 0 || r.Window.Missed+r.Window.Repeated+r.Window.Reordered != 0 {
		t.Errorf("%v s, %v s of CPU, %+v", r.Seconds, r.CPUSeconds, r.Window)
	}
}

func TestRunHoldsIDsAgainstEachOther(t *testing.T) {
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		for _, id := range map[string][]int{"/repeats": {1, 2, 2, 3}, "/reorders": {1, 3, 2, 4}, "/drops": {1, 2, 5}}[r.URL.Path] {
			write("id: %d\ndata: x\n\n", id)
		}
		write("data: without\n\nid: word\ndata: x\n\n")
		untilGone(r)
	})
	p := s.plan("/repeats", "/reorders", "/drops")
	p.Drain = 0
	r := carryOut(t, p)
	for i, want := range []Counts{{Events: 6, Repeated: 1}, {Events: 6, Missed: 1, Reordered: 1}, {Events: 5, Missed: 2}} {
		got := r.Paths[i].Whole
		got.Bytes = 0
		if got != want {
			t.Errorf("%s: %+v", r.Paths[i].Path, got)
		}
	}
	if c := r.Connections[2]; c.FirstID != 1 || c.LastID != 5 || c.IDs != 3 || !c.Open {
		t.Errorf("%+v", c)
	}
}

func TestRunOpensAgain(t *testing.T) {
	var asked atomic.Int64
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		n := asked.Add(1)
		write("retry: 1\nid: %d\ndata: x\n\n", n)
		if n == 3 {
			write("id: 99\ndata: half")
		}
	})
	p := s.plan("/")
	p.Retry, p.Window = time.Minute, 400*time.Millisecond // the stream's own retry is what counts
	r := carryOut(t, p)
	w := r.Whole
	if w.Events != 6 || w.Reconnects != 5 || w.Ends != 6 || w.Cut != 1 || w.Missed != 0 || r.Open != 0 {
		t.Errorf("%+v", w)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if want := []string{"", "1", "2", "3", "4", "5"}; !slices.Equal(s.last, want) {
		t.Errorf("Last-Event-ID: %q", s.last)
	}
}

// raws serves the bytes of an answer, by its path, on a bare connection.
func raws(t *testing.T, answers map[string]string) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answers[r.URL.Path])
		if strings.HasSuffix(r.URL.Path, "/open") {
			_, _ = conn.Read(make([]byte, 1))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRunTellsFaults(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	const chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		path, answer, kind, first string
		n, events                 int64
	}{
		{"/status", "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", Status, "connection 0, /status: status 500 Oh", 1, 0},
		{"/type", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", ContentType, `Content-Type "text/plain"`, 1, 0},
		{"/packed", head + "Content-Encoding: gzip\r\n\r\n", ContentType, "gzip", 1, 0},
		{"/chunk", chunked + "9\r\ndata: a\n\n\r\nx", Malformed, "chunk", 6, 6},
		{"/head", "SMTP ready\r\n\r\n", Malformed, "", 6, 0},
		{"/long", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*mostHead), Malformed, "head of more", 6, 0},
		{"/large", head + "\r\ndata: a\n\ndata: " + strings.Repeat("x", 200), TooLarge, "too large", 1, 1},
		{"/torn", chunked + "20\r\ndata: a\n\nda", Reset, "before the end", 6, 6},
		{"/headless", head, Reset, "before the head", 6, 0},
		{"/silent/open", chunked, Silent, "1 connections open", 1, 0},
		{"/mute/open", "", Timeout, "no answer within 60ms", 1, 0},
		{"/interim", "HTTP/1.1 103 Early Hints\r\n\r\n" + head + "\r\ndata: a\n\n", "", "", 0, 6},
		{"/length", head + "Content-Length: 11\r\n\r\ndata: ab\n\nx", "", "", 0, 6},
	} {
		t.Run(c.path[1:], func(t *testing.T) {
			p := raws(t, map[string]string{c.path: c.answer}).plan(c.path)
			p.Retry, p.Window, p.Drain, p.Most, p.Timeout = 1, 200*time.Millisecond, 0, 100, 60*time.Millisecond
			if c.kind == Timeout {
				p.Retry = time.Minute
			}
			r := carryOut(t, p)
			f := r.fault(c.kind)
			if f.N != c.n || !strings.Contains(f.First, c.first) || r.Whole.Events != c.events {
				t.Errorf("%d events, faults %+v", r.Whole.Events, r.Faults)
			}
		})
	}
}

func TestRunIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := carryOut(t, &Plan{Addresses: []string{l.Addr().String(), filepath.Join(t.TempDir(), "none")}, Paths: []string{"/"},
		Connections: 2, Window: 200 * time.Millisecond, Retry: time.Millisecond})
	if f := r.fault(Refused); f.N != 12 || f.First == "" || r.Whole.Reconnects != 10 {
		t.Errorf("%+v", r)
	}
}

func TestRunStalls(t *testing.T) {
	var full atomic.Int64
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		c := http.NewResponseController(w)
		for i := range 300 {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", i, strings.Repeat("x", 1<<16))
			if c.Flush() != nil {
				full.Add(1)
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	p := s.plan("/")
	p.Connections, p.Stalled, p.Retry, p.Window = 3, 1, time.Minute, time.Second
	r := carryOut(t, p)
	for i, c := range r.Connections {
		if c.Stalled != (i == 0) || (c.Events == 300) != (i > 0) || c.Events == 0 {
			t.Errorf("connection %d: %+v", i, c)
		}
	}
	if full.Load() != 1 {
		t.Errorf("the server had no room on %d connections", full.Load())
	}
}

func TestRunUsesAddressesInTurn(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var from []string
	s := serve(t, func(r *http.Request, write func(string, ...any)) {
		mutex.Lock()
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		from = append(from, host)
		mutex.Unlock()
		write("data: x\n\n")
		untilGone(r)
	})
	go http.Serve(l, s.Config.Handler)
	defer l.Close()
	p := s.plan("/")
	p.Connections, p.Drain, p.Addresses = 4, 0, append(p.Addresses, filepath.Join(dir, "s"))
	p.Locals = []string{"127.0.0.2", "127.0.0.3"}
	r := carryOut(t, p)
	mutex.Lock()
	defer mutex.Unlock()
	slices.Sort(from)
	if r.Whole.Events != 4 || !slices.Equal(from, []string{"", "", "127.0.0.2", "127.0.0.3"}) {
		t.Errorf("%d events, from %q, %+v", r.Whole.Events, from, r.Faults)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	s := serve(t, func(r *http.Request, write func(string, ...any)) { untilGone(r) })
	p := s.plan("/")
	p.Window = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestPlanCheck(t *testing.T) {
	good := Plan{Addresses: []string{"127.0.0.1:1"}, Paths: []string{"/"}, Connections: 1, Window: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(p *Plan){
		"addresses": func(p *Plan) { p.Addresses = nil }, "paths": func(p *Plan) { p.Paths = []string{"/ HTTP/1.1\r\n"} },
		"connections": func(p *Plan) { p.Connections = 0 }, "threads": func(p *Plan) { p.Threads = -1 },
		"window_ns": func(p *Plan) { p.Window = 0 }, "below 0": func(p *Plan) { p.Drain = -1 },
		"locals": func(p *Plan) { p.Locals = []string{"here"} }, "host": func(p *Plan) { p.Host = "a\r\nb: c" },
		"stalled": func(p *Plan) { p.Stalled = -1 },
	} {
		p := good
		spoil(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

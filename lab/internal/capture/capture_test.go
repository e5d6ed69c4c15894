package capture

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// faulty serves the profiles of this process, except for one path.
func faulty(t *testing.T, path string, fault http.HandlerFunc) Source {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/debug/pprof/"+path {
			fault(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s, err := URL(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFaultIsOneLineThatNamesIt(t *testing.T) {
	var whole bytes.Buffer
	if err := sample([]string{"contentions", "delay"}, []int64{1, 1}).Write(&whole); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		fault      http.HandlerFunc
		want       string
	}{
		{"refused", "block", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "first line\nsecond line", http.StatusTeapot)
		}, `block of SOURCE: answered 418: "first line"`},
		{"no pprof", "cmdline", func(w http.ResponseWriter, _ *http.Request) {
			http.NotFound(w, nil)
		}, ` of SOURCE: answered 404: "404 page not found"`},
		{"elsewhere", "heap", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, `heap of SOURCE: answered 302: `},
		{"cut off by its end", "mutex", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(whole.Bytes()[:20])
		}, `mutex of SOURCE: the process closed the connection`},
		{"truncated", "mutex", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(whole.Bytes()[:whole.Len()/2])
		}, `mutex of SOURCE: the 0 bytes it sent are no profile: `},
		{"empty", "allocs", func(http.ResponseWriter, *http.Request) {},
			`allocs of SOURCE: the 0 bytes it sent are no profile: `},
		{"text", "goroutine", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>\n"))
		}, `goroutine of SOURCE: the 7 bytes it sent are no profile: `},
		{"of another kind", "block", func(w http.ResponseWriter, _ *http.Request) {
			p := sample([]string{"alloc_space"}, []int64{1})
			_ = p.Write(w)
		}, `block of SOURCE: it has no sample type "contentions"`},
		{"cut by closing", "heap", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		}, `heap of SOURCE: the process closed the connection`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := faulty(t, c.path, c.fault)
			set, err := Capture(t.Context(), []Source{s}, time.Second)
			if err == nil {
				t.Fatalf("a set: %+v", set)
			}
			got := strings.ReplaceAll(err.Error(), s.String(), "SOURCE")
			// The number of bytes of a truncated file does not matter here.
			if c.name == "truncated" {
				if _, rest, ok := strings.Cut(got, " bytes it sent"); ok {
					got = "mutex of SOURCE: the 0 bytes it sent" + rest
				}
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Processes on this machine are all told the same time to begin. One that is
// reached by HTTP may be on another machine, with another clock.
func TestWhenToBeginIsToldToThisMachine(t *testing.T) {
	for _, unix := range []bool{true, false} {
		var mu sync.Mutex
		told := map[string]bool{}
		began := time.Now()
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !r.URL.Query().Has("together") {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			at := r.URL.Query().Get("at")
			if told[at] = true; at != "" {
				ns, err := strconv.ParseInt(at, 10, 64)
				if asked := time.Unix(0, ns); err != nil || !asked.After(began) || time.Until(asked) > time.Second {
					t.Errorf("told %q", at)
				}
			}
			http.Error(w, "no", http.StatusTeapot)
		})
		var sources []Source
		for i := range 2 {
			srv := httptest.NewUnstartedServer(handler)
			if unix {
				dir, err := os.MkdirTemp("", "s") // t.TempDir's path can be too long for a socket
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
				srv.Listener.Close()
				if srv.Listener, err = net.Listen("unix", filepath.Join(dir, fmt.Sprint(i, ".sock"))); err != nil {
					t.Fatal(err)
				}
			}
			srv.Start()
			t.Cleanup(srv.Close)
			if unix {
				sources = append(sources, Socket(srv.Listener.Addr().String()))
				continue
			}
			s, err := URL(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, s)
		}
		if _, err := Capture(t.Context(), sources, time.Second); err == nil {
			t.Fatal("a set of nothing")
		}
		mu.Lock()
		if len(told) != 1 || told[""] == unix {
			t.Errorf("by socket %v: told %v", unix, told)
		}
		mu.Unlock()
	}
}

func TestWhatCannotBeCaptured(t *testing.T) {
	s := Socket("/nowhere/1.sock")
	for _, c := range []struct {
		sources []Source
		window  time.Duration
		want    string
	}{
		{[]Source{s}, 0, "whole seconds"},
		{[]Source{s}, 1500 * time.Millisecond, "whole seconds"},
		{[]Source{s}, -time.Second, "whole seconds"},
		{nil, time.Second, "no process"},
		{[]Source{s, s}, time.Second, "/nowhere/1.sock is given twice"},
		{[]Source{s}, time.Second, "of /nowhere/1.sock: connect: no such file or directory"},
	} {
		if _, err := Capture(t.Context(), c.sources, c.window); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v for %v: %v; want %q", c.sources, c.window, err, c.want)
		}
	}
}

func TestURL(t *testing.T) {
	for base, want := range map[string]Source{
		"http://127.0.0.1:6060":  {"http://127.0.0.1:6060", "tcp", "127.0.0.1:6060"},
		"http://127.0.0.1:6060/": {"http://127.0.0.1:6060", "tcp", "127.0.0.1:6060"},
		"http://[::1]:80":        {"http://[::1]:80", "tcp", "[::1]:80"},
		"http://localhost:1":     {"http://localhost:1", "tcp", "127.0.0.1:1"},
	} {
		if got, err := URL(base); err != nil || got != want {
			t.Errorf("%s: %+v, %v", base, got, err)
		}
	}
	for base, want := range map[string]string{
		"http://192.0.2.7:6060": "open a tunnel with ssh -N -L 127.0.0.1:6060:127.0.0.1:6060 192.0.2.7 and give " +
			"http://127.0.0.1:6060",
		"http://server.example:99":     "ssh -N -L 127.0.0.1:99:127.0.0.1:99 server.example",
		"http://0.0.0.0:6060":          "on loopback only",
		"http://127.0.0.1":             "the port is missing",
		"https://127.0.0.1:6060":       "give http://HOST:PORT",
		"127.0.0.1:6060":               "give http://HOST:PORT",
		"http://me@127.0.0.1:1":        "give http://HOST:PORT",
		"http://127.0.0.1:1/debug":     "give http://HOST:PORT",
		"http://127.0.0.1:1?seconds=2": "give http://HOST:PORT",
		"":                             "give http://HOST:PORT",
	} {
		if got, err := URL(base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", base, got, err, want)
		}
	}
}

// Sources are reached directly, whatever proxy the environment names.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	client := Socket("x").client()
	if client.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy would be asked")
	}
}

// A broken connection is not reopened: its profile would cover another window.
func TestAnotherConnectionIsNotMade(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{}, 10)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/cmdline" {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		}
	}), ConnState: func(_ net.Conn, now http.ConnState) {
		if now == http.StateNew {
			accepted <- struct{}{}
		}
	}}
	go func() { _ = srv.Serve(ln) }()
	defer srv.Close()
	s, err := URL("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Capture(t.Context(), []Source{s}, time.Second); err == nil ||
		!strings.Contains(err.Error(), "closed the connection") {
		t.Errorf("got %v", err)
	}
	if n := len(accepted); n > len(profiles.Kinds()) {
		t.Errorf("%d connections for %d kinds", n, len(profiles.Kinds()))
	}
}

// sample is a profile with one sample.
func sample(types []string, values []int64, stack ...string) *profile.Profile {
	p := &profile.Profile{TimeNanos: 5e9, DurationNanos: 2e9, PeriodType: &profile.ValueType{}}
	for _, name := range types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: "count"})
	}
	m := &profile.Mapping{ID: 1, File: "/home/somebody/server"}
	p.Mapping = append(p.Mapping, m)
	s := &profile.Sample{Value: values}
	for i, name := range append(stack, "main.main") {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		l := &profile.Location{ID: uint64(i + 1), Mapping: m, Address: uint64(i + 1), Line: []profile.Line{{Function: f}}}
		p.Function, p.Location, s.Location = append(p.Function, f), append(p.Location, l), append(s.Location, l)
	}
	p.Sample = []*profile.Sample{s}
	return p
}

var memory = []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    profiles.Kind
		p       *profile.Profile
		left    int64
		own     int64
		start   int64
		refused string
	}{
		{"a difference begins before its time", profiles.Block, sample([]string{"contentions", "delay"}, []int64{1, 7}), 7, 0,
			3e9, ""},
		{"a profiles.CPU profile begins at its time", profiles.CPU, sample([]string{"samples", "cpu"}, []int64{1, 7}), 7, 0,
			5e9, ""},
		{"a moment has no length", profiles.Heap, sample(memory, []int64{9, 90, 1, 7}), 7, 0, 5e9, ""},
		{"what was collected is not what was allocated", profiles.Allocs, sample(memory, []int64{1, 7, -5, -50}), 7, 0, 3e9,
			""},
		{"what was freed before is not live", profiles.Heap, sample(memory, []int64{9, 90, 0, 0}), 0, 0, 5e9, ""},
		{"a handler's wait", profiles.Block, sample([]string{"contentions", "delay"}, []int64{1, 7}, "runtime.selectgo",
			"net/http/pprof.sleep"), 0, 7, 3e9, ""},
		{"the writer's work", profiles.CPU, sample([]string{"samples", "cpu"}, []int64{1, 7}, "compress/flate.write",
			"runtime/pprof.profileWriter"), 0, 7, 5e9, ""},
		{"a server that labels its work", profiles.CPU,
			sample([]string{"samples", "cpu"}, []int64{1, 7}, "main.handle", "runtime/pprof.Do"), 7, 0, 5e9, ""},
		{"negative wait", profiles.Mutex, sample([]string{"contentions", "delay"}, []int64{1, -7}), 0, 0, 0, "negative"},
		{"negative count", profiles.Mutex, sample([]string{"contentions", "delay"}, []int64{-1, 7}), 0, 0, 0, "negative"},
		{"negative allocation", profiles.Allocs, sample(memory, []int64{0, -1, 0, 0}), 0, 0, 0, "negative"},
		{"no such type", profiles.CPU, sample(memory, []int64{0, 1, 0, 0}), 0, 0, 0, `no sample type "samples"`},
	} {
		part := part{kind: c.kind, Profile: c.p}
		own, err := part.clean()
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v; want %q", c.name, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		left, err := profiles.Total(c.p, c.kind)
		if err != nil || left != c.left || own != c.own || c.p.TimeNanos != c.start {
			t.Errorf("%s: %d left (%v), %d own, starts at %d; want %d, %d, %d", c.name, left, err, own, c.p.TimeNanos, c.left,
				c.own, c.start)
		}
		if c.p.Mapping[0].File != "server" {
			t.Errorf("%s: a path is left: %s", c.name, c.p.Mapping[0].File)
		}
	}
	timeless := sample([]string{"goroutine"}, []int64{1})
	timeless.TimeNanos = 0
	if _, err := (part{kind: profiles.Goroutine, Profile: timeless}).clean(); err == nil {
		t.Error("a profile without a time")
	}
	endless := sample([]string{"contentions", "delay"}, []int64{1, 1})
	endless.DurationNanos = 0
	if _, err := (part{kind: profiles.Block, Profile: endless}).clean(); err == nil {
		t.Error("a window without a length")
	}
}

func TestMerge(t *testing.T) {
	types := map[profiles.Kind][]string{
		profiles.CPU: {"samples", "cpu"}, profiles.Mutex: {"contentions", "delay"}, profiles.Block: {"contentions", "delay"},
		profiles.Heap: memory, profiles.Allocs: memory, profiles.Goroutine: {"goroutine"},
	}
	two := func() []part {
		var parts []part
		for i := range 2 {
			for _, k := range profiles.Kinds() {
				values := make([]int64, len(types[k]))
				for j := range values {
					values[j] = int64(10*j + i)
				}
				p := sample(types[k], values)
				p.TimeNanos += int64(i) * 1e6
				if k.OfMoment() {
					p.TimeNanos -= 2e9 // so that it starts with the differences
					p.DurationNanos = 0
				}
				if k == profiles.CPU {
					p.TimeNanos -= 2e9
				}
				parts = append(parts, part{Socket(string(rune('a' + i))), k, p})
			}
		}
		return parts
	}
	set, err := merge(two(), 2, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if set.Spread != time.Millisecond || set.Started.UnixNano() != 3e9 {
		t.Errorf("started %d, spread %v", set.Started.UnixNano(), set.Spread)
	}
	for k, want := range map[profiles.Kind]int64{profiles.CPU: 21, profiles.Mutex: 21, profiles.Block: 21,
		profiles.Heap: 61, profiles.Allocs: 21, profiles.Goroutine: 1} {
		if got, err := profiles.Total(set.Merged[k], k); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", k, got, err, want)
		}
		if d := set.Merged[k].DurationNanos; !k.OfMoment() && d != 2e9 {
			t.Errorf("%s: two windows side by side come to %d ns", k, d)
		}
		if set.Merged[k].TimeNanos != 3e9 {
			t.Errorf("%s: starts at %d", k, set.Merged[k].TimeNanos)
		}
	}
	// Profiles of different programs may be impossible to merge.
	odd := two()
	odd[len(profiles.Kinds())].SampleType[1].Unit = "bananas"
	if _, err := merge(odd, 2, 2*time.Second); err == nil || !strings.Contains(err.Error(), "do not fit together") {
		t.Errorf("got %v", err)
	}
}

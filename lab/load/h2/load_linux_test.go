package h2

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/line-rate/line-rate/lab/load"
)

func TestMain(m *testing.M) {
	// A thread that waits occupies one of Go's processors, and the servers run in this process.
	runtime.GOMAXPROCS(8)
	os.Exit(m.Run())
}

// serve starts Go's server, with TLS or with HTTP/2 alone by prior knowledge.
func serve(t *testing.T, secure bool, answer http.HandlerFunc) load.Target {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	target := load.Target{Name: "go", Connections: 2, Pipelining: 10, Protocol: load.HTTP2}
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
		target.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	} else {
		s.Config.Protocols = &http.Protocols{}
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	target.URL = s.URL + "/simple?a=b"
	return target
}

// carry carries out two slots of so many requests.
func carry(t *testing.T, target load.Target, threads, requests int) (load.TargetSummary, error) {
	t.Helper()
	slot := load.Slot{Seconds: 60, Requests: requests, Counts: true}
	p := &load.Plan{Threads: threads, TimeoutS: 2, Targets: []load.Target{target}, Slots: []load.Slot{slot, slot}}
	r, err := load.Run(context.Background(), p, load.Options{HTTP2: New})
	if err != nil {
		return load.TargetSummary{}, err
	}
	return r.Summary.Targets[0], nil
}

func clean(t *testing.T, s load.TargetSummary, err error) {
	t.Helper()
	if err != nil || s.Errors+s.Timeouts+s.Resets+s.Non2xx+s.Mismatches > 0 || s.Fault != "" || s.Requests == 0 || s.Compared == 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestGoServers(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, c := range []struct {
			threads, connections, pipelining int
			rate                             float64
			body                             int
		}{{1, 1, 1, 0, 5}, {2, 5, 20, 0, 5}, {1, 2, 10, 0, 100_000}, {1, 3, 4, 1000, 5}} {
			var hits, wrong atomic.Int64
			body := []byte(strings.Repeat("x", c.body))
			target := serve(t, secure, func(w http.ResponseWriter, r *http.Request) {
				hits.Add(1)
				if r.ProtoMajor != 2 || r.URL.RequestURI() != "/simple?a=b" || (r.TLS != nil) != secure {
					wrong.Add(1)
				}
				_, _ = w.Write(body)
			})
			target.Connections, target.Pipelining, target.Rate = c.connections, c.pipelining, c.rate
			sum, err := carry(t, target, c.threads, 200)
			clean(t, sum, err)
			if hits.Load() < sum.Requests || wrong.Load() > 0 || sum.Bytes < sum.Requests*int64(c.body+18) {
				t.Errorf("%+v: the server had %d, %d were wrong, %+v", c, hits.Load(), wrong.Load(), sum)
			}
		}
	}
}

// The load counts and describes each fault under its kind, and goes on.
func TestFaults(t *testing.T) {
	type counts struct{ non2xx, errors, timeouts, resets, mismatches int64 }
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
		want   counts
		text   string
	}{
		{"a wrong status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, counts{non2xx: 1},
			"status 503"},
		{"a wrong body", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hallo") }, counts{mismatches: 1},
			"differs from the first 32 at byte 2"},
		{"a stream that is reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			counts{errors: 1}, "the server reset a stream (INTERNAL_ERROR)"},
		{"a stream that is cut off", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "he")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, counts{errors: 1}, "after 2 bytes of body"},
		{"a stream that never ends", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, counts{timeouts: 1}, "no answer within 2s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var hits atomic.Int64
			target := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
				if hits.Add(1) == 50 {
					c.answer(w, r)
					return
				}
				fmt.Fprint(w, "hello")
			})
			target.Connections, target.Pipelining = 2, 1
			sum, err := carry(t, target, 1, 100)
			got := counts{sum.Non2xx, sum.Errors, sum.Timeouts, sum.Resets, sum.Mismatches}
			if err != nil || got != c.want || !strings.Contains(sum.Fault+sum.Mismatch, c.text) || hits.Load() < 100 {
				t.Errorf("%v, %d hits: %+v, %q, %q", err, hits.Load(), got, sum.Fault, sum.Mismatch)
			}
		})
	}
}

// A server that lets each connection go after some streams, as nginx does, does nothing wrong.
func TestGoAwayWithoutAnError(t *testing.T) {
	var hits atomic.Int64
	target := serve(t, true, func(w http.ResponseWriter, _ *http.Request) {
		if hits.Add(1)%100 == 0 {
			w.Header().Set("Connection", "close")
		}
		fmt.Fprint(w, "hello")
	})
	sum, err := carry(t, target, 1, 500)
	if clean(t, sum, err); sum.Reopened < 2 || sum.Unanswered > 0 {
		t.Errorf("%+v", sum)
	}
}

// A server that answers by hand, and then goes, or sends half of a frame.
func TestAConnectionThatEnds(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
				f := http2.NewFramer(c, c)
				_ = f.WriteSettings()
				for n := 0; ; {
					got, err := f.ReadFrame()
					if err != nil {
						return
					}
					if _, ok := got.(*http2.HeadersFrame); !ok {
						continue
					}
					if n++; n == 20 {
						_, _ = c.Write([]byte{0, 0, 9, 0, 0})
						return
					}
					_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: got.Header().StreamID, EndHeaders: true,
						BlockFragment: []byte{0x88}, EndStream: true}) // 200, of the static table
				}
			}()
		}
	}()
	target := load.Target{Name: "by hand", URL: "http://" + ln.Addr().String() + "/", Connections: 1, Pipelining: 1,
		Protocol: load.HTTP2}
	sum, err := carry(t, target, 1, 100)
	if err != nil || sum.Resets < 3 || sum.Errors != sum.Resets || !strings.Contains(sum.Fault, "within an answer, 1 requests") {
		t.Errorf("%v, %+v", err, sum)
	}
}

func TestServersThatDoNotSpeakIt(t *testing.T) {
	plain := httptest.NewServer(nil)
	defer plain.Close()
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	few := httptest.NewUnstartedServer(nil)
	few.EnableHTTP2 = true
	few.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 7}
	few.StartTLS()
	defer few.Close()
	for _, c := range []struct{ url, want string }{
		{plain.URL, "it answers in HTTP/1, and not in HTTP/2"},
		{secure.URL, "no application protocol"},
		{few.URL, "it takes 7 requests at a time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), and 8 were to be"},
	} {
		target := load.Target{Name: "x", URL: c.url + "/", Connections: 1, Pipelining: 8, Protocol: load.HTTP2,
			Insecure: strings.HasPrefix(c.url, "https")}
		if _, err := carry(t, target, 1, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
	}
	p := &load.Plan{Targets: []load.Target{{URL: plain.URL, Connections: 1, Pipelining: 1, Protocol: load.HTTP2}},
		Slots: []load.Slot{{Seconds: 1}}}
	if _, err := load.Run(context.Background(), p, load.Options{}); err == nil || !strings.Contains(err.Error(), "Options.HTTP2") {
		t.Error(err)
	}
}

// A server of somebody else, with prior knowledge.
func TestNode(t *testing.T) {
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(path, "-e", `const s = require("http2").createServer((q, r) => r.end("hello in HTTP/" + q.httpVersion))
s.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + s.address().port + "/"))`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	var url string
	if _, err := fmt.Fscan(out, &url); err != nil {
		t.Fatal(err)
	}
	sum, err := carry(t, load.Target{Name: "node", URL: url, Connections: 3, Pipelining: 10, Protocol: load.HTTP2}, 1, 300)
	clean(t, sum, err)
}

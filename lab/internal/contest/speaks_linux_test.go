package contest

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/curve"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/scenario"
)

// testCA is what has signed the certificate of the tests' servers.
func testCA(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func TestServersAreAskedInWhatTheySpeak(t *testing.T) {
	ca := testCA(t)
	const untrusted = "bad: its certificate is not trusted (x509: certificate signed by unknown authority); name what has " +
		"signed it by --cacert FILE, or take any by --insecure"
	for _, c := range []struct {
		how  string
		way  scenario.Way
		says string // empty: it is fine, as the blocks below are
	}{
		{"fine/tls", scenario.Way{TLS: true}, untrusted},
		{"fine/tls2", scenario.Way{TLS: true, HTTP2: true}, untrusted},
		{"fine/tls2", scenario.Way{TLS: true, Insecure: true}, ""},
		{"fine/tls", scenario.Way{TLS: true, HTTP2: true, CA: ca}, "bad: it offers no HTTP/2 by ALPN; leave out --http2"},
		{"fine", scenario.Way{HTTP2: true}, "it speaks HTTP/1.1 there, and was asked in HTTP/2; leave out --http2"},
		{"fine", scenario.Way{TLS: true, CA: ca}, "it speaks HTTP/1.1 there, and was asked in HTTP/1.1 over TLS; write http://"},
		{"fine/tls", scenario.Way{HTTP2: true}, "it speaks HTTP/1.1 over TLS there, and was asked in HTTP/2; write https:// " +
			"before its address (of a command: --tls), and leave out --http2"},
		{"wrong/tls", scenario.Way{TLS: true, CA: ca}, `differ from byte 8 on ("E", "e")`},
		{"wrong/tls2", scenario.Way{TLS: true, HTTP2: true, CA: ca}, `differ from byte 8 on ("E", "e")`},
		{"wrong/http2", scenario.Way{HTTP2: true}, `differ from byte 8 on ("E", "e")`},
		{"missing/tls2", scenario.Way{TLS: true, HTTP2: true, CA: ca}, "it answers GET / with status 404"},
		{"dies/tls2", scenario.Way{TLS: true, HTTP2: true, CA: ca}, "it died while it was asked (exit status 9)"},
	} {
		_, spoken, _ := strings.Cut(c.how, "/")
		servers := []Server{testServer(t, "good", "fine/"+spoken), testServer(t, "bad", c.how)}
		if !strings.Contains(c.says, "differ") { // it is refused before the other is started
			servers[0], servers[1] = servers[1], servers[0]
		}
		_, _, err := look(t, func(o *Options) { o.Way = c.way }, servers...)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s in %s: %v, want %q in one line", c.how, c.way, err, c.says)
		}
	}
}

// On a socket HTTP/2 is known before as well.
func TestASocketIsAskedInHTTP2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }),
		Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	defer s.Close()
	at := Server{Name: "a", URL: "unix:" + path}
	_, _, err = LookAt(t.Context(), Options{Path: "/", Servers: []Server{at, at}, Connections: 2, Pipelining: 4,
		Way: scenario.Way{HTTP2: true}}, client, "/", 0)
	if err != nil {
		t.Error(err)
	}
	_, _, err = LookAt(t.Context(), Options{Path: "/", Servers: []Server{at, at}, Connections: 2, Pipelining: 1}, client, "/", 0)
	if err == nil || !strings.Contains(err.Error(), "add --http2") {
		t.Error(err)
	}
}

func TestABlockIsMeasuredInWhatServersSpeak(t *testing.T) {
	ca := testCA(t)
	for how, way := range map[string]scenario.Way{"fine/tls": {TLS: true, CA: ca}, "fine/http2": {HTTP2: true},
		"fine/tls2": {TLS: true, HTTP2: true, Insecure: true}} {
		port, err := FreePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		o := options("old", "new")
		o.Path, o.Budget, o.Warmup, o.Way, o.Pipelining, o.Ready = "/", time.Millisecond, 0, way, 3, 10*time.Second
		o.Servers = []Server{testServer(t, "old", how), testServer(t, "new", how)}
		o.Looks = make([]Look, 2)
		x, err := o.Design("/", 50*time.Millisecond, nil)
		if err != nil {
			t.Fatal(err)
		}
		made, err := run.Do(t.Context(), run.Plan{Dir: "/", Scratch: t.TempDir(), Lab: client.Lab, Experiment: x, Seed: 3,
			Port: port, Host: &host.Profile{ID: "a"}, Path: o.Path, Way: o.Way, Budget: o.Budget,
			Split: cores.Split{Server: []int{0}, Client: []int{0}}}, quiet{})
		if err != nil {
			t.Fatal(how, err)
		}
		for _, tr := range made.File.Trials {
			if !(tr.Metrics[throughput] > 0) || !(tr.Metrics[cost] > 0) {
				t.Errorf("%s, %s: %v, %v", how, tr.Condition, tr.Metrics, tr.Reasons)
			}
		}
		if out := assessed(t, o, made.File); out.Protocol != way.String() {
			t.Errorf("%q, want %s", out.Protocol, way)
		}
		b := Bench{Client: client, Dir: "/", Port: port, Options: o}
		slots, err := b.Block(t.Context(), []curve.Ask{{Server: 1, RPS: 100, Seconds: 0.2}}, nil)
		if err != nil || slots[0].Answered == 0 || slots[0].Fault != "" {
			t.Errorf("%s: %v, %+v", how, err, slots)
		}
	}
}

package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/line-rate/line-rate/lab/load"
)

// The lines of a load say what servers may do, and what the load asks.
func TestWhatALoadSays(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch at := n.Add(1); {
		case r.URL.Path == "/closes" && at%10 == 0:
			w.Header().Set("Connection", "close")
		case r.URL.Path == "/limits" && at%10 == 0:
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case r.URL.Path == "/varies":
			fmt.Fprintf(w, "%019d", at/100)
		}
		w.Write([]byte("hello"))
	}))
	defer s.Close()
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-c20 -n 300 " + s.URL + "/closes", 0, " connections were reopened: the server announced their end\n"},
		{"-c4 -d 100ms " + s.URL, 0, "4 connections, 1 in flight on each…\nrequests …/s; …\nlatency     p50 …p99.9 …\nfailed      none\n"},
		{"-c20 -n 300 " + s.URL + "/limits", 1, "the server limits its rate…of 300 answers had status 429\n"},
		{"-c20 -n 300 " + s.URL + "/varies", 0, "the body changes in the course of the load, so its bytes are not compared"},
		{"-c20 -n 300 " + strings.TrimPrefix(s.URL, "http://"), 0, "; 300 in all\n"},
		{"-c20 -n 300 --fail p99<1h --fail rps>1 " + s.URL, 0, "failed      none\n"},
		{"-c20 -n 300 --fail p99<1ns --fail rps>1e9 " + s.URL, 1, "not held    p99<1ns: it is "},
		{"-n 300 --fail p98<1ns " + s.URL, 3, "--fail \"p98<1ns\": write one of p50"},
	} {
		status, out, errs := called(append([]string{"load"}, strings.Fields(c.args)...)...)
		for says := range strings.SplitSeq(c.says, "…") {
			if status != c.status || !strings.Contains(out+errs, says) {
				t.Errorf("%s: exit %d, %s%s\nwant %q", c.args, status, out, errs, says)
			}
		}
	}
}

func TestALoadSpeaksTLSAndHTTP2(t *testing.T) {
	start := func(tls bool, allow ...func(*http.Protocols, bool)) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }))
		s.Config.Protocols = new(http.Protocols)
		for _, one := range allow {
			one(s.Config.Protocols, true)
		}
		if s.EnableHTTP2 = s.Config.Protocols.HTTP2(); tls {
			s.StartTLS()
		} else {
			s.Start()
		}
		t.Cleanup(s.Close)
		return s.URL
	}
	h1, h2, h2c := (*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2, (*http.Protocols).SetUnencryptedHTTP2
	plain, secure, both, alone, prior := start(false, h1), start(true, h1), start(true, h1, h2), start(true, h2), start(false, h2c)
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	const untrusted = "its certificate is not trusted (x509: certificate signed by unknown authority); name what has signed it " +
		"by --cacert FILE, or take any by --insecure"
	for _, c := range []struct {
		args  string
		spoke string // empty: a refusal
		says  string
	}{
		{secure, "", untrusted},
		{"--http2 " + both, "", untrusted},
		{"--insecure " + secure, "HTTP/1.1 over TLS", ""},
		{"-k " + both, "HTTP/1.1 over TLS", ""},
		{"--cacert " + ca + " " + secure, "HTTP/1.1 over TLS", ""},
		{"--http2 -p 5 --cacert " + ca + " " + both, "HTTP/2 over TLS", ""},
		{"--http2 -p 5 " + prior, "HTTP/2", ""},
		{"--http2 -k " + secure, "", "and without --http2"},
		{"-k " + alone, "", "it speaks HTTP/2 over TLS there, and was asked in HTTP/1.1 over TLS; ask with https:// (of a command: --tls) and with --http2"},
		{prior, "", "it speaks HTTP/2 there, and was asked in HTTP/1.1; ask with http:// (of a command: no --tls) and with --http2"},
		{"--http2 " + plain, "", "it speaks HTTP/1.1 there, and was asked in HTTP/2; ask with http:// (of a command: no --tls) and without --http2"},
		{strings.Replace(secure, "https", "http", 1), "", "it speaks HTTP/1.1 over TLS there, and was asked in HTTP/1.1; ask with https://"},
		{"-k " + strings.Replace(plain, "http", "https", 1), "", "it speaks HTTP/1.1 there, and was asked in HTTP/1.1 over TLS; ask with http://"},
		{"--insecure " + plain, "", "--insecure, --cacert, --cert, --key and --sni are about TLS"},
		{"--http2 --no-keepalive " + prior, "", "--http2 keeps its connections open"},
	} {
		status, out, errs := called(append([]string{"load", "-c2", "-d", "60ms"}, strings.Fields(c.args)...)...)
		if c.spoke != "" && (status != 0 || errs != "" || !strings.Contains(out, ", "+c.spoke+"\n")) {
			t.Errorf("%s: exit %d, %s\n%s\nwant %s", c.args, status, errs, out, c.spoke)
		}
		errs = strings.Replace(errs, "\nhint: ", "; ", 1)
		if c.spoke == "" && (status != 3 || out != "" || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 2) {
			t.Errorf("%s: exit %d, %q, %q, want %q", c.args, status, errs, out, c.says)
		}
	}
}

func TestTheLogOfHdrHistogramHasEveryLatency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load.hdr")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }))
	defer s.Close()
	status, out, errs := called("load", "-c", "2", "-d", "500ms", "--json", "--hdr", path, s.URL)
	if status != 0 {
		t.Fatal(status, errs)
	}
	var printed struct {
		Slot    load.SlotReport
		Summary load.Summary
	}
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := hdrhistogram.NewHistogramLogReader(f).NextIntervalHistogram()
	if err != nil || h == nil {
		t.Fatal(h, err)
	}
	want := printed.Summary.Targets[0].Latency
	if h.TotalCount() != want.N || want.N == 0 {
		t.Errorf("%d latencies, want %d", h.TotalCount(), want.N)
	}
	for q, v := range map[float64]float64{50: want.P50, 99: want.P99, 100: want.Max} {
		// Of a few requests, the two may take neighbours for a percentile.
		low, high := float64(h.ValueAtQuantile(q-0.5))/1e9, float64(h.ValueAtQuantile(min(q+0.5, 100)))/1e9
		if v < low*0.998 || v > high*1.002 {
			t.Errorf("percentile %v is from %v to %v, want %v", q, low, high, v)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("beside it lies %v", left)
	}
}

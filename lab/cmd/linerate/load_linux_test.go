package main

import (
	"bytes"
	"context"
	"encoding/json"
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

// called runs linerate's command line.
func called(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = command(context.Background(), args, &o, &e)
	return status, o.String(), e.String()
}

// site answers hello, and each so manyth request with 503.
func site(t *testing.T, fails int64) string {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if at := n.Add(1); fails > 0 && at%fails == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Write([]byte("hello"))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/path"
}

func TestALoadPrintsWhatCame(t *testing.T) {
	status, out, errs := called("load", "-c4", "-d", "100ms", site(t, 0))
	if status != 0 || errs != "" {
		t.Fatal(status, errs)
	}
	for _, want := range []string{"4 connections, 1 in flight on each", "\nrequests ", "/s; ", "\nlatency     p50 ", "p99.9 ",
		"\nfailed      none\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	status, out, errs = called("load", "-c", "2", "-d", "100ms", site(t, 3))
	if status != 1 || errs != "" || !strings.Contains(out, "not 2xx; status 503") {
		t.Errorf("exit %d, %s\n%s", status, errs, out)
	}
}

func TestTheLogOfHdrHistogramHasEveryLatency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load.hdr")
	status, out, errs := called("load", "-c", "2", "-d", "100ms", "--json", "--hdr", path, site(t, 0))
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
		if got := float64(h.ValueAtQuantile(q)) / 1e9; got < v*0.998 || got > v*1.002 {
			t.Errorf("percentile %v is %v, want %v", q, got, v)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("beside it lies %v", left)
	}
}

func TestALoadThatCannotBeMadeIsRefusedInOneLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "<url>"},
		{[]string{"http://127.0.0.1:1/"}, "nothing listens there"},
		{[]string{"-c", "0", "http://127.0.0.1:1/"}, "connections is 0"},
		{[]string{"-d", "10", "http://127.0.0.1:1/"}, "with its unit"},
		{[]string{"--hdr", "/not/there/x", "http://127.0.0.1:1/"}, "--hdr: "},
		{[]string{"--conections", "3", "http://127.0.0.1:1/"}, "--connections"},
	} {
		status, out, errs := called(append([]string{"load"}, c.args...)...)
		if status != 3 || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%q: exit %d, %q, want %q", c.args, status, errs, c.says)
		}
	}
}

func TestWordsAreCompleted(t *testing.T) {
	for line, want := range map[string]string{"comp": "compare completion", "lo": "load",
		"compare --line": "--line-rate", "load --h": "--header --hdr --help", "compare ./serv": "", "nothing --h": "--help"} {
		words := strings.Split(line, " ")
		_, out, errs := called(append([]string{"complete-words"}, words...)...)
		if got := strings.Join(strings.Fields(out), " "); got != want || errs != "" {
			t.Errorf("%q: %q, want %q; %s", line, got, want, errs)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if status, out, errs := called("completion", shell); status != 0 || !strings.Contains(out, "linerate complete-words") {
			t.Errorf("%s: exit %d, %q, %s", shell, status, out, errs)
		}
	}
	if _, out, _ := called("version"); !strings.HasPrefix(out, "linerate") {
		t.Errorf("version: %q", out)
	}
}

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/load"
)

// site is the URL of a server that answers hello.
func site(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	t.Cleanup(s.Close)
	return s.URL + "/simple"
}

func command(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestOneURL(t *testing.T) {
	s := site(t)
	code, out, stderr := command(t, "", "--url", s, "--connections", "2", "--pipelining", "3", "--warmup", "0.05",
		"--duration", "0.1", "--threads", "1")
	r, err := load.ReadReport(strings.NewReader(out))
	if code != program.OK || stderr != "" || err != nil {
		t.Fatalf("%d, %q, %v", code, stderr, err)
	}
	if len(r.Slots) != 2 || r.Held || r.Slots[1].Seconds < 0.1 || r.Summary.Targets[0].Requests != r.Slots[1].Requests {
		t.Errorf("%+v", r)
	}
	code, out, _ = command(t, "", "--url", s, "--connections", "2", "--rate", "100", "--duration", "0.2")
	if r, err = load.ReadReport(strings.NewReader(out)); code != program.OK || err != nil ||
		r.Summary.Targets[0].SendLag == nil {
		t.Errorf("%d, %v, %+v", code, err, r)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	const url = "http://127.0.0.1:1/"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--url is missing"},
		{[]string{"--rul", url}, "rul"},
		{[]string{"--url", "127.0.0.1:1"}, "give http://HOST:PORT/PATH"},
		{[]string{"--url", "ftp://127.0.0.1:1/"}, "give http://HOST:PORT/PATH"},
		{[]string{"--url", url, "more"}, `unexpected argument "more"`},
		{[]string{"--url", url, "--connections", "0"}, "whole number from 1 to 20000"},
		{[]string{"--url", url, "--pipelining", "1025"}, "whole number from 1 to 1024"},
		{[]string{"--url", url, "--rate", "-1"}, "number from 0.001"},
		{[]string{"--url", url, "--duration", "0"}, "seconds is 0"},
		{[]string{"--url", url, "--duration", "NaN"}, "give a number"},
		{[]string{"--plan", "file"}, "give -"},
		{[]string{"--plan", "-", "--url", url}, "leave out the others"},
	} {
		code, out, stderr := command(t, "", c.args...)
		if code != program.Refused || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %d, %q", c.args, code, stderr)
		}
	}
	if code, _, stderr := command(t, `{"threads":1}`, "--plan", "-"); code != program.Refused ||
		!strings.Contains(stderr, "/timeout_s is missing") {
		t.Errorf("%d, %q", code, stderr)
	}
	if code, out, _ := command(t, "", "--help"); code != program.OK || !strings.Contains(out, "--pipelining") {
		t.Errorf("%d, %q", code, out)
	}
}

func TestNobodyListens(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	code, out, stderr := command(t, "", "--url", "http://"+ln.Addr().String()+"/", "--duration", "0.1")
	if code != program.NotReached || out != "" || !strings.Contains(stderr, "nothing listens there") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d, %q, %q", code, out, stderr)
	}
}

func TestAnswersThatNobodyKnows(t *testing.T) {
	s := site(t)
	code, _, stderr := command(t, "", "--url", strings.Replace(s, "simple", "other", 1), "--answers", "fiber",
		"--duration", "0.1")
	if code != program.Failure || !strings.Contains(stderr, "does not know") {
		t.Errorf("%d, %q", code, stderr)
	}
}

package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serveStack serves the settings' stack on a port of its own, for the duration of the
// test.
func serveStack(t *testing.T, change func(*Settings)) (v *service, url string) {
	t.Helper()
	s := defaults
	s.Prefork = false
	change(&s)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v = newService(s, roleSingle, pool(), newSource(s.Index))
	done := make(chan error, 1)
	go func() { done <- v.stack.serve(ln) }()
	t.Cleanup(func() {
		v.stack.shutdown(time.Second)
		if err := <-done; err != nil {
			t.Errorf("%s: serve: %v", s.Stack, err)
		}
	})
	return v, "http://" + ln.Addr().String()
}

// headBytes is the size of a head on the wire.
func headBytes(resp *http.Response) int {
	n := len("HTTP/1.1 200 OK\r\n\r\n")
	for name, values := range resp.Header {
		for _, v := range values {
			n += len(name) + len(": ") + len(v) + len("\r\n")
		}
	}
	return n
}

// Every stack answers the same routes with the same bodies and with heads of the same
// size. Otherwise a comparison of two stacks would compare their answers.
func TestStacksAnswerAlike(t *testing.T) {
	type answer struct {
		code, head int
		body       string
	}
	fetch := func(method, url string) answer {
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
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.TransferEncoding) > 0 || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v, %v", method, url, resp.TransferEncoding, resp.Header)
		}
		return answer{resp.StatusCode, headBytes(resp), string(body)}
	}
	_, fiber := serveStack(t, func(*Settings) {})
	for _, stack := range []string{stackFastHTTP, stackNetHTTP} {
		// Each service starts the walk from its beginning.
		_, fiber := serveStack(t, func(*Settings) {})
		_, other := serveStack(t, func(s *Settings) { s.Stack = stack })
		for _, path := range []string{"/simple", "/read", "/read-gz", "/list", "/compute", "/read"} {
			want, got := fetch("GET", fiber+path), fetch("GET", other+path)
			if got != want || got.code != 200 {
				t.Errorf("%s %s: status %d, head of %d bytes, body %.60s\nunder fiber %d, %d, %.60s",
					stack, path, got.code, got.head, got.body, want.code, want.head, want.body)
			}
		}
		if got := fetch("GET", other+"/healthz"); !strings.Contains(got.body, `"stack":"`+stack+`"`) {
			t.Errorf("%s: /healthz says %s", stack, got.body)
		}
		for _, one := range []struct {
			method, path string
			want         int
		}{{"GET", "/nothing", 404}, {"GET", "/read/1", 404}, {"POST", "/read", 405}} {
			if got := fetch(one.method, other+one.path); got.code != one.want {
				t.Errorf("%s: %s %s: status %d, want %d", stack, one.method, one.path, got.code, one.want)
			}
		}
	}
	if got := fetch("GET", fiber+"/simple"); got.head+len(got.body) != 124 {
		t.Errorf("/simple is %d bytes, want 124", got.head+len(got.body))
	}
}

// A stack counts its connections, spins for as long as it is told to, and tells clients
// that it is leaving.
func TestStacksSpinAndLeave(t *testing.T) {
	const burn = 30 * time.Millisecond
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		v, url := serveStack(t, func(s *Settings) { s.Stack, s.SpinNs = stack, int(burn) })
		client := &http.Client{Transport: &http.Transport{}}
		get := func() *http.Response {
			t.Helper()
			resp, err := client.Get(url + "/simple")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			return resp
		}
		began := time.Now()
		if resp := get(); resp.Close {
			t.Errorf("%s: closes before it leaves", stack)
		}
		if took := time.Since(began); took < burn {
			t.Errorf("%s: answered after %v, before the %v were burnt", stack, took, burn)
		}
		if n := v.stack.open(); n != 1 {
			t.Errorf("%s: %d connections open, want 1", stack, n)
		}
		v.leaving.Store(true)
		if resp := get(); !resp.Close {
			t.Errorf("%s: the client is not told that the connection closes", stack)
		}
		for deadline := time.Now().Add(20 * time.Second); v.stack.open() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the connection stays open", stack)
			}
		}
	}
}

package pprofsock

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Over TCP a browser can be led here under any name, and a body can ask for any length.
func TestOverTCPOnlyThisMachineIsAnsweredAndForABoundedTime(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	defer ServeOn(ln, Rates{}, func(string, ...any) {})()
	here := fmt.Sprintf("127.0.0.1:%d", port)
	for _, c := range []struct {
		name, method, host, path, body string
		want                           int
	}{
		{"by address", "GET", here, "cmdline", "", 200},
		{"by name", "GET", fmt.Sprintf("LocalHost:%d", port), "cmdline", "", 200},
		{"by another loopback address", "GET", fmt.Sprintf("[::1]:%d", port), "cmdline", "", 200},
		{"by a name that leads here", "GET", fmt.Sprintf("rebound.example:%d", port), "cmdline", "", 403},
		{"by a name that begins alike", "GET", fmt.Sprintf("127.0.0.1.example:%d", port), "cmdline", "", 403},
		{"by an address of elsewhere", "GET", fmt.Sprintf("192.0.2.1:%d", port), "cmdline", "", 403},
		{"without its port", "GET", "127.0.0.1", "cmdline", "", 200},
		{"through a tunnel, whose port is another", "GET", "localhost:1", "cmdline", "", 200},
		{"too long", "GET", here, "trace?seconds=99999", "", 400},
		{"no length", "GET", here, "trace?seconds=NaN", "", 400},
		{"too long in a body", "POST", here, "trace", "seconds=99999", 405},
		{"short in the query, long in a body", "POST", here, "trace?seconds=0.01", "seconds=99999", 405},
		{"short", "GET", here, "trace?seconds=0.01", "", 200},
		{"symbols by POST, as go tool pprof asks", "POST", here, "symbol", "0x0", 200},
	} {
		q, err := http.NewRequest(c.method, "http://"+here+"/debug/pprof/"+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		q.Host = c.host
		if c.method == "POST" {
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.name, r.StatusCode, c.want)
		}
	}
}

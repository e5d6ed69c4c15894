package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// odd are requests, each of them wrong or unusual, that leave a server no choice. What the
// RFCs let servers decide is not here: bare LF, folded lines, lengths said twice, a length
// beside chunks.
var odd = []string{
	"",
	"GET /simple HTTP/1.1\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: a b\r\n\r\n",
	"GET /simple HTTP/1.0\r\n\r\n",
	"GET /simple HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: Close, x\r\n\r\n",
	"GET /simple HTTP/2.0\r\nHost: x\r\n\r\n",
	"GET /simple HTTP/1.1.\r\nHost: x\r\n\r\n",
	"GET /simple http/1.1\r\nHost: x\r\n\r\n",
	"GET /simple\r\nHost: x\r\n\r\n",
	"GET  /simple HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET simple HTTP/1.1\r\nHost: x\r\n\r\n",
	"G(T /simple HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /%73imple?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://y/simple HTTP/1.1\r\nHost: x\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nX\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nX: \x00\r\n\r\n",
	"GET /simple HTTP/1.1\r\n Host: x\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5 5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
	"POST /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CHUNKED\r\n\r\n5;a=\"b\"\r\nhello\r\n0\r\nX: y\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n",
	"GET /simple HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 30_000) + "\r\n\r\n",
}

// theirs is Go's own server with the same route.
func theirs(t *testing.T) *serving {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			// A body that is too long is one of a wrong size to this server.
			w.Header().Set("Connection", "close")
			code = http.StatusBadRequest
		} else if r.URL.Path != "/simple" && r.RequestURI != "*" {
			code = http.StatusNotFound
		} else if r.Method == http.MethodPost {
			code = http.StatusMethodNotAllowed
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, catalog.Simple)
	}))
	srv.Config.MaxHeaderBytes = defaults.limits.Head
	srv.Config.ErrorLog = nil
	srv.Start()
	t.Cleanup(srv.Close)
	return &serving{t: t, addr: srv.Listener.Addr().String()}
}

// Where a request leaves no choice, this server does as Go's own: the same statuses, and
// the connection goes on or does not, which a request behind it shows.
func TestOddRequestsGoAsInGo(t *testing.T) {
	ours, theirs := serve(t), theirs(t)
	const behind = "GET /behind HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, text := range odd {
		got, _ := ours.ask(text + behind)
		want, _ := theirs.ask(text + behind)
		if strings.Contains(text, "10000000000000005") { // more than may be, or no size at all
			got[0] = 400
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.200q: %v, Go's server %v", text, got, want)
		}
	}
}

// Real clients that are slow, and real ones beside them that are not.
func TestSlowClients(t *testing.T) {
	v := serveWith(t, func(s *settings) { s.times.head, s.times.body, s.times.idle = 50e6, 50e6, 100e6 })
	slow := []*client{v.dial(), v.dial(), v.dial()}
	slow[0].say("GET /simple HTTP/1.1\r\nHost: x\r\n")
	slow[1].say("PUT /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhello")
	slow[2].say(simple)
	if a := slow[2].next("GET"); a.code != 200 || a.body != catalog.Simple {
		t.Errorf("%+v", a)
	}
	for i, c := range slow {
		rest := c.ends()
		if codes, _ := codesIn(t, rest); i < 2 && !slices.Equal(codes, []int{408}) || i == 2 && rest != "" {
			t.Errorf("client %d: %q", i, rest)
		}
	}
	if codes, _ := v.ask(simple + read1); !slices.Equal(codes, []int{200, 200}) {
		t.Errorf("afterwards: %v", codes)
	}
}

// A client that does not read makes no other wait, and gets all its answers when it does.
func TestSlowReader(t *testing.T) {
	v := serve(t)
	slow := v.dial()
	const n = 5000 // 22 MB of answers
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(slow, strings.Repeat(read1, n))
		sent <- err
	}()
	for range 20 {
		if codes, _ := v.ask(simple); !slices.Equal(codes, []int{200}) {
			t.Fatal(codes)
		}
	}
	known := map[string]bool{}
	for i := range catalog.Size {
		known[string(pool().Body(i))] = true
	}
	different := map[string]bool{}
	for i := range n {
		a := slow.next("GET")
		if different[a.body] = true; a.code != 200 || !known[a.body] {
			t.Fatalf("answer %d: %d, %d bytes", i, a.code, len(a.body))
		}
	}
	if err := <-sent; err != nil || len(different) < catalog.Size*9/10 {
		t.Errorf("%v, %d different bodies", err, len(different))
	}
}

// Refusals reach clients that go on sending, and do not break with a reset.
func TestRefusalsReachClientsThatGoOn(t *testing.T) {
	v := serve(t)
	for _, text := range []string{"GET / HTTP/1.1\nHost: x\n\n",
		"PUT /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n",
		"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"} {
		c := v.dial()
		c.say(text)
		for range 100 {
			c.say(strings.Repeat("x", 10_000))
		}
		_ = c.CloseWrite()
		if codes, _ := codesIn(t, c.ends()); len(codes) != 1 {
			t.Errorf("%q: %v", text, codes)
		}
	}
}

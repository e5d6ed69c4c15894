package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/servers/floor/request"
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
	"GET /simple HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 30_000) + "\r\n\r\n",
}

// theirs is Go's own server with the same route. A body ends its connection, as here.
func theirs(t *testing.T) *serving {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
		}
		switch {
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.URL.Path != "/simple":
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, catalog.Simple)
	}))
	srv.Config.MaxHeaderBytes = request.Longest
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
		if got, want := ours.ask(text+behind), theirs.ask(text+behind); !slices.Equal(got, want) {
			t.Errorf("%.200q: %v, Go's server %v", text, got, want)
		}
	}
}

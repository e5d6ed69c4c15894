package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

// seen has, for each tuning, whether it is in force: by what a client sees, or by the
// setting of Fiber or fasthttp where no client could see it.
var seen = map[string]func(t *testing.T, v stack, url string) bool{
	tuneCopiedBody: func(_ *testing.T, v stack, _ string) bool { return copies(v) },
	"immutable":    func(_ *testing.T, v stack, _ string) bool { return v.app.Config().Immutable },
	"no-date": func(t *testing.T, _ stack, url string) bool {
		return ask(t, url+"/simple", nil).Header["Date"] == nil
	},
	tuneNoRouter: func(t *testing.T, _ stack, url string) bool {
		return ask(t, url+"/nothing", nil).text == `{"error":"no such route"}`
	},
	"raw-headers": func(_ *testing.T, v stack, _ string) bool {
		return v.app.Server().DisableHeaderNamesNormalizing
	},
	"reduce-memory": func(t *testing.T, v stack, _ string) bool {
		conn, server := connect(t, v)
		fmt.Fprint(conn, "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n")
		_, _ = conn.Read(make([]byte, 1000))
		return <-server.reads == 1 // of a byte: it needs no buffer until a request has come
	},
	"small-read-buffer": func(t *testing.T, _ stack, url string) bool {
		return ask(t, url+"/simple", http.Header{"Cookie": {strings.Repeat("x",
			2*smallReadBuffer)}}).StatusCode == http.StatusRequestHeaderFieldsTooLarge
	},
	"strict-routes": func(t *testing.T, _ stack, url string) bool {
		return ask(t, url+"/simple/", nil).StatusCode == 404 && ask(t, url+"/SIMPLE", nil).StatusCode == 404
	},
}

// A tuning does what it says and is not in force unless asked for. Whatever it does, every
// route keeps its contract; an answer without a date has another head and the same body.
func TestTunings(t *testing.T) {
	for _, one := range tunings {
		sees := seen[one.name]
		if sees == nil && one.name != tuneHeaderBytes { // which nobody can see
			t.Errorf("%s: no test", one.name)
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			v, url := serveStack(t, func(s *settings) { s.tunings = one.name })
			if sees != nil && !sees(t, v, url) {
				t.Error("it is not in force")
			}
			plain, without := serveStack(t, func(*settings) {})
			if sees != nil && sees(t, plain, without) {
				t.Error("it is in force without being asked for")
			}
			if one.name != "no-date" {
				contract.Contract(t, "fiber", strings.TrimPrefix(url, "http://"))
				return
			}
			for _, r := range catalog.Routes() {
				if a, b := ask(t, url+r.Path, nil), ask(t, without+r.Path, nil); r.Make == nil && a.text != b.text {
					t.Errorf("%s: another body", r.Path)
				}
			}
		})
	}
}

// Several are in force together, and prefork's workers have them as well.
func TestTuningsTogether(t *testing.T) {
	p, _ := startMaster(t, "--tuning=no-date,strict-routes")
	url := "http://" + p.addr
	if a := ask(t, url+"/SIMPLE", nil); a.StatusCode != 404 || a.Header["Date"] != nil {
		t.Errorf("a worker answers %d, date %v", a.StatusCode, a.Header["Date"])
	}
}

// copies tells whether an answer of /read holds bytes of its own and not the pool's.
func copies(v stack) bool {
	var c fasthttp.RequestCtx
	c.Request.SetRequestURI("/read")
	v.app.Handler()(&c)
	for i := range catalog.Size {
		if &pool().Body(i)[0] == &c.Response.Body()[0] {
			return false
		}
	}
	return true
}

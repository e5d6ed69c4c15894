package main

import (
	"fmt"
	"io"
	"net"
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
	"reduce-memory": func(_ *testing.T, v stack, _ string) bool { return readsByteFirst(v) },
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
			ask(t, url+"/simple", nil) // it has started, before anything looks into it
			if sees != nil && !sees(t, v, url) {
				t.Error("it is not in force")
			}
			plain, without := serveStack(t, func(*settings) {})
			ask(t, without+"/simple", nil)
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

type asked struct {
	*http.Response
	text string
}

func ask(t *testing.T, url string, header http.Header) asked {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return asked{resp, string(text)}
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

// readsByteFirst tells whether the server waits for a request with a read of one byte: it
// then needs no buffer until that has come.
func readsByteFirst(v stack) bool {
	ours, theirs := net.Pipe()
	defer ours.Close()
	reads := make(chan int, 10)
	go func() { _ = v.app.Server().ServeConn(readingConn{theirs, reads}) }()
	fmt.Fprint(ours, "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n")
	_, _ = ours.Read(make([]byte, 1000))
	return <-reads == 1
}

type readingConn struct {
	net.Conn
	reads chan int
}

func (c readingConn) Read(b []byte) (int, error) {
	select {
	case c.reads <- len(b):
	default:
	}
	return c.Conn.Read(b)
}

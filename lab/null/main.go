// Command null_server answers HTTP requests with canned bytes. It is so fast that it
// cannot be the bottleneck: what a load generator reaches against it is the generator's
// own ceiling on this machine.
//
// A request costs it next to nothing but its share of two system calls: one thread in one
// epoll loop, no parsing beyond the end of a head and the path in its first line, no
// memory allocated, and one write for all the requests that one read returned. Go's own
// net package was the alternative, but it parks and wakes a goroutine for each request of
// each connection. Without pipelining, what is left is the kernel's part, which any TCP
// server pays: on a small machine, 5 of the 6.5 microseconds that Fiber's /simple takes
// when its core is full.
//
// A run checks this: in every trial the server's core must have room left
// (server_cores_busy), and the client's none. Otherwise the trial says so by its bound,
// and is no ceiling.
//
// It has the routes of package catalog that say so. Their bytes on the wire are those of the
// lab's Fiber server, except that the date stands still, and that of several bodies it
// always sends the one whose length is nearest the mean.
//
// Limits: GET only, and no body is expected after a head; heads of at most 16 KiB; IPv4
// or IPv6 by address, no TLS; no timeouts. It is for load tests on trusted networks, on
// Linux.
package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/route"
)

func main() { os.Exit(run(os.Args[1:])) }

const help = `null_server answers HTTP requests with canned bytes, for the ceiling of a load generator.

Usage: null_server [--addr HOST:PORT]

  --addr HOST:PORT  address to listen on (default 127.0.0.1:8083)

Routes: %s
It runs on one thread, whatever GOMAXPROCS says.
SIGTERM or SIGINT ends it at once.

Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

func run(args []string) int {
	null := program.Program{Name: "null_server", Out: os.Stdout, Errs: os.Stderr}
	addr, err := parse(args)
	if status, over := null.Over(err, fmt.Sprintf(help, strings.Join(route.Paths(true), " "))); over {
		return status
	}
	asked := program.Asked()
	ln, status := null.Listen("tcp", addr, "addr")
	if ln == nil {
		return status
	}
	answers, err := newAnswers(time.Now())
	if err != nil {
		null.Say("%v", err)
		return program.Failure
	}
	return null.Serve(ln, asked, func() error { return serve(ln.(*net.TCPListener), answers) })
}

func parse(args []string) (addr string, err error) {
	fs := program.NewFlags()
	fs.StringVar(&addr, "addr", "127.0.0.1:8083", "")
	if err := fs.Read(args, ""); err != nil {
		return "", err
	}
	if !program.HostPort(addr) {
		return "", fmt.Errorf("--addr: %q is not accepted; give HOST:PORT, as in 127.0.0.1:8083", addr)
	}
	return addr, nil
}

// answers are whole responses, heads and bodies.
type answers struct {
	routes           []known
	missing, refused []byte
}

// A known route is how the path begins in a request, with the space behind it, and what is
// answered.
type known struct{ path, answer []byte }

func newAnswers(now time.Time) (*answers, error) {
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		return nil, err
	}
	response := func(code int, encoding string, body []byte) []byte {
		if encoding != "" {
			encoding = "Content-Encoding: " + encoding + "\r\n"
		}
		return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s",
			code, http.StatusText(code), now.UTC().Format(http.TimeFormat), catalog.ContentType, encoding, len(body), body)
	}
	a := &answers{
		missing: response(404, "", []byte(`{"error":"Not Found"}`)),
		refused: response(405, "", []byte(`{"error":"Method Not Allowed"}`)),
	}
	for _, r := range catalog.Routes() {
		if r.Null {
			a.routes = append(a.routes, known{[]byte(r.Path + " "), response(200, r.Encoding, r.Middle(pool))})
		}
	}
	return a, nil
}

// to picks the answer to a request by the beginning of its head.
func (a *answers) to(head []byte) []byte {
	path, ok := bytes.CutPrefix(head, []byte("GET "))
	if !ok {
		return a.refused
	}
	for i := range a.routes {
		if bytes.HasPrefix(path, a.routes[i].path) {
			return a.routes[i].answer
		}
	}
	return a.missing
}

var endOfHead = []byte("\r\n\r\n")

// reply appends to out the answers to the whole requests at the beginning of in, and
// returns the rest of in.
func (a *answers) reply(out, in []byte) (sum, rest []byte) {
	for {
		n := bytes.Index(in, endOfHead)
		if n < 0 {
			return out, in
		}
		out = append(out, a.to(in[:n])...)
		in = in[n+len(endOfHead):]
	}
}

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/servers/floor/loop"
	"github.com/line-rate/line-rate/lab/servers/floor/request"
)

// answers are those of a correct server.
type answers struct {
	request request.Request
	pool    *catalog.Pool
	src     catalog.Source
	routes  []catalog.Route
	head    []byte // of an answer, to its content type
	date    []byte // its part with the date
}

const (
	success    = "HTTP/1.1 200 OK"
	beforeDate = success + "\r\nDate: "
)

func newAnswers(pool *catalog.Pool) *answers {
	a := &answers{pool: pool, src: catalog.NewWalk(catalog.Seed), routes: catalog.Routes()}
	a.head = []byte(beforeDate + http.TimeFormat + "\r\nContent-Type: " + catalog.ContentType + "\r\n")
	a.date = a.head[len(beforeDate):][:len(http.TimeFormat)]
	return a
}

func (*answers) Flush()               {}
func (a *answers) Tick(now time.Time) { now.UTC().AppendFormat(a.date[:0], http.TimeFormat) }

func (a *answers) Answer(_ *loop.Conn, in, out []byte, closing bool) (used int, all []byte, last bool) {
	for used < len(in) && !last && len(out) < loop.MostQueued {
		n, status := a.request.Read(in[used:])
		if n == 0 && status == 0 {
			break
		}
		used += n
		last = closing || status != 0 || a.request.Close || a.request.Body
		out = a.reply(out, status, last)
	}
	return used, out, last
}

// reply appends the answer to the request that was read, or refused with a status.
func (a *answers) reply(out []byte, status int, last bool) []byte {
	var body []byte
	encoding := ""
	if status == 0 {
		body, encoding, status = a.find()
	}
	if status == http.StatusOK {
		out = append(out, a.head...)
	} else {
		text := http.StatusText(status)
		out = append(strconv.AppendInt(append(out, "HTTP/1.1 "...), int64(status), 10), ' ')
		out = append(append(out, text...), a.head[len(success):]...)
		body = []byte(`{"error":"` + text + `"}`)
	}
	if status == http.StatusMethodNotAllowed {
		out = append(out, "Allow: GET, HEAD\r\n"...)
	}
	if encoding != "" {
		out = append(append(append(out, "Content-Encoding: "...), encoding...), "\r\n"...)
	}
	if last {
		out = append(out, "Connection: close\r\n"...)
	} else if a.request.KeepAlive {
		out = append(out, "Connection: keep-alive\r\n"...)
	}
	out = strconv.AppendInt(append(out, "Content-Length: "...), int64(len(body)), 10)
	out = append(out, "\r\n\r\n"...)
	if string(a.request.Method) == http.MethodHead {
		return out
	}
	return append(out, body...)
}

// find finds the body that a request asks for, and its encoding.
func (a *answers) find() (body []byte, encoding string, status int) {
	if m := string(a.request.Method); m != http.MethodGet && m != http.MethodHead {
		return nil, "", http.StatusMethodNotAllowed
	}
	for i := range a.routes {
		r := &a.routes[i]
		if string(a.request.Path) != r.Path {
			continue
		}
		var err error
		switch body = r.Fixed; {
		case r.Body != nil:
			body = r.Body(a.pool, a.src.Next())
		case r.Make != nil:
			if body, err = r.Make(a.pool, a.src); err != nil {
				return nil, "", http.StatusInternalServerError
			}
		}
		return body, r.Encoding, http.StatusOK
	}
	return nil, "", http.StatusNotFound
}

// canned holds prepared answers, heads and bodies. It reads only the end of a request's head and
// the path in its first line, so it understands only GET without a body.
type canned struct {
	routes           []prepared
	missing, refused []byte
}

// A prepared answer is to a request that begins in this way.
type prepared struct{ begins, answer []byte }

func newCanned(pool *catalog.Pool, now time.Time) *canned {
	response := func(code int, encoding string, body []byte) []byte {
		if encoding != "" {
			encoding = "Content-Encoding: " + encoding + "\r\n"
		}
		return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s",
			code, http.StatusText(code), now.UTC().Format(http.TimeFormat), catalog.ContentType, encoding, len(body), body)
	}
	c := &canned{
		missing: response(404, "", []byte(`{"error":"Not Found"}`)),
		refused: response(405, "", []byte(`{"error":"Method Not Allowed"}`)),
	}
	for _, r := range catalog.Routes() {
		if r.Null {
			c.routes = append(c.routes, prepared{[]byte("GET " + r.Path + " "), response(200, r.Encoding, r.Middle(pool))})
		}
	}
	return c
}

func (*canned) Flush()         {}
func (*canned) Tick(time.Time) {}

func (c *canned) Answer(_ *loop.Conn, in, out []byte, _ bool) (used int, all []byte, last bool) {
	for len(out) < loop.MostQueued {
		n := bytes.Index(in[used:], []byte("\r\n\r\n"))
		if n < 0 {
			break
		}
		out = append(out, c.to(in[used:])...)
		used += n + len("\r\n\r\n")
	}
	return used, out, false
}

// to picks the answer to a request by the beginning of its head.
func (c *canned) to(head []byte) []byte {
	for i := range c.routes {
		if bytes.HasPrefix(head, c.routes[i].begins) {
			return c.routes[i].answer
		}
	}
	if bytes.HasPrefix(head, []byte("GET ")) {
		return c.missing
	}
	return c.refused
}

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/floor/request"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

const (
	// outputSize is the room for what is copied: heads and short bodies.
	outputSize = 64 << 10
	// mostHeadOut is more than the longest head of an answer with a body that is copied.
	mostHeadOut = 2 << 10
	// shortBody is the longest body that is copied behind its head. A longer one is
	// written from where it is. For one of /read that costs as much as the copy over
	// loopback and less on a wire; for one of /list the copy is dear.
	shortBody = 1 << 10
	// mostQueued ends the gathering of answers for one write, and with mostPieces bounds
	// what a client that does not read can make the server keep.
	mostQueued = 256 << 10
	mostPieces = 512
)

// A writer gathers the answers to the requests of one read. It belongs to a thread.
type writer struct {
	pool   *catalog.Pool
	src    catalog.Source
	routes []catalog.Route

	ok   []byte // the beginning of an answer of 200, to its content type
	date []byte // its part with the date

	out    []byte   // never grows beyond its capacity, since pieces point into it
	pieces [][]byte // what to write, in order
	copied bool     // the last piece is out's end
	queued int      // bytes in pieces
}

const beforeDate = "HTTP/1.1 200 OK\r\nDate: "

func newWriter(pool *catalog.Pool) *writer {
	w := &writer{
		pool: pool, src: catalog.NewWalk(catalog.Seed), routes: catalog.Routes(),
		out: make([]byte, 0, outputSize), pieces: make([][]byte, 0, mostPieces),
	}
	w.ok = append(w.ok, beforeDate+http.TimeFormat+"\r\nContent-Type: "+catalog.ContentType+"\r\n"...)
	w.date = w.ok[len(beforeDate):][:len(http.TimeFormat)]
	return w
}

func (w *writer) setDate(now time.Time) { now.UTC().AppendFormat(w.date[:0], http.TimeFormat) }

// full tells that what is gathered should be written first.
func (w *writer) full() bool {
	return w.queued >= mostQueued || len(w.pieces) >= mostPieces-2 || cap(w.out)-len(w.out) < mostHeadOut
}

func (w *writer) reset() { w.out, w.pieces, w.queued, w.copied = w.out[:0], w.pieces[:0], 0, false }

// text queues what was appended to out since it had n bytes.
func (w *writer) text(n int) {
	w.queued += len(w.out) - n
	if last := len(w.pieces) - 1; w.copied {
		w.pieces[last] = w.out[n-len(w.pieces[last]) : len(w.out)]
		return
	}
	w.pieces = append(w.pieces, w.out[n:])
	w.copied = true
}

// A reply is what is to be answered once a request has been read to its end.
type reply struct {
	status    int
	route     int // index in routes, for a status of 200
	bodiless  bool
	close     bool
	keepAlive bool // say that the connection stays
}

// asterisk is the route of OPTIONS *: the server as a whole.
const asterisk = -1

// find finds the answer to a request.
func (w *writer) find(r *request.Request) reply {
	a := reply{status: http.StatusOK, bodiless: r.Method == request.Head, close: r.Close, keepAlive: r.KeepAlive}
	for a.route = range w.routes {
		if string(r.Path) == w.routes[a.route].Path {
			if r.Method != request.Get && r.Method != request.Head {
				a.status = refusal(r.Method)
			}
			return a
		}
	}
	switch {
	case r.Method == request.Options && string(r.Path) == "*":
		a.route = asterisk
	case r.Method == request.Unknown:
		a.status = http.StatusNotImplemented
	case r.Method == request.Connect:
		a.status = http.StatusMethodNotAllowed
		a.close = true // what follows may be meant for a tunnel
	default:
		a.status = http.StatusNotFound
	}
	return a
}

func refusal(m request.Method) int {
	if m == request.Unknown {
		return http.StatusNotImplemented
	}
	return http.StatusMethodNotAllowed
}

// answer queues an answer.
func (w *writer) answer(a reply) {
	if a.status != http.StatusOK {
		w.fail(a)
		return
	}
	n := len(w.out)
	if a.route == asterisk {
		w.out = append(w.out, beforeDate...)
		w.out = append(w.out, w.date...)
		w.out = append(w.out, "\r\nAllow: "+allowed+"\r\n"...)
		w.end(a, 0)
		w.text(n)
		return
	}
	r := &w.routes[a.route]
	body := r.Fixed
	switch {
	case r.Body != nil:
		body = r.Body(w.pool, w.src.Next())
	case r.Make != nil:
		var err error
		if body, err = r.Make(w.pool, w.src); err != nil {
			a.status = http.StatusInternalServerError
			w.fail(a)
			return
		}
	}
	w.out = append(w.out, w.ok...)
	if r.Encoding != "" {
		w.out = append(append(append(w.out, "Content-Encoding: "...), r.Encoding...), "\r\n"...)
	}
	w.end(a, len(body))
	w.body(n, a, body)
}

// end writes the last fields of a head and its empty line.
func (w *writer) end(a reply, length int) {
	if a.close {
		w.out = append(w.out, "Connection: close\r\n"...)
	} else if a.keepAlive {
		w.out = append(w.out, "Connection: keep-alive\r\n"...)
	}
	w.out = append(w.out, "Content-Length: "...)
	w.out = strconv.AppendInt(w.out, int64(length), 10)
	w.out = append(w.out, "\r\n\r\n"...)
}

// body queues a head, which begins at n in out, and its body.
func (w *writer) body(n int, a reply, body []byte) {
	switch {
	case a.bodiless:
		w.text(n)
	case len(body) <= shortBody:
		w.out = append(w.out, body...)
		w.text(n)
	default:
		w.text(n)
		w.pieces = append(w.pieces, body)
		w.queued += len(body)
		w.copied = false
	}
}

const allowed = "GET, HEAD"

// fail queues an answer other than success.
func (w *writer) fail(a reply) {
	n := len(w.out)
	w.out = append(w.out, "HTTP/1.1 "...)
	w.out = strconv.AppendInt(w.out, int64(a.status), 10)
	w.out = append(append(w.out, ' '), http.StatusText(a.status)...)
	w.out = append(append(w.out, "\r\nDate: "...), w.date...)
	w.out = append(w.out, "\r\nContent-Type: "+catalog.ContentType+"\r\n"...)
	if a.status == http.StatusMethodNotAllowed {
		w.out = append(w.out, "Allow: "+allowed+"\r\n"...)
	}
	p := problems[a.status]
	w.end(a, len(p))
	w.body(n, a, p)
}

// problems are the bodies of answers other than success, in JSON like all others.
var problems = func() map[int][]byte {
	all := map[int][]byte{}
	for _, status := range []int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusExpectationFailed,
		http.StatusRequestHeaderFieldsTooLarge,
		http.StatusInternalServerError, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported,
	} {
		all[status] = fmt.Appendf(nil, "{\"error\":%q}", http.StatusText(status))
	}
	return all
}()

// goOn queues the interim answer that a client waits for before it sends a body.
func (w *writer) goOn() {
	n := len(w.out)
	w.out = append(w.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
	w.text(n)
}

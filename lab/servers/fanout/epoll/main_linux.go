// Command fanout_floor does what fanout_server does at the least cost: one thread straight on epoll counts
// likes and sends each count to all readers of the post. What fanout_server costs beyond that is its
// design's and net/http's.
//
// All requests that one wait for epoll reports are read before anything is sent, so each reader gets the events of its
// post among them in one write, up to 64 at a time. Until its socket has taken all of a write, the next ones are lost.
// What a failed write was to send is lost at the socket, and what waited for a reader that left is lost with it. A
// stream has no chunks and ends with its connection: this framing has the fewest bytes.
//
// Limits: Linux, loopback, HTTP/1.1; no pushes, no dates. It closes a connection after the answer to a request that is
// malformed, has a body or is of HTTP/1.0. A reader has left when it ends its side of the connection.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
	"github.com/line-rate/line-rate/lab/servers/floor/loop"
	"github.com/line-rate/line-rate/lab/servers/floor/request"
)

const help = `fanout_floor counts likes and sends each count to all readers of a post, at the least cost.

  --addr HOST:PORT  address to listen on, loopback only (default 127.0.0.1:8084)

POST /like/{post}, GET /events/{post}, GET /ledger.
SIGTERM or SIGINT ends it at once.
Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address is in use.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	self := program.Program{Name: "fanout_floor", Out: os.Stdout, Errs: os.Stderr}
	addr := "127.0.0.1:8084"
	flags := program.NewFlags()
	flags.Loopback("addr", &addr)
	if status, over := self.Over(flags.Read(args, ""), help); over {
		return status
	}
	ln, status := self.Listen("tcp", addr, "addr")
	if ln == nil {
		return status
	}
	runtime.GOMAXPROCS(1) // with more, Go wakes threads to look for work that there is not
	return self.Serve(ln, program.Asked(), func() error {
		srv, err := loop.New(ln.(*net.TCPListener), 10*time.Minute, 0, &floor{posts: make([]post, hub.Published().Topics)})
		if err != nil {
			return err
		}
		return srv.Serve()
	})
}

const mostTogether = 64 // events of a post in one write

// A floor counts likes, and keeps the ledger of their deliveries.
type floor struct {
	hub.Ledger
	head  request.Request
	posts []post
}

// A post has readers. To each the events of text are due: they are sent before another joins.
type post struct {
	likes   int64 // and the number of the last event
	readers []*reader
	text    []byte
	events  int64 // in text
}

// A reader is the stream of a post's events to one connection.
type reader struct {
	*loop.Conn
	floor *floor
	post  *post
	waits int64 // events of a write that the socket has not taken as a whole
}

func (*floor) Tick(time.Time) {}

func (f *floor) Flush() {
	for i := range f.posts {
		f.deliver(&f.posts[i])
	}
}

func (f *floor) Answer(c *loop.Conn, in, out []byte, _ bool) (used int, all []byte, last bool) {
	for used < len(in) && !last && len(out) < loop.MostQueued {
		r := &f.head
		n, status := r.Read(in[used:])
		if n == 0 && status == 0 {
			break
		}
		used += n
		last = status != 0 || r.Close || r.KeepAlive || r.Body || string(r.Method) == http.MethodHead
		if status != 0 {
			out = answer(out, fmt.Sprint(status, " ", http.StatusText(status)), "", last)
		} else {
			out, last = f.do(c, out, last)
		}
	}
	return used, out, last
}

// do does what a request asks for. The head of a stream is the last answer of its connection.
func (f *floor) do(c *loop.Conn, out []byte, last bool) ([]byte, bool) {
	route, name := path.Split(string(f.head.Path))
	at, err := strconv.Atoi(name)
	known := err == nil && at >= 0 && at < len(f.posts)
	switch asked := string(f.head.Method) + " " + route; {
	case asked == "POST /like/" && known:
		f.like(at)
		return answer(out, "204 No Content", "", last), last
	case asked == "GET /events/" && known:
		p := &f.posts[at]
		f.deliver(p)
		r := &reader{Conn: c, floor: f, post: p}
		c.Stream, p.readers = r, append(p.readers, r)
		return answer(out, "200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache", "", true), true
	case asked == "GET /" && name == "ledger":
		return answer(out, "200 OK\r\nContent-Type: application/json", f.ledger(), last), last
	}
	return answer(out, "404 Not Found\r\nContent-Type: text/plain", "there is no such post or route\n", last), last
}

// like makes an event's bytes, once for all readers of the post.
func (f *floor) like(at int) {
	p := &f.posts[at]
	p.likes++
	f.Published++
	f.Due += int64(len(p.readers))
	p.text = hub.AppendText(p.text, uint64(p.likes), at, p.likes)
	if p.events++; p.events == mostTogether {
		f.deliver(p)
	}
}

func (f *floor) ledger() string {
	told := hub.Told{Ledger: f.Ledger, Shards: []int64{0}, Resident: hub.Resident()}
	for i := range f.posts {
		told.Shards[0] += int64(len(f.posts[i].readers))
	}
	text, _ := json.Marshal(told)
	return string(text) + "\n"
}

// answer appends an answer. One without text has no body, or one that ends with the connection.
func answer(out []byte, head, text string, last bool) []byte {
	out = append(append(out, "HTTP/1.1 "...), head...)
	if last {
		out = append(out, "\r\nConnection: close"...)
	}
	if text != "" {
		out = fmt.Appendf(out, "\r\nContent-Length: %d", len(text))
	}
	return append(append(out, "\r\n\r\n"...), text...)
}

// deliver sends the events of a post to its readers.
func (f *floor) deliver(p *post) {
	n := p.events
	if n == 0 {
		return
	}
	for _, r := range p.readers {
		switch {
		case r.waits > 0:
			f.Subscriber += n
		case r.Write(p.text) != nil: // the reader will be gone at its next event
			f.Socket += n
		case r.Owes():
			r.waits = n
		default:
			f.Written += n
		}
	}
	p.text, p.events = p.text[:0], 0
}

// Sent counts events when the socket has taken all of their write.
func (r *reader) Sent() {
	r.floor.Written += r.waits
	r.waits = 0
}

// Gone loses what was due to the reader and not sent.
func (r *reader) Gone() {
	r.floor.Left += r.post.events + r.waits
	at := slices.Index(r.post.readers, r)
	r.post.readers = slices.Delete(r.post.readers, at, at+1)
}

// Command fanout_floor does what fanout_server does at the least cost: one thread straight on epoll counts
// likes and sends each count to all readers of the post. What fanout_server costs beyond that is its
// design's and net/http's.
//
// All requests that one wait for epoll reports are read before anything is sent, so each reader gets the
// events of its post among them in one write, up to 64 at a time. What a reader's socket has no room for is
// lost, but for the rest of an event that was begun. What a failed write was to send is lost at the socket,
// and what waited for a reader that left is lost with it. A stream has no chunks and ends with its
// connection: this framing has the fewest bytes.
//
// Limits: Linux, loopback, HTTP/1.1; no pushes, no dates, no time after which an idle client has to go. It
// closes a connection whose request is malformed, has a body or is of HTTP/1.0, or whose client leaves answers
// unread until its socket is full. A reader has left when it ends its side of the connection.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
	"github.com/line-rate/line-rate/lab/servers/floor/request"
)

const help = `fanout_floor counts likes and sends each count to all readers of a post, at the least cost.

  --addr HOST:PORT  address to listen on, loopback only (default 127.0.0.1:8084)
  --topics N        posts, from 0                       (default 10)

POST /like/{post}, GET /events/{post}, GET /ledger.
SIGTERM or SIGINT ends it at once.
Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address is in use.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	floor := program.Program{Name: "fanout_floor", Out: os.Stdout, Errs: os.Stderr}
	addr, topics := "127.0.0.1:8084", hub.Published().Topics
	flags := program.NewFlags() // with the bounds of fanout_server
	flags.Loopback("addr", &addr)
	flags.Whole("topics", &topics, 1, 10_000)
	if status, over := floor.Over(flags.Read(args, ""), help); over {
		return status
	}
	ln, status := floor.Listen("tcp", addr, "addr")
	if ln == nil {
		return status
	}
	runtime.GOMAXPROCS(1) // with more, Go wakes threads to look for work that there is not
	return floor.Serve(ln, program.Asked(), func() error {
		l, err := newLoop(ln.(*net.TCPListener), topics)
		for err == nil {
			err = l.round(1000)
		}
		return err
	})
}

const (
	inputSize    = request.Longest            // read at once
	mostTogether = 64                         // events of a post in one write
	edge         = unix.EPOLLET & (1<<32 - 1) // epoll tells of changes only
)

// A loop is one thread and its connections.
type loop struct {
	hub.Ledger
	epoll, listener int
	crowded         bool    // connections may wait to be accepted
	conns           []*conn // by descriptor
	posts           []post
	fresh           []*post // with events to send
	head            request.Request
	in, out         []byte // one connection's after the other's
}

// A post has readers. To each the events of text are due: they are sent before another joins.
type post struct {
	likes   int64 // and the number of the last event
	readers []*conn
	text    []byte
	events  int // in text
}

// A conn is a connection: with a post, a stream.
type conn struct {
	fd   int
	post *post
	rest []byte // a request that has not come as a whole
	owed []byte // the rest of an event that the socket has not taken as a whole
}

func newLoop(ln *net.TCPListener, topics int) (*loop, error) {
	l := &loop{posts: make([]post, topics), in: make([]byte, inputSize)}
	socket, err := ln.SyscallConn()
	if err == nil {
		err = socket.Control(func(fd uintptr) { l.listener = int(fd) })
	}
	l.epoll, _ = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	nodelay := unix.SetsockoptInt(l.listener, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // connections have it from there
	return l, errors.Join(err, nodelay, l.watch(unix.EPOLL_CTL_ADD, l.listener, unix.EPOLLIN|edge))
}

func (l *loop) watch(op, fd int, events uint32) error {
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// round waits once, reads what has come, and sends what that published. Go's scheduler is not told of
// calls that are frequent, for the reason in lab/servers/floor.
func (l *loop) round(ms uintptr) error {
	var events [256]unix.EpollEvent
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&events)), 256, ms, 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return fmt.Errorf("epoll: %w", errno)
	}
	for _, e := range events[:max(int(n), 0)] {
		if int(e.Fd) == l.listener {
			l.crowded = true
		} else if c := l.conns[e.Fd]; c == nil {
			continue // it was dropped in this round
		} else if c.post == nil {
			l.read(c)
		} else if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			l.drop(c)
		} else if len(c.owed) > 0 {
			l.pay(c)
		}
	}
	for _, p := range l.fresh {
		l.deliver(p)
	}
	l.fresh = l.fresh[:0]
	for l.crowded {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if l.crowded = err != unix.EAGAIN; err != nil {
			break // without a descriptor, the next round tries again
		}
		l.conns = append(l.conns, make([]*conn, max(0, fd+1-len(l.conns)))...)
		l.conns[fd] = &conn{fd: fd}
		if l.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
			l.drop(l.conns[fd])
		}
	}
	return nil
}

// drop closes a connection. What was due to a stream and not sent is lost with it.
func (l *loop) drop(c *conn) {
	if c.fd < 0 {
		return
	}
	if p := c.post; p != nil {
		l.Left += int64(p.events + min(len(c.owed), 1))
		at := slices.Index(p.readers, c)
		p.readers = slices.Delete(p.readers, at, at+1)
	}
	_ = unix.Close(c.fd)
	l.conns[c.fd], c.fd = nil, -1
}

// read answers the requests that have come, and keeps the beginning of one that has not come as a whole.
func (l *loop) read(c *conn) {
	kept := copy(l.in, c.rest)
	n, errno := raw(unix.SYS_READ, c.fd, l.in[kept:])
	in, size, refused := l.in[:kept+n], 0, 0
	ending := n == 0 && errno != unix.EAGAIN
	for l.out = l.out[:0]; !ending && c.post == nil; in = in[size:] {
		if size, refused = l.head.Read(in); size == 0 {
			ending = refused != 0
			break
		}
		r := &l.head
		ending = r.Close || r.KeepAlive || r.Body || string(r.Method) == http.MethodHead
		l.do(c, string(r.Method), string(r.Path), ending)
	}
	c.rest = append(c.rest[:0], in...)
	sent := 0
	if len(l.out) > 0 {
		sent, _ = raw(unix.SYS_WRITE, c.fd, l.out)
	}
	if sent < len(l.out) || ending && c.post == nil {
		l.drop(c)
	}
}

func (l *loop) do(c *conn, method, path string, last bool) {
	route, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	at, err := strconv.Atoi(name)
	known := err == nil && at >= 0 && at < len(l.posts)
	switch asked := method + " " + route; {
	case asked == "POST /like/" && known:
		l.like(&l.posts[at], at)
		l.answer("204 No Content", "", last)
	case asked == "GET /events/" && known: // from now on it is not read, and tells when its socket has room again
		l.deliver(&l.posts[at])
		c.post, l.posts[at].readers = &l.posts[at], append(l.posts[at].readers, c)
		_ = l.watch(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLOUT|unix.EPOLLRDHUP|edge) // no memory is needed for that
		l.answer("200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache", "", true)
	case asked == "GET /" && name == "ledger":
		l.answer("200 OK\r\nContent-Type: application/json", l.ledger(), last)
	default:
		l.answer("404 Not Found\r\nContent-Type: text/plain", "there is no such post, or nothing that is asked for so\n", last)
	}
}

// like makes an event's bytes, once for all readers of the post.
func (l *loop) like(p *post, at int) {
	if p.events == 0 {
		l.fresh = append(l.fresh, p)
	}
	p.likes++
	l.Published++
	l.Due += int64(len(p.readers))
	p.text = hub.AppendText(p.text, uint64(p.likes), at, p.likes, time.Now().UnixNano())
	if p.events++; p.events == mostTogether {
		l.deliver(p)
	}
}

func (l *loop) ledger() string {
	readers := int64(0)
	for i := range l.posts {
		readers += int64(len(l.posts[i].readers))
	}
	text, _ := json.Marshal(hub.Told{Ledger: l.Ledger, Likes: l.Published, Shards: []int64{readers}, Resident: hub.Resident()})
	return string(text) + "\n"
}

// answer queues an answer. One without text has no body, or one that ends with the connection.
func (l *loop) answer(head, text string, last bool) {
	l.out = append(append(l.out, "HTTP/1.1 "...), head...)
	if last {
		l.out = append(l.out, "\r\nConnection: close"...)
	}
	if text != "" {
		l.out = fmt.Appendf(l.out, "\r\nContent-Length: %d", len(text))
	}
	l.out = append(append(l.out, "\r\n\r\n"...), text...)
}

// deliver sends the events of a post, to the last reader first, since one that fails is dropped.
func (l *loop) deliver(p *post) {
	text, n := p.text, p.events
	p.text, p.events = text[:0], 0
	for i := len(p.readers) - 1; i >= 0 && n > 0; i-- {
		l.give(p.readers[i], text, n)
	}
}

var end = []byte("\n\n") // of an event

// give writes n events to a reader.
func (l *loop) give(c *conn, text []byte, n int) {
	sent, errno := 0, syscall.Errno(0)
	if len(c.owed) == 0 {
		sent, errno = raw(unix.SYS_WRITE, c.fd, text)
	}
	if errno != 0 && errno != unix.EAGAIN {
		l.Socket += int64(n)
		l.drop(c)
		return
	}
	l.took(c, text, n, sent)
}

// took counts n events of which a socket has taken the first bytes, and keeps the rest of one that was begun.
func (l *loop) took(c *conn, text []byte, n, sent int) {
	whole := bytes.Count(text[:sent], end)
	l.Written += int64(whole)
	begins := 0
	if whole > 0 {
		begins = bytes.LastIndex(text[:sent], end) + len(end)
	}
	if sent > begins { // of the next
		ends := begins + bytes.Index(text[begins:], end) + len(end)
		c.owed = append(c.owed, text[sent:ends]...)
		whole++
	}
	l.Subscriber += int64(n - whole)
}

// pay writes the rest of an event.
func (l *loop) pay(c *conn) {
	n, errno := raw(unix.SYS_WRITE, c.fd, c.owed)
	if errno != 0 && errno != unix.EAGAIN {
		l.Socket++
		c.owed = nil
		l.drop(c)
	} else if c.owed = c.owed[n:]; len(c.owed) == 0 {
		l.Written++
	}
}

// raw makes a call that cannot block, since sockets here do not.
func raw(call uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return max(int(n), 0), errno
}

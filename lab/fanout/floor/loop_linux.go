package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/fanout/hub"
	"github.com/line-rate/line-rate/lab/floor/request"
)

const (
	inputSize    = 16 << 10                   // read at once, and so the longest head
	mostTogether = 64                         // events of a post in one write
	edge         = unix.EPOLLET & (1<<32 - 1) // epoll tells of changes only
	plain        = "\r\nContent-Type: text/plain; charset=utf-8"
)

// A loop is one thread and its connections.
type loop struct {
	hub.Ledger
	room            int // for events that wait for a reader
	epoll, listener int
	crowded         bool    // connections may wait to be accepted
	conns           []*conn // by descriptor
	posts           []post
	fresh           []*post // with events to send
	head            request.Reader
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
	fd      int
	post    *post
	ending  bool   // it has had its last answer
	rest    []byte // a request that has not come as a whole
	waiting []byte // events that the socket has not taken as a whole
	events  int    // in waiting
	sent    int    // how much of the first of them was sent
}

func newLoop(ln *net.TCPListener, o hub.Options) (*loop, error) {
	l := &loop{posts: make([]post, o.Topics), room: o.Subscriber, in: make([]byte, inputSize)}
	l.head.Limits = request.Limits{Head: inputSize, Fields: 100, Body: 1 << 40}
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
// calls that are frequent, for the reason in lab/floor.
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
		} else if len(c.waiting) > 0 {
			l.took(c, l.send(c, c.waiting[c.sent:]))
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
		l.Left += int64(c.events + p.events)
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
	if n == 0 && errno != unix.EAGAIN {
		l.drop(c)
		return
	}
	in := l.in[:kept+n]
	l.out = l.out[:0]
	for more := true; more && !c.ending; {
		size, refused := l.head.Read(in)
		r := &l.head.Request
		c.ending = refused != 0 || size > 0 && (r.Close || r.KeepAlive || r.Body() || r.Method == request.Head)
		if refused != 0 {
			l.answer(c, strconv.Itoa(refused)+" "+http.StatusText(refused)+plain, http.StatusText(refused)+"\n")
		} else if more = size > 0; more {
			method, _, _ := bytes.Cut(in, []byte(" "))
			l.do(c, string(method), string(r.Path))
		}
		in = in[size:]
	}
	if c.ending {
		in = nil // and what still comes is read and dropped: a reset could overtake the answer
	}
	c.rest = append(c.rest[:0], in...)
	if len(l.out) > 0 && l.send(c, l.out) < len(l.out) {
		l.drop(c)
	} else if c.ending && c.post == nil {
		_ = unix.Shutdown(c.fd, unix.SHUT_WR)
	}
}

func (l *loop) do(c *conn, method, path string) {
	route := path[:strings.LastIndexByte(path, '/')+1]
	if route == "/" {
		route = path
	}
	at, err := strconv.Atoi(path[len(route):])
	named := err == nil && at >= 0 && at < len(l.posts)
	switch asked := method + " " + route; {
	case asked == "POST /like/" && named:
		l.like(&l.posts[at], at)
		l.answer(c, "204 No Content", "")
	case asked == "GET /events/" && named:
		c.ending = true
		l.answer(c, "200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache", "")
		l.join(c, &l.posts[at])
	case asked == "GET /live" || asked == "GET /ledger":
		l.tell(c, route)
	default:
		l.answer(c, "404 Not Found"+plain, "there is no such post, or nothing that is asked for so\n")
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

// join makes a stream of a connection. It is read no more, and tells when its socket has room again.
func (l *loop) join(c *conn, p *post) {
	l.deliver(p)
	c.post, p.readers = p, append(p.readers, c)
	if l.watch(unix.EPOLL_CTL_MOD, c.fd, unix.EPOLLOUT|unix.EPOLLRDHUP|edge) != nil {
		l.drop(c)
	}
}

func (l *loop) tell(c *conn, route string) {
	live, now := []int{}, l.Ledger
	now.Shards = []int64{0}
	now.UnderWay = now.Due - now.Subscriber - now.Left - now.Socket - now.Written
	for i, p := range l.posts {
		if len(p.readers) > 0 {
			live = append(live, i)
			now.Shards[0] += int64(len(p.readers))
		}
	}
	text, _ := json.Marshal(live)
	if route == "/ledger" {
		text, _ = json.Marshal(struct {
			hub.Ledger
			Likes int64 `json:"likes"`
		}{now, now.Published})
	}
	l.answer(c, "200 OK\r\nContent-Type: application/json", string(text)+"\n")
}

// answer queues an answer. One without text has no body, or one that ends with the connection.
func (l *loop) answer(c *conn, head, text string) {
	l.out = append(append(l.out, "HTTP/1.1 "...), head...)
	if c.ending {
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
		c, sent := p.readers[i], 0
		c.events += n
		if len(c.waiting) == 0 {
			sent = l.send(c, text)
		}
		if sent == len(text) {
			l.Written += int64(n)
			c.events = 0
		} else {
			c.waiting = append(c.waiting, text...)
			l.took(c, sent)
		}
	}
}

// send has a socket take what it can. If it fails, the events of the connection are lost there.
func (l *loop) send(c *conn, out []byte) int {
	n, errno := raw(unix.SYS_WRITE, c.fd, out)
	if errno != 0 && errno != unix.EAGAIN {
		l.Socket += int64(c.events)
		c.events = 0
		l.drop(c)
	}
	return n
}

// took forgets the events that a stream's socket has taken, and the last ones for which there is no room.
func (l *loop) took(c *conn, n int) {
	end := []byte("\n\n")
	for c.sent += n; c.events > 0; c.events-- {
		size := bytes.Index(c.waiting, end) + len(end)
		if size > c.sent {
			break
		}
		l.Written++
		c.waiting, c.sent = c.waiting[size:], c.sent-size
	}
	for ; c.events > l.room+min(c.sent, 1); c.events-- {
		c.waiting = c.waiting[:bytes.LastIndex(c.waiting[:len(c.waiting)-len(end)], end)+len(end)]
		l.Subscriber++
	}
}

// raw makes a call that cannot block, since sockets here do not.
func raw(call uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return max(int(n), 0), errno
}

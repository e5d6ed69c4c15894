package main

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// A rig is a loop that a test drives by hand, with connections over pairs of unix sockets:
// what it does then depends on neither time nor network.
type rig struct {
	t testing.TB
	*loop
	scratch []byte
}

// still is a source of one product.
type still int

func (s still) Next() int { return int(s) }
func (s still) Fill(dst []int) {
	for i := range dst {
		dst[i] = int(s)
	}
}

func newRig(t testing.TB, change func(*settings)) *rig {
	t.Helper()
	s := defaults
	s.addr = "127.0.0.1:0"
	if change != nil {
		change(&s)
	}
	lns, _ := listen(program.Program{Name: "test", Errs: os.Stderr}, s.addr, 1)
	if lns == nil {
		t.Fatal("no listener")
	}
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(s, lns[0].(*net.TCPListener), pipe[0], pool())
	if err != nil {
		t.Fatal(err)
	}
	l.src = still(7)
	l.look()
	t.Cleanup(func() {
		l.close()
		_, _ = unix.Close(pipe[0]), unix.Close(pipe[1])
	})
	return &rig{t, l, make([]byte, 1<<20)}
}

// A peer is the client's end of a connection.
type peer struct {
	*rig
	c  *conn
	fd int
}

// connect makes a connection of that type. A sequence of packets shows each write.
func (r *rig) connect(socket int) *peer {
	r.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, socket|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &peer{r, &conn{fd: pair[0], since: r.now}, pair[1]}
	for len(r.conns) <= pair[0] {
		r.conns = append(r.conns, nil)
	}
	r.conns[pair[0]] = p.c
	r.open++
	r.t.Cleanup(func() { p.close() })
	return p
}

func (p *peer) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
		p.fd = -1
	}
}

// say sends text, of which the loop reads what it wants to.
func (p *peer) say(text string) {
	p.t.Helper()
	if n, err := unix.Write(p.fd, []byte(text)); err != nil || n < len(text) {
		p.t.Fatalf("%d of %d bytes, %v", n, len(text), err)
	}
	p.turns(unix.EPOLLIN)
}

// turns gives the connection its turns until it has nothing more to do.
func (p *peer) turns(events uint32) {
	if p.c.fd >= 0 {
		p.turn(p.c, events)
	}
	for len(p.again) > 0 {
		c := p.again[0]
		if p.again = p.again[1:]; c.fd >= 0 {
			p.turn(c, unix.EPOLLIN)
		}
	}
}

// hears reads what was written, and whether that is the end.
func (p *peer) hears() (text string, ended bool) {
	p.t.Helper()
	var got []byte
	for {
		n, err := unix.Read(p.fd, p.scratch)
		switch {
		case err == unix.EAGAIN:
			return string(got), false
		case err != nil:
			p.t.Fatal(err)
		case n == 0:
			return string(got), true
		}
		got = append(got, p.scratch[:n]...)
	}
}

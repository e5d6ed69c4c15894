// Package contract is the contract of the lab's routes: what every server that has a
// route must do on it. The tests of each server run it, over every route, so that a new row
// in [catalog.Routes] is tested on every server and stack as soon as it is there.
package contract

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// patience ends a test that would hang; it does not test speed.
const patience = 20 * time.Second

// depth is how many requests are sent in one write.
const depth = 12

// A Server is one that has to keep the contract.
type Server struct {
	Addr    string
	Name    string // in messages
	Answers string // whose answers it gives, as [answer.Of] names them
	Few     bool   // it has only the routes of the null server, on the others its status is 404
	GetOnly bool   // the contract does not say what it does on other methods
	More    int    // bytes that its heads have beyond those of the lab's servers
}

// Contract checks every route of a server of the lab that listens at addr, by its name in
// package answer.
func Contract(t *testing.T, server, addr string) {
	t.Helper()
	null := server == answer.Null
	Server{Addr: addr, Name: server, Answers: server, Few: null, GetOnly: null}.Keeps(t)
}

// Keeps checks every route of the server.
func (s Server) Keeps(t *testing.T) {
	t.Helper()
	for _, r := range catalog.Routes() {
		c := connect(t, s.Addr)
		if s.Few && !r.Null {
			c.ask("GET", r.Path)
			if a := c.next("GET"); a.code != http.StatusNotFound {
				t.Errorf("%s %s: status %d of a route that this server does not have", s.Name, r.Path, a.code)
			}
			continue
		}
		set, err := answer.Of(s.Answers, r.Path)
		if err != nil {
			t.Fatal(err)
		}
		says := func(what, format string, args ...any) {
			t.Helper()
			t.Errorf("%s %s, %s: %s", s.Name, r.Path, what, fmt.Sprintf(format, args...))
		}
		check := func(what string, a got) {
			t.Helper()
			for _, fault := range a.faults(r, set, s.More, what == "HEAD") {
				says(what, "%s", fault)
			}
		}

		// One connection serves request after request.
		for range 3 {
			c.ask("GET", r.Path)
			check("GET", c.next("GET"))
		}
		// A pipeline gets its answers in order, and nothing behind the last.
		for i := range depth {
			c.queue("GET", []string{r.Path, "/simple"}[i%2])
		}
		c.send()
		for i := range depth {
			a := c.next("GET")
			if i%2 == 0 {
				check("pipelined", a)
			} else if string(a.body) != catalog.Simple {
				says("pipelined", "answer %d is not /simple's: %.40q", i+1, a.body)
			}
		}
		if n := c.r.Buffered(); n > 0 {
			says("pipelined", "%d bytes behind the last answer", n)
		}
		// The path is all of the path.
		for _, path := range []string{r.Path + "x", r.Path + "/1"} {
			c.ask("GET", path)
			if a := c.next("GET"); a.code != http.StatusNotFound {
				says("GET "+path, "status %d, want 404", a.code)
			}
		}
		// A request is whole when its end has come, however it was cut.
		for _, cut := range []int{1, len("GET /"), -len("\n"), -len("\n\r\n")} {
			c.queue("GET", r.Path)
			c.queue("GET", r.Path)
			c.sendCut(cut)
			for range 2 {
				check(fmt.Sprintf("cut at %d", cut), c.next("GET"))
			}
		}
		if s.GetOnly {
			continue
		}
		c.ask("HEAD", r.Path)
		check("HEAD", c.next("HEAD"))
		c.ask("GET", r.Path) // a body behind the head would be taken for this answer
		check("GET after HEAD", c.next("GET"))
		c.ask("POST", r.Path)
		if a := c.next("POST"); a.code != http.StatusMethodNotAllowed || a.header.Get("Content-Encoding") != "" {
			says("POST", "status %d, %v; want 405 and no encoding", a.code, a.header)
		}
	}
}

// A got is one answer.
type got struct {
	code, head int // head: its length in bytes
	header     http.Header
	transfer   []string
	closes     bool
	length     int64
	body       []byte
}

// faults lists what is wrong with an answer of 200.
func (a got) faults(r catalog.Route, set *answer.Set, more int, bodiless bool) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if a.code != http.StatusOK || a.closes || len(a.transfer) > 0 {
		say("status %d, closes: %v, transfer encodings %v", a.code, a.closes, a.transfer)
	}
	for name, want := range map[string]string{"Content-Type": catalog.ContentType, "Content-Encoding": r.Encoding,
		"Content-Length": strconv.FormatInt(a.length, 10)} {
		values := []string{want}
		if want == "" {
			values = nil
		}
		if have := a.header.Values(name); !slices.Equal(have, values) {
			say("%s %q, want %q", name, have, values)
		}
	}
	if want := r.Head(int(a.length)) + more; a.head != want {
		say("a head of %d bytes, want %d: %v", a.head, want, a.header)
	}
	if err := set.Length(int(a.length)); err != nil {
		say("%v", err)
	}
	if bodiless {
		return wrong
	}
	if int64(len(a.body)) != a.length {
		say("%d bytes of body, its length is %d", len(a.body), a.length)
	}
	if err := set.Fault(a.body); err != nil {
		say("%v", err)
	}
	return wrong
}

// A client is one connection.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	out  bytes.Buffer
}

func connect(t *testing.T, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { conn.Close() })
	return &client{t: t, conn: conn, r: bufio.NewReaderSize(conn, 1<<20)}
}

func (c *client) queue(method, path string) {
	fmt.Fprintf(&c.out, "%s %s HTTP/1.1\r\nHost: x\r\n", method, path)
	if method == "POST" {
		c.out.WriteString("Content-Length: 0\r\n")
	}
	c.out.WriteString("\r\n")
}

func (c *client) send() {
	c.t.Helper()
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		c.t.Fatal(err)
	}
	c.out.Reset()
}

// sendCut sends the queue in two writes. The second begins at that byte, counted from the end if it
// is negative. The pause makes it likely that each is read on its own.
func (c *client) sendCut(at int) {
	c.t.Helper()
	all := bytes.Clone(c.out.Bytes())
	if at < 0 {
		at += len(all)
	}
	c.out.Truncate(at)
	c.send()
	time.Sleep(2 * time.Millisecond)
	c.out.Write(all[at:])
	c.send()
}

func (c *client) ask(method, path string) {
	c.t.Helper()
	c.queue(method, path)
	c.send()
}

// next reads an answer to a request of that method.
func (c *client) next(method string) got {
	c.t.Helper()
	var head []byte
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			c.t.Fatalf("%s: no answer: %v, after %q", method, err, head)
		}
		head = append(head, line...)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	a := got{code: resp.StatusCode, head: len(head), header: resp.Header, transfer: resp.TransferEncoding,
		closes: resp.Close, length: resp.ContentLength}
	if method != "HEAD" {
		a.body = make([]byte, max(resp.ContentLength, 0))
		if _, err := io.ReadFull(c.r, a.body); err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
	}
	return a
}

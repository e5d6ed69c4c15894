// Package probe asks a server on the client's side of the wire, beside a load that looks at
// no answer itself: it compares what comes with what package answer knows, and the answers
// of servers that nobody knows with each other.
package probe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A Fault is what is wrong with an answer, with the gate that it closes.
type Fault struct {
	Gate   string `json:"gate"`
	Detail string `json:"detail"`
}

func wrong(format string, args ...any) *Fault {
	return &Fault{gate.WrongAnswer, fmt.Sprintf(format, args...)}
}

// A client fetches answers and compares them in full.
type client struct {
	addr    string
	request string
	set     *answer.Set // nil if the lab does not know the answers
	unknown error       // why set is nil
	timeout time.Duration
	head    int // of the first answer, as in answer.Traffic; 0 before it
}

// newClient makes a client for a URL of the form http://HOST:PORT/ROUTE, as a
// load generator takes it.
func newClient(server, rawURL string) (*client, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" || u.Port() == "" {
		return nil, fmt.Errorf("%q is not http://HOST:PORT/ROUTE", rawURL)
	}
	c := &client{addr: u.Host, timeout: patience,
		request: "GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\nConnection: keep-alive\r\n\r\n"}
	c.set, c.unknown = answer.Of(server, u.RequestURI())
	return c, nil
}

// fetch makes n requests one after the other on a new connection and stops at
// the first wrong answer. It returns how many were right.
func (c *client) fetch(ctx context.Context, n int) (right int, fault *Fault) {
	conn, err := (&net.Dialer{Timeout: c.timeout}).DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return 0, c.broken("no connection", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	r := bufio.NewReader(conn)
	for ; right < n; right++ {
		if fault := c.one(conn, r); fault != nil {
			return right, fault
		}
	}
	c.leave(conn)
	return right, nil
}

// leave closes a connection and waits until the server has closed it too.
// Otherwise it would be counted among the load's connections.
func (c *client) leave(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = conn.Read(make([]byte, 1))
	}
}

// broken is the fault of a broken connection. It tells a timeout from a
// connection that ended.
func (c *client) broken(what string, err error) *Fault {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return &Fault{gate.Timeouts, fmt.Sprintf("%s within %v", what, c.timeout)}
	}
	return &Fault{gate.Errors, fmt.Sprintf("%s: %v", what, err)}
}

// mostHead limits the length of a head in bytes. Fiber's has about a hundred.
const mostHead = 16 << 10

// one makes one request and compares its answer.
func (c *client) one(conn net.Conn, r *bufio.Reader) *Fault {
	_ = conn.SetDeadline(time.Now().Add(c.timeout)) // fails only on a closed connection, where the next call fails too
	if _, err := io.WriteString(conn, c.request); err != nil {
		return c.broken("the request was not taken", err)
	}
	head, err := readHead(r)
	switch {
	case err != nil && len(head) == 0:
		return c.broken("no answer", err)
	case err != nil:
		return wrong("a head that ends after %d bytes (%v)", len(head), err)
	}
	a, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil {
		return wrong("a head that is none: %v", err)
	}
	types, encoding := a.Header.Values("Content-Type"), strings.Join(a.Header.Values("Content-Encoding"), ", ")
	switch {
	case a.StatusCode < 200 || a.StatusCode > 299: // it says more than that the body differs
		return &Fault{gate.Non2xx, fmt.Sprintf("status %d", a.StatusCode)}
	case c.set == nil:
		return wrong("%v", c.unknown)
	case a.StatusCode != http.StatusOK:
		return wrong("status %d, the route's is 200", a.StatusCode)
	case len(types) != 1 || types[0] != catalog.ContentType:
		return wrong("Content-Type %.60q, the route's is %q", strings.Join(types, ", "), catalog.ContentType)
	case encoding != c.set.Encoding:
		return wrong("Content-Encoding %.60q, the route's is %q", encoding, c.set.Encoding)
	case a.ContentLength < 0:
		return wrong("a head without Content-Length")
	case a.Close:
		return wrong("a head that ends the connection")
	}
	body := make([]byte, min(a.ContentLength, int64(c.set.Most())+1))
	if n, err := io.ReadFull(r, body); err != nil {
		return wrong("%d bytes of body (%v), its Content-Length is %d", n, c.broken("no more", err).Detail, a.ContentLength)
	}
	if int64(len(body)) < a.ContentLength {
		return wrong("%v", c.set.Length(int(a.ContentLength)))
	}
	if err := c.set.Body(body); err != nil {
		return wrong("%v", err)
	}
	if n := r.Buffered(); n > 0 {
		return wrong("%d bytes behind the body", n)
	}
	length := len(head) - len(strconv.Itoa(len(body)))
	if c.head == 0 {
		c.head = length
	}
	if length != c.head {
		return wrong("a head of %d bytes without the digits of its Content-Length, the first had %d", length, c.head)
	}
	return nil
}

// readHead reads up to and including the empty line.
func readHead(r *bufio.Reader) (head []byte, err error) {
	for len(head) < mostHead {
		line, err := r.ReadSlice('\n')
		head = append(head, line...)
		if err != nil {
			return head, err
		}
		if len(line) <= len("\r\n") && len(bytes.TrimSpace(line)) == 0 {
			return head, nil
		}
	}
	return head, errors.New("it has no end")
}

// Package request reads heads of HTTP/1.1 requests as a server that takes no bodies needs them: what is
// asked for, where the head ends, and whether the connection lasts. It follows RFC 9110 and 9112.
//
// Where the RFCs let a server repair a request or refuse it, this package refuses: two parties that repair
// differently can be made to see different requests in the same bytes. So each line ends with CR LF, and a
// length comes once and not beside a transfer coding.
//
// The result depends only on the bytes and not on the packets that carry them. Only a path with
// escapes, or that an absolute target leaves out, needs an allocation.
//
// Limits: it reads no bodies, so a connection has to end with the answer to a request that has one. Fields
// other than those that frame a message are checked and ignored, as are a scheme, a host and a query: the
// server has one set of routes.
package request

import (
	"bytes"
	"net/http"
	"net/url"
)

// Longest is the longest head that is read, in bytes.
const Longest = 16 << 10

// A Request is a head, without its fields. It is valid until the memory that it was read from changes.
type Request struct {
	Method []byte
	// Path is the path of the target, its escapes decoded; "*" for the server as a whole.
	Path []byte
	// Body says that a body follows the head.
	Body bool
	// Close says that the connection ends with the answer, KeepAlive that the answer has to say that it does
	// not, which it must to a client of HTTP/1.0.
	Close, KeepAlive bool

	old            bool // HTTP/1.0
	coded          bool // has a transfer coding
	hosts, lengths int
}

// Read reads the head at the beginning of in, and an empty line before it. It returns its length, which is 0
// if its end is not there yet, or else the status with which the request is refused. After a refusal, where
// the next request begins is not known.
func (r *Request) Read(in []byte) (used, refused int) {
	*r = Request{}
	in = in[:min(len(in), Longest)]
	if bytes.HasPrefix(in, []byte("\r\n")) {
		used = 2
	}
	for first := true; ; first = false {
		i := bytes.IndexByte(in[used:], '\n')
		switch {
		case i < 0 && len(in) == Longest:
			return 0, http.StatusRequestHeaderFieldsTooLarge
		case i < 0:
			return 0, 0
		case i == 0 || in[used+i-1] != '\r':
			return 0, http.StatusBadRequest
		}
		line := in[used : used+i-1]
		used += i + 1
		switch {
		case first:
			refused = r.first(line)
		case len(line) == 0:
			if !r.sum() {
				return 0, http.StatusBadRequest
			}
			return used, 0
		case !r.field(line):
			refused = http.StatusBadRequest
		}
		if refused != 0 {
			return 0, refused
		}
	}
}

// first reads the first line: method, target and version, with a space between them. It takes a later minor
// version for 1.1, as RFC 9110 (2.5) wants it.
func (r *Request) first(line []byte) (refused int) {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, version, _ := bytes.Cut(rest, []byte(" "))
	name, numbers, _ := bytes.Cut(version, []byte("/"))
	if string(name) != "HTTP" || len(numbers) != len("1.1") || !digit(numbers[0]) || numbers[1] != '.' ||
		!digit(numbers[2]) || !all(method, inToken) || !all(target, inTarget) {
		return http.StatusBadRequest
	}
	if numbers[0] != '1' {
		return http.StatusHTTPVersionNotSupported
	}
	r.Method, r.old = method, numbers[2] == '0'
	if !r.target(target) {
		return http.StatusBadRequest
	}
	return 0
}

// target reads a path, "*", or an absolute target, as proxies get it; every server must take it. A wrong
// escape in a query has no effect and is let pass.
func (r *Request) target(t []byte) bool {
	t, _, _ = bytes.Cut(t, []byte("?"))
	if scheme, rest, ok := bytes.Cut(t, []byte("://")); ok && (same(scheme, "http") || same(scheme, "https")) {
		host, _, _ := bytes.Cut(rest, []byte("/"))
		if len(host) == 0 || !all(host, inHost) {
			return false
		}
		if t = rest[len(host):]; len(t) == 0 {
			t = []byte("/")
		}
	}
	r.Path = t
	if string(t) != "*" && !bytes.HasPrefix(t, []byte("/")) {
		return false
	}
	if bytes.IndexByte(t, '%') >= 0 {
		path, err := url.PathUnescape(string(t))
		r.Path = []byte(path)
		return err == nil
	}
	return true
}

// field reads one line. A folded line begins with a space, which is in no name.
func (r *Request) field(line []byte) bool {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !all(name, inToken) || len(value) > 0 && !all(value, inValue) {
		return false
	}
	value = bytes.Trim(value, " \t")
	switch {
	case same(name, "host"):
		r.hosts++
		return len(value) == 0 || all(value, inHost)
	case same(name, "connection"):
		for more := true; more; {
			var option []byte
			option, value, more = bytes.Cut(value, []byte(","))
			option = bytes.Trim(option, " \t")
			r.Close = r.Close || same(option, "close")
			r.KeepAlive = r.KeepAlive || same(option, "keep-alive")
		}
	case same(name, "content-length"):
		// RFC 9110 (8.6) lets a server take equal lengths, in several lines or in a list, or refuse them.
		r.lengths++
		for _, b := range value {
			if !digit(b) {
				return false
			}
			r.Body = r.Body || b != '0'
		}
		return len(value) > 0
	case same(name, "transfer-encoding"):
		r.coded, r.Body = true, true
	}
	return true
}

// sum decides what the fields mean together, and whether that can be.
func (r *Request) sum() bool {
	r.KeepAlive = r.old && r.KeepAlive && !r.Close
	r.Close = r.Close || r.old && !r.KeepAlive
	return r.hosts <= 1 && (r.old || r.hosts == 1) && r.lengths <= 1 &&
		(!r.coded || !r.old && r.lengths == 0)
}

// The classes of bytes in a head.
const (
	inToken  = 1 << iota // names of methods and fields
	inTarget             // what a target may hold; of what RFC 3986 leaves out, only what could confuse: controls, spaces, "#" and bytes above ASCII
	inValue              // a field's value: no controls but the tab
	inHost               // an authority without user information
)

var class = func() (c [256]uint8) {
	for b := range 256 {
		if letter := b | 0x20; 'a' <= letter && letter <= 'z' || '0' <= b && b <= '9' {
			c[b] = inToken | inHost
		}
		if b > ' ' && b < 0x7f && b != '#' {
			c[b] |= inTarget
		}
		if b == '\t' || b >= ' ' && b != 0x7f {
			c[b] |= inValue
		}
	}
	for _, b := range []byte("!#$%&'*+-.^_`|~") {
		c[b] |= inToken
	}
	for _, b := range []byte("-._~!$&'()*+,;=%:[]") {
		c[b] |= inHost
	}
	return c
}()

// all tells whether text has bytes, and each is of a class.
func all(text []byte, of uint8) bool {
	for _, b := range text {
		if class[b]&of == 0 {
			return false
		}
	}
	return len(text) > 0
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// same compares a token with a word in lower case, without regard to case.
func same(token []byte, word string) bool {
	if len(token) != len(word) {
		return false
	}
	for i, b := range token {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if b != word[i] {
			return false
		}
	}
	return true
}

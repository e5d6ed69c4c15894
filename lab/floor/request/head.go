package request

import (
	"bytes"
	"net/http"
)

// A Reader reads heads. It has the memory for paths with escapes, so one serves all the
// connections of a thread, one after the other.
type Reader struct {
	Limits Limits
	Request
	fields fields
	path   []byte
}

// fields is what the fields of a head say about framing.
type fields struct {
	minor                    byte // of HTTP/1.x
	hosts                    int
	lengths                  int
	length                   int64
	coded, chunked, uncoded  bool // there are transfer codings; the last is chunked; others stand before it
	badCoding, close, keeps  bool
	expects, expectsSomeElse bool
}

// Read reads the head at the beginning of in. It returns its length, which is 0 if its end
// is not there yet, or else the status with which the request is refused. After a refusal,
// where the next request begins is not known.
func (r *Reader) Read(in []byte) (used, refused int) {
	window := in[:min(len(in), r.Limits.Head)]
	first, at, ok := line(window)
	if at == 0 {
		if len(window) == r.Limits.Head {
			return 0, http.StatusRequestURITooLong
		}
		return 0, 0
	}
	if !ok {
		return 0, http.StatusBadRequest
	}
	r.Request, r.fields = Request{}, fields{}
	if refused = r.first(first); refused != 0 {
		return 0, refused
	}
	for n := 0; ; n++ {
		field, size, ok := line(window[at:])
		if size == 0 {
			if len(window) == r.Limits.Head {
				return 0, http.StatusRequestHeaderFieldsTooLarge
			}
			return 0, 0
		}
		if !ok {
			return 0, http.StatusBadRequest
		}
		at += size
		if len(field) == 0 {
			if refused = r.sum(); refused != 0 {
				return 0, refused
			}
			return at, 0
		}
		if n == r.Limits.Fields {
			return 0, http.StatusRequestHeaderFieldsTooLarge
		}
		if !r.field(field) {
			return 0, http.StatusBadRequest
		}
	}
}

// line cuts the first line off, without its end. The size is 0 if it has no end yet; ok is
// false if that is a bare LF.
func line(in []byte) (text []byte, size int, ok bool) {
	i := bytes.IndexByte(in, '\n')
	if i < 0 {
		return nil, 0, false
	}
	if i == 0 || in[i-1] != '\r' {
		return nil, i + 1, false
	}
	return in[:i-1], i + 1, true
}

// first reads the first line: method, target and version, with a space between them.
func (r *Reader) first(text []byte) (refused int) {
	i := bytes.IndexByte(text, ' ')
	if i <= 0 || !all(text[:i], inToken) {
		return http.StatusBadRequest
	}
	r.Method = method(text[:i])
	text = text[i+1:]
	i = bytes.IndexByte(text, ' ')
	if i <= 0 || !all(text[:i], inTarget) {
		return http.StatusBadRequest
	}
	target, version := text[:i], text[i+1:]
	if refused = r.version(version); refused != 0 {
		return refused
	}
	if !r.target(target) {
		return http.StatusBadRequest
	}
	return 0
}

func method(name []byte) Method {
	switch string(name) {
	case "GET":
		return Get
	case "HEAD":
		return Head
	case "OPTIONS":
		return Options
	case "CONNECT":
		return Connect
	case "POST", "PUT", "DELETE", "TRACE", "PATCH":
		return Other
	}
	return Unknown
}

// version takes a later minor version for 1.1, as RFC 9110 (2.5) wants it.
func (r *Reader) version(v []byte) (refused int) {
	const name = "HTTP/"
	digit := func(b byte) bool { return '0' <= b && b <= '9' }
	if len(v) != len("HTTP/1.1") || string(v[:len(name)]) != name || !digit(v[5]) || v[6] != '.' || !digit(v[7]) {
		return http.StatusBadRequest
	}
	if v[5] != '1' {
		return http.StatusHTTPVersionNotSupported
	}
	r.fields.minor = min(v[7]-'0', 1)
	return 0
}

var root, server = []byte("/"), []byte("*")

// target reads a target in each of its four forms.
func (r *Reader) target(t []byte) bool {
	switch {
	case r.Method == Connect:
		return all(t, inHost) // host and port
	case t[0] == '/':
		return r.decode(t)
	case t[0] == '*':
		r.Path = t
		return len(t) == 1 && r.Method == Options
	}
	// An absolute one, as proxies get it; every server must take it.
	i := bytes.IndexByte(t, ':')
	if i < 0 || !same(t[:i], "http") && !same(t[:i], "https") || !bytes.HasPrefix(t[i+1:], []byte("//")) {
		return false
	}
	t = t[i+3:]
	end := bytes.IndexAny(t, "/?")
	if end < 0 {
		end = len(t)
	}
	if end == 0 || !all(t[:end], inHost) {
		return false
	}
	if t = t[end:]; len(t) > 0 && t[0] == '/' {
		return r.decode(t)
	}
	r.Path = root
	if r.Method == Options && len(t) == 0 {
		r.Path = server // RFC 9112, 3.2.4
	}
	return true
}

// decode takes the path of a target without its query. A wrong escape in a query has no
// effect and is let pass.
func (r *Reader) decode(t []byte) bool {
	if i := bytes.IndexByte(t, '?'); i >= 0 {
		t = t[:i]
	}
	r.Path = t
	i := bytes.IndexByte(t, '%')
	if i < 0 {
		return true
	}
	r.path = append(r.path[:0], t[:i]...)
	for ; i < len(t); i++ {
		b := t[i]
		if b == '%' {
			if i+2 >= len(t) || hex(t[i+1]) < 0 || hex(t[i+2]) < 0 {
				return false
			}
			b = byte(hex(t[i+1])<<4 | hex(t[i+2]))
			i += 2
		}
		r.path = append(r.path, b)
	}
	r.Path = r.path
	return true
}

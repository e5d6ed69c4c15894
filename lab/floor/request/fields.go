package request

import (
	"bytes"
	"math"
	"net/http"
)

// field reads one line. A folded line begins with a space, which is in no name.
func (r *Reader) field(text []byte) bool {
	i := 0
	for i < len(text) && class[text[i]]&inToken != 0 {
		i++
	}
	if i == 0 || i == len(text) || text[i] != ':' {
		return false
	}
	name, value := text[:i], text[i+1:]
	if !all(value, inValue) {
		return false
	}
	f := &r.fields
	switch len(name) {
	case len("host"):
		if same(name, "host") {
			f.hosts++
			return all(trim(value), inHost)
		}
	case len("expect"):
		if same(name, "expect") {
			f.expect(trim(value))
		}
	case len("connection"):
		if same(name, "connection") {
			f.connection(value)
		}
	case len("content-length"):
		if same(name, "content-length") {
			return f.contentLength(trim(value))
		}
	case len("transfer-encoding"):
		if same(name, "transfer-encoding") {
			f.transferEncoding(value)
		}
	}
	return true
}

// next cuts the first element off a list.
func next(list []byte) (element, rest []byte, more bool) {
	element, rest, more = bytes.Cut(list, []byte(","))
	return trim(element), rest, more
}

func (f *fields) connection(list []byte) {
	for more := true; more; {
		var option []byte
		option, list, more = next(list)
		f.close = f.close || same(option, "close")
		f.keeps = f.keeps || same(option, "keep-alive")
	}
}

func (f *fields) expect(value []byte) {
	if same(value, "100-continue") {
		f.expects = true
	} else {
		f.expectsSomeElse = true
	}
}

// contentLength takes digits only. RFC 9110 (8.6) lets a server take equal lengths, in
// several lines or in a list, for one, or refuse them.
func (f *fields) contentLength(value []byte) bool {
	if f.lengths++; f.lengths > 1 || len(value) == 0 {
		return false
	}
	for _, b := range value {
		if b < '0' || b > '9' {
			return false
		}
		if f.length > (math.MaxInt64-9)/10 {
			f.length = math.MaxInt64 - 9 // above any limit, and stays there
			continue
		}
		f.length = f.length*10 + int64(b-'0')
	}
	return true
}

// transferEncoding reads a part of the list of codings, which may be spread over lines.
func (f *fields) transferEncoding(list []byte) {
	f.coded = true
	for more := true; more; {
		var coding []byte
		coding, list, more = next(list)
		if len(coding) == 0 {
			continue
		}
		if f.chunked {
			f.badCoding = true // chunked is applied once, and last
		}
		if f.chunked = same(coding, "chunked"); !f.chunked {
			f.uncoded = true
		}
	}
}

// sum decides what the fields mean together.
func (r *Reader) sum() (refused int) {
	f := &r.fields
	if f.hosts > 1 || f.minor == 1 && f.hosts == 0 {
		return http.StatusBadRequest
	}
	if f.coded {
		switch {
		case f.minor == 0, f.lengths > 0, f.badCoding, !f.chunked:
			return http.StatusBadRequest
		case f.uncoded:
			return http.StatusNotImplemented
		}
		r.Chunked = true
	}
	if f.length > r.Limits.Body {
		return http.StatusRequestEntityTooLarge
	}
	r.Length = f.length
	if f.minor == 1 {
		if f.expectsSomeElse {
			return http.StatusExpectationFailed
		}
		r.Continue = f.expects && r.Body()
		r.Close = f.close
		return 0
	}
	r.KeepAlive = f.keeps && !f.close
	r.Close = !r.KeepAlive
	return 0
}

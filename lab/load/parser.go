package load

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	mostHead = 32 << 10 // of one head, with its interim ones and its trailers
	// MaxKept is the longest body in bytes that is kept for comparing; of a longer one only the
	// length is compared.
	MaxKept = 4 << 20
	// untilClosed is the length of a body that ends with its connection.
	untilClosed = 1<<62 - 1
)

// What a parser waits for next.
const (
	ofHead = iota
	ofBody
	ofChunkSize
	ofChunk
	ofChunkEnd
	ofTrailer
)

// A framing is what a head says about the answer's end.
type framing struct {
	status   int
	length   int64 // of the body; -1: not said
	chunked  bool
	closes   bool  // the server announces the end of the connection
	bodiless bool  // it has no body, whatever its head says
	amiss    error // what is wrong with its headers, by the request's check
}

// A headCache holds the last whole head of the answers to one request, and what follows from
// it. Most heads are the same to the byte, and are then not parsed again.
type headCache struct {
	of   *Request // nil: a GET
	text []byte
	said framing
}

// A parser reads the answers of one connection, however the stream is cut. It copies only what a
// read cuts off: a head, or a body to compare.
type parser struct {
	framing // of the answer that is being read
	state   uint8
	keep    bool // the caller wants the body, and it is not too long
	left    int64
	got     int64            // of the body
	heads   int              // bytes of heads, interim ones and trailers too
	line    []byte           // the beginning of a head, or of a line between chunks
	hold    []byte           // the beginning of a body
	sink    func([]byte) int // gets the body as it comes, and counts what ends in it; nil: nobody does
	events  int              // that the sink has counted
	answer  Answer           // the one that is complete; its size is that of what has come so far
}

func (p *parser) reset() { *p = parser{hold: p.hold[:0], line: p.line[:0], sink: p.sink} }

// between says that no part of the next answer has come.
func (p *parser) between() bool { return p.state == ofHead && p.answer.Size == 0 }

var (
	errLongHead = fmt.Errorf("a head of more than %d bytes", mostHead)
	errChunk    = errors.New("a chunk whose size or end is none")
)

// next reads on. It returns how many bytes of in it used and whether an answer is complete. That answer
// stays until the next call, and the caller that takes it sets its size to 0. The flag want says whether
// to keep the body of an answer that begins here.
func (p *parser) next(in []byte, cache *headCache, want bool) (used int, done bool, err error) {
	for used < len(in) && !done && err == nil {
		rest, n := in[used:], 0
		switch p.state {
		case ofHead:
			if p.answer.Size == 0 {
				p.got, p.heads, p.answer.Body, p.keep = 0, 0, nil, want
			}
			n, err = p.head(rest, cache)
			done = err == nil && p.state == ofBody && p.left == 0
		case ofBody:
			n = p.take(rest)
			done = p.left == 0
		case ofChunk:
			if n = p.take(rest); p.left == 0 {
				p.state = ofChunkEnd
			}
		default:
			n, done, err = p.betweenChunks(rest)
		}
		used += n
		p.answer.Size += int64(n)
	}
	if done {
		p.finish()
	}
	return used, done, err
}

// closed tells whether the answer is complete because its connection was closed.
func (p *parser) closed() bool {
	if p.state != ofBody || p.length != untilClosed {
		return false
	}
	p.length = p.got
	p.finish()
	return true
}

// finish completes the answer, and prepares the parser for the next one.
func (p *parser) finish() {
	a := &p.answer
	if p.keep && a.Body == nil {
		a.Body = append(p.hold, 0)[:len(p.hold)] // not nil, though it may be empty
	}
	a.Status, a.Length, a.Amiss = p.status, p.length, p.amiss
	p.hold = p.hold[:0]
	p.state = ofHead
}

// head reads a head, or the part that is there.
func (p *parser) head(in []byte, cache *headCache) (used int, err error) {
	had, head := len(p.line), in
	if n := len(cache.text); had == 0 && n > 0 && len(in) >= n && string(in[:n]) == string(cache.text) {
		return n, p.open(cache.said, n)
	}
	if had > 0 {
		p.line = append(p.line, in[:min(len(in), mostHead)]...)
		head = p.line
	}
	// What cannot be an answer is refused at once, so that the client does not wait for the end of its head.
	const begin = "HTTP/1."
	if n := min(len(head), len(begin)); string(head[:n]) != begin[:n] {
		return 0, fmt.Errorf("no HTTP/1 answer: it begins with %.40q", head[:min(len(head), 40)])
	}
	end := endOfHead(head, max(0, had-len("\n\r")))
	switch {
	case end > 0:
		p.line = p.line[:0]
		return end - had, p.read(head[:end], cache)
	case len(head) > mostHead:
		return 0, errLongHead
	case had == 0:
		p.line = append(p.line, in...)
	}
	return len(in), nil
}

// endOfHead is what a whole head takes, with its empty line; 0: it is not whole. There is no end
// before from.
func endOfHead(in []byte, from int) int {
	for {
		i := bytes.IndexByte(in[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		switch rest := in[from:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return from + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return from + 2
		}
	}
}

// read reads a whole head.
func (p *parser) read(head []byte, cache *headCache) error {
	f, err := parseHead(head)
	if err != nil {
		return err
	}
	if f.status >= 200 {
		f.bodiless = f.status == 204 || f.status == 304
		if r := cache.of; r != nil {
			f.bodiless = f.bodiless || r.Method == "HEAD"
			f.amiss = r.Check.HeadFault(func(name string) []string { return values(head, name) })
		}
		if f.length < 0 && !f.chunked && !f.bodiless { // RFC 9112, 6.3
			f.length, f.closes = untilClosed, true
		}
		cache.text, cache.said = append(cache.text[:0], head...), f
	}
	return p.open(f, len(head))
}

// open goes on to the body that a head announced.
func (p *parser) open(f framing, size int) error {
	if p.heads += size; p.heads > mostHead {
		return errLongHead
	}
	p.framing = f
	switch {
	case f.status == 101:
		return errors.New("status 101, and nobody asked for another protocol")
	case f.status < 200: // an interim answer; the final one follows
	case f.bodiless:
		p.length, p.left, p.state = 0, 0, ofBody
	case f.chunked:
		p.state = ofChunkSize
	default:
		p.left, p.state = f.length, ofBody
		p.keep = p.keep && (f.length <= MaxKept || f.length == untilClosed)
	}
	return nil
}

// take reads part of the body, or of a chunk. A body that is in the buffer as a whole is
// not copied.
func (p *parser) take(in []byte) int {
	n := int(min(p.left, int64(len(in))))
	switch {
	case !p.keep:
	case p.state == ofBody && p.got == 0 && int64(n) == p.left:
		p.answer.Body = in[:n]
	case len(p.hold)+n > MaxKept:
		p.keep, p.hold = false, p.hold[:0]
	default:
		p.hold = append(p.hold, in[:n]...)
	}
	if p.sink != nil {
		p.events += p.sink(in[:n])
	}
	p.left -= int64(n)
	p.got += int64(n)
	return n
}

// betweenChunks reads a line between chunks, or the part that is there; the last one is empty,
// behind the trailers.
func (p *parser) betweenChunks(in []byte) (used int, last bool, err error) {
	line, whole := in, false
	if end := bytes.IndexByte(in, '\n'); end >= 0 {
		line, whole = in[:end+1], true
	}
	used = len(line)
	if p.heads += used; p.heads > mostHead {
		return used, false, errLongHead
	}
	if len(p.line) > 0 || !whole {
		p.line = append(p.line, line...)
		line = p.line
	}
	if !whole {
		return used, false, nil
	}
	p.line = p.line[:0]
	line = bytes.TrimRight(line, " \t\r\n")
	switch p.state {
	case ofTrailer:
		p.length = p.got
		return used, len(line) == 0, nil
	case ofChunkEnd:
		if p.state = ofChunkSize; len(line) > 0 {
			err = errChunk
		}
		return used, false, err
	}
	size, _, _ := bytes.Cut(line, []byte{';'})
	n, err := strconv.ParseUint(string(bytes.TrimRight(size, " \t")), 16, 62)
	if err != nil {
		return used, false, errChunk
	}
	if p.left, p.state = int64(n), ofTrailer; n > 0 {
		p.heads, p.state = 0, ofChunk // the lines between long bodies' chunks are many
	}
	return used, false, nil
}

// parseHead reads what a whole head says about the answer's end.
func parseHead(head []byte) (framing, error) {
	f := framing{length: -1}
	const statusEnd = len("HTTP/1.1 200")
	if len(head) > statusEnd && head[8] == ' ' && head[statusEnd] <= ' ' {
		f.status, _ = strconv.Atoi(string(head[9:statusEnd]))
	}
	if f.status < 100 || f.status > 599 {
		return f, fmt.Errorf("a status line that is none: %.40q", head[:min(len(head), 40)])
	}
	f.closes = head[len("HTTP/1.")] == '0'
	for line := range bytes.Lines(head[bytes.IndexByte(head, '\n')+1:]) {
		if v, ok := value(line, "content-length"); ok {
			n, err := strconv.ParseUint(string(v), 10, 62)
			if err != nil || f.length >= 0 && f.length != int64(n) {
				return f, fmt.Errorf("Content-Length %.40q, which is none or a second one", v)
			}
			f.length = int64(n)
		} else if v, ok := value(line, "transfer-encoding"); ok {
			if f.chunked = bytes.EqualFold(v, []byte("chunked")); !f.chunked {
				return f, fmt.Errorf("Transfer-Encoding %.40q; only chunked can be read", v)
			}
		} else if v, ok := value(line, "connection"); ok {
			v = bytes.ToLower(v)
			f.closes = bytes.Contains(v, []byte("close")) || f.closes && !bytes.Contains(v, []byte("keep-alive"))
		}
	}
	if f.chunked {
		f.length = -1 // RFC 9112, 6.3: it overrides Content-Length
	}
	return f, nil
}

// values are those of all lines of a head with that name.
func values(head []byte, name string) (all []string) {
	name = strings.ToLower(name)
	for line := range bytes.Lines(head) {
		if v, ok := value(line, name); ok {
			all = append(all, string(v))
		}
	}
	return all
}

// value returns the value of a header line with that name, in upper or lower case.
func value(line []byte, name string) ([]byte, bool) {
	if len(line) <= len(name) || line[len(name)] != ':' {
		return nil, false
	}
	for i := range len(name) {
		if b := line[i]; b != name[i] && b|0x20 != name[i] {
			return nil, false
		}
	}
	return bytes.Trim(line[len(name)+1:], " \t\r\n"), true
}

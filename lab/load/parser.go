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
	status  int
	length  int64 // of the body; -1: not said
	chunked bool
	closes  bool // the server announces the end of the connection

	bodiless   bool // it has no body, whatever its head says
	unexpected bool // its status is none of those expected
	amiss      bool // a header is not as the request's check has it
}

// A headCache holds the last whole head of the answers to one request, and what follows from
// it. Most heads are the same to the byte, and are then not parsed again.
type headCache struct {
	text []byte
	said framing

	of  *Request // nil: a GET
	why error    // of the last head that was amiss
}

// judge adds what the request says to what a final head says.
func (c *headCache) judge(f *framing, head []byte) {
	f.bodiless = f.status == 204 || f.status == 304
	if c.of == nil {
		f.unexpected = f.status > 299
		return
	}
	f.bodiless = f.bodiless || c.of.Method == "HEAD"
	f.unexpected = !c.of.Expects(f.status)
	if c.of.Check == nil || len(c.of.Check.Headers) == 0 {
		return
	}
	if err := c.of.Check.HeadFault(func(name string) []string { return values(head, name) }); err != nil {
		f.amiss, c.why = true, err
	}
}

// A parser reads the answers of one connection, however the stream is cut. It copies only
// what is cut off: a head, or a body that is to be compared.
type parser struct {
	state   uint8
	keep    bool // the body is wanted, and is not too long
	framing      // of the answer that is being read
	left    int64
	size    int64  // of the answer on the wire, so far
	got     int64  // of the body
	heads   int    // bytes of heads, interim ones and trailers too
	line    []byte // the beginning of one between chunks
	hold    []byte
	sink    func([]byte) // gets the body as it comes; nil: nobody does
	body    []byte       // of an answer that is complete, if it was kept
}

func (p *parser) reset() { *p = parser{hold: p.hold[:0], line: p.line[:0], sink: p.sink} }

// between says that no part of the next answer has come.
func (p *parser) between() bool { return p.state == ofHead && p.size == 0 && len(p.hold) == 0 }

var (
	errLongHead = fmt.Errorf("a head of more than %d bytes", mostHead)
	errChunk    = errors.New("a chunk whose size or end is none")
)

// next reads on. It returns how many bytes of in it used and whether an answer is
// complete; that answer stays in the parser until next is called again. want says whether
// to keep the body of an answer that begins here.
func (p *parser) next(in []byte, cache *headCache, want bool) (used int, done bool, err error) {
	for used < len(in) {
		var n int
		switch p.state {
		case ofHead:
			if p.size == 0 && len(p.hold) == 0 {
				p.begin(want)
			}
			n, err = p.head(in[used:], cache)
			done = err == nil && p.state == ofBody && p.left == 0
		case ofBody:
			n = p.take(in[used:])
			done = p.left == 0
		default:
			n, done, err = p.inChunks(in[used:])
		}
		used += n
		p.size += int64(n)
		if err != nil {
			return used, false, err
		}
		if done {
			p.finish()
			return used, true, nil
		}
	}
	return used, false, nil
}

// begin clears what the last answer left.
func (p *parser) begin(want bool) {
	p.got, p.heads, p.body, p.keep = 0, 0, nil, want
}

// untilClosed is the length of a body that ends with its connection.
const untilClosed = 1<<62 - 1

// closed tells whether the answer is complete because its connection was closed.
func (p *parser) closed() bool {
	if p.state != ofBody || p.length != untilClosed {
		return false
	}
	p.length = p.got
	p.finish()
	return true
}

// finish prepares the parser for the next answer. The figures of this one stay.
func (p *parser) finish() {
	if p.keep && p.body == nil {
		p.body = append(p.hold, 0)[:len(p.hold)] // not nil, though it may be empty
	}
	p.hold = p.hold[:0]
	p.state = ofHead
}

// answered returns the size of an answer that is complete, and resets it.
func (p *parser) answered() int64 {
	n := p.size
	p.size = 0
	return n
}

// head reads a head, or as much of it as there is.
func (p *parser) head(in []byte, cache *headCache) (used int, err error) {
	if len(p.hold) == 0 {
		if n := len(cache.text); n > 0 && len(in) >= n && string(in[:n]) == string(cache.text) {
			return n, p.open(cache.said, n)
		}
		if end := endOfHead(in, 0); end > 0 {
			return end, p.read(in[:end], cache)
		}
		if err := plausible(in); err != nil {
			return 0, err
		}
		p.hold = append(p.hold, in...)
		if len(p.hold) > mostHead {
			return len(in), errLongHead
		}
		return len(in), nil
	}
	had := len(p.hold)
	p.hold = append(p.hold, in[:min(len(in), mostHead)]...)
	if err := plausible(p.hold); err != nil {
		return 0, err
	}
	whole := endOfHead(p.hold, max(0, had-len("\n\r")))
	if whole == 0 {
		if len(p.hold) > mostHead {
			return 0, errLongHead
		}
		return len(in), nil
	}
	err = p.read(p.hold[:whole], cache)
	p.hold = p.hold[:0]
	return whole - had, err
}

// endOfHead is what a whole head takes, with its empty line; 0: it is not whole. What ends before from
// is known to have no end.
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

// plausible refuses at once what cannot be an answer, so that the client does not wait
// for the end of its head.
func plausible(head []byte) error {
	const begin = "HTTP/1."
	if n := min(len(head), len(begin)); string(head[:n]) != begin[:n] {
		return fmt.Errorf("no HTTP/1 answer: it begins with %.40q", head[:min(len(head), 40)])
	}
	return nil
}

// read reads a whole head.
func (p *parser) read(head []byte, cache *headCache) error {
	f, err := parseHead(head)
	if err != nil {
		return err
	}
	if f.status >= 200 {
		cache.judge(&f, head)
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
	case f.status < 200:
		return nil // an interim answer; the final one follows
	case f.bodiless:
		p.length, p.left, p.state = 0, 0, ofBody
		p.body = []byte{}
		return nil
	case f.chunked:
		p.state = ofChunkSize
		return nil
	}
	p.left, p.state = f.length, ofBody
	if f.length > MaxKept && f.length != untilClosed {
		p.keep = false
	}
	if f.length == 0 {
		p.body = []byte{}
	}
	return nil
}

// take reads part of the body, or of a chunk. A body that is in the buffer as a whole is
// not copied.
func (p *parser) take(in []byte) int {
	n := int(min(p.left, int64(len(in))))
	if p.keep {
		if p.state == ofBody && p.got == 0 && int64(n) == p.left {
			p.body = in[:n]
		} else if len(p.hold)+n > MaxKept {
			p.keep, p.hold = false, p.hold[:0]
		} else {
			p.hold = append(p.hold, in[:n]...)
		}
	}
	if p.sink != nil {
		p.sink(in[:n])
	}
	p.left -= int64(n)
	p.got += int64(n)
	return n
}

// inChunks reads a part of a chunked body: chunks, and the lines between them.
func (p *parser) inChunks(in []byte) (used int, done bool, err error) {
	for used < len(in) && !done && err == nil {
		if p.state == ofChunk {
			if used += p.take(in[used:]); p.left == 0 {
				p.state = ofChunkEnd
			}
			continue
		}
		line, whole := in[used:], false
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line, whole = line[:end+1], true
		}
		used += len(line)
		if p.heads += len(line); p.heads > mostHead {
			return used, false, errLongHead
		}
		if len(p.line) > 0 || !whole {
			p.line = append(p.line, line...)
			line = p.line
		}
		if whole {
			done, err = p.betweenChunks(bytes.TrimRight(line, " \t\r\n"))
			p.line = p.line[:0]
		}
	}
	return used, done, err
}

// betweenChunks reads a line between chunks; the last one is empty, behind the trailers.
func (p *parser) betweenChunks(line []byte) (last bool, err error) {
	switch {
	case p.state == ofTrailer:
		p.length = p.got
		return len(line) == 0, nil
	case p.state == ofChunkEnd && len(line) > 0:
		return false, errChunk
	case p.state == ofChunkEnd:
		p.state = ofChunkSize
		return false, nil
	}
	size, _, _ := bytes.Cut(line, []byte{';'})
	p.left, err = strconv.ParseInt(string(bytes.TrimRight(size, " \t")), 16, 62)
	if p.state = ofChunk; err != nil || size[0] == '+' || size[0] == '-' {
		return false, errChunk
	}
	if p.left == 0 {
		p.state = ofTrailer
		return false, nil
	}
	p.heads = 0 // the lines between long bodies' chunks are many
	return false, nil
}

// parseHead reads what a whole head says about the answer's end.
func parseHead(head []byte) (framing, error) {
	f := framing{length: -1}
	if err := plausible(head); err != nil {
		return f, err
	}
	const statusEnd = len("HTTP/1.1 200")
	if len(head) <= statusEnd || head[8] != ' ' || head[statusEnd] > ' ' {
		return f, fmt.Errorf("a status line that is none: %.40q", head[:min(len(head), 40)])
	}
	for _, b := range head[9:statusEnd] {
		if b < '0' || b > '9' {
			return f, fmt.Errorf("a status line that is none: %.40q", head[:min(len(head), 40)])
		}
		f.status = f.status*10 + int(b-'0')
	}
	if f.status < 100 || f.status > 599 {
		return f, fmt.Errorf("a status of %d", f.status)
	}
	f.closes = head[len("HTTP/1.")] == '0'
	for line := range bytes.Lines(head[bytes.IndexByte(head, '\n')+1:]) {
		var err error
		switch line[0] | 0x20 {
		case 'c':
			if v, ok := value(line, "content-length"); ok {
				err = f.contentLength(v)
			} else if v, ok := value(line, "connection"); ok {
				v = bytes.ToLower(v)
				f.closes = bytes.Contains(v, []byte("close")) || f.closes && !bytes.Contains(v, []byte("keep-alive"))
			}
		case 't':
			if v, ok := value(line, "transfer-encoding"); ok {
				if !bytes.EqualFold(v, []byte("chunked")) {
					err = fmt.Errorf("Transfer-Encoding %.40q; only chunked can be read", v)
				}
				f.chunked = true
			}
		}
		if err != nil {
			return f, err
		}
	}
	if f.chunked {
		f.length = -1 // RFC 9112, 6.3: it overrides Content-Length
	}
	return f, nil
}

func (f *framing) contentLength(v []byte) error {
	n, err := strconv.ParseUint(string(v), 10, 62)
	if err != nil || f.length >= 0 && f.length != int64(n) {
		return fmt.Errorf("Content-Length %.40q, which is none or a second one", v)
	}
	f.length = int64(n)
	return nil
}

// values are those of all lines of a head with that name.
func values(head []byte, name string) (all []string) {
	name = strings.ToLower(name)
	for line := range bytes.Lines(head) {
		if v, ok := value(line, name); ok {
			all = append(all, string(bytes.TrimSpace(v)))
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

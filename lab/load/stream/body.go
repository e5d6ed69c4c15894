package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strings"
)

const mostHead = 16 << 10 // bytes of a head, or of what is between two chunks

var (
	endOfHead = []byte("\r\n\r\n")
	errChunk  = errors.New("a chunk whose size or end is none")
)

// What a body waits for next.
const (
	ofBody = iota // of all that is left, or of a chunk
	ofChunkSize
	ofChunkRest // of the line with the size
	ofChunkEnd
	ofTrailer
	ofNothing // it has ended
)

// A body finds the parts of an answer's body between what frames them.
type body struct {
	state   uint8
	chunked bool
	digits  uint8 // of a chunk's size
	line    int   // bytes of the line being read, without CR
	extra   int   // bytes since the last chunk
	left    int64
}

// next returns the next part of the body that lies in in, and what follows that.
func (b *body) next(in []byte) (part, rest []byte, err error) {
	for i, c := range in {
		switch b.state {
		case ofNothing:
			return nil, nil, nil
		case ofBody:
			n := int(min(b.left, int64(len(in)-i)))
			if b.left -= int64(n); b.left == 0 {
				b.state = ofNothing
				if b.chunked {
					b.state, b.line, b.extra = ofChunkEnd, 0, 0
				}
			}
			return in[i : i+n], in[i+n:], nil
		}
		if b.extra++; b.extra > mostHead || !b.frame(c) {
			return nil, nil, errChunk
		}
	}
	return nil, nil, nil
}

// frame reads a byte of what is between chunks.
func (b *body) frame(c byte) bool {
	switch {
	case b.state == ofChunkEnd:
		if b.line++; b.line == 2 {
			b.state, b.left, b.digits = ofChunkSize, 0, 0
			return c == '\n'
		}
		return c == '\r'
	case b.state == ofChunkSize && c >= '0' && c <= '9':
		return b.digit(int64(c - '0'))
	case b.state == ofChunkSize && c|0x20 >= 'a' && c|0x20 <= 'f':
		return b.digit(int64(c|0x20-'a') + 10)
	case b.state == ofChunkSize:
		b.state = ofChunkRest
		return b.digits > 0 && (c == '\r' || c == ';' || c == ' ' || c == '\t')
	case b.state == ofChunkRest && c == '\n':
		if b.state = ofBody; b.left == 0 {
			b.state, b.line = ofTrailer, 0
		}
	case b.state == ofTrailer && c == '\n':
		if b.line == 0 {
			b.state = ofNothing
		}
		b.line = 0
	case b.state == ofTrailer && c != '\r':
		b.line++
	}
	return true
}

func (b *body) digit(d int64) bool {
	b.left = b.left<<4 | d
	b.digits++
	return b.digits <= 15
}

// endsWithConnection tells whether the end of the connection is a right end of the body.
func (b *body) endsWithConnection() bool {
	return b.state == ofNothing || b.left > math.MaxInt64/2 && !b.chunked
}

// readHead reads a whole head. It says whether that is an interim one, which another follows, or
// of which kind its fault is.
func readHead(head []byte) (b body, interim bool, kind string, err error) {
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil {
		return b, false, Malformed, fmt.Errorf("%w: %.40q", err, head)
	}
	is, coding := r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")
	media, _, err := mime.ParseMediaType(is)
	switch {
	case r.StatusCode < 200 && r.StatusCode != 101:
		return b, true, "", nil
	case r.StatusCode != 200:
		return b, false, Status, fmt.Errorf("status %s", r.Status)
	case err != nil || media != "text/event-stream":
		return b, false, ContentType, fmt.Errorf("Content-Type %.80q", is)
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return b, false, ContentType, fmt.Errorf("Content-Encoding %.40q, which was not asked for", coding)
	case len(r.TransferEncoding) > 0: // ReadResponse knows chunked only
		b.state, b.chunked = ofChunkSize, true
	case r.ContentLength >= 0:
		if b.left = r.ContentLength; b.left == 0 {
			b.state = ofNothing
		}
	default:
		b.left = math.MaxInt64
	}
	return b, false, "", nil
}

package request

import "net/http"

const (
	longestSize = 1 << 10 // bytes of the line with a chunk's size and its extensions
)

// What a body waits for next.
const (
	inLength    = iota // bytes of a body with a length
	sizeFirst          // the first digit of a chunk's size
	size               // more digits
	sizeSpace          // behind spaces: extensions
	extension          // the rest of the line
	sizeEnd            // its LF
	chunk              // bytes of a chunk
	chunkEnd           // the CR behind them
	chunkEndLF         // its LF
	trailer            // the beginning of a trailer's line
	trailerName        // more of its name
	trailerRest        // its value
	trailerEnd         // its LF
	bodyEnd            // the LF of the last, empty line
)

// A Body finds the end of a request's body, and drops what is before it.
type Body struct {
	state uint8
	line  int   // bytes of the line being read; of all trailers
	left  int64 // bytes to drop
	room  int64 // bytes that the body may still have
	lines int   // bytes that trailers may have
}

// NewBody begins the body of a request.
func NewBody(r *Request, l Limits) Body {
	if r.Chunked {
		return Body{state: sizeFirst, room: l.Body, lines: l.Head}
	}
	return Body{state: inLength, left: r.Length}
}

// Read drops the body's part of in and returns its length, and whether the body has ended.
// Or it returns the status with which the request is refused.
func (b *Body) Read(in []byte) (used int, done bool, refused int) {
	for used < len(in) {
		if b.state == inLength || b.state == chunk {
			n := min(int64(len(in)-used), b.left)
			used += int(n)
			if b.left -= n; b.left > 0 {
				break
			}
			if b.state == inLength {
				return used, true, 0
			}
			b.state = chunkEnd
			continue
		}
		c := in[used]
		used++
		if b.state >= trailer {
			done, refused = b.trailing(c)
		} else {
			refused = b.framing(c)
		}
		if done || refused != 0 {
			return used, done, refused
		}
	}
	return used, false, 0
}

// framing reads a byte of a chunk's size or end.
func (b *Body) framing(c byte) (refused int) {
	if b.line++; b.line > longestSize {
		return http.StatusBadRequest
	}
	switch b.state {
	case sizeFirst, size:
		if digit := hex(c); digit >= 0 {
			b.state = size
			if b.left = b.left<<4 | int64(digit); b.left > b.room {
				return http.StatusRequestEntityTooLarge
			}
			return 0
		}
		if b.state == sizeFirst {
			return http.StatusBadRequest
		}
		return b.afterSize(c)
	case sizeSpace:
		if !blank(c) && c != ';' {
			return http.StatusBadRequest
		}
		return b.afterSize(c)
	case extension:
		if c == '\r' {
			b.state = sizeEnd
		} else if class[c]&inValue == 0 {
			return http.StatusBadRequest
		}
		return 0
	case chunkEnd:
		b.state = chunkEndLF
		return want(c, '\r')
	case chunkEndLF:
		b.state, b.line = sizeFirst, 0
		return want(c, '\n')
	}
	// The end of the line with the size. A chunk of no bytes is the last.
	b.room -= b.left
	b.state, b.line = chunk, 0
	if b.left == 0 {
		b.state = trailer
	}
	return want(c, '\n')
}

// afterSize reads what follows the digits: extensions, which may have spaces before them,
// or the line's end.
func (b *Body) afterSize(c byte) (refused int) {
	switch {
	case c == '\r':
		b.state = sizeEnd
	case c == ';':
		b.state = extension
	case blank(c):
		b.state = sizeSpace
	default:
		return http.StatusBadRequest
	}
	return 0
}

// trailing reads a byte of the trailers, which are checked as fields are.
func (b *Body) trailing(c byte) (done bool, refused int) {
	if b.line++; b.line > b.lines {
		return false, http.StatusRequestHeaderFieldsTooLarge
	}
	switch b.state {
	case trailer:
		if c == '\r' {
			b.state = bodyEnd
			return false, 0
		}
		b.state = trailerName
		if class[c]&inToken == 0 {
			return false, http.StatusBadRequest
		}
	case trailerName:
		if c == ':' {
			b.state = trailerRest
		} else if class[c]&inToken == 0 {
			return false, http.StatusBadRequest
		}
	case trailerRest:
		if c == '\r' {
			b.state = trailerEnd
		} else if class[c]&inValue == 0 {
			return false, http.StatusBadRequest
		}
	case trailerEnd:
		b.state = trailer
		return false, want(c, '\n')
	case bodyEnd:
		refused = want(c, '\n')
		return refused == 0, refused
	}
	return false, 0
}

func want(c, wanted byte) (refused int) {
	if c != wanted {
		return http.StatusBadRequest
	}
	return 0
}

package stream

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"time"
)

// An Event is what a stream dispatches. Its bytes are valid until the parser is called again.
type Event struct {
	ID    []byte // the last one that the stream gave, perhaps with an earlier event
	Type  []byte // empty: "message"
	Data  []byte
	OwnID bool // the event itself gave its id
}

// ErrTooLarge says that an event has more bytes than the parser's Most.
var ErrTooLarge = errors.New("an event that is too large")

// DefaultMost is the greatest size of an event, in bytes, where nothing else is asked for.
const DefaultMost = 1 << 20

// A Parser reads one event stream, however it is cut. Its zero value is ready to use.
//
// Most events come whole in one read. Of those it copies only the id: the rest are parts of the
// input. What the input has of an unfinished event is copied when the input ends.
type Parser struct {
	Event      // the one that Next has found
	Most  int  // bytes of an event: of a line and of the data before it; 0: DefaultMost
	begun bool // past the place of a byte order mark

	skipLF  bool // the last byte was CR, so LF would belong to it
	bareCR  bool // the last line ended with CR alone
	owned   bool // data is this parser's own copy
	own     bool // the unfinished event has an id
	renewed bool // no event has ended since Reset

	lines          int // of data
	data, kind, id []byte
	line           []byte // the beginning of an unfinished line
	last           []byte // the id of the last event that ended
	copies         [3][]byte

	retry    time.Duration
	hasRetry bool
	err      error
}

const byteOrderMark = "\xEF\xBB\xBF"

// Reset prepares for a new stream of the same source: it forgets everything but the retry time
// and LastID, which is what the source is to be told when it is asked again.
func (p *Parser) Reset() {
	*p = Parser{Most: p.Most, line: p.line[:0], last: p.last, copies: p.copies, retry: p.retry, hasRetry: p.hasRetry,
		renewed: true}
}

// LastID is the id for the header Last-Event-ID; that of an unfinished event is none.
func (p *Parser) LastID() []byte { return p.last }

// Retry is the time after which to connect again, if the stream has given one.
func (p *Parser) Retry() (time.Duration, bool) { return p.retry, p.hasRetry }

// Partial tells whether a part of an event has come that would be lost if the stream ended here.
func (p *Parser) Partial() bool { return len(p.line) > 0 || p.lines > 0 || p.own || len(p.kind) > 0 }

// Next reads on to the end of the next event. If it says that there is one, that is in p.Event,
// and rest is still to be read; otherwise all of in has been read. After an error, which is
// ErrTooLarge, nothing is read until Reset.
func (p *Parser) Next(in []byte) (rest []byte, ok bool, err error) {
	if !p.begun && p.err == nil {
		in = p.begin(in)
	}
	for len(in) > 0 && p.err == nil {
		if p.skipLF {
			if p.skipLF = false; in[0] == '\n' {
				in = in[1:]
				continue
			}
		}
		line, after, whole := p.cut(in)
		if len(p.line)+len(line)+len(p.data) > p.most() {
			p.err = ErrTooLarge
			break
		}
		in = after
		if !whole {
			p.keep() // first: what is kept may lie where this line goes
			p.line = append(p.line, line...)
			return nil, false, nil
		}
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line, p.line = p.line, p.line[:0]
		}
		if len(line) > 0 {
			p.field(line)
		} else if p.dispatch() {
			return in, true, nil
		}
	}
	p.keep()
	return nil, false, p.err
}

func (p *Parser) most() int {
	if p.Most > 0 {
		return p.Most
	}
	return DefaultMost
}

// begin leaves out a byte order mark. As long as it may be one, it is held as a line's beginning,
// which it is otherwise.
func (p *Parser) begin(in []byte) []byte {
	had := len(p.line)
	n := min(len(byteOrderMark)-had, len(in))
	p.line = append(p.line, in[:n]...)
	switch {
	case string(p.line) == byteOrderMark:
		p.line, p.begun = p.line[:0], true
	case !strings.HasPrefix(byteOrderMark, string(p.line)):
		p.line, p.begun = p.line[:had], true
		return in
	}
	return in[n:]
}

// cut returns the line with which in begins, without its end, and what follows it. It looks
// first for the byte that ended the last line: otherwise a stream that ends its lines with CR
// would be searched for LF as a whole, for each line.
func (p *Parser) cut(in []byte) (line, rest []byte, whole bool) {
	first, second := byte('\n'), byte('\r')
	if p.bareCR {
		first, second = second, first
	}
	line = in
	end := bytes.IndexByte(in, first)
	if end >= 0 {
		line = in[:end]
	}
	if i := bytes.IndexByte(line, second); i >= 0 {
		line, end = in[:i], i
	}
	if end < 0 {
		return in, nil, false
	}
	rest, p.bareCR = in[end+1:], false
	if in[end] == '\r' {
		switch {
		case len(rest) == 0:
			p.skipLF = true
		case rest[0] == '\n':
			rest = rest[1:]
		default:
			p.bareCR = true
		}
	}
	return line, rest, true
}

// field reads a line that is not empty. Comments are fields without a name.
func (p *Parser) field(line []byte) {
	name, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		if name, value = line[:i], line[i+1:]; len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		if p.lines++; p.lines == 1 {
			p.data = value
			return
		}
		p.ownData()
		p.data = append(append(p.data, '\n'), value...)
		p.copies[0] = p.data
	case "event":
		p.kind = value
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			p.id, p.own = value, true
		}
	case "retry":
		if ms, ok := decimal(value); ok {
			p.retry, p.hasRetry = time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond)))*time.Millisecond, true
		}
	}
}

// dispatch ends an event, and tells whether there is one: without data there is none.
func (p *Parser) dispatch() bool {
	if p.own {
		p.last = append(p.last[:0], p.id...)
	} else if p.renewed {
		p.last = p.last[:0]
	}
	found := p.lines > 0
	if found {
		p.Event = Event{p.last, p.kind, p.data, p.own}
	}
	p.data, p.kind, p.id, p.lines, p.own, p.owned, p.renewed = nil, nil, nil, 0, false, false, false
	return found
}

// keep copies what the input has of an unfinished event.
func (p *Parser) keep() {
	if p.lines > 0 {
		p.ownData()
	}
	if len(p.kind) > 0 {
		p.copies[1] = append(p.copies[1][:0], p.kind...)
		p.kind = p.copies[1]
	}
	if len(p.id) > 0 {
		p.copies[2] = append(p.copies[2][:0], p.id...)
		p.id = p.copies[2]
	}
}

func (p *Parser) ownData() {
	if !p.owned {
		p.copies[0] = append(p.copies[0][:0], p.data...)
		p.data, p.owned = p.copies[0], true
	}
}

// publishedAt finds the field "at" in an event's data: the first one, at whatever depth. Where
// the last one of the path was is looked at first, since events of one publisher are alike.
func publishedAt(data []byte, hint *int) (ns int64, ok bool) {
	const field = `"at":`
	at := *hint
	if at+len(field) > len(data) || string(data[at:at+len(field)]) != field {
		if at = bytes.Index(data, []byte(field)); at < 0 {
			return 0, false
		}
		*hint = at
	}
	rest := bytes.TrimLeft(data[at+len(field):], " ")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	return decimal(rest[:end])
}

// decimal reads digits, and nothing but digits. A number that is too great is about the greatest.
func decimal(text []byte) (n int64, ok bool) {
	for _, b := range text {
		if b < '0' || b > '9' {
			return 0, false
		}
		if n > (math.MaxInt64-9)/10 {
			n = (math.MaxInt64 - 9) / 10
		}
		n = n*10 + int64(b-'0')
	}
	return n, len(text) > 0
}

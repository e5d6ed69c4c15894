package load

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// An eventSession is one connection of an EventStream.
type eventSession struct {
	of     *Events
	out    bytes.Buffer
	in     []byte
	read   int64 // bytes since the last answer
	parser parser
	heads  headCache
	ready  bool
	over   bool // the server has ended the answer
	err    error
	answer Answer
	found  int // events that are still to be given
	began  time.Time
	now    time.Time // of the last read

	line   []byte // the beginning of one
	data   bool   // the event has data
	id, at int64  // -1: it has none
	ids    ledger
}

// session is a new connection to a target.
func (e *Events) session(t *target) *eventSession {
	s := &eventSession{of: e, began: time.Now(), id: -1, at: -1, answer: Answer{Place: -1}}
	if e.First == nil {
		e.First, e.Delivery = NewHistogram(), NewHistogram()
	}
	r := &t.mix.requests[e.opened%len(t.mix.requests)]
	e.opened++
	s.heads.of = r
	s.parser.sink = s.part
	s.out.Write(r.text(t.host, false))
	return s
}

func (s *eventSession) Ready() bool        { return s.ready }
func (s *eventSession) Out() *bytes.Buffer { return &s.out }
func (s *eventSession) Leaving() bool      { return s.over }
func (s *eventSession) Between() bool      { return len(s.line) == 0 && !s.data }
func (s *eventSession) Ask(int, int, bool) error {
	return errors.New("a stream of events is asked once")
}
func (s *eventSession) Take(in []byte) {
	s.now, s.in = time.Now(), in
	s.read += int64(len(in))
}

// Next gives an answer for each event.
func (s *eventSession) Next() (*Answer, error) {
	for len(s.in) > 0 && s.err == nil && !s.over {
		used, done, err := s.parser.next(s.in, &s.heads, false)
		s.in, s.over = s.in[used:], done
		if s.err == nil {
			s.err = err
		}
		if !s.ready && (done || s.parser.state != ofHead) {
			s.begin()
		}
	}
	if s.err != nil || s.found == 0 {
		return nil, s.err
	}
	s.found--
	s.answer.Size, s.read = s.read, 0
	return &s.answer, nil
}

// begin judges the head.
func (s *eventSession) begin() {
	s.ready = true
	kind := strings.Join(values(s.heads.text, "content-type"), ", ")
	switch {
	case !s.heads.of.Expects(s.parser.status):
		s.err = fmt.Errorf("status %d", s.parser.status)
	case !strings.HasPrefix(kind, "text/event-stream"):
		s.err = fmt.Errorf("Content-Type %.80q", kind)
	}
}

// part reads a part of the body.
func (s *eventSession) part(in []byte) {
	if !s.ready {
		s.begin()
	}
	for s.err == nil {
		end := bytes.IndexByte(in, '\n')
		if end < 0 {
			if s.line = append(s.line, in...); len(s.line) > mostEventLine {
				s.err = fmt.Errorf("a line of more than %d bytes", mostEventLine)
			}
			return
		}
		line := in[:end]
		in = in[end+1:]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line, s.line = s.line, s.line[:0]
		}
		s.field(bytes.TrimSuffix(line, []byte{'\r'}))
	}
}

// field reads a line; an empty one ends the event.
func (s *eventSession) field(line []byte) {
	const at = `"at":`
	if len(line) == 0 {
		s.event()
	} else if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		s.data = true
		if i := bytes.Index(value, []byte(at)); i >= 0 && s.at < 0 {
			s.at = decimal(value[i+len(at):])
		}
	} else if value, ok := bytes.CutPrefix(line, []byte("id:")); ok {
		s.id = decimal(value)
	}
}

// event counts what has been read, if there is data in it.
func (s *eventSession) event() {
	if e := s.of; s.data {
		s.found++
		e.N++
		if s.id >= 0 {
			s.ids.note(s.id, e)
		}
		if s.at >= 0 {
			e.Delivery.Add(s.now.UnixNano() - s.at)
		}
		if !s.began.IsZero() {
			e.First.Add(int64(s.now.Sub(s.began)))
			s.began = time.Time{}
		}
	}
	s.data, s.id, s.at = false, -1, -1
}

// decimal is the number that a text begins with, after a blank; -1 if there is none.
func decimal(text []byte) int64 {
	n := int64(-1)
	for _, b := range bytes.TrimLeft(text, " ") {
		if b < '0' || b > '9' {
			break
		}
		n = min(max(n, 0), (math.MaxInt64-9)/10)*10 + int64(b-'0')
	}
	return n
}

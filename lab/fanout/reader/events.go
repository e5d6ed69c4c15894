package main

import (
	"bytes"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// events holds what came of all streams against itself, and against the publisher's clock. It reads what the
// lab's servers of events say: lines that end with LF or CR LF, the fields id and data.
type events struct {
	n int64
	// Events whose id is a decimal number, stream by stream: ids that came twice, and after they had been skipped.
	repeated, reordered int64
	first               *load.Histogram // times from a stream's opening to its first event
	delivery            *load.Histogram // from the field "at" of an event's data, in ns since 1970, to its reading
}

// A stream is what is known of one connection.
type stream struct {
	of      *events
	began   time.Time // zero: its first event has come
	line    []byte    // the beginning of one
	data    bool      // the event has data
	id, at  int64     // of the event; -1: it has none
	highest int64     // id so far
	seen    uint64    // which ids have come, from the highest down; those before the first are taken to have
	found   int       // events in the part that is read
}

// open begins a stream: see load.Options.
func (e *events) open() func(part []byte) int {
	s := &stream{of: e, began: time.Now(), id: -1, at: -1}
	return s.read
}

// read reads a part of a stream, and returns how many events end in it.
func (s *stream) read(part []byte) int {
	now := time.Now()
	for s.found = 0; ; {
		line, rest, whole := bytes.Cut(part, []byte{'\n'})
		if !whole || len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		if !whole {
			return s.found
		}
		s.field(bytes.TrimSuffix(line, []byte{'\r'}), now)
		s.line, part = s.line[:0], rest
	}
}

// field reads a line; an empty one ends the event.
func (s *stream) field(line []byte, now time.Time) {
	const at = `"at":`
	if len(line) == 0 {
		s.event(now)
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
func (s *stream) event(now time.Time) {
	if e := s.of; s.data {
		s.found++
		e.n++
		if s.id >= 0 {
			s.note(s.id)
		}
		if s.at >= 0 {
			e.delivery.Add(now.UnixNano() - s.at)
		}
		if !s.began.IsZero() {
			e.first.Add(int64(now.Sub(s.began)))
			s.began = time.Time{}
		}
	}
	s.data, s.id, s.at = false, -1, -1
}

// note holds an id against those before. One that comes late by more than 64 is taken for a repeated one.
func (s *stream) note(id int64) {
	switch ahead := id - s.highest; {
	case s.seen == 0:
		s.highest, s.seen = id, math.MaxUint64
	case ahead > 0:
		s.highest, s.seen = id, s.seen<<ahead|1
	case s.seen>>-ahead&1 == 0 && ahead > -64:
		s.of.reordered++
		s.seen |= 1 << -ahead
	default:
		s.of.repeated++
	}
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

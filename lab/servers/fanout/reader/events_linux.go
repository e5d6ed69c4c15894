package main

import (
	"bytes"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// events holds what came of all streams against itself, and against the publisher's clock. It reads the form of
// event that package hub writes.
type events struct {
	n        int64
	repeated int64           // ids that came twice, or after a higher one of their stream
	first    *load.Histogram // times from a stream's opening to its first event
	delivery *load.Histogram // from the time in an event to its reading
}

// A stream is what is known of one connection.
type stream struct {
	of      *events
	began   time.Time
	rest    []byte // the beginning of an event
	highest int64  // id so far; 0: no event has come
}

// open begins a stream: see load.Options.
func (e *events) open() func(part []byte) int {
	s := &stream{of: e, began: time.Now()}
	return s.read
}

// read reads a part of a stream, and returns how many events end in it.
func (s *stream) read(part []byte) (found int) {
	now := time.Now()
	if len(s.rest) > 0 {
		s.rest = append(s.rest, part...)
		part = s.rest
	}
	for {
		one, rest, whole := bytes.Cut(part, []byte("\n\n"))
		if !whole {
			s.rest = append(s.rest[:0], part...)
			return found
		}
		s.event(one, now)
		found++
		part = rest
	}
}

// event counts an event.
func (s *stream) event(text []byte, now time.Time) {
	e := s.of
	e.n++
	e.delivery.Add(now.UnixNano() - number(text, `"at":`))
	id := number(text, "id: ")
	if s.highest == 0 {
		e.first.Add(int64(now.Sub(s.began)))
	}
	if id <= s.highest {
		e.repeated++
	}
	s.highest = max(s.highest, id)
}

// number is the one behind a mark in an event.
func number(text []byte, mark string) (n int64) {
	_, digits, _ := bytes.Cut(text, []byte(mark))
	for _, b := range digits {
		if b < '0' || b > '9' {
			break
		}
		n = n*10 + int64(b-'0')
	}
	return n
}

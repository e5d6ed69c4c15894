package stream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a parser tells of a stream, as text.
type told struct {
	events []string
	lastID string
	retry  string
	large  bool
}

func (a told) equal(b told) bool {
	return slices.Equal(a.events, b.events) && a.lastID == b.lastID && a.retry == b.retry && a.large == b.large
}

func event(id, kind, data string, own bool) string {
	return fmt.Sprintf("%q %q %q %v", id, kind, data, own)
}

// parse feeds a stream in pieces. Each piece is overwritten after it was read, so that whatever
// the parser should have copied is missing.
func parse(p *Parser, pieces ...string) (t told) {
	for _, piece := range pieces {
		in := []byte(piece)
		for rest := in; ; {
			var ok bool
			var err error
			if rest, ok, err = p.Next(rest); err != nil {
				t.large = errors.Is(err, ErrTooLarge)
			}
			if !ok {
				break
			}
			t.events = append(t.events, event(string(p.ID), string(p.Type), string(p.Data), p.OwnID))
		}
		for i := range in {
			in[i] = '#'
		}
	}
	t.lastID = string(p.LastID())
	if retry, ok := p.Retry(); ok {
		t.retry = retry.String()
	}
	return t
}

// reference is the standard's section 9.2.6 as it is written there, over the whole stream.
func reference(stream string, most int) (t told) {
	stream = strings.TrimPrefix(stream, "\xEF\xBB\xBF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	var data, kind, id string
	own := false
	for i, line := range lines {
		if len(line)+max(len(data)-1, 0) > most {
			t.large = true
			return t
		}
		if i == len(lines)-1 {
			break // without its end: not a line
		}
		if line == "" {
			t.lastID = id
			if data != "" {
				t.events = append(t.events, event(id, kind, strings.TrimSuffix(data, "\n"), own))
			}
			data, kind, own = "", "", false
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.HasPrefix(line, ":") {
			continue
		}
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			data += value + "\n"
		case "id":
			if !strings.Contains(value, "\x00") {
				id, own = value, true
			}
		case "retry":
			if value != "" && strings.Trim(value, "0123456789") == "" {
				ms, err := strconv.ParseInt(value, 10, 64)
				if err != nil || ms > int64(1<<63-1)/1e6 {
					ms = int64(1<<63-1) / 1e6
				}
				t.retry = (time.Duration(ms) * time.Millisecond).String()
			}
		}
	}
	return t
}

func TestParser(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         told
	}{
		// The standard's own examples.
		{"two lines", "data: YHOO\ndata: +2\ndata: 10\n\n", told{events: []string{event("", "", "YHOO\n+2\n10", false)}}},
		{"four blocks", ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
			told{events: []string{event("1", "", "first event", true), event("", "", "second event", true)}}},
		{"two empty events and half of one", "data\n\ndata\ndata\n\ndata:",
			told{events: []string{event("", "", "", false), event("", "", "\n", false)}}},
		{"a blank after the colon", "data:test\n\ndata: test\n\n",
			told{events: []string{event("", "", "test", false), event("", "", "test", false)}}},
		{"types", "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
			told{events: []string{event("", "add", "73857293", false), event("", "remove", "2153", false),
				event("", "add", "113411", false)}}},
		// What it says in its rules.
		{"an id that stays", "id: 7\ndata: a\n\ndata: b\n\n",
			told{events: []string{event("7", "", "a", true), event("7", "", "b", false)}, lastID: "7"}},
		{"an id without data", "id: 8\n\n", told{lastID: "8"}},
		{"an id that is not dispatched", "id: 1\ndata: a\n\nid: 2\ndata: b\n",
			told{events: []string{event("1", "", "a", true)}, lastID: "1"}},
		{"an id with NUL", "id: 1\n\nid: 2\x00\ndata: a\n\n", told{events: []string{event("1", "", "a", false)}, lastID: "1"}},
		{"a type without data", "event: x\n\ndata: a\n\n", told{events: []string{event("", "", "a", false)}}},
		{"retry", "retry: 250\n", told{retry: "250ms"}},
		{"retry that is no number", "retry: 1\nretry: 2s\nretry: -1\nretry:\nretry:  3\n", told{retry: "1ms"}},
		{"retry beyond all times", "retry: 99999999999999999999\n", told{retry: "2562047h47m16.854s"}},
		{"line ends", "data: a\rdata: b\r\ndata: c\n\r\n", told{events: []string{event("", "", "a\nb\nc", false)}}},
		{"two CRs end an event", "data: a\r\rdata: b\r\r",
			told{events: []string{event("", "", "a", false), event("", "", "b", false)}}},
		{"a byte order mark", "\xEF\xBB\xBFdata: a\n\n", told{events: []string{event("", "", "a", false)}}},
		{"two of them", "\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", told{}},
		{"a part of one", "\xEF\xBBdata: a\n\ndata: b\n\n", told{events: []string{event("", "", "b", false)}}},
		{"fields of other names", "Data: a\ndata : b\n data: c\nfoo\ndata: d\n\n",
			told{events: []string{event("", "", "d", false)}}},
		{"a colon in the value", "data: a: b\n\n", told{events: []string{event("", "", "a: b", false)}}},
		{"too large", "data: a\n\ndata: " + strings.Repeat("x", 1<<20) + "\n\ndata: b\n\n",
			told{events: []string{event("", "", "a", false)}, large: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(&Parser{}, c.stream); !got.equal(c.want) {
				t.Errorf("as a whole: %+v", got)
			}
			if got := reference(c.stream, DefaultMost); !got.equal(c.want) {
				t.Errorf("the reference: %+v", got)
			}
			if len(c.stream) > 1<<10 {
				return
			}
			if got := parse(&Parser{}, strings.Split(c.stream, "")...); !got.equal(c.want) {
				t.Errorf("byte by byte: %+v", got)
			}
			for i := range len(c.stream) {
				if got := parse(&Parser{}, c.stream[:i], c.stream[i:]); !got.equal(c.want) {
					t.Errorf("cut at %d: %+v", i, got)
				}
			}
		})
	}
}

func TestParserOfTheNextStream(t *testing.T) {
	var p Parser
	parse(&p, "retry: 5\nid: 3\ndata: a\n\nid: 4\ndata: ha")
	if !p.Partial() {
		t.Error("half an event is not told")
	}
	p.Reset()
	if p.Partial() {
		t.Error("half an event has outlived its stream")
	}
	if string(p.LastID()) != "3" {
		t.Errorf("the last id is %q", p.LastID())
	}
	if got := parse(&p, "\xEF\xBB\xBFdata: b\n\n"); !got.equal(told{events: []string{event("", "", "b", false)}, retry: "5ms"}) {
		t.Errorf("%+v", got)
	}
}

func TestParserAllocatesNothing(t *testing.T) {
	var p Parser
	whole := []byte("id: 12345\nevent: tick\ndata: {\"at\":1}\ndata: more\n\n")
	if n := testing.AllocsPerRun(100, func() {
		for rest, ok := whole, true; ok; {
			rest, ok, _ = p.Next(rest)
		}
		_, _, _ = p.Next(whole[:30])
		_, _, _ = p.Next(whole[30:])
	}); n != 0 {
		t.Errorf("%v allocations for two events", n)
	}
}

func FuzzParser(f *testing.F) {
	f.Add("\xEF\xBB\xBF: c\r\nid: 1\rdata: a\ndata:b\r\n\r\nevent\nretry: 10\n\n", []byte{3, 1, 9}, uint16(40))
	f.Add("data\n\ndata: x\r\rid: \x00\n\n", []byte{1}, uint16(16))
	f.Fuzz(func(t *testing.T, stream string, cuts []byte, most uint16) {
		limit := int(most) + 16
		var pieces []string
		rest := stream
		for i := 0; len(rest) > 0; i++ {
			n := len(rest)
			if len(cuts) > 0 {
				n = min(n, int(cuts[i%len(cuts)]))
			}
			if n == 0 && i >= len(cuts) {
				n = 1
			}
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		want, got := reference(stream, limit), parse(&Parser{Most: limit}, pieces...)
		if !got.equal(want) {
			t.Errorf("%q in %q:\n got %+v\nwant %+v", stream, pieces, got, want)
		}
	})
}

func TestBody(t *testing.T) {
	chunked := func(s string, each int) (got string, ended bool, err error) {
		b := body{state: ofChunkSize, chunked: true}
		for in := []byte(s); len(in) > 0; {
			piece := in[:min(each, len(in))]
			in = in[len(piece):]
			for len(piece) > 0 {
				var part []byte
				if part, piece, err = b.next(piece); err != nil {
					return got, false, err
				}
				got += string(part)
			}
		}
		return got, b.endsWithConnection(), nil
	}
	for _, c := range []struct {
		stream, want string
		ended, fault bool
	}{
		{"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", "abc0123456789", true, false},
		{"3\r\nabc\r\n0\r\nX: y\r\n\r\n", "abc", true, false},
		{"3\r\nabc\r\n0\r\n", "abc", false, false},
		{"3\r\nab", "ab", false, false},
		{"x\r\n", "", false, true},
		{"\r\n", "", false, true},
		{"3\r\nabcd", "abc", false, true},
		{"3\r\nabc\rX", "abc", false, true},
		{"1111111111111111\r\n", "", false, true},
		{"1;" + strings.Repeat("x", mostHead), "", false, true},
	} {
		for _, each := range []int{1, 2, 5, 1 << 20} {
			got, ended, err := chunked(c.stream, each)
			if got != c.want || ended != c.ended || (err != nil) != c.fault {
				t.Errorf("%.40q by %d: %q, ended %v, %v", c.stream, each, got, ended, err)
			}
		}
	}
}

func TestLedger(t *testing.T) {
	for _, c := range []struct {
		ids                         []int64
		missed, repeated, reordered int64
	}{
		{[]int64{5, 6, 7}, 0, 0, 0},
		{[]int64{1, 2, 2, 3, 1}, 0, 2, 0},
		{[]int64{1, 5, 3, 3, 2, 4, 6}, 3, 1, 3},
		{[]int64{1, 3, 2, 4, 6}, 2, 0, 1},
		{[]int64{9, 8}, 0, 1, 0},
	} {
		var l ledger
		var n Counts
		for _, id := range c.ids {
			l.note(id, &n)
		}
		if n.Missed != c.missed || n.Repeated != c.repeated || n.Reordered != c.reordered {
			t.Errorf("%v: %+v", c.ids, n)
		}
	}
}

func TestPublishedAt(t *testing.T) {
	hint := 0
	for data, want := range map[string]int64{`{"at":12}`: 12, `{"n":1,"at": 34,"x":2}`: 34, `{"at":"x"}`: -1, `{}`: -1,
		`"at":`: -1} {
		got, ok := publishedAt(bytes.Clone([]byte(data)), &hint)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d", data, got)
		}
	}
}

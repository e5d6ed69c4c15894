package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// An answered is one answer as a parser returned it.
type answered struct {
	status int
	length int64
	size   int64
	body   string
}

// parseAll feeds a stream in pieces whose lengths pieces gives.
func parseAll(stream string, keep bool, pieces func(rest int) int) (all []answered, p parser, err error) {
	var cache headCache
	for in := []byte(stream); len(in) > 0; {
		n := min(max(pieces(len(in)), 1), len(in))
		// Each piece has its own memory, since the next read overwrites the last one.
		piece := bytes.Clone(in[:n])
		in = in[n:]
		for len(piece) > 0 {
			used, done, err := p.next(piece, &cache, keep)
			if err != nil {
				return all, p, err
			}
			if used == 0 {
				return all, p, fmt.Errorf("nothing of %q was used", piece)
			}
			piece = piece[used:]
			if done {
				all = append(all, answered{p.answer.Status, p.answer.Length, p.answer.Size, string(p.answer.Body)})
				p.answer.Size = 0
			}
		}
	}
	return all, p, nil
}

func entire(rest int) int { return rest }

// What an answer to HEAD says of a body is not followed by one; an answer that may end with its
// connection does so only if it says nothing else.
func TestFramingByWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		cache    headCache
		text     string
		complete int
		closed   string // the body that is complete when the connection is closed; none: it is not
	}{
		{headCache{of: &Request{Method: "HEAD"}}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n" +
			"Transfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 3, "none"},
		{headCache{}, "HTTP/1.1 200 OK\r\n\r\nhello", 0, "hello"},
		{headCache{}, "HTTP/1.1 200 OK\r\n\r\n", 0, ""},
		{headCache{}, "HTTP/1.1 204 No\r\n\r\n", 1, "none"},
		{headCache{}, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", 0, "none"},
		{headCache{}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 0, "none"},
		{headCache{}, "HTTP/1.1 200", 0, "none"},
	} {
		for _, step := range []int{1, 7, 1000} {
			p, n := parser{}, 0
			for in := []byte(c.text); len(in) > 0; {
				used, done, err := p.next(in[:min(step, len(in))], &c.cache, true)
				if err != nil {
					t.Fatal(err)
				}
				if in = in[used:]; done {
					n++
					p.answer.Size = 0
				}
			}
			closed := "none"
			if p.closed() {
				closed = string(p.answer.Body)
			}
			if n != c.complete || closed != c.closed {
				t.Errorf("%q in steps of %d: %d answers, and %q when it was closed", c.text, step, n, closed)
			}
		}
	}
}

var streams = []struct {
	name, text string
	want       []answered
}{
	{"Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", []answered{{200, 5, 0, "hello"}}},
	{"no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", []answered{{200, 0, 0, ""}}},
	{"another case, blanks", "HTTP/1.1 200 OK\r\ncONTENT-length:\t 5 \r\nX: y\r\n\r\nhello",
		[]answered{{200, 5, 0, "hello"}}},
	{"HTTP/1.0 without a reason", "HTTP/1.0 404\r\ncontent-length: 1\r\n\r\nx", []answered{{404, 1, 0, "x"}}},
	{"two in a row", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
		[]answered{{200, 1, 0, "a"}, {200, 1, 0, "b"}}},
	{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
		[]answered{{200, 1, 0, "a"}}},
	{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
		[]answered{{200, 15, 0, "hello0123456789"}}},
	{"chunked with trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
		[]answered{{200, 1, 0, "x"}}},
	{"chunked, nothing", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []answered{{200, 0, 0, ""}}},
	{"chunks between others", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n1\r\nb\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc",
		[]answered{{200, 1, 0, "a"}, {200, 1, 0, "b"}, {200, 1, 0, "c"}}},
	{"interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 " +
		"OK\r\nContent-Length: 1\r\n\r\na", []answered{{200, 1, 0, "a"}}},
	{"LF alone", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhelloHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nhi\n0\n\n",
		[]answered{{200, 5, 0, "hello"}, {200, 2, 0, "hi"}}},
	{"chunks with zeros, and a length that does not count", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n" +
		"X: a\r\n folded\r\n\r\n0000000000000000000002 ;a=\"b;c\"\r\nhi\r\n0\r\nX: y\r\n\r\n", []answered{{200, 2, 0, "hi"}}},
	{"204 and 304 have no body", "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: " +
		"9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
		[]answered{{204, 0, 0, ""}, {304, 0, 0, ""}, {200, 1, 0, "a"}}},
}

func TestAnswersHoweverTheyAreCut(t *testing.T) {
	for _, s := range streams {
		check := func(how string, pieces func(int) int) {
			t.Helper()
			got, p, err := parseAll(s.text, true, pieces)
			sum := int64(0)
			for i := range got {
				sum, got[i].size = sum+got[i].size, 0
			}
			if sum != int64(len(s.text)) {
				t.Errorf("%s, %s: answers of %d bytes, there were %d", s.name, how, sum, len(s.text))
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(s.want) {
				t.Fatalf("%s, %s: %+v, %v; want %+v", s.name, how, got, err, s.want)
			}
			if !p.between() {
				t.Errorf("%s, %s: not between two answers at the end", s.name, how)
			}
		}
		check("whole", entire)
		check("byte by byte", func(int) int { return 1 })
		for at := 1; at < len(s.text); at++ {
			check(fmt.Sprintf("cut at %d", at), func(rest int) int {
				if rest == len(s.text) {
					return at
				}
				return rest
			})
		}
		// Without the body everything else is the same.
		got, _, err := parseAll(s.text, false, func(int) int { return 7 })
		for i := range got {
			got[i].body, got[i].size = s.want[i].body, 0
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(s.want) {
			t.Errorf("%s, not kept: %+v, %v", s.name, got, err)
		}
		// An answer that is cut off is no answer.
		if short, p, err := parseAll(s.text[:len(s.text)-1], true, entire); err == nil &&
			(len(short) >= len(s.want) || p.between()) {
			t.Errorf("%s without its last byte: %+v", s.name, short)
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hello", "no HTTP/1 answer"},
		{"HTTP/2 200\r\n\r\n", "no HTTP/1 answer"},
		{"HTTP/1.1 2x0 OK\r\n\r\n", "status line"},
		{"HTTP/1.1 2000 OK\r\n\r\n", "status line"},
		{"HTTP/1.1 099 OK\r\nContent-Length: 1\r\n\r\n", "a status line that is none"},
		{"HTTP/1.1 101 Switching Protocols\r\n\r\n", "101"},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "Content-Length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", "second"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "only chunked"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "a chunk"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "a chunk"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n", "a chunk"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "a chunk"},
		{"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", mostHead), "a head of more"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", mostHead), "a head of more"},
		{strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", mostHead/20), "a head of more"},
	} {
		for name, pieces := range map[string]func(int) int{"whole": entire, "in pieces": func(int) int { return 1000 },
			"byte by byte": func(int) int { return 1 }} {
			if _, _, err := parseAll(c.text, true, pieces); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.60q, %s: %v, want %q", c.text, name, err, c.want)
			}
		}
	}
}

// The parser does not take bodies in many chunks for endless heads, and reads a body too long to
// keep.
func TestLongBodies(t *testing.T) {
	chunks := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\nx\r\n", mostHead) +
		"0\r\n\r\n"
	got, _, err := parseAll(chunks, true, func(int) int { return 4096 })
	if err != nil || len(got) != 1 || got[0].length != mostHead || len(got[0].body) != mostHead {
		t.Errorf("%d answers, %v", len(got), err)
	}
	long := "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + strings.Repeat("x", 5e6)
	got, _, err = parseAll(long, true, func(int) int { return 1 << 16 })
	if err != nil || len(got) != 1 || got[0].length != 5e6 || got[0].body != "" {
		t.Errorf("%d answers, %v", len(got), err)
	}
}

// The hot path allocates no memory, whether the head is the same as the last one or not,
// whole or cut.
func TestParsingTakesNoMemory(t *testing.T) {
	one, two := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
		[]byte("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!")
	var p parser
	var cache headCache
	feed := func(in []byte) {
		for len(in) > 0 {
			n, done, err := p.next(in, &cache, true)
			if err != nil {
				t.Fatal(err)
			}
			if done {
				p.answer.Size = 0
			}
			in = in[n:]
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		feed(one)
		feed(one)
		feed(two)
		feed(one[:20])
		feed(one[20:40])
		feed(one[40:])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The parser agrees with net/http, however the stream is cut.
func FuzzParser(f *testing.F) {
	for _, s := range streams {
		f.Add(s.text, 3)
		f.Add(s.text, 50)
	}
	f.Fuzz(func(t *testing.T, text string, step int) {
		if len(text) > 1<<16 {
			return
		}
		all, p, err := parseAll(text, true, entire)
		cut, q, other := parseAll(text, true, func(int) int { return step%64 + 1 })
		if fmt.Sprint(all) != fmt.Sprint(cut) || (err == nil) != (other == nil) {
			t.Fatalf("%q: whole %+v %v, in pieces of %d %+v %v", text, all, err, step%64+1, cut, other)
		}
		if err == nil && p.between() != q.between() {
			t.Errorf("%q: ends within an answer or not, by how it is cut", text)
		}
		r := bufio.NewReader(strings.NewReader(text))
		for _, a := range all {
			var theirs *http.Response
			for {
				if theirs, err = http.ReadResponse(r, nil); err != nil {
					return // net/http is stricter with field names and with the characters of a line
				}
				if theirs.StatusCode >= 200 {
					break
				}
			}
			body, err := io.ReadAll(theirs.Body)
			if err != nil {
				return
			}
			if theirs.StatusCode != a.status || string(body) != a.body {
				t.Fatalf("%q: %+v, net/http has %d and %q", text, a, theirs.StatusCode, body)
			}
		}
	})
}

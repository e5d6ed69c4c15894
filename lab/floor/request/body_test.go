package request

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

// chunks are bodies in chunks, with what may follow them, and what is read: the length up
// to the end, or the status with which it is refused, or neither if it is incomplete.
var chunks = []struct {
	in     string
	used   int
	status int
}{
	{"0\r\n\r\nGET", 5, 0},
	{"5\r\nhello\r\n0\r\n\r\n", 15, 0},
	{"00005\r\nhello\r\n000\r\n\r\n", 21, 0},
	{"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", 35, 0},
	{"1;a=b;c=\"d;e\"\r\nx\r\n0;\t\r\n\r\n", 25, 0},
	{"1 \t;a\r\nx\r\n0\r\n\r\n", 15, 0},
	{"2\r\n\r\n\r\n0\r\n\r\n", 12, 0},
	{"0\r\nContent-Length: 5\r\nX:\r\n\r\nhello", 28, 0},
	{"", 0, 0},
	{"5\r\nhello\r\n0\r\n", 0, 0},
	{"\r\n", 0, 400},
	{"x\r\n", 0, 400},
	{" 5\r\n", 0, 400},
	{"+5\r\n", 0, 400},
	{"-5\r\n", 0, 400},
	{"0x5\r\n", 0, 400},
	{"5_0\r\n", 0, 400},
	{"5\nhello", 0, 400},
	{"5 \r\nhello", 0, 400},
	{"5 5\r\nhello", 0, 400},
	{"5\r5hello", 0, 400},
	{"5;a\nhello", 0, 400},
	{"5;a\x00\r\n", 0, 400},
	{"5;a\r\r\n", 0, 400},
	{";a\r\n", 0, 400},
	{"5\r\nhello!\r\n", 0, 400},
	{"5\r\nhello\n0\r\n", 0, 400},
	{"5\r\nhello\r0\r\n", 0, 400},
	{"5\r\nhell\r\n0\r\n\r\n", 0, 400},
	{"0\r\n\n", 0, 400},
	{"0\r\n\rX", 0, 400},
	{"0\r\nX\r\n", 0, 400},
	{"0\r\nX: 1\n", 0, 400},
	{"0\r\nX : 1\r\n", 0, 400},
	{"0\r\nX: 1\r\n folded\r\n", 0, 400},
	{"0\r\nX: \x00\r\n", 0, 400},
	{"0\r\nGET / HTTP/1.1\r\n\r\n", 0, 400},
	{"5;" + strings.Repeat("x", 2000), 0, 400},
	{strings.Repeat("0", 2000), 0, 400},
	{"3e9\r\n", 0, 413},
	{"3e8\r\n" + strings.Repeat("x", 1000) + "\r\n1\r\n", 0, 413},
	{"FFFFFFFFFFFFFFFFFFFF5\r\n", 0, 413},
	{"0\r\nX: " + strings.Repeat("x", 600), 0, 431},
	{"0\r\n" + strings.Repeat("X: 1\r\n", 100), 0, 431},
}

// drop reads a body that comes in parts of that length.
func drop(b Body, in []byte, part int) (used, status int) {
	for at := 0; at < len(in); at += part {
		n, done, status := b.Read(in[at:min(at+part, len(in))])
		if status != 0 {
			return 0, status
		}
		if used += n; done {
			return used, 0
		}
	}
	return 0, 0
}

func inChunks() Body { return NewBody(&Request{Chunked: true}, limits) }

func TestChunks(t *testing.T) {
	for _, c := range chunks {
		for part := 1; part <= len(c.in); part++ {
			if used, status := drop(inChunks(), []byte(c.in), part); used != c.used || status != c.status {
				t.Errorf("%.60q by %d bytes: %d, status %d; want %d, %d", c.in, part, used, status, c.used, c.status)
				break
			}
		}
	}
}

func TestLength(t *testing.T) {
	in := []byte("0123456789GET")
	for part := 1; part <= len(in); part++ {
		if used, status := drop(NewBody(&Request{Length: 10}, limits), in, part); used != 10 || status != 0 {
			t.Errorf("by %d bytes: %d, %d", part, used, status)
		}
	}
}

// However a body is cut, the same is read of it; and Go's own reader takes each that is
// taken here.
func FuzzBody(f *testing.F) {
	for _, c := range chunks {
		f.Add([]byte(c.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, part int) {
		used, status := drop(inChunks(), in, len(in)+1)
		u, s := drop(inChunks(), in, max(part, 1))
		if used != u || status != s {
			t.Fatalf("%q by %d bytes: %d, %d; at once %d, %d", in, part, u, s, used, status)
		}
		// Go's reader takes no spaces before extensions and fewer leading zeros. It does
		// not read trailers.
		if used == 0 || bytes.ContainsAny(in, " \t") || bytes.Contains(in, []byte("000000000000")) {
			return
		}
		body, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(in[:used])))
		if err != nil && !strings.Contains(fmt.Sprint(err), "too much overhead") || int64(len(body)) > limits.Body {
			t.Fatalf("%q: taken, and Go's says %v, %d bytes", in[:used], err, len(body))
		}
	})
}

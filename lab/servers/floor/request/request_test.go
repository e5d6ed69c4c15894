package request

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

const host = "Host: x\r\n"

// get is a request with these lines of a head.
func get(lines ...string) string {
	return "GET / HTTP/1.1\r\n" + host + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// accepted are whole heads, and what is read of each.
var accepted = []struct {
	head, path string
	says       string // of body, close, and keep
}{
	{"GET /simple HTTP/1.1\r\nHost: x\r\n\r\n", "/simple", ""},
	{"\r\nGET /simple HTTP/1.1\r\nHost: x\r\n\r\n", "/simple", ""},
	{"HEAD /a?b=/c HTTP/1.1\r\nhost:\r\n\r\n", "/a", ""},
	{"GET /s%69mple%2f?%zz HTTP/1.1\r\nHOST: [::1]:80 \r\n\r\n", "/simple/", ""},
	{"get / HTTP/1.1\r\nHost: x\r\n\r\n", "/", ""},
	{"GET / HTTP/1.7\r\nHost: x\r\n\r\n", "/", ""},
	{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "*", ""},
	{"GET http://x/simple?a HTTP/1.1\r\nHost: y\r\n\r\n", "/simple", ""},
	{"GET HTTPS://x:1?/simple HTTP/1.1\r\nHost: y\r\n\r\n", "/", ""},
	// HTTP/1.0 closes, unless asked not to, and needs no Host.
	{"GET / HTTP/1.0\r\n\r\n", "/", "close"},
	{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "/", "keep"},
	{"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "/", "close"},
	{get("Connection: close"), "/", "close"},
	{get("Connection: a ,\t, CLOSE", "Connection: keep-alive"), "/", "close"},
	{get("Connection: closed"), "/", ""},
	{get("Content-Length: 0"), "/", ""},
	{get("content-length:\t 01000 "), "/", "body"},
	{get("Transfer-Encoding: Chunked"), "/", "body"},
	{get("X-1: \tabc \xff\t", "!#$%&'*+-.^_`|~9: :", "Empty:"), "/", ""},
}

// refused are heads, and the status with which each is refused.
var refused = []struct {
	status int
	head   string
}{
	// The first line.
	{400, "\r\n\r\n"},
	{400, "GET /\r\n\r\n"},
	{400, "GET  / HTTP/1.1\r\n\r\n"},
	{400, "GET / HTTP/1.1 \r\n\r\n"},
	{400, "GET / x HTTP/1.1\r\n\r\n"},
	{400, " GET / HTTP/1.1\r\n\r\n"},
	{400, "GET\t/ HTTP/1.1\r\n\r\n"},
	{400, "G@T / HTTP/1.1\r\n\r\n"},
	{400, "GET  HTTP/1.1\r\n\r\n"},
	{400, "GET / http/1.1\r\n\r\n"},
	{400, "GET / HTTP/1.10\r\n\r\n"},
	{400, "GET / HTTP/1.1\n\r\n"},
	{400, "GET / HTTP/1.1\n"},
	{400, "GET / HTTP/1.1\r\r\n\r\n"},
	{400, "GET /\x00 HTTP/1.1\r\n"},
	{400, "GET /\xc3\xa9 HTTP/1.1\r\n"},
	{400, "GET /#x HTTP/1.1\r\n"},
	{400, "GET /%4g HTTP/1.1\r\n"},
	{400, "GET simple HTTP/1.1\r\n"},
	{400, "OPTIONS ** HTTP/1.1\r\n"},
	{400, "GET ftp://x/ HTTP/1.1\r\n"},
	{400, "GET http:/x HTTP/1.1\r\n"},
	{400, "GET http:/// HTTP/1.1\r\n"},
	{400, "GET http://u@x/ HTTP/1.1\r\n"},
	{400, "CONNECT x:80 HTTP/1.1\r\n"},
	{505, "GET / HTTP/2.0\r\n"},
	{505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
	{505, "GET / HTTP/0.9\r\n"},
	// Lines of a head.
	{400, get("X:1\n\r")},
	{400, "GET / HTTP/1.1\r\nHost: x\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: x\r\n\n"},
	{400, "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
	{400, get("X: a", " folded")},
	{400, get("Content-Length : 5")},
	{400, get("X")},
	{400, get(": 1")},
	{400, get("(X): 1")},
	{400, get("X\x00: 1")},
	{400, get("X: a\x00b")},
	{400, get("X: a\rb")},
	{400, get("X: a\x7f")},
	{400, get("X\xff: 1")},
	// Host.
	{400, "GET / HTTP/1.1\r\n\r\n"},
	{400, get("Host: x")},
	{400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"},
	{400, "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n"},
	// What frames the message.
	{400, get("Content-Length: 5", "Content-Length: 6")},
	{400, get("Content-Length: 5", "Content-Length: 5")},
	{400, get("Content-Length: 5,6")},
	{400, get("Content-Length: +5")},
	{400, get("Content-Length: 0x5")},
	{400, get("Content-Length: 5.0")},
	{400, get("Content-Length:")},
	{400, get("Content-Length: 5", "Transfer-Encoding: chunked")},
	{400, get("Transfer-Encoding: chunked", "Content-Length: 0")},
	{400, get("Transfer-Encoding: \vchunked")},
	{400, "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
	// The limit.
	{431, "GET /" + strings.Repeat("x", Longest)},
	{431, get("X: " + strings.Repeat("x", Longest-len(get("X: "))+1))},
}

// says is the result beside the path.
func says(r *Request) (all string) {
	for word, is := range map[string]bool{"body": r.Body, "close": r.Close, "keep": r.KeepAlive} {
		if is {
			all += word
		}
	}
	return all
}

func TestHeads(t *testing.T) {
	var r Request
	for _, c := range accepted {
		steady(t, []byte(c.head))
		agree(t, []byte(c.head))
		used, status := r.Read([]byte(c.head + "GET"))
		method, _, _ := strings.Cut(strings.TrimSpace(c.head), " ")
		if used != len(c.head) || status != 0 || string(r.Path) != c.path || string(r.Method) != method || says(&r) != c.says {
			t.Errorf("%q: %d, %d, %+v", c.head, used, status, r)
		}
	}
	longest := get("X: " + strings.Repeat("x", Longest-len(get("X: "))))
	if used, status := r.Read([]byte(longest)); used != Longest || status != 0 {
		t.Errorf("a head of as many bytes as are allowed: %d, %d", used, status)
	}
	for _, c := range refused {
		steady(t, []byte(c.head[:min(len(c.head), 1000)]))
		if used, status := r.Read([]byte(c.head)); used != 0 || status != c.status {
			t.Errorf("%.80q: %d, status %d, want %d", c.head, used, status, c.status)
		}
	}
}

// steady checks that the result for in comes as soon as it can, and does not change with what
// follows.
func steady(t *testing.T, in []byte) {
	t.Helper()
	used, status := new(Request).Read(in)
	for cut := range in {
		u, s := new(Request).Read(in[:cut])
		if (u != 0 || s != 0) && (u != used || s != status) {
			t.Fatalf("%q, of which %q: %d, %d, the whole %d, %d", in, in[:cut], u, s, used, status)
		}
	}
}

// A head that this package takes is one for Go's own server too, and both read the same. Go's takes
// more.
func agree(t *testing.T, in []byte) {
	t.Helper()
	var r Request
	used, status := r.Read(in)
	if used == 0 {
		return
	}
	if status != 0 || used > Longest {
		t.Fatalf("%q: both read, %d, and refused, %d", in, used, status)
	}
	method := string(r.Method)
	if method == http.MethodConnect || method == http.MethodOptions || bytes.ContainsAny(in[:used], "\x80\xff") {
		return // Go's reads the targets of these otherwise
	}
	theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(in[:used], []byte("\r\n")))))
	if err != nil {
		if minor := in[bytes.IndexByte(in, '\n')-2]; minor > '1' && strings.Contains(err.Error(), "version") {
			return
		}
		if strings.Contains(err.Error(), "unsupported transfer encoding") || strings.Contains(err.Error(), "invalid URI") ||
			strings.Contains(err.Error(), "parse ") {
			return // a list with empty elements; targets with characters that RFC 3986 leaves out
		}
		t.Fatalf("%q: taken, and Go's says %v", in[:used], err)
	}
	if r.Body != (theirs.ContentLength != 0) || r.Close && !theirs.Close {
		t.Fatalf("%q: %+v, Go's has a length of %d, closes: %v", in[:used], r, theirs.ContentLength, theirs.Close)
	}
	if path := theirs.URL.Path; path != string(r.Path) && path != "" {
		t.Fatalf("%q: path %q, Go's %q", in[:used], r.Path, path)
	}
}

// Bytes drawn at random, most of them such as heads have, break nothing.
func TestHeadsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"GET ", "/", " HTTP/1.1", "\r\n", "\r", "\n", "Host: x", "Content-Length: ",
		"Transfer-Encoding: chunked", ":", " ", "\x00", "5", ",", "http://", "%41", "?"}
	for range 20_000 {
		var in []byte
		for range 1 + rng.IntN(12) {
			in = append(in, parts[rng.IntN(len(parts))]...)
		}
		steady(t, in)
		agree(t, in)
	}
}

package probe

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

const okHead = "HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 05:00:00 GMT\r\nContent-Type: " +
	"application/json\r\nContent-Length: %d\r\n\r\n"

func whole(body string) string { return fmt.Sprintf(okHead, len(body)) + body }

// serve answers request n, counted from 1, with the text that answer returns,
// and closes the connection if hangUp is true.
func serve(t *testing.T, answer func(n int64) (text string, hangUp bool)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var n atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					for line := ""; line != "\r\n"; {
						if line, err = r.ReadString('\n'); err != nil {
							return
						}
					}
					text, hangUp := answer(n.Add(1))
					io.WriteString(conn, text)
					if hangUp {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/simple"
}

func TestEachAnswerIsLookedAt(t *testing.T) {
	simple := catalog.Simple
	for _, c := range []struct {
		name   string
		text   string
		hangUp bool
		gate   string // empty: the answer is right
		says   string
	}{
		{"the route's", whole(simple), false, "", ""},
		{"half of it", whole(simple[:8]), false, gate.WrongAnswer, "8 bytes of body, the route's have 16"},
		{"107 bytes", whole(strings.Repeat("x", 107)), false, gate.WrongAnswer, "107 bytes of body, the route's have 16"},
		{"a gigabyte, it says", fmt.Sprintf(okHead, 1<<30) + simple, false, gate.WrongAnswer, "of body"},
		{"half of it, and the end", fmt.Sprintf(okHead, 16) + simple[:8], true, gate.WrongAnswer,
			"8 bytes of body (no more: unexpected EOF), its Content-Length is 16"},
		{"a head only, and the end", fmt.Sprintf(okHead, 16), true, gate.WrongAnswer,
			"0 bytes of body (no more: EOF), its Content-Length is 16"},
		{"half a head, and the end", okHead[:30], true, gate.WrongAnswer, "a head that ends after 30 bytes"},
		{"nothing, and the end", "", true, gate.Errors, "no answer: EOF"},
		{"a byte changed", whole(`{"message":"ho"}`), false, gate.WrongAnswer, "differs from the route's at byte 14"},
		{"a byte behind it", whole(simple) + "x", false, gate.WrongAnswer, ""},
		{"HTML", strings.Replace(whole("<p>It works!</p>"), "application/json", "text/html", 1), false, gate.WrongAnswer,
			`Content-Type "text/html", the route's is "application/json"`},
		{"another type", strings.Replace(whole(simple), "application/json", "application/json; charset=utf-8", 1), false,
			gate.WrongAnswer, "Content-Type"},
		{"no type", strings.Replace(whole(simple), "Content-Type", "X-Content-Type", 1), false, gate.WrongAnswer,
			"Content-Type"},
		{"compressed, it says", strings.Replace(whole(simple), "Date", "Content-Encoding: gzip\r\nDate", 1), false,
			gate.WrongAnswer, `Content-Encoding "gzip", the route's is ""`},
		{"in chunks", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" +
			simple + "\r\n0\r\n\r\n", false, gate.WrongAnswer, "without Content-Length"},
		{"the last of its connection", strings.Replace(whole(simple), "Date", "Connection: close\r\nDate", 1), true,
			gate.WrongAnswer, "ends the connection"},
		{"another 2xx", strings.Replace(whole(simple), "200 OK", "203 Non-Authoritative", 1), false, gate.WrongAnswer,
			"status 203"},
		{"404", strings.Replace(whole(simple), "200 OK", "404 Not Found", 1), false, gate.Non2xx, "status 404"},
		{"no HTTP", "hello\r\n\r\n", false, gate.WrongAnswer, "a head that is none"},
		{"a head without end", strings.Repeat("x", mostHead-1) + "\n" + strings.Repeat("x", mostHead-1) + "\n", true,
			gate.WrongAnswer, "a head that ends"},
	} {
		// Only the third answer differs from the others.
		url := serve(t, func(n int64) (string, bool) {
			if n == 3 {
				return c.text, c.hangUp
			}
			return whole(simple), false
		})
		client, err := newClient("fiber", url)
		if err != nil {
			t.Fatal(err)
		}
		f := client.check(context.Background())
		switch {
		case c.gate == "" && f != nil:
			t.Errorf("%s: %v", c.name, f)
		case c.gate == "":
		case c.name == "a byte behind it" && f != nil && f.Gate == gate.WrongAnswer:
			// The fault shows after this answer, or before the next.
		case f == nil || f.Gate != c.gate || !strings.HasPrefix(f.Detail, "answer 3 of 20: ") ||
			!strings.Contains(f.Detail, c.says) || strings.Contains(f.Detail, "\n"):
			t.Errorf("%s: %+v, want %s and %q", c.name, f, c.gate, c.says)
		}
		if f == nil && client.head != len(fmt.Sprintf(okHead, 16))-2 {
			t.Errorf("%s: a head of %d", c.name, client.head)
		}
	}
}

func TestHeadsOfOneLength(t *testing.T) {
	url := serve(t, func(n int64) (string, bool) {
		return strings.Replace(whole(catalog.Simple), "Date", strings.Repeat("X-A: b\r\n", int(n/2%2))+"Date", 1), false
	})
	client, err := newClient("fiber", url)
	if err != nil {
		t.Fatal(err)
	}
	if f := client.check(context.Background()); f == nil ||
		!strings.Contains(f.Detail, "answer 2 of 20: a head of ") {
		t.Errorf("%+v", f)
	}
}

func TestWhatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/simple"
	client, err := newClient("fiber", url) // nothing accepts, but the kernel completes the connection
	if err != nil {
		t.Fatal(err)
	}
	client.timeout = 50 * time.Millisecond
	if f := client.check(context.Background()); f == nil || f.Gate != gate.Timeouts ||
		!strings.Contains(f.Detail, "no answer within 50ms") {
		t.Errorf("%+v", f)
	}
	l.Close()
	if f := client.check(context.Background()); f == nil || f.Gate != gate.Errors ||
		!strings.Contains(f.Detail, "no connection") {
		t.Errorf("%+v", f)
	}
	slow := serve(t, func(int64) (string, bool) { return fmt.Sprintf(okHead, 16) + "{", false })
	if client, err = newClient("fiber", slow); err != nil {
		t.Fatal(err)
	}
	client.timeout = 50 * time.Millisecond
	if f := client.check(context.Background()); f == nil || f.Gate != gate.WrongAnswer ||
		!strings.Contains(f.Detail, "1 bytes of body (no more within 50ms), its Content-Length is 16") {
		t.Errorf("%+v", f)
	}
}

// An unknown route must be a fault, not a pass.
func TestAnUnknownRouteIsAFault(t *testing.T) {
	url := serve(t, func(int64) (string, bool) { return whole(catalog.Simple), false }) + "st"
	client, err := newClient("fiber", url)
	if err != nil {
		t.Fatal(err)
	}
	if f := client.check(context.Background()); f == nil || f.Gate != gate.WrongAnswer ||
		!strings.Contains(f.Detail, "does not know what the fiber server has to answer on /simplest") {
		t.Errorf("%+v", f)
	}
}

// The whole command says how long the answers' heads are, or what was wrong.
func TestCheck(t *testing.T) {
	for wrong, want := range map[int64]string{0: fmt.Sprintf(`{"head":%d}`, len(okHead)-2),
		18: `"fault":{"gate":"wrong-answer","detail":"answer 18 of 20: a body of the right length that differs`} {
		url := serve(t, func(n int64) (string, bool) {
			if n == wrong {
				return whole(`{"message":"ha"}`), false
			}
			return whole(catalog.Simple), false
		})
		var out bytes.Buffer
		if err := (Check{"fiber", url}).Run(t.Context(), &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %s, want %s", err, &out, want)
		}
	}
	for _, c := range []Check{{"", "http://127.0.0.1/simple"}, {"fiber", "127.0.0.1:1"}} {
		if err := c.Run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "is not http://HOST:PORT") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

package contest

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/probe"
)

func answersOf(kind string, bodies ...string) (out []probe.Given) {
	for i := range answersEach {
		body := bodies[i%len(bodies)]
		out = append(out, probe.Given{Status: 200, Type: kind, Length: len(body), SHA256: body, Body: []byte(body)})
	}
	return out
}

func TestDifferencesBetweenAnswersAreNamed(t *testing.T) {
	old, fresh := Server{Name: "old"}, Server{Name: "new"}
	const text = "text/plain"
	zipped := answersOf(text, "abc")
	zipped[0].Encoding = "gzip"
	created := answersOf(text, "abc")
	created[0].Status = 201
	for _, c := range []struct {
		name string
		a, b []probe.Given
		says string // empty: the same
	}{
		{"equal", answersOf(text, "abc"), answersOf(text, "abc"), ""},
		{"the same sequence", answersOf(text, "a", "bb"), answersOf(text, "a", "bb"), ""},
		{"sequences that overlap", answersOf(text, "a", "bb"), answersOf(text, "bb", "a"), ""},
		{"status", answersOf(text, "abc"), created, "new answers with status 201, old with 200"},
		{"type", answersOf(text, "abc"), answersOf("", "abc"), `new answers with Content-Type none, old with "text/plain"`},
		{"encoding", answersOf(text, "abc"), zipped, `Content-Encoding "gzip"`},
		{"length", answersOf(text, "abc"), answersOf(text, "abcd"),
			"new answers with a body of 4 bytes, old with 3 bytes; the first byte that differs is 4"},
		{"byte", answersOf(text, "abc"), answersOf(text, "aXc"),
			`the bodies of new and old, 3 bytes each, differ from byte 2 on ("X", "b")`},
		{"one that changes", answersOf(text, "abc"), answersOf(text, "abc", "abd"),
			"the answers of new change from one request to the next"},
		{"lengths that do not overlap", answersOf(text, "a", "bb"), answersOf(text, "ccc", "dddd"),
			"new answers with bodies of 3 to 4 bytes, old with 1 to 2 bytes"},
	} {
		got := differ(old, fresh, c.a, c.b)
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
}

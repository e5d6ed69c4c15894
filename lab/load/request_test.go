package load

import (
	"strings"
	"testing"
)

func TestRequestsThatAreRefused(t *testing.T) {
	good := func() Request {
		return Request{Name: "find", Method: "POST", Path: "/find?q=a%20b", Headers: [][2]string{{"Accept", "text/plain"}},
			Body: []byte("x"), Weight: 2, Status: []int{200, 404},
			Check: &Check{Headers: [][2]string{{"Etag", ""}}, JSON: []Field{{"/a/0", "1"}}}}
	}
	for _, c := range []struct {
		want   string // part of the error; empty: accepted
		change func(*Request)
	}{
		{"", func(*Request) {}},
		{"", func(r *Request) { *r = Request{Method: "HEAD", Path: "/"} }},
		{"name is", func(r *Request) { r.Name = "a\nb" }},
		{"method is", func(r *Request) { r.Method = "" }},
		{"method is", func(r *Request) { r.Method = "GET /" }},
		{"method is", func(r *Request) { r.Method = "CONNECT" }},
		{"path is", func(r *Request) { r.Path = "find" }},
		{"path is", func(r *Request) { r.Path = "/a b" }},
		{"path is", func(r *Request) { r.Path = "/a\r\nX: y" }},
		{"weight is", func(r *Request) { r.Weight = -1 }},
		{"is no name of a header", func(r *Request) { r.Headers[0][0] = "A:" }},
		{"is no value", func(r *Request) { r.Headers[0][1] = "a\r\nb" }},
		{"is no value", func(r *Request) { r.Headers[0][1] = " a" }},
		{"Content-Length cannot be given: it follows", func(r *Request) { r.Headers[0][0] = "Content-Length" }},
		{"connection cannot be given: close", func(r *Request) { r.Headers[0][0] = "connection" }},
		{"Host is there twice", func(r *Request) { r.Headers = [][2]string{{"Host", "a"}, {"host", "b"}} }},
		{"status: 100", func(r *Request) { r.Status = []int{100} }},
		{"status: 200", func(r *Request) { r.Status = []int{200, 200} }},
		{"no header that can come", func(r *Request) { r.Check.Headers[0][0] = "" }},
		{"is no pointer", func(r *Request) { r.Check.JSON[0].Pointer = "a" }},
		{"is no pointer", func(r *Request) { r.Check.JSON[0].Pointer = "/~" }},
		{"is no JSON", func(r *Request) { r.Check.JSON[0].Value = "text" }},
		{"HEAD has no body", func(r *Request) { r.Method = "HEAD" }},
		{"body is the whole body", func(r *Request) { r.Check.Body = []byte{} }},
		{"nothing in it", func(r *Request) { r.Check = &Check{} }},
	} {
		r := good()
		c.change(&r)
		if err := r.Valid(); c.want == "" && err != nil || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestABodyIsWhatItsCheckSays(t *testing.T) {
	const doc = `{"a":{"b/c":[1,{"d":"x"}]},"n":1.0,"null":null}`
	for _, c := range []struct {
		check Check
		body  string
		want  string // part of the error; empty: right
	}{
		{Check{Body: []byte("abc")}, "abc", ""},
		{Check{Body: []byte("abc")}, "abd", "at byte 3"},
		{Check{Body: []byte("abc")}, "ab", "2 bytes of body, expected were 3"},
		{Check{Body: []byte{}}, "", ""},
		{Check{Contains: "b"}, "abc", ""},
		{Check{Contains: "d"}, "abc", `without "d"`},
		{Check{JSON: []Field{{"/a/b~1c/1/d", `"x"`}}}, doc, ""},
		{Check{JSON: []Field{{"/a/b~1c/1/d", `"\u0078"`}}}, doc, ""},
		{Check{JSON: []Field{{"/n", `1`}, {"/null", "null"}, {"/a", ""}}}, doc, ""},
		{Check{JSON: []Field{{"/a/b~1c/0", "2"}}}, doc, "/a/b~1c/0 is 1 in the body, expected was 2"},
		{Check{JSON: []Field{{"/a/b~1c/2", ""}}}, doc, "no /a/b~1c/2"},
		{Check{JSON: []Field{{"/n/x", ""}}}, doc, "no /n/x"},
		{Check{JSON: []Field{{"", `{}`}}}, `{ }`, ""},
		{Check{JSON: []Field{{"/a", ""}}}, `{"a":`, "is no JSON"},
		{Check{JSON: []Field{{"/a", ""}}}, ``, "is no JSON"},
		{Check{JSON: []Field{{"/b", ""}}}, `{"a": 1 }`, "no /b"},
		{Check{JSON: []Field{{"/a", `[ "]" , {"x" :2} ]`}}}, ` { "b\"" : "}" , "\u0061" : ["]", {"x": 2}] } `, ""},
		{Check{JSON: []Field{{"", "[ ]"}}}, `[]`, ""},
	} {
		err := c.check.Fault([]byte(c.body))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v of %q: %v, want %q", c.check, c.body, err, c.want)
		}
	}
}

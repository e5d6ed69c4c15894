package probe

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/load"
)

const whole = `[[request]]
name = "search"
path = "/search?q=a%20b"
weight = 9
expect = ["json:/hits/0/Id=7", "json:/state=open"]

[[request]]
method = "PUT"
path = "/orders/1"
header = ["Content-Type: application/json", "X-Own: 1"]
data = "@order.json"
status = [200, 201]
expect = ["contains=id", "header:Etag"]

[[request]]
path = "/empty"
data = ""
`

func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.toml")
	for name, text := range map[string]string{path: text, filepath.Join(dir, "order.json"): "{}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAScenario(t *testing.T) {
	got, err := read(write(t, whole))
	want := Requests{
		{Name: "search", Method: "GET", Path: "/search?q=a%20b", Weight: 9,
			Check: &load.Check{JSON: []load.Field{{Pointer: "/hits/0/Id", Value: "7"}, {Pointer: "/state", Value: `"open"`}}}},
		{Method: "PUT", Path: "/orders/1", Body: []byte("{}\n"), Status: []int{200, 201},
			Headers: [][2]string{{"Content-Type", "application/json"}, {"X-Own", "1"}},
			Check:   &load.Check{Contains: "id", Headers: [][2]string{{"Etag", ""}}}},
		{Method: "POST", Path: "/empty", Body: []byte{},
			Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Each fault is one line with the file and the line of the key.
func TestFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{whole, "", "line 1: it asks for nothing"},
		{whole, `request = [{path = "a"}]`, `path is "a"`},
		{`name = "search"`, `nam = "search"`, `line 2: unknown key "request.nam"; did you mean "name"?`},
		{`header = [`, `headers = [`, `line 10: unknown key "request.headers"; did you mean "header"?`},
		{`weight = 9`, `Weight = 9`, `"request[0].Weight": keys are written in lower case`},
		{`weight = 9`, `weight = "9"`, "line 4"},
		{`weight = 9`, `weight = -9`, "request 1: weight is -9"},
		{`weight = 9`, `weight = 0`, "request 1: weight is 0; leave out the request"},
		{`name = "search"`, `name = "a"` + "\n" + `name = "b"`, "line 3"},
		{`path = "/empty"`, "", `request 3: path is ""`},
		{`X-Own: 1`, `X-Own`, `request 2: header "X-Own": write`},
		{`X-Own: 1`, `Connection: close`, "request 2: headers: Connection cannot be given: close says"},
		{`order.json`, `none.json`, "request 2: data: open "},
		{`"contains=id"`, `"body=id", "contains=id"`, "request 2: check: body is the whole body"},
		{`data = ""`, `name = "search"`, `two are named "search"`},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if text == whole {
			t.Fatalf("%q is not in it", c.old)
		}
		path := write(t, text)
		_, err := read(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+", ") || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := read("/nowhere/shop.toml"); err == nil || !strings.Contains(err.Error(), "/nowhere/shop.toml") {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	text, file := `{"a": 1}`, "@"+filepath.Join(filepath.Dir(write(t, whole)), "order.json")
	for _, c := range []struct {
		url   string
		data  *string
		flags Asking
		want  string // part of the error; empty: made
		made  load.Request
	}{
		{url: "/a", made: load.Request{Method: "GET", Path: "/a"}},
		{url: "/a", data: &text, flags: Asking{Request: Request{Header: []string{"Content-Type: application/json", "X:y"}, Status: []int{201}}},
			made: load.Request{Method: "POST", Path: "/a", Body: []byte(text), Status: []int{201},
				Headers: [][2]string{{"Content-Type", "application/json"}, {"X", "y"}}}},
		{url: "/a", data: &file, flags: Asking{Request: Request{Method: "PUT"}}, made: load.Request{Method: "PUT", Path: "/a", Body: []byte("{}\n"),
			Headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}}},
		{url: "/a", flags: Asking{Request: Request{Expect: []string{"header:Etag", "header:X=1=2", "contains=a=b", "json:/a/b=open", "json:/n=1",
			"json:/n"}}}, made: load.Request{Method: "GET", Path: "/a", Check: &load.Check{Contains: "a=b",
			Headers: [][2]string{{"Etag", ""}, {"X", "1=2"}},
			JSON:    []load.Field{{Pointer: "/a/b", Value: `"open"`}, {Pointer: "/n", Value: "1"}, {Pointer: "/n", Value: ""}}}}},
		{url: "/a", flags: Asking{Request: Request{Expect: []string{"body=" + file}}}, made: load.Request{Method: "GET", Path: "/a",
			Check: &load.Check{Body: []byte("{}\n")}}},
		{want: "--url is missing"},
		{url: "a", want: `path is "a"`},
		{url: "/", flags: Asking{Request: Request{Header: []string{"X"}}}, want: `header "X": write 'NAME: VALUE'`},
		{url: "/", flags: Asking{Request: Request{Expect: []string{"bdy=a"}}}, want: `expect "bdy=a": write header:NAME=VALUE`},
		{url: "/", flags: Asking{Scenario: "shop.toml"}, want: "leave out the path"},
	} {
		c.flags.Data = c.data
		s, err := c.flags.Asked(c.url)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q %+v: %v, want %q", c.url, c.flags, err, c.want)
		case c.want == "" && (err != nil || !reflect.DeepEqual(s, Requests{c.made})):
			t.Errorf("%q %+v: %+v, %v", c.url, c.flags, s, err)
		}
	}
	none := "@/nowhere"
	if _, err := (Asking{Request: Request{Data: &none}}).Asked("/"); err == nil || !strings.Contains(err.Error(), "open /nowhere") {
		t.Error(err)
	}
	all, err := Asking{Scenario: write(t, whole)}.Asked("")
	if err != nil || len(all) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

// Any text gets a refusal of one line, or makes requests.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("[request]\npath = \"a\"")
	f.Add("[[request]]\npath = \"/\"\nexpect = [\"header:a\", \"json:/a=[1, {}]\"]")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "a.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := read(path)
		if err != nil {
			return
		}
		for _, r := range all {
			if err := r.Valid(); err != nil {
				t.Error(err)
			}
		}
	})
}

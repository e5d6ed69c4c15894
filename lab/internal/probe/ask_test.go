package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

func TestHowAnswersDiffer(t *testing.T) {
	a := Given{Status: 200, Type: "text/plain", Length: 5, SHA256: "aaaa"}
	with := func(change func(*Given)) Given { b := a; change(&b); return b }
	for _, c := range []struct {
		theirs, ours []Given
		says         string
	}{
		{[]Given{a, a}, []Given{a}, ""},
		{[]Given{a}, []Given{a, with(func(g *Given) { g.Status = 201 })}, "status 201, not 200"},
		{[]Given{a}, []Given{with(func(g *Given) { g.Type = "" })}, `Content-Type none, not "text/plain"`},
		{[]Given{a}, []Given{with(func(g *Given) { g.Encoding = "gzip" })}, `Content-Encoding "gzip", not none`},
		{[]Given{a}, []Given{with(func(g *Given) { g.Length = 6 })}, "a body of 6 bytes, not 5"},
		{[]Given{a}, []Given{with(func(g *Given) { g.SHA256 = "bbbb" })}, "a body of SHA-256 bbbb, not aaaa"},
		// What varies in the first server's own answers may vary, and nothing else.
		{[]Given{a, with(func(g *Given) { g.SHA256 = "bbbb" })}, []Given{with(func(g *Given) { g.SHA256 = "cccc" })}, ""},
		{[]Given{a, with(func(g *Given) { g.SHA256 = "bbbb" })}, []Given{a, a}, "a body that does not change, not one that changes by itself"},
	} {
		if got := Differ(c.theirs, c.ours).String(); got != c.says {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}

// A server is asked until it answers 2xx, and then a few times more.
func TestAskingAServer(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case r.URL.Path == "/early" && n < 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/early", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "hello")
		}
	}))
	defer s.Close()
	var out bytes.Buffer
	at := func(path string) io.Reader { return strings.NewReader(fmt.Sprintf(`{"url": %q}`, s.URL+path)) }
	if err := Serve(t.Context(), at("/early"), &out, 10*time.Second, 3); err != nil {
		t.Fatal(err)
	}
	var given []Given
	if err := json.Unmarshal(out.Bytes(), &given); err != nil || len(given) != 3 ||
		!reflect.DeepEqual(given[0], given[2]) || given[0].Status != 200 || given[0].Length != 5 ||
		given[0].Type != "text/plain" || len(given[0].SHA256) != 64 {
		t.Errorf("%v: %s", err, out.Bytes())
	}
	if err := Serve(t.Context(), at("/moved"), &out, 50*time.Millisecond, 3); err == nil ||
		!strings.Contains(err.Error(), "status 302") {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := Serve(t.Context(), at("/early"), &out, 50*time.Millisecond, 3); err == nil ||
		!strings.HasPrefix(err.Error(), "no answer to GET /early: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// Each request of a target is asked as the load asks it, and judged by its own check.
func TestAskingForSeveralRequests(t *testing.T) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusCreated)
		}
		fmt.Fprintf(w, `{"n": %d, "said": %q}`, n, r.Host+r.Header.Get("X-Own")+string(body))
	}))
	defer s.Close()
	target := load.Target{URL: s.URL + "/", Requests: []load.Request{
		{Method: "GET", Path: "/a?b", Status: []int{200}},
		{Method: "PUT", Path: "/b", Headers: [][2]string{{"Host", "h"}, {"X-Own", "1"}}, Body: []byte("text"), Status: []int{201},
			Check: &load.Check{JSON: []load.Field{{Pointer: "/said", Value: `"h1text"`}}}},
	}}
	ask := func() ([]Given, error) {
		var in, out bytes.Buffer
		if err := json.NewEncoder(&in).Encode(target); err != nil {
			t.Fatal(err)
		}
		if err := Serve(t.Context(), &in, &out, time.Second, 2); err != nil {
			return nil, err
		}
		var given []Given
		return given, json.Unmarshal(out.Bytes(), &given)
	}
	first, err := ask()
	if err != nil || len(first) != 4 || first[1].Of != 0 || first[2].Of != 1 || first[3].Status != 201 || first[3].SHA256 != "" ||
		first[0].SHA256 == first[1].SHA256 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := ask()
	for of := range 2 {
		if d := Differ(To(of, first), To(of, again)); err != nil || d.Field != "" {
			t.Errorf("to request %d: %v, %v", of+1, d, err)
		}
	}
	again[3].Type = "text/html"
	if d := Differ(To(1, first), To(1, again)); d.Field != "Content-Type" {
		t.Errorf("%v", d)
	}
	target.Requests[1].Check.JSON[0].Value = `"h"`
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "to PUT /b is not as expected: /said is ") {
		t.Error(err)
	}
}

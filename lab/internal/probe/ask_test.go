package probe

import (
	"bytes"
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
	a := Given{Status: 200, Type: "text/plain", Body: []byte("aaaa")}
	with := func(change func(*Given)) Given { b := a; change(&b); return b }
	body := func(text string) Given { return with(func(g *Given) { g.Body = []byte(text) }) }
	for _, c := range []struct {
		theirs, ours []Given
		says         string
	}{
		{[]Given{a, a}, []Given{a}, ""},
		{[]Given{a}, []Given{a, with(func(g *Given) { g.Status = 201 })}, "status 201, not 200"},
		{[]Given{a}, []Given{with(func(g *Given) { g.Type = "" })}, `Content-Type none, not "text/plain"`},
		{[]Given{a}, []Given{with(func(g *Given) { g.Encoding = "gzip" })}, `Content-Encoding "gzip", not none`},
		{[]Given{a}, []Given{body("aaaaa")}, "a body of 5 bytes, not 4"},
		{[]Given{a}, []Given{body("aaba")}, `a body that has "b" as byte 3, not "a" there`},
		// What varies in the first server's own answers may vary, and nothing else.
		{[]Given{a, body("bbbb")}, []Given{body("cccc")}, ""},
		{[]Given{a, body("bbbb")}, []Given{a, a}, "a body that does not change, not one that changes by itself"},
	} {
		d := Differ(c.theirs, c.ours)
		if (d == nil) != (c.says == "") || d != nil && fmt.Sprintf("%s %s, not %s", d.Field, d.Ours, d.Theirs) != c.says {
			t.Errorf("%v, want %q", d, c.says)
		}
	}
}

// The probe asks a server until it answers 2xx, and then a few times more.
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
	at := func(path string, within time.Duration) ([]Given, error) {
		return Ask(t.Context(), load.Target{URL: s.URL + path}, within, 3)
	}
	given, err := at("/early", 10*time.Second)
	if err != nil || len(given) != 3 || !reflect.DeepEqual(given[0], given[2]) || given[0].Status != 200 ||
		given[0].Type != "text/plain" || string(given[0].Body) != "hello" {
		t.Errorf("%v: %+v", err, given)
	}
	if _, err := at("/moved", 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "status 302") {
		t.Errorf("%v", err)
	}
	s.Close()
	if _, err := at("/early", 50*time.Millisecond); err == nil || !strings.HasPrefix(err.Error(), "no answer to GET /early: ") ||
		strings.Contains(err.Error(), "\n") {
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
	first, err := Ask(t.Context(), target, time.Second, 2)
	if err != nil || len(first) != 4 || first[1].Of != 0 || first[2].Of != 1 || first[3].Status != 201 || first[3].Body != nil ||
		bytes.Equal(first[0].Body, first[1].Body) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := Ask(t.Context(), target, time.Second, 2)
	if d := Differ(first, again); err != nil || d != nil {
		t.Errorf("%v, %v", d, err)
	}
	again[3].Type = "text/html"
	if d := Differ(first, again); d == nil || d.Field != "Content-Type" || d.Of != 1 {
		t.Errorf("%v", d)
	}
	target.Requests[1].Check.JSON[0].Value = `"h"`
	if _, err := Ask(t.Context(), target, time.Second, 2); err == nil ||
		!strings.Contains(err.Error(), "to PUT /b is not as expected: /said is ") {
		t.Error(err)
	}
}

func TestAnAnswerThatWaitsForAnAcknowledgementHasAHint(t *testing.T) {
	for p50, want := range map[float64]bool{0.044: true, 0.0401: true, 0.0002: false, 0.039: false, 0.05: false, 0: false} {
		if got := Delayed(p50) != ""; got != want {
			t.Errorf("%v s: %v, want %v", p50, got, want)
		}
	}
}

package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHowAnswersDiffer(t *testing.T) {
	a := Given{200, "text/plain", "", 5, "aaaa"}
	with := func(change func(*Given)) Given { b := a; change(&b); return b }
	for _, c := range []struct {
		theirs, ours []Given
		says         string
	}{
		{[]Given{a, a}, []Given{a}, ""},
		{[]Given{a}, []Given{a, with(func(g *Given) { g.Status = 201 })}, "status 201, not 200"},
		{[]Given{a}, []Given{with(func(g *Given) { g.Type = "" })}, `Content-Type "", not "text/plain"`},
		{[]Given{a}, []Given{with(func(g *Given) { g.Encoding = "gzip" })}, `Content-Encoding "gzip", not ""`},
		{[]Given{a}, []Given{with(func(g *Given) { g.Length = 6 })}, "length 6 bytes, not 5 bytes"},
		{[]Given{a}, []Given{with(func(g *Given) { g.SHA256 = "bbbb" })}, "body SHA-256 bbbb, not SHA-256 aaaa"},
		// What varies in the first server's own answers may vary, and nothing else.
		{[]Given{a, with(func(g *Given) { g.SHA256 = "bbbb" })}, []Given{with(func(g *Given) { g.SHA256 = "cccc" })}, ""},
		{[]Given{a, with(func(g *Given) { g.SHA256 = "bbbb" })}, []Given{with(func(g *Given) { g.Length = 6 })},
			"length 6 bytes, not 5 bytes"},
	} {
		if got := Differ(c.theirs, c.ours); got != c.says {
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
	if err := (Asking{s.URL + "/early", 10 * time.Second, 3}).Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var given []Given
	if err := json.Unmarshal(out.Bytes(), &given); err != nil || len(given) != 3 || given[0] != given[2] ||
		given[0].Status != 200 || given[0].Length != 5 || given[0].Type != "text/plain" || len(given[0].SHA256) != 64 {
		t.Errorf("%v: %s", err, out.Bytes())
	}
	if err := (Asking{s.URL + "/moved", 50 * time.Millisecond, 3}).Run(t.Context(), &out); err == nil ||
		!strings.Contains(err.Error(), "status 302") {
		t.Errorf("%v", err)
	}
	url := s.URL
	s.Close()
	if err := (Asking{url + "/early", 50 * time.Millisecond, 3}).Run(t.Context(), &out); err == nil ||
		!strings.HasPrefix(err.Error(), "no answer 2xx within 50ms (") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

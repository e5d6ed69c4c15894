package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/study/event"
)

// ask makes one request to a control.
func ask(t *testing.T, h http.Handler, method, path string) (int, event.Figures, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	var f event.Figures
	_ = json.Unmarshal(w.Body.Bytes(), &f)
	return w.Code, f, w.Body.String()
}

func TestControl(t *testing.T) {
	sink := takes(t, willing)
	h := (&control{Settings: settings(t, "--interval-ms", "10")}).handler()
	start := "/start?sink=" + url.QueryEscape(sink.URL+"/")
	for _, c := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"GET", "/start", 405, ""}, {"GET", "/stop", 405, ""}, {"POST", "/figures", 405, ""}, {"GET", "/", 404, ""},
		{"POST", "/stop", 409, "nothing runs"}, {"GET", "/figures", 409, "nothing was started"},
		{"POST", "/rate?per_second=5", 409, "nothing runs"},
		{"POST", "/start", 400, "give http://"}, {"POST", "/start?sink=http://192.0.2.1:80/", 400, "loopback"},
		{"POST", "/start?sink=x", 400, "loopback"},
		{"POST", "/rate?per_second=0", 400, "whole number from 1"}, {"POST", "/rate?per_second=64000001", 400, "64000000"},
		{"POST", "/rate", 400, "whole number"}, {"POST", "/rate?per_second=1&for_ms=0", 400, "for_ms"},
		{"POST", start, 204, ""},
		{"POST", start, 409, "a run is under way"},
		{"POST", "/rate?per_second=5000", 204, ""},
	} {
		if code, _, said := ask(t, h, c.method, c.path); code != c.code || !strings.Contains(said, c.says) ||
			strings.Count(said, "\n") > 1 {
			t.Errorf("%s %s: %d %q, want %d and %q", c.method, c.path, code, said, c.code, c.says)
		}
	}
	for by := time.Now().Add(programtest.Patience); time.Now().Before(by); {
		if _, f, _ := ask(t, h, "GET", "/figures"); f.Delivered > 100 {
			break
		}
	}
	code, f, _ := ask(t, h, "GET", "/figures?reset=1")
	if code != 200 || f.Delivered <= 100 || f.Add == nil || f.Drained != nil || f.Offered < f.Added || f.LogLines == 0 {
		t.Errorf("%d %+v", code, f)
	}
	code, last, _ := ask(t, h, "POST", "/stop")
	if code != 200 || last.Drained == nil || !*last.Drained || last.Added != last.Delivered || last.Offered < f.Offered {
		t.Errorf("%d %+v", code, last)
	}
	if _, again, _ := ask(t, h, "GET", "/figures"); again.Added != last.Added || again.Offered != last.Offered {
		t.Errorf("after the stop %+v, then %+v", last, again)
	}
	// A new run counts from 0.
	sink.mu.Lock()
	clear(sink.seen)
	sink.mu.Unlock()
	if code, _, said := ask(t, h, "POST", start); code != 204 {
		t.Fatalf("%d %s", code, said)
	}
	if _, f, _ := ask(t, h, "GET", "/figures"); f.Added >= last.Added {
		t.Errorf("a second run begins with %+v", f)
	}
	ask(t, h, "POST", "/stop")
}

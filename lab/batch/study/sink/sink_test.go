package main

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/load"
)

// The processes keep up with a limit for a whole window, and not with the next step.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		limit, holds int           // the highest rates that are kept up with, for a short and for a whole window
		each         time.Duration // how long a try takes
		want         float64       // at least a step below it; 0: none
	}{
		{2000, 2000, 0, 2000}, {9000, 9000, 0, 9000}, {3_999_999, 3_999_999, 0, 3_999_999}, {700, 700, 0, 700},
		{9000, 8100, 0, 8100}, {9000, 1000, 0, 0}, {0, 0, 0, 0}, {math.MaxInt, math.MaxInt, 0, 0},
		{2500, 2500, 20 * time.Second, 2000}, // the time is up before the first step is halved twice
		{1 << 30, 1 << 30, 20 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			found, err := search(func(rate int, whole bool) (bool, error) {
				time.Sleep(c.each)
				return whole && rate <= c.holds || !whole && rate <= c.limit, nil
			})
			if c.want == 0 && err == nil || c.want > 0 && (float64(found) > c.want || float64(found+1)*finest*1.001 < c.want) {
				t.Errorf("%+v: found %d, %v", c, found, err)
			}
		})
	}
	gone := errors.New("gone")
	if _, err := search(func(int, bool) (bool, error) { return false, gone }); err != gone {
		t.Errorf("%v", err)
	}
}

func TestKeptUp(t *testing.T) {
	at := func(p50 float64) *load.Latency { return &load.Latency{P50: p50} }
	for _, c := range []struct {
		first, last *load.Latency
		failed      int64
		want        bool
	}{
		{at(0.4), at(0.399), 0, true},
		{at(0.4), at(0.4001), 0, false}, // later than the interval, the answer and a tenth of a window
		{nil, at(0.399), 0, true},
		{at(0.04), at(0.0999), 0, true},
		{at(0.04), at(0.1001), 0, false}, // later and later
		{at(0.4), at(0.01), 0, true},
		{at(0.1), nil, 0, false},
		{at(0.1), at(0.1), 1, false},
	} {
		o := &output{Figures: event.Figures{Failed: c.failed}, thirds: [4]*load.Latency{1: c.first, 3: c.last}}
		if got := o.keptUp(300*time.Millisecond, time.Second/3); got != c.want {
			t.Errorf("%+v, %+v, %d: %v", c.first, c.last, c.failed, got)
		}
	}
}

// post sends events, which were due so long ago, and gives the status of the answer.
func post(t *trial, size string, ago time.Duration, numbers ...uint64) int {
	var body []byte
	for _, n := range numbers {
		raw := make([]byte, 64)
		event.Put(raw, n, time.Now().Add(-ago).UnixNano())
		body = append(body, raw...)
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	req.Header.Set(event.SizeHeader, size)
	t.ServeHTTP(w, req)
	return w.Code
}

func TestEachEventCountsOnce(t *testing.T) {
	r := &trial{}
	for _, c := range []struct {
		numbers       []uint64
		events, twice int64
	}{
		{[]uint64{0, 1, 2}, 3, 0}, {[]uint64{2, 3, 2}, 4, 2}, {[]uint64{64, 63, 1000_000}, 7, 2}, {[]uint64{1000_000}, 7, 3},
	} {
		code := post(r, "64", 10*time.Second, c.numbers...)
		if code != 204 || r.Events != c.events || r.Duplicates != c.twice {
			t.Errorf("%v: %d, %+v", c.numbers, code, r.counters)
		}
	}
	if l := r.delivery.Latency(); r.Requests != 4 || r.InFlightMax != 1 || l.N != 7 || l.P50 < 10 || l.P50 > 60 {
		t.Errorf("%+v, delivered after %+v", r.counters, l)
	}
	for _, size := range []string{"", "x", "0", "15", "-64", "100"} {
		if code := post(r, size, 0, 9); code != 400 {
			t.Errorf("events of %q bytes: %d", size, code)
		}
	}
	if code := post(r, "64", 0); code != 400 || r.Events != 7 {
		t.Errorf("no events: %d", code)
	}
	o := output{counters: counters{Events: 90}, Figures: event.Figures{Failed: 9}}
	if o.missing(100) != 1 || o.missing(98) != 0 {
		t.Errorf("%d of 100 are missing, %d of 98", o.missing(100), o.missing(98))
	}
}

// So many of a thousand batches are refused, spread evenly, and do not count as arrived.
func TestABadSink(t *testing.T) {
	for permille, want := range map[int][]int{0: nil, 250: {3, 7}, 333: {3, 6}, 1000: {0, 1, 2, 3, 4, 5, 6, 7}} {
		r := &trial{Settings: Settings{Errors: permille}}
		var refused []int
		for n := range 8 {
			if code := post(r, "64", 0, uint64(n)); code == 503 {
				refused = append(refused, n)
			}
		}
		if !slices.Equal(refused, want) || int(r.Refused) != len(want) || int(r.Events) != 8-len(want) {
			t.Errorf("of a thousand %d: refused %v, %+v", permille, refused, r.counters)
		}
	}
}

func TestRefusals(t *testing.T) {
	for words, says := range map[string]string{
		"--duration 1":                      "--producer is missing",
		"--producer http://127.0.0.1:80":    "HOST:PORT",
		"--duration 0":                      "seconds from 0.01",
		"--warmup -1":                       "seconds from 0",
		"--latency-ms 1.5":                  "whole number",
		"--errors-permille 1001":            "from 0 to 1000",
		"--nonsense":                        "-nonsense",
		"--producer 127.0.0.1:1 more words": `"more"`,
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(words), &stdout, &stderr); code != program.Refused || stdout.Len() > 0 ||
			strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), says) {
			t.Errorf("%s: exit status %d, %q, %q; want %q", words, code, &stdout, &stderr, says)
		}
	}
	var stdout bytes.Buffer
	if run([]string{"--help"}, &stdout, nil) != program.OK || !strings.Contains(stdout.String(), "--find-limit") {
		t.Errorf("--help: %q", &stdout)
	}
}

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
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program"
)

func TestSearch(t *testing.T) {
	never := func() bool { return false }
	for _, c := range []struct{ limit, growing int }{
		{1999, 1}, {2000, 2}, {3999, 2}, {9000, 3}, {100_000, 4}, {3_999_999, 7}, {63_999_999, 9}, {event.MaxRate, 9},
		{math.MaxInt, 9},
	} {
		var tried []int
		limit, err := search(func(rate int) (bool, error) {
			tried = append(tried, rate)
			return rate <= c.limit, nil
		}, never)
		if err != nil {
			t.Fatal(err)
		}
		for i, rate := range tried[:c.growing] {
			if i > 0 && rate != min(factor*tried[i-1], event.MaxRate) {
				t.Errorf("limit %d: %v", c.limit, tried)
			}
		}
		switch {
		case c.limit < firstRate || c.limit >= event.MaxRate:
			if limit != 0 || len(tried) != c.growing {
				t.Errorf("limit %d: found %d by %v", c.limit, limit, tried)
			}
		// Never above the rate that it keeps up with, and less than the last bisection below.
		case limit > c.limit || float64(limit)*math.Pow(factor, 1.0/32)*1.001 < float64(c.limit) ||
			len(tried) != c.growing+bisections || !slices.Contains(tried, limit):
			t.Errorf("limit %d: found %d by %v", c.limit, limit, tried)
		}
	}
	// A search whose time is up returns what it has found so far, if something was too high, or else says what to change.
	for _, c := range []struct {
		limit, want int
		err         error
	}{{1 << 30, 0, errSlow}, {2500, 2000, nil}} {
		tries := 0
		if limit, err := search(func(rate int) (bool, error) { tries++; return rate <= c.limit, nil },
			func() bool { return tries == 2 }); err != c.err || limit != c.want || tries != 2 {
			t.Errorf("limit %d: found %v by %d tries, %v", c.limit, limit, tries, err)
		}
	}
	gone := errors.New("gone")
	if _, err := search(func(int) (bool, error) { return false, gone }, never); err != gone {
		t.Errorf("%v", err)
	}
}

func TestKeptUp(t *testing.T) {
	j := judge{normal: 300 * time.Millisecond, part: time.Second / 3}
	at := func(p50 float64) *event.Spread { return &event.Spread{P50: p50} }
	for _, c := range []struct {
		earlier, last *event.Spread
		failed        int64
		want          bool
	}{
		{at(0.4), at(0.399), 0, true},
		{at(0.4), at(0.4001), 0, false}, // later than the interval, the answer and a tenth of three parts
		{nil, at(0.399), 0, true},
		{at(0.04), at(0.0999), 0, true},
		{at(0.04), at(0.1001), 0, false}, // later and later
		{at(0.4), at(0.01), 0, true},
		{at(0.1), nil, 0, false},
		{at(0.1), at(0.1), 1, false},
	} {
		if got := j.keptUp(&output{Figures: event.Figures{Failed: c.failed}, earlier: c.earlier, last: c.last}); got != c.want {
			t.Errorf("%+v, %+v, %d: %v", c.earlier, c.last, c.failed, got)
		}
	}
}

// The same number in each thousand, and never two in a row where that can be avoided.
func TestCounted(t *testing.T) {
	for _, permille := range []int{0, 1, 3, 20, 333, 500, 999, 1000} {
		n, last := 0, int64(-1)
		for i := int64(1); i <= 10_000; i++ {
			if counted(i, permille) {
				if permille <= 500 && last == i-1 {
					t.Errorf("%d of 1000: %d and %d", permille, last, i)
				}
				n, last = n+1, i
			}
		}
		if n != 10*permille {
			t.Errorf("%d of 10000, want %d", n, 10*permille)
		}
	}
}

// batchOf is a body of events that were due so long ago.
func batchOf(size int, ago time.Duration, numbers ...uint64) []byte {
	var body []byte
	for _, n := range numbers {
		raw := make([]byte, size)
		event.Put(raw, n, time.Now().Add(-ago).UnixNano())
		body = append(body, raw...)
	}
	return body
}

func post(r *trial, size string, body []byte) int {
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	req.Header.Set(event.SizeHeader, size)
	r.ServeHTTP(w, req)
	return w.Code
}

func TestReceiver(t *testing.T) {
	r := &trial{}
	for _, c := range []struct {
		numbers []uint64
		code    int
		events  int64
		twice   int64
	}{
		{[]uint64{0, 1, 2}, 204, 3, 0}, {[]uint64{2, 3, 2}, 204, 4, 2}, {[]uint64{64, 63, 1000_000}, 204, 7, 2},
		{[]uint64{1000_000}, 204, 7, 3},
	} {
		if code := post(r, "64", batchOf(64, time.Second, c.numbers...)); code != c.code || r.Events != c.events ||
			r.Duplicates != c.twice {
			t.Errorf("%v: %d, %+v", c.numbers, code, r.counters)
		}
	}
	if got, _ := r.now(); got.Requests != 4 || got.InFlightMax != 1 || got.Refused != 0 {
		t.Errorf("%+v", got)
	}
	for _, size := range []string{"", "x", "0", "15", "-64", "100"} {
		if code := post(r, size, batchOf(64, 0, 9)); code != 400 {
			t.Errorf("events of %q bytes: %d", size, code)
		}
	}
	if code := post(r, "64", nil); code != 400 || r.Events != 7 {
		t.Errorf("no events: %d", code)
	}
}

func TestDelivery(t *testing.T) {
	r := &trial{}
	post(r, "64", batchOf(64, 10*time.Second, 1))
	post(r, "64", batchOf(64, time.Hour, 1)) // duplicates do not count
	part := r.part.Spread()
	_, whole := r.now()
	for _, s := range []*event.Spread{part, whole} {
		if s == nil || s.P99 < 10 || s.P99 > 60 {
			t.Errorf("delivered after %+v", s)
		}
	}
	if _, s := r.now(); s != nil || r.part.Spread() != nil {
		t.Error("delivered again")
	}
}

// A refused batch is not counted as arrived.
func TestABadSink(t *testing.T) {
	r := &trial{Settings: Settings{Errors: 250}}
	for n := range uint64(8) {
		want := 204
		if n%4 == 3 {
			want = 503
		}
		if code := post(r, "64", batchOf(64, 0, n)); code != want {
			t.Errorf("batch %d: %d", n, code)
		}
	}
	if c, _ := r.now(); c.Refused != 2 || c.Events != 6 || c.Requests != 8 {
		t.Errorf("%+v", c)
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		n      int64
		c      counters
		failed int64
		want   int64
	}{
		{100, counters{Events: 100}, 0, 0},
		{100, counters{Events: 90}, 9, 1},
		{100, counters{Events: 101}, 0, 0},
	} {
		if got := missing(c.n, c.c, c.failed); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	const producer = "127.0.0.1:1"
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "--producer is missing"},
		{[]string{"--producer", "http://127.0.0.1:80"}, "HOST:PORT"},
		{[]string{"--producer", "192.0.2.1:80"}, "loopback"},
		{[]string{"--producer", producer, "--duration", "0"}, "seconds from 0.01"},
		{[]string{"--producer", producer, "--duration", "NaN"}, "seconds from 0.01"},
		{[]string{"--producer", producer, "--warmup", "-1"}, "seconds from 0"},
		{[]string{"--producer", producer, "--latency-ms", "1.5"}, "whole number"},
		{[]string{"--producer", producer, "--errors-permille", "1001"}, "from 0 to 1000"},
		{[]string{"--producer", producer, "--find-limit=perhaps"}, "find-limit"},
		{[]string{"--producer", producer, "--nonsense"}, "-nonsense"},
		{[]string{"--producer", producer, "more"}, `"more"`},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(c.args, &stdout, &stderr); code != program.Refused || stdout.Len() > 0 ||
			strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want %q", c.args, code, &stdout, &stderr, c.says)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--help"}, &stdout, &stderr); code != program.OK ||
		!strings.Contains(stdout.String(), "--find-limit") || stderr.Len() > 0 {
		t.Errorf("--help: %d", code)
	}
}

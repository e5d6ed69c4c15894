package pprofsock

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// asked sends one request through windows and returns its answer.
func asked(ctx context.Context, ws *windows, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	ws.handler(next).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/debug/pprof/"+target, nil))
	return w
}

// whole requests all kinds for a window of one second.
func whole(t *testing.T, ws *windows) map[string]*profile.Profile {
	t.Helper()
	return wholeAt(t, ws, func(string) string { return "" })
}

// wholeAt does the same with additional parameters for each kind.
func wholeAt(t *testing.T, ws *windows, more func(kind string) string) map[string]*profile.Profile {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[string]*profile.Profile{}
	for _, kind := range windowKinds {
		all.Go(func() {
			w := asked(t.Context(), ws, kind+"?together&seconds=1"+more(kind))
			p, err := profile.Parse(w.Body)
			if err != nil || w.Code != http.StatusOK {
				t.Errorf("%s: status %d, %v", kind, w.Code, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[kind] = p
		})
	}
	all.Wait()
	return got
}

func TestAllProfilesOfAWindowAreTakenTogether(t *testing.T) {
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	ws := new(windows)
	release := make(chan struct{})
	go func() { time.Sleep(300 * time.Millisecond); close(release) }()
	go waitsFor(release)
	got := whole(t, ws)
	if len(got) != len(windowKinds) {
		t.Fatalf("%d profiles", len(got))
	}
	var began, ended int64
	for _, kind := range []string{"mutex", "block", "allocs"} {
		p := got[kind]
		from := p.TimeNanos - p.DurationNanos
		if d := time.Duration(p.DurationNanos); d < 900*time.Millisecond || d > 5*time.Second {
			t.Errorf("%s lasts %v", kind, d)
		}
		began, ended = max(began, from), max(ended, p.TimeNanos)
	}
	if at := got["heap"].TimeNanos; at > ended || at < began-int64(time.Second) {
		t.Error("heap is of another window")
	}
	if !names(got["block"], "pprofsock.waitsFor") {
		t.Error("the block profile lacks what waited in the window")
	}
	// A second window must not contain samples of the first.
	if names(whole(t, ws)["block"], "pprofsock.waitsFor") {
		t.Error("the block profile has what waited before the window")
	}
}

// A window with a given time does not begin before it, and begins at once if
// the time has passed.
func TestAWindowBeginsWhenItIsTold(t *testing.T) {
	for _, off := range []time.Duration{300 * time.Millisecond, -time.Hour} {
		asked := time.Now()
		at := asked.Add(off)
		got := wholeAt(t, new(windows), func(kind string) string {
			if kind == "heap" && off > 0 {
				return "" // the latest of the times given
			}
			return fmt.Sprintf("&at=%d", at.UnixNano())
		})
		if len(got) != len(windowKinds) {
			t.Fatalf("%d profiles", len(got))
		}
		begins := asked
		if off > 0 {
			begins = at
		}
		cpu := got["profile"]
		if began := time.Unix(0, cpu.TimeNanos); began.Before(begins) || time.Unix(0, got["heap"].TimeNanos).Before(began) {
			t.Errorf("told %v: it began %v after, and its heap is of %v after", off, began.Sub(begins),
				time.Unix(0, got["heap"].TimeNanos).Sub(begins))
		}
		// Without correction the CPU profile would start when its writer woke up.
		mutex := got["mutex"]
		if began := mutex.TimeNanos - mutex.DurationNanos; began < cpu.TimeNanos || mutex.TimeNanos > cpu.TimeNanos+
			cpu.DurationNanos {
			t.Errorf("told %v: the states of the window are not of the CPU profile's time: %d to %d, %d to %d", off, began,
				mutex.TimeNanos, cpu.TimeNanos, cpu.TimeNanos+cpu.DurationNanos)
		}
	}
}

// A client that leaves before the window begins ends the window.
func TestAWindowThatHasNotBegunIsGivenUp(t *testing.T) {
	ws := new(windows)
	ctx, gone := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, kind := range windowKinds {
		all.Go(func() {
			asked(ctx, ws, fmt.Sprintf("%s?together&seconds=1&at=%d", kind, time.Now().Add(beginWithin-time.Second).UnixNano()))
		})
	}
	time.AfterFunc(100*time.Millisecond, gone)
	all.Wait()
	if got := whole(t, ws); len(got) != len(windowKinds) {
		t.Errorf("%d profiles after one was given up", len(got))
	}
}

func waitsFor(c <-chan struct{}) { <-c }

func names(p *profile.Profile, symbol string) bool {
	for _, f := range p.Function {
		if strings.HasSuffix(f.Name, symbol) {
			return true
		}
	}
	return false
}

func TestAWindowIsRefusedByWhatItLacks(t *testing.T) {
	ws := new(windows)
	if w := asked(t.Context(), ws, "heap"); w.Code != http.StatusTeapot {
		t.Errorf("alone, heap is not net/http/pprof's: %d", w.Code)
	}
	for target, says := range map[string]string{
		"trace?together":             `no kind "trace"`,
		"mutex?together&seconds=0":   `seconds: "0" is no whole number`,
		"mutex?together&seconds=x":   `seconds: "x" is no whole number`,
		"mutex?together&seconds=0.5": `seconds: "0.5" is no whole number`,
		"mutex?together&at=x":        `at: "x" is no moment in nanoseconds since 1970`,
		"mutex?together&at=9e18":     `at: "9e18" is no moment`,

		fmt.Sprintf("mutex?together&at=%d", time.Now().Add(time.Minute).UnixNano()): "is no moment in nanoseconds since " +
			"1970, up to 10s from now",
	} {
		if w := asked(t.Context(), ws, target); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %q", target, w.Code, w.Body)
		}
	}
	ctx, gone := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { asked(ctx, ws, "mutex?together&seconds=1") })
	for ws.come() < 1 {
		time.Sleep(time.Millisecond)
	}
	if w := asked(t.Context(), ws, "mutex?together&seconds=1"); !strings.Contains(w.Body.String(),
		"mutex is asked for twice") {
		t.Errorf("twice: %q", w.Body)
	}
	if w := asked(t.Context(), ws, "block?together&seconds=2"); !strings.Contains(w.Body.String(),
		"block is to take 2 s, another 1 s") {
		t.Errorf("of two lengths: %q", w.Body)
	}
	// A client that leaves ends the window that is forming; the next request forms
	// a new one.
	gone()
	first.Wait()
	if n := ws.come(); n != 0 {
		t.Errorf("%d wait for one that has gone", n)
	}
	if got := whole(t, ws); len(got) != len(windowKinds) {
		t.Errorf("%d profiles after one gave up", len(got))
	}
}

// come is the number of requests that wait for the others.
func (ws *windows) come() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.forming == nil {
		return 0
	}
	return len(ws.forming.come)
}

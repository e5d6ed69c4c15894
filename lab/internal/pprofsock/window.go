package pprofsock

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
)

// windows answers requests for profiles of one common window, marked by
// "together": one for each of these kinds, by net/http/pprof's names.
//
// If requested separately, each profile waits for its turn in a busy server. On
// a machine with fewer cores than threads that run Go code they were seen to
// begin more than a tenth of a second apart. So requests are held back until
// all have arrived, and one goroutine then takes all profiles. "at", in
// nanoseconds since 1970, tells several processes to begin at the same time, so
// that none is late because its requests were; a window whose time has passed
// begins at once.
//
// The answers are those of net/http/pprof, except for the CPU profile's start
// and duration: see timed.
type windows struct {
	mu      sync.Mutex
	forming *window
}

var windowKinds = []string{"profile", "mutex", "block", "heap", "goroutine", "allocs"}

const (
	// formWithin is how long the first requests wait for the others.
	formWithin = 10 * time.Second
	// beginWithin is how far in the future "at" can be.
	beginWithin = 10 * time.Second
	// yieldFor is how long an answer that only reports another one's failure is
	// delayed, so that the client reads the other one first.
	yieldFor = 5 * time.Second
)

// A window is one set of profiles, from its first request on.
type window struct {
	seconds int
	at      time.Time // when it begins; by default when all requests have arrived
	come    []string
	ctx     context.Context // ends when a client has closed its request
	giveUp  context.CancelFunc
	begun   chan struct{} // closed when all requests have arrived
	done    chan struct{} // closed when the profiles are taken, or one has failed
	taken   map[string][]byte
	failed  string // the kind that failed
	err     error
}

func (ws *windows) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("together") {
			next.ServeHTTP(w, r)
			return
		}
		kind := strings.TrimPrefix(r.URL.Path, "/debug/pprof/")
		win, err := ws.join(kind, r.URL.Query().Get("seconds"), r.URL.Query().Get("at"))
		if err != nil {
			http.Error(w, "together: "+err.Error(), http.StatusBadRequest)
			return
		}
		late := time.NewTimer(formWithin)
		defer late.Stop()
		select {
		case <-win.begun:
		case <-late.C:
			ws.leave(win)
			http.Error(w, fmt.Sprintf("together: not all of %s came within %v", strings.Join(windowKinds, ", "), formWithin),
				http.StatusRequestTimeout)
			return
		case <-r.Context().Done():
			ws.leave(win)
			return
		}
		select {
		case <-win.done:
		case <-r.Context().Done():
			win.giveUp()
			return
		}
		switch {
		case win.err == nil:
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(win.taken[kind])
		case win.failed == kind:
			http.Error(w, win.err.Error(), http.StatusInternalServerError)
		default:
			select {
			case <-r.Context().Done():
			case <-time.After(yieldFor):
			}
			http.Error(w, fmt.Sprintf("%s: %v", win.failed, win.err), http.StatusInternalServerError)
		}
	})
}

// join adds a request to the window that is forming, and begins it if all are
// there.
func (ws *windows) join(kind, seconds, at string) (*window, error) {
	if !slices.Contains(windowKinds, kind) {
		return nil, fmt.Errorf("no kind %q; there are %s", kind, strings.Join(windowKinds, ", "))
	}
	n := 0
	if seconds != "" {
		var err error
		if n, err = strconv.Atoi(seconds); err != nil || n < 1 {
			return nil, fmt.Errorf("seconds: %q is no whole number from 1", seconds)
		}
	}
	var begin time.Time
	if at != "" {
		ns, err := strconv.ParseInt(at, 10, 64)
		if begin = time.Unix(0, ns); err != nil || time.Until(begin) > beginWithin {
			return nil, fmt.Errorf("at: %q is no moment in nanoseconds since 1970, up to %v from now", at, beginWithin)
		}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.forming == nil {
		win := &window{begun: make(chan struct{}), done: make(chan struct{}), taken: map[string][]byte{}}
		win.ctx, win.giveUp = context.WithCancel(context.Background())
		ws.forming = win
	}
	win := ws.forming
	switch {
	case slices.Contains(win.come, kind):
		return nil, fmt.Errorf("%s is asked for twice", kind)
	case n > 0 && win.seconds > 0 && n != win.seconds:
		return nil, fmt.Errorf("%s is to take %d s, another %d s", kind, n, win.seconds)
	}
	win.come, win.seconds = append(win.come, kind), max(win.seconds, n)
	if begin.After(win.at) {
		win.at = begin
	}
	if len(win.come) == len(windowKinds) {
		ws.forming = nil
		close(win.begun)
		go win.take()
	}
	return win, nil
}

// leave gives up the window, since its set would be incomplete.
func (ws *windows) leave(win *window) {
	win.giveUp()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.forming == win {
		ws.forming = nil
	}
}

// take takes all profiles. States at the window's begin are taken in the order
// of their cost, goroutines last: they stop the world, which takes as long as
// the last thread takes to notice.
func (win *window) take() {
	defer close(win.done)
	defer win.giveUp()
	select {
	case <-time.After(time.Until(win.at)):
	case <-win.ctx.Done():
		win.failed, win.err = "profile", win.ctx.Err()
		return
	}
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		win.failed, win.err = "profile", fmt.Errorf("CPU profiling: %w", err)
		return
	}
	began := time.Now()
	mutex, block, memory := state("mutex"), state("block"), state("heap")
	win.taken["heap"], win.taken["goroutine"] = memory, state("goroutine")

	select {
	case <-time.After(time.Duration(win.seconds) * time.Second):
	case <-win.ctx.Done():
		pprof.StopCPUProfile()
		win.failed, win.err = "profile", win.ctx.Err()
		return
	}

	after := map[string][]byte{"mutex": state("mutex"), "block": state("block"), "allocs": state("heap")}
	took := time.Since(began)
	pprof.StopCPUProfile()
	sampled, err := timed(cpu.Bytes(), began, took)
	if err != nil {
		win.failed, win.err = "profile", err
		return
	}
	win.taken["profile"] = sampled
	for kind, before := range map[string][]byte{"mutex": mutex, "block": block, "allocs": memory} {
		grown, err := growth(before, after[kind])
		if err != nil {
			win.failed, win.err = kind, err
			return
		}
		win.taken[kind] = grown
	}
}

// state is a profile of everything since the process began.
func state(name string) []byte {
	var b bytes.Buffer
	// Writing to a buffer does not fail.
	_ = pprof.Lookup(name).WriteTo(&b, 0)
	return b.Bytes()
}

// timed sets a CPU profile's start and duration to those of its samples. Go
// sets them to the first turn of the goroutine that writes the profile, tens of
// milliseconds after the first sample in a busy server, and to its last turn,
// between which it sleeps for a tenth of a second at a time.
func timed(cpu []byte, began time.Time, took time.Duration) ([]byte, error) {
	p, err := profile.ParseData(cpu)
	if err != nil {
		return nil, err
	}
	p.TimeNanos, p.DurationNanos = began.UnixNano(), took.Nanoseconds()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// growth is a later state minus an earlier one. As in net/http/pprof, its time
// is the later one's and its duration the time between.
func growth(before, after []byte) ([]byte, error) {
	first, err := profile.ParseData(before)
	if err != nil {
		return nil, err
	}
	last, err := profile.ParseData(after)
	if err != nil {
		return nil, err
	}
	at, took := last.TimeNanos, last.TimeNanos-first.TimeNanos
	first.Scale(-1)
	sum, err := profile.Merge([]*profile.Profile{first, last})
	if err != nil {
		return nil, err
	}
	sum.TimeNanos, sum.DurationNanos = at, took
	var b bytes.Buffer
	if err := sum.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

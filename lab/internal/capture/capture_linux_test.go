package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// near is the largest allowed distance of the starts of one window's profiles.
const near = 50 * time.Millisecond

// busy tells whether other processes use the cores: a process that only sleeps
// then wakes up late.
func busy() (late time.Duration, is bool) {
	for range 100 {
		began := time.Now()
		time.Sleep(time.Millisecond)
		late = max(late, time.Since(began)-time.Millisecond)
	}
	return late, late > near/10
}

// captureNear takes parts that start near each other. It retries, because other
// processes may briefly use the cores; a capture that is late by itself is late
// every time.
func captureNear(t *testing.T, sources []Source, window time.Duration) ([]part, *Set) {
	t.Helper()
	for try := 1; ; try++ {
		parts, err := take(t.Context(), sources, window)
		if err != nil {
			t.Fatal(err)
		}
		set, err := merge(parts, len(sources), window)
		if err != nil {
			t.Fatal(err)
		}
		if set.Spread < near {
			return parts, set
		}
		if try == 3 {
			if late, is := busy(); is {
				t.Skipf("the machine is too busy: the starts are %v apart, and one that only sleeps wakes %v late", set.Spread,
					late)
			}
			t.Fatalf("the starts are %v apart, in %d tries", set.Spread, try)
		}
		t.Logf("the starts are %v apart; once more", set.Spread)
	}
}

// symbols counts samples by the functions on their stacks.
func symbols(p *profile.Profile) map[string]int {
	seen := map[string]int{}
	for _, s := range p.Sample {
		for _, l := range s.Location {
			for _, line := range l.Line {
				seen[line.Function.Name]++
			}
		}
	}
	return seen
}

func has(p *profile.Profile, prefix string) bool {
	for name := range symbols(p) {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func TestSixProfilesOfOneWindow(t *testing.T) {
	for _, prefork := range []bool{false, true} {
		t.Run(fmt.Sprintf("prefork=%v", prefork), func(t *testing.T) {
			s := startServer(t, 3, prefork, "--mutex-fraction=1", "--block-rate-ns=1")
			processes := 1
			if prefork {
				processes = 3
			}
			// /compute makes garbage, so that there are garbage collections, which
			// memory profiles need.
			s.load("/compute", 6, time.Millisecond)
			sources := s.sources()
			if len(sources) != processes {
				t.Fatalf("%d sources, want %d", len(sources), processes)
			}
			began := time.Now()
			parts, set := captureNear(t, sources, 2*time.Second)
			if set.Processes != processes || set.Window != 2*time.Second || set.Started.Before(began) || set.Spread <= 0 {
				t.Errorf("got %d processes, window %v, started %v after the call, spread %v", set.Processes, set.Window,
					set.Started.Sub(began), set.Spread)
			}
			for _, k := range profiles.Kinds() {
				p := set.Merged[k]
				if p == nil {
					t.Fatalf("no %s", k)
				}
				if err := p.CheckValid(); err != nil {
					t.Errorf("%s: %v", k, err)
				}
				if p.DefaultSampleType != k.SampleType() {
					t.Errorf("%s is read by %q", k, p.DefaultSampleType)
				}
				// The merged profile has exactly the workers' samples.
				var apart int64
				var samples int
				for _, part := range parts {
					if part.kind == k {
						sum, err := profiles.Total(part.Profile, k)
						if err != nil {
							t.Fatal(err)
						}
						apart += sum
						samples++
					}
				}
				sum, err := profiles.Total(p, k)
				if err != nil || sum != apart || samples != processes {
					t.Errorf("%s: merged %d (%v), the sum of %d processes %d", k, sum, err, samples, apart)
				}
				// There may be no contention, no completed wait, and no collection.
				if sum == 0 && k != profiles.Mutex && k != profiles.Block && k != profiles.Allocs {
					t.Errorf("%s is empty", k)
				}
				start := time.Unix(0, p.TimeNanos)
				if k != profiles.Goroutine && (start.Before(set.Started) || start.After(set.Started.Add(set.Spread))) {
					t.Errorf("%s starts %v after the first", k, start.Sub(set.Started))
				}
				// The processes ran side by side: two seconds, not six.
				d := time.Duration(p.DurationNanos)
				if !k.OfMoment() && (d < time.Second || d > 3*time.Second) || k.OfMoment() && d != 0 {
					t.Errorf("%s: duration %v", k, d)
				}
				for _, m := range p.Mapping {
					if strings.Contains(m.File, "/") {
						t.Errorf("%s names a path of this machine: %s", k, m.File)
					}
				}
				if has(p, "net/http/pprof.") {
					t.Errorf("%s holds the taking of profiles", k)
				}
			}
			if !has(set.Merged[profiles.CPU], "github.com/valyala/fasthttp.") ||
				!has(set.Merged[profiles.Goroutine], "github.com/valyala/fasthttp.") {
				t.Error("the profiles are not of the server")
			}
			// Each handler is a goroutine, and four of them wait for the end of the
			// window.
			if own := set.Own[profiles.Goroutine]; own == 0 {
				t.Error("no goroutine took profiles")
			}
		})
	}
}

// The finding of entry 09, which must not be missed: one lock in each request.
func TestALockInEachRequestIsSeen(t *testing.T) {
	const lock = "github.com/brianvoe/gofakeit"
	s := startServer(t, 8, false, "--index=gofakeit", "--mutex-fraction=1", "--block-rate-ns=1")
	s.load("/compute", 16, 0)
	var set *Set
	var err error
	seen := false
	// On a busy machine it may take several windows until two requests contend for
	// the lock.
	for try := 0; try < 5 && !seen; try++ {
		if set, err = Capture(t.Context(), s.sources(), 2*time.Second); err != nil {
			t.Fatal(err)
		}
		seen = has(set.Merged[profiles.Mutex], lock) || has(set.Merged[profiles.Block], lock)
	}
	if !seen {
		t.Errorf("neither profile has %s:\n%v\n%v", lock, symbols(set.Merged[profiles.Mutex]),
			symbols(set.Merged[profiles.Block]))
	}

	s = startServer(t, 8, false, "--index=pool", "--mutex-fraction=1", "--block-rate-ns=1")
	s.load("/compute", 16, 0)
	set, err = Capture(t.Context(), s.sources(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if has(set.Merged[profiles.Mutex], lock) || has(set.Merged[profiles.Block], lock) {
		t.Error("the index pool takes gofakeit's lock")
	}
}

// The handlers that take profiles wait for the window's end. A server without
// load has little else in its block profile.
func TestTheTakingOfProfilesIsLeftOut(t *testing.T) {
	s := startServer(t, 2, false, "--block-rate-ns=1")
	if _, err := Capture(t.Context(), s.sources(), time.Second); err != nil {
		t.Fatal(err)
	}
	// The waits of the first capture end in the second one's window at the latest.
	set, err := Capture(t.Context(), s.sources(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Merged[profiles.Block].Sample) > 0 && has(set.Merged[profiles.Block], "net/http/pprof.") {
		t.Error("the block profile holds the handlers' waiting")
	}
	if set.Own[profiles.Block] == 0 {
		t.Error("no wait of the handlers was left out")
	}
	// An idle process has a nearly empty CPU profile.
	if p := set.Merged[profiles.CPU]; p == nil || p.CheckValid() != nil {
		t.Errorf("cpu of an idle process: %v", p)
	}
}

func TestAServerThatIsKilled(t *testing.T) {
	for _, prefork := range []bool{false, true} {
		s := startServer(t, 2, prefork)
		s.load("/read", 2, 5*time.Millisecond)
		sources := s.sources()
		goroutines := runtime.NumGoroutine()
		time.AfterFunc(time.Second, func() { _ = s.cmd.Process.Kill() })
		began := time.Now()
		set, err := Capture(t.Context(), sources, 300*time.Second)
		if err == nil {
			t.Fatalf("prefork %v: a set of a server that was killed: %+v", prefork, set)
		}
		if time.Since(began) > patience {
			t.Errorf("prefork %v: it waited for the window's end", prefork)
		}
		if msg := err.Error(); strings.Contains(msg, "\n") || !strings.Contains(msg, " of "+s.dir+"/") ||
			!strings.Contains(msg, "has probably ended") {
			t.Errorf("prefork %v: %q names neither process nor reason", prefork, msg)
		}
		kind, _, _ := strings.Cut(err.Error(), " ")
		if !slices.Contains(profiles.Kinds(), profiles.Kind(kind)) {
			t.Errorf("prefork %v: %q names no kind", prefork, err)
		}
		noMore(t, goroutines)
		// Sockets left behind do not count as processes, once the workers have ended
		// too.
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			got, err := Sockets(s.dir)
			if err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("prefork %v: sockets of the dead: %v", prefork, got)
			}
		}
	}
}

// noMore waits until there are no more goroutines than before.
func noMore(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// If one of several workers ends, the capture fails and the others are
// released: a process can serve only one capture at a time, so otherwise the
// next one would fail.
func TestWhatIsGivenUpIsEnded(t *testing.T) {
	s := startServer(t, 2, false)
	other := startServer(t, 2, false)
	sources := append(s.sources(), other.sources()...)
	time.AfterFunc(500*time.Millisecond, func() { _ = other.cmd.Process.Kill() })
	if _, err := Capture(t.Context(), sources, 300*time.Second); err == nil || !strings.Contains(err.Error(), other.dir) {
		t.Fatalf("%v does not name %s", err, other.dir)
	}
	again(t, s)

	// They are released when the lab is interrupted, too.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	if _, err := Capture(ctx, s.sources(), 300*time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	again(t, s)
}

// again captures as soon as the server has noticed that the client is gone.
func again(t *testing.T, s *server) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		_, err := Capture(t.Context(), s.sources(), time.Second)
		if err == nil {
			return
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "cpu profiling already in use") {
			t.Fatal(err)
		}
	}
}

func TestAProcessThatIsProfiledAlready(t *testing.T) {
	s := startServer(t, 2, false)
	path := s.sources()[0].address
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /debug/pprof/profile?seconds=100 HTTP/1.1\r\nHost: x\r\n\r\n")
	time.Sleep(200 * time.Millisecond) // until it has begun
	_, err = Capture(t.Context(), s.sources(), time.Second)
	want := fmt.Sprintf("cpu of %s: answered 500: %q", path, "CPU profiling: cpu profiling already in use")
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSockets(t *testing.T) {
	s := startServer(t, 3, true)
	stale := s.dir + "/1.sock" // process 1 is alive, but has no such socket
	ln, err := net.Listen("unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	if err := os.WriteFile(s.dir+"/notes", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.sources(); len(got) != 3 || slices.Contains(got, Socket(stale)) {
		t.Errorf("got %v", got)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err = Sockets(s.dir); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a server that was stopped still has sockets")
		}
	}
	if !strings.Contains(err.Error(), "--pprof-sockets "+s.dir) {
		t.Errorf("%v does not say how to start the server", err)
	}
	if _, err := Sockets(s.dir + "/none"); err == nil {
		t.Error("no such directory, and no error")
	}
}

// Memory that a process allocated at its start must not appear in a later
// window, although the runtime may count it only then.
func TestTheStartOfAProcessIsNotInTheWindow(t *testing.T) {
	s := startServer(t, 1, true)
	s.load("/compute", 4, 0)
	var set *Set
	// Allocations are known up to a collection, and on a busy machine there may be
	// a window without one.
	for try, sum := 1, int64(0); sum == 0; try++ {
		var err error
		if set, err = Capture(t.Context(), s.sources(), 2*time.Second); err == nil {
			sum, err = profiles.Total(set.Merged[profiles.Allocs], profiles.Allocs)
		}
		if err != nil || sum == 0 && try == 20 {
			t.Fatalf("allocations: %d, %v; the test is of a window with some", sum, err)
		}
	}
	if has(set.Merged[profiles.Allocs], "github.com/line-rate/line-rate/lab/server/catalog.NewPool") {
		t.Error("the window holds the making of the pool")
	}
	if !has(set.Merged[profiles.Heap], "github.com/line-rate/line-rate/lab/server/catalog.NewPool") {
		t.Error("the heap does not hold the pool")
	}
}

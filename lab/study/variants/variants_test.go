package variants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

var all = []string{"pool-1", "pool-10", "pool-100", "async", "swap", "batch"}

func made[E any](t *testing.T, name string, o Options, send batch.Send[E]) Processor[E] {
	t.Helper()
	p, err := New(name, o, send)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closed[E any](t *testing.T, p Processor[E]) Account {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	a, err := p.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func balanced(t *testing.T, a Account) {
	t.Helper()
	if a.Held() != 0 || a.Added != a.Delivered+a.Dropped+a.Failed+a.Returned {
		t.Errorf("not all events are accounted for: %+v", a)
	}
}

var errSink = errors.New("made up")

// Whatever the sink does, and whenever it ends, each event is accounted for, and the sink
// has got the delivered ones once.
func TestEachEventIsAccountedFor(t *testing.T) {
	const producers, each = 8, 2000
	for _, name := range all {
		for _, whenFull := range []string{Block, Drop} {
			for _, queue := range []int{0, 100} {
				t.Run(fmt.Sprint(name, whenFull, queue), func(t *testing.T) {
					t.Parallel()
					var mu sync.Mutex
					seen := map[int]int{}
					var calls atomic.Int64
					send := func(ctx context.Context, events []int) error {
						if calls.Add(1)%5 == 0 {
							return errSink
						}
						time.Sleep(time.Duration(calls.Load()%3) * time.Millisecond)
						mu.Lock()
						defer mu.Unlock()
						for _, e := range events {
							seen[e]++
						}
						return nil
					}
					p := made(t, name, Options{Queue: queue, BatchSize: 50, Interval: 5 * time.Millisecond, WhenFull: whenFull}, send)
					var adding sync.WaitGroup
					var tried, refused atomic.Int64
					for i := range producers {
						adding.Go(func() {
							for n := range each {
								switch err := p.Add(t.Context(), i*each+n); err {
								case ErrFull:
									time.Sleep(10 * time.Microsecond)
									fallthrough
								case nil:
									tried.Add(1)
								case ErrClosed:
									refused.Add(1)
								default:
									t.Error(err)
								}
								if tried.Load() == producers*each*3/4 && n%2 == 0 {
									time.Sleep(time.Millisecond) // so that Close comes in the middle
								}
							}
						})
					}
					for tried.Load() < producers*each*3/4 {
						time.Sleep(100 * time.Microsecond)
					}
					a := closed(t, p)
					adding.Wait()
					if a = p.Account(); a.Added != tried.Load() || a.Added+refused.Load() != producers*each {
						t.Errorf("%d taken or dropped, %d refused, of %d: %+v", tried.Load(), refused.Load(), producers*each, a)
					}
					balanced(t, a)
					if a.Delivered == 0 || a.Returned != 0 || whenFull == Block && a.Failed == 0 || whenFull == Block &&
						a.Dropped > 0 {
						t.Errorf("%+v", a)
					}
					if int64(len(seen)) != a.Delivered || a.Logged != a.Delivered {
						t.Errorf("%d at the sink: %+v", len(seen), a)
					}
					for e, n := range seen {
						if n != 1 {
							t.Fatalf("event %d came %d times", e, n)
						}
					}
					if _, err := p.Close(t.Context()); err != ErrClosed {
						t.Errorf("a second Close: %v", err)
					}
				})
			}
		}
	}
}

// A Close whose context ends stops what is being sent, and counts what is left.
func TestCloseDoesNotWaitForever(t *testing.T) {
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := made(t, name, Options{Queue: 100, BatchSize: 10, Interval: time.Second},
					func(ctx context.Context, _ []int) error {
						<-ctx.Done()
						return ctx.Err()
					})
				for i := range 75 {
					if err := p.Add(t.Context(), i); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				a, err := p.Close(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				balanced(t, a)
				if a.Added != 75 || a.Returned != 75 {
					t.Errorf("%+v, want 75 returned", a)
				}
			})
		})
	}
}

// All workers of a pool send at the same tick, and until they are answered none takes an
// event. With staggered tickers some worker always does.
func TestAPoolThatSendsTakesNothing(t *testing.T) {
	const latency = 300 * time.Millisecond
	for _, c := range []struct {
		name    string
		stagger bool
		waits   bool
	}{{"pool-10", false, true}, {"pool-100", false, true}, {"pool-10", true, false}, {"async", false, false},
		{"swap", false, false}} {
		t.Run(fmt.Sprint(c.name, c.stagger), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := made(t, c.name, Options{BatchSize: 1000, Interval: time.Second, Stagger: c.stagger},
					func(context.Context, []int) error {
						time.Sleep(latency)
						return nil
					})
				// Each worker has some events by the time of the tick, because workers
				// that wait are served in the order in which they came.
				for n := range 200 {
					synctest.Wait()
					if err := p.Add(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				synctest.Wait()
				began := time.Now()
				if err := p.Add(t.Context(), 200); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); c.waits != (waited == latency) || !c.waits && waited > 0 {
					t.Errorf("an event waited for %v while the pool sent", waited)
				}
				if a := closed(t, p); a.Delivered != 201 {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// With staggered tickers the workers send one after the other.
func TestStagger(t *testing.T) {
	for _, stagger := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var mu sync.Mutex
			var at []time.Duration
			p := made(t, "pool-4", Options{BatchSize: 1000, Interval: time.Second, Stagger: stagger},
				func(context.Context, []int) error {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(began))
					return nil
				})
			for n := range 40 { // some events for each tick, of which each worker gets a part
				synctest.Wait()
				if err := p.Add(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				time.Sleep(55 * time.Millisecond)
			}
			closed(t, p)
			slices.Sort(at)
			at = slices.DeleteFunc(at, func(d time.Duration) bool { return d >= 2*time.Second })
			want := []time.Duration{1000, 1000, 1000, 1000}
			if stagger {
				want = []time.Duration{1000, 1250, 1500, 1750}
			}
			for i := range want {
				want[i] *= time.Millisecond
			}
			if !slices.Equal(at, want) {
				t.Errorf("stagger %v: sent at %v, want %v", stagger, at, want)
			}
		})
	}
}

// A batch leaves when it is full, or else at the tick.
func TestBySizeAndByTick(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var mu sync.Mutex
				var sent []string
				var log bytes.Buffer
				p := made(t, name, Options{Queue: 100, BatchSize: 20, Interval: time.Second, Log: &log},
					func(_ context.Context, events []int) error {
						mu.Lock()
						defer mu.Unlock()
						sent = append(sent, fmt.Sprint(len(events), " at ", time.Since(began)))
						return nil
					})
				for n := range 25 {
					if err := p.Add(t.Context(), n); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				time.Sleep(1500 * time.Millisecond)
				a := closed(t, p)
				if want := []string{"20 at 0s", "5 at 1s"}; name != "batch" && !slices.Equal(sent, want) {
					t.Errorf("sent %v, want %v", sent, want)
				}
				if a.Delivered != 25 || a.Logged != 25 || a.LogLines != int64(len(sent)) {
					t.Errorf("%+v", a)
				}
				lines := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INF count=\d+$`).FindAllString(log.String(), -1)
				if len(lines) != len(sent) {
					t.Errorf("%d lines of %d batches:\n%s", len(lines), len(sent), &log)
				}
			})
		})
	}
}

// The batches of async do not change while its worker fills the buffer again.
func TestCopiesDoNotAlias(t *testing.T) {
	for _, name := range []string{"async", "swap"} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var kept [][]int
			p := made(t, name, Options{Queue: 10, BatchSize: 4, Interval: time.Second},
				func(_ context.Context, events []int) error {
					time.Sleep(time.Minute) // while others are sent
					mu.Lock()
					defer mu.Unlock()
					kept = append(kept, slices.Clone(events))
					return nil
				})
			for n := range 40 {
				if err := p.Add(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if a, err := p.Close(ctx); err != nil || a.Delivered != 40 {
				t.Fatalf("%+v, %v", a, err)
			}
			flat := slices.Concat(kept...)
			slices.Sort(flat)
			for n := range 40 {
				if flat[n] != n {
					t.Fatalf("%s: sent %v", name, kept)
				}
			}
		})
	}
}

// The study's text calls the copy deep. It is, for events without pointers.
func TestADeepCopyOfPointersIsNotDeep(t *testing.T) {
	values := []struct{ n int }{{1}}
	copied := deepCopy(values)
	values[0].n = 2
	pointers := []*struct{ n int }{{1}}
	shared := deepCopy(pointers)
	pointers[0].n = 2
	if copied[0].n != 1 || shared[0].n != 2 || deepCopy[int](nil) != nil {
		t.Errorf("%v, %v", copied[0], *shared[0])
	}
}

// Only the library tries again.
func TestAttempts(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			p := made(t, name, Options{BatchSize: 1, Interval: time.Second, Attempts: 3}, func(context.Context, []int) error {
				calls++
				if calls < 3 {
					return errSink
				}
				return nil
			})
			if err := p.Add(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			a := closed(t, p)
			balanced(t, a)
			if name == "batch" && (calls != 3 || a.Delivered != 1) || name != "batch" && (calls != 1 || a.Failed != 1) {
				t.Errorf("%s: %d calls, %+v", name, calls, a)
			}
		})
	}
}

func TestAddEndsWithItsContext(t *testing.T) {
	for _, name := range []string{"pool-1", "async", "swap", "batch"} {
		hold := make(chan struct{})
		p := made(t, name, Options{BatchSize: 1, Interval: time.Hour},
			func(context.Context, []int) error { <-hold; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		n := int64(0)
		var err error
		for n < 1000 && err == nil { // async never refuses
			if err = p.Add(ctx, 0); err == nil {
				n++
			}
		}
		cancel()
		if bounded := name == "pool-1" || name == "batch"; bounded != errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: after %d events %v", name, n, err)
		}
		close(hold)
		if a := closed(t, p); a.Added != n || a.Delivered != n {
			t.Errorf("%s: %d were taken: %+v", name, n, a)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := Options{Queue: 10, BatchSize: 10, Interval: time.Second}
	staggered := good
	staggered.Stagger = true
	for _, c := range []struct {
		name string
		o    Options
		says string
	}{
		{"pool", good, "no variant"}, {"pool-0", good, "no variant"}, {"pool-1001", good, "no variant"},
		{"pool-007", good, "no variant"}, {"", good, "no variant"},
		{"async", staggered, "only pool-N"}, {"swap", staggered, "only pool-N"}, {"batch", staggered, "only pool-N"},
	} {
		_, err := New(c.name, c.o, func(context.Context, []int) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %+v: %v, want %q", c.name, c.o, err, c.says)
		}
	}
}

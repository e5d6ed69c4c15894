package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

// A run is one variant under the pacer, from a start to a stop.
type run[E any] struct {
	Settings
	ask     event.Ask // the first
	variant variant[E]
	client  *http.Client
	origin  time.Time
	ctx     context.Context // its end stops the pacer
	cancel  context.CancelFunc
	pacing  sync.WaitGroup
	added   atomic.Int64
	logged  atomic.Int64
	failed  failures
	adding  event.Times // how long each Add took
	paceLag event.Times // how late the pacer woke up, since its core was busy
}

// begins has begin for each size of events: arrays, not slices, so that copying events copies all their bytes.
var begins = map[string]func(Settings, event.Ask) (func(event.Ask) event.Figures, error){
	"64": begin[[64]byte], "256": begin[[256]byte], "1024": begin[[1024]byte], "4096": begin[[4096]byte],
}

// begin starts a run as a sink asks for it, and returns what answers all that the sink asks.
func begin[E any](s Settings, ask event.Ask) (answer func(event.Ask) event.Figures, err error) {
	ask.Rate = cmp.Or(ask.Rate, s.EventRate)
	r := &run[E]{Settings: s, ask: ask}
	// More idle connections than a pool of a hundred needs. With Go's default of two, most batches would open a new one.
	r.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	if r.variant, err = newVariant(s, &r.failed, r.post); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.origin = time.Now()
	r.pacing.Go(r.pace)
	return r.answer, nil
}

// due is when event n is due, since the run's beginning. The plan is older than the first event: an
// event that comes late does not put off those behind it.
func (r *run[E]) due(n int64) time.Duration {
	return time.Duration(float64(n+1) / float64(r.ask.Rate) * float64(time.Second))
}

// offered is how many events are due by now.
func (r *run[E]) offered(now time.Duration) int64 {
	return int64(min(now, r.ask.Lasts).Seconds() * float64(r.ask.Rate))
}

// pace adds each event when it is due, or else as soon as it can. With the ticker, what fell due while an Add waited
// is lost, except the last. All events come from one, so that none needs an allocation. If several are due together,
// the time of an Add is counted from the end of the one before it.
func (r *run[E]) pace() {
	one := make([]E, 1)
	text := raw(one)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	for n := int64(0); r.ctx.Err() == nil; {
		now := time.Since(r.origin)
		for due := r.offered(now); n < due && r.ctx.Err() == nil; n++ {
			event.Put(text, uint64(r.added.Load()), r.origin.Add(r.due(n)).UnixNano())
			if r.variant.Add(r.ctx, one[0]) != nil {
				return
			}
			r.added.Add(1)
			after := time.Since(r.origin)
			r.adding.Add(after - now)
			if came := r.offered(after); r.Pacing == "ticker" && came > r.offered(now)+1 {
				n = max(n, came-2)
			}
			now = after
		}
		if n < r.offered(now) {
			continue // the event became due while others were added
		}
		// Events that become due in a millisecond are added together. After ten it sees that the run was stopped.
		wait := min(max(r.due(n)-now, time.Millisecond), 10*time.Millisecond)
		time.Sleep(wait)
		r.paceLag.Add(time.Since(r.origin) - now - wait)
	}
}

// answer gives the figures. A stop first ends the pacer and lets the variant send what it holds, for ten seconds.
func (r *run[E]) answer(ask event.Ask) event.Figures {
	if ask.Stop {
		r.cancel()
		r.pacing.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		left, _ := r.variant.Close(ctx) // the error tells of losses that were counted
		r.failed.Add(int64(len(left)))
		r.client.CloseIdleConnections()
	}
	// It reads the offered events last, so that they include all events in the other counts.
	return event.Figures{Logged: r.logged.Load(), Failed: r.failed.Load(), Added: r.added.Load(),
		Offered: r.offered(time.Since(r.origin)), Interval: r.Interval.Seconds(), Add: r.adding.Latency(),
		PaceLag: r.paceLag.Latency()}
}

// raw is the bytes of events that are arrays of bytes, one after the other, and not a copy.
func raw[E any](events []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(events))), len(events)*int(unsafe.Sizeof(*new(E))))
}

// post sends one batch. Any answer except 2xx is an error.
func (r *run[E]) post(ctx context.Context, events []E) error {
	b := &body{rest: bytes.NewReader(raw(events))}
	defer b.Close()
	url := fmt.Sprintf("http://127.0.0.1:%d/", r.ask.Port)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, b)
	if err != nil {
		return err
	}
	req.ContentLength = b.rest.Size()
	req.Header.Set(event.SizeHeader, strconv.Itoa(len(raw(events[:1]))))
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close() // the sink's answers have no body
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	// The study's text counts by log lines. This line is as a service's logger makes it, and goes
	// nowhere.
	_, _ = fmt.Fprintf(io.Discard, "%s INF count=%d\n", time.Now().UTC().Format(time.RFC3339), len(events))
	r.logged.Add(int64(len(events)))
	return nil
}

// A body is a batch's events, until it is closed. One copy brings them from the batch to where the
// transport writes from. The transport can read for longer than a request takes, and the variant
// then uses the events again.
type body struct {
	mu   sync.Mutex
	rest *bytes.Reader
}

func (b *body) Read(to []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rest.Read(to)
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest.Reset(nil)
	return nil
}

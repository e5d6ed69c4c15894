package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/program"
)

const (
	// leastSleep is the shortest sleep of the open pacer: events that become due in it are added together.
	leastSleep = time.Millisecond
	// mostSleep is after how long it sees that the run was stopped.
	mostSleep = 10 * time.Millisecond
	// drainTime is how long a variant has to send the events that it holds.
	drainTime = 10 * time.Second
)

// A run is one variant under one pacer, from a start to a stop.
type run struct {
	Settings
	account
	// add gives the variant event number n, due at a time in Unix nanoseconds.
	add    func(n int64, due int64) error
	finish func(context.Context) // sends what the variant holds

	schedule
	origin  time.Time
	ticks   *ticker       // of the ticker pacer
	stopped time.Duration // when offering ended, on the run's clock; 0: not yet

	ctx     context.Context // its end stops the pacer
	cancel  context.CancelFunc
	pacing  sync.WaitGroup
	added   atomic.Int64
	adding  event.Times // how long each Add took
	paceLag event.Times
}

// begin starts a run that sends to a sink, as the sink asks. The sizes of events are arrays and not slices, so that
// copying events copies all their bytes.
func begin(s Settings, ask event.Ask) (*run, error) {
	sink, ok := program.LoopbackAddr(ask.Sink)
	if !ok {
		return nil, fmt.Errorf("it cannot send to %q; a sink asks for %s", ask.Sink, program.AcceptLoopback)
	}
	if ask.Rate < 0 || ask.Rate > event.MaxRate {
		return nil, fmt.Errorf("it has no rate %d; a sink asks for one from 1 to %d, or 0: the producer's own", ask.Rate, event.MaxRate)
	}
	r := &run{Settings: s, schedule: schedule{int64(cmp.Or(ask.Rate, s.EventRate)), ask.Lasts}}
	connects := map[int]func(*run, string) error{64: connect[[64]byte], 256: connect[[256]byte], 1024: connect[[1024]byte],
		4096: connect[[4096]byte]}
	if err := connects[s.EventBytes](r, sink); err != nil {
		return nil, err
	}
	pace := r.paceOpen
	if s.Pacing == pacingTicker {
		pace = r.paceByTicker
		var err error
		if r.ticks, err = newTicker(time.Second / time.Duration(r.schedule.rate)); err != nil {
			r.finish(context.Background()) // no event was added, so the variant ends at once
			return nil, err
		}
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.origin = time.Now()
	r.pacing.Go(pace)
	return r, nil
}

// connect gives the run its variant. All events are made in one, so that nothing is allocated per event.
func connect[E any](r *run, sink string) error {
	p := newPoster[E](sink)
	v, err := newVariant(r.Settings, &r.account, p.post)
	if err != nil {
		return err
	}
	one := make([]E, 1)
	text := raw(one)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	r.add = func(n, due int64) error {
		event.Put(text, uint64(n), due)
		err := v.add(r.ctx, one[0])
		if err == nil {
			r.added.Add(1)
		}
		return err
	}
	r.finish = func(ctx context.Context) {
		v.close(ctx)
		p.client.CloseIdleConnections()
	}
	return nil
}

// clock is the run's clock: monotonic, from the run's beginning.
func (r *run) clock() time.Duration { return time.Since(r.origin) }

// paceOpen adds each event when it is due, or else as soon as it can.
func (r *run) paceOpen() {
	unix := r.origin.UnixNano()
	for n := int64(0); r.ctx.Err() == nil; {
		now := r.clock()
		for due := r.offered(now); n < due; n++ {
			if n%1024 == 0 && r.ctx.Err() != nil {
				return // an Add that need not wait does not check the context
			}
			if r.add(n, unix+int64(r.due(n))) != nil {
				return
			}
			after := r.clock()
			r.adding.Add(after - now)
			now = after
		}
		if n < r.offered(now) {
			continue // the event became due while others were added
		}
		wait := min(max(r.due(n)-now, leastSleep), mostSleep)
		time.Sleep(wait)
		r.paceLag.Add(r.clock() - now - wait)
	}
}

// paceByTicker adds an event at each tick. Ticks that come while an Add waits are lost, except one.
func (r *run) paceByTicker() {
	defer r.ticks.Close()
	defer context.AfterFunc(r.ctx, func() { r.ticks.Close() })()
	unix := r.origin.UnixNano()
	waits := r.clock() // since when the pacer waits
	for n := int64(0); ; n++ {
		t, ok := r.ticks.wait()
		if !ok {
			return
		}
		now := r.clock()
		due := min(t.Sub(r.origin), now)
		r.paceLag.Add(now - max(due, waits))
		if r.add(n, unix+int64(due)) != nil {
			return
		}
		waits = r.clock()
		r.adding.Add(waits - now)
	}
}

func (r *run) figures() event.Figures {
	// What was taken in is read last, so that it includes all events in the other counts.
	f := event.Figures{Logged: r.logged.Load(), Failed: r.failed.Load(), Added: r.added.Load(),
		Interval: r.Interval.Seconds(), Add: r.adding.Spread(), PaceLag: r.paceLag.Spread()}
	f.Offered = r.offered(cmp.Or(r.stopped, r.clock()))
	return f
}

// stop ends the pacer and lets the variant send what it holds, for up to drainTime. The clock is stopped after
// the pacer, which adds events that are due until it sees that it must end.
func (r *run) stop() event.Figures {
	r.cancel()
	r.pacing.Wait()
	r.stopped = r.clock()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	r.finish(ctx)
	return r.figures()
}

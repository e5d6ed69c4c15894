package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/event"
	"github.com/line-rate/line-rate/lab/producer/variants"
)

const (
	// leastSleep is how long the open pacer sleeps at least: what falls due in
	// it is added together.
	leastSleep = time.Millisecond
	// drainTime is how long a variant has to send what it holds.
	drainTime = 10 * time.Second
)

// A run is one variant under one producer, from a start to a stop.
type run interface {
	figures(reset bool) event.Figures
	// rate changes the rate for so long, after which it is the settings' again;
	// 0 is for good. false: it was changed too often.
	rate(perSecond int, lasts time.Duration) bool
	stop() event.Figures
}

// begin starts a run that sends to a sink.
func begin(s Settings, sink string) (run, error) {
	switch s.EventBytes {
	case 64:
		return beginOf[event.Of64](s, sink)
	case 256:
		return beginOf[event.Of256](s, sink)
	case 1024:
		return beginOf[event.Of1024](s, sink)
	case 4096:
		return beginOf[event.Of4096](s, sink)
	}
	return nil, fmt.Errorf("no event has %d bytes", s.EventBytes)
}

// A runOf is a run of one size of events.
type runOf[E any, P event.Event[E]] struct {
	Settings
	variant variants.Processor[E]
	poster  *poster[E, P]
	origin  time.Time

	mu       sync.Mutex // of the schedule's changes
	schedule atomic.Pointer[schedule]
	news     chan struct{} // has one if the open pacer is to look at the schedule
	ticks    *ticker       // the other pacer's
	stopped  atomic.Int64  // when no more was offered, on the run's clock; 0: not yet

	ctx     context.Context // ends when the pacer is to
	cancel  context.CancelFunc
	pacing  sync.WaitGroup
	add     event.Times
	paceLag event.Times
}

func beginOf[E any, P event.Event[E]](s Settings, sink string) (run, error) {
	r := &runOf[E, P]{Settings: s, poster: newPoster[E, P](sink), news: make(chan struct{}, 1)}
	var err error
	if s.Pacing == pacingTicker {
		if r.ticks, err = newTicker(period(s.EventRate)); err != nil {
			return nil, err
		}
	}
	// The lines are made and counted, as a service's logger would make them,
	// and go nowhere: a disk or a pipe is not part of the question.
	o := s.Options
	o.Log = io.Discard
	if r.variant, err = variants.New(s.Variant, o, r.poster.post); err != nil {
		return nil, err // the settings were checked: this does not come up
	}
	first := newSchedule(s.EventRate)
	r.schedule.Store(&first)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.origin = time.Now()
	if s.Pacing == pacingTicker {
		context.AfterFunc(r.ctx, r.ticks.stop)
		r.pacing.Go(r.paceByTicker)
	} else {
		r.pacing.Go(r.paceOpen)
	}
	return r, nil
}

// clock is the run's: monotonic, from its beginning.
func (r *runOf[E, P]) clock() time.Duration { return time.Since(r.origin) }

// template is where the pacer makes events: one place, so that nothing is
// allocated for each.
func template[E any, P event.Event[E]]() (e *E, raw []byte) {
	e = new(E)
	raw = P(e).Raw()
	for i := range raw {
		raw[i] = byte('a' + i%26)
	}
	return e, raw
}

// paceOpen adds each event when it is due, or else as soon as it can.
func (r *runOf[E, P]) paceOpen() {
	e, raw := template[E, P]()
	unix := r.origin.UnixNano()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for n := int64(0); ; {
		now := r.clock()
		s := *r.schedule.Load()
		for due := s.offered(now); n < due; n++ {
			if n%1024 == 0 && r.ctx.Err() != nil {
				return // an Add that need not wait does not look
			}
			event.Put(raw, uint64(n), unix+int64(s.due(n)))
			if !goOn(r.variant.Add(r.ctx, *e)) {
				return
			}
			after := r.clock()
			r.add.Add(after - now)
			now = after
		}
		if n < s.offered(now) {
			continue // it fell due while others were added
		}
		wait := max(s.due(n)-now, leastSleep)
		timer.Reset(wait)
		select {
		case <-timer.C:
			r.paceLag.Add(r.clock() - now - wait)
		case <-r.news:
		case <-r.ctx.Done():
			return
		}
	}
}

// paceByTicker adds an event at each tick. What ticks while an Add waits is
// lost but for one.
func (r *runOf[E, P]) paceByTicker() {
	e, raw := template[E, P]()
	unix := r.origin.UnixNano()
	waits := r.clock() // since when the pacer does
	for n := uint64(0); ; n++ {
		t, ok := r.ticks.wait()
		if !ok {
			return
		}
		now := r.clock()
		due := min(t.Sub(r.origin), now)
		r.paceLag.Add(now - max(due, waits))
		event.Put(raw, n, unix+int64(due))
		if !goOn(r.variant.Add(r.ctx, *e)) {
			return
		}
		waits = r.clock()
		r.add.Add(waits - now)
	}
}

// period is the time between two ticks at a rate.
func period(perSecond int) time.Duration { return time.Second / time.Duration(perSecond) }

// goOn tells whether the pacer is to, by what adding came to. What was dropped
// is counted by the variant.
func goOn(err error) bool { return err == nil || errors.Is(err, variants.ErrFull) }

// A rate that is too high can leave the process no time to be told to lower it:
// one that is tried ends by itself.
func (r *runOf[E, P]) rate(perSecond int, lasts time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := *r.schedule.Load()
	if len(now) > maxRates {
		return false
	}
	at := r.clock()
	next := now.upTo(at).changed(at, perSecond)
	if lasts > 0 {
		next = next.changed(at+lasts, r.EventRate)
	}
	r.schedule.Store(&next)
	if r.ticks != nil {
		return r.ticks.reset(period(perSecond)) == nil
	}
	select {
	case r.news <- struct{}{}:
	default: // it is to look already
	}
	return true
}

func (r *runOf[E, P]) figures(reset bool) event.Figures {
	a := r.variant.Account()
	now := r.clock()
	if at := r.stopped.Load(); at > 0 {
		now = time.Duration(at)
	}
	return event.Figures{
		At: time.Now().UnixNano(), Offered: r.schedule.Load().offered(now),
		Added: a.Added, Dropped: a.Dropped, Failed: a.Failed, Delivered: a.Delivered, Returned: a.Returned,
		Logged: a.Logged, LogLines: a.LogLines, Queued: a.Held(), Interval: r.Options.Interval.Seconds(),
		Add: r.add.Spread(reset), PaceLag: r.paceLag.Spread(reset),
	}
}

// stop ends the pacer and lets the variant send what it holds, for as long as
// drainTime. The clock stops behind the pacer, which adds what is due until it
// has seen that it is to end.
func (r *runOf[E, P]) stop() event.Figures {
	r.cancel()
	r.pacing.Wait()
	r.stopped.Store(int64(r.clock()))
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	_, err := r.variant.Close(ctx)
	r.poster.client.CloseIdleConnections()
	f := r.figures(false)
	drained := err == nil
	f.Drained = &drained
	return f
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
	"github.com/line-rate/line-rate/lab/study/variants"
)

const (
	// leastSleep is the shortest sleep of the open pacer: events that become due in it
	// are added together.
	leastSleep = time.Millisecond
	// drainTime is how long a variant has to send the events that it holds.
	drainTime = 10 * time.Second
)

// A run is one variant under one producer, from a start to a stop.
type run interface {
	figures(reset bool) event.Figures
	// rate changes the rate for so long, and then back to that of the settings; 0 is for
	// good.
	rate(perSecond int, lasts time.Duration)
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

// A runOf is a run with one size of events.
type runOf[E any, P event.Event[E]] struct {
	Settings
	variant variants.Processor[E]
	poster  *poster[E, P]
	origin  time.Time

	mu       sync.Mutex // protects changes of the schedule
	schedule atomic.Pointer[schedule]
	news     chan struct{} // holds a value if the open pacer has to look at the schedule again
	ticks    *ticker       // of the ticker pacer
	stopped  atomic.Int64  // when offering ended, on the run's clock; 0: not yet

	ctx     context.Context // its end stops the pacer
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
	// The lines are made and counted as a service's logger would make them, and written
	// nowhere: a disk or a pipe is not part of the question.
	o := s.Options
	o.Log = io.Discard
	if r.variant, err = variants.New(s.Variant, o, r.poster.post); err != nil {
		return nil, err // cannot happen: the settings were checked
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

// clock is the run's clock: monotonic, from the run's beginning.
func (r *runOf[E, P]) clock() time.Duration { return time.Since(r.origin) }

// template is the one event in which the pacer makes each event, so that nothing is
// allocated per event.
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
				return // an Add that need not wait does not check the context
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
			continue // the event became due while others were added
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

// paceByTicker adds an event at each tick. Ticks that come while an Add waits are lost,
// except one.
func (r *runOf[E, P]) paceByTicker() {
	e, raw := template[E, P]()
	unix := r.origin.UnixNano()
	waits := r.clock() // since when the pacer waits
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

// goOn tells by the error of an Add whether the pacer goes on. The variant counts dropped
// events.
func goOn(err error) bool { return err == nil || errors.Is(err, variants.ErrFull) }

// rate can set a rate for a limited time, because a rate that is too high can leave the
// process no time to receive a call that lowers it.
func (r *runOf[E, P]) rate(perSecond int, lasts time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, now := r.clock(), *r.schedule.Load()
	next := now.upTo(at).changed(at, perSecond)
	if lasts > 0 {
		next = next.changed(at+lasts, r.EventRate)
	}
	r.schedule.Store(&next)
	if r.ticks != nil {
		_ = r.ticks.reset(period(perSecond)) // the period is right
		return
	}
	select {
	case r.news <- struct{}{}:
	default: // it will look anyway
	}
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

// stop ends the pacer and lets the variant send what it holds, for up to drainTime. The
// clock is stopped after the pacer, which adds events that are due until it sees that it
// must end.
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

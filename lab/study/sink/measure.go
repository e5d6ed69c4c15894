package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

// An output is the line that is printed: what both programs counted in the window.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	counters
	event.Figures

	BacklogStart  int64         `json:"backlog_start"`
	BacklogFinish int64         `json:"backlog_finish"`
	Delivery      *event.Spread `json:"delivery_s,omitempty"`

	End   end `json:"end"`
	Limit int `json:"limit_per_s,omitempty"`
}

// An end is the account of all events since the start, after the stop.
type end struct {
	Added       int64 `json:"added"`
	Arrived     int64 `json:"arrived"`
	Failed      int64 `json:"failed"`
	Unaccounted int64 `json:"unaccounted"`
}

// A trial is a producer under this sink, from its start to its stop.
type trial struct {
	Settings
	receiver
	conn     net.Conn // to the producer
	answers  *json.Decoder
	from, to moment // the window, which is the last time that was watched
}

// A moment is the counts of both programs at one time.
type moment struct {
	at       time.Time
	producer event.Figures
	sink     counters
	delivery *event.Spread // since the last moment
}

// look reads a moment, and begins anew what is about the time between two moments.
func (t *trial) look() (m moment, err error) {
	m.producer, err = t.ask(event.Ask{})
	m.at = time.Now()
	m.sink, m.delivery = t.now()
	return m, err
}

// missing is how many of n events neither arrived nor were given up.
func missing(n int64, c counters, failed int64) int64 { return max(n-c.Events-failed, 0) }

func (m moment) backlog() int64 { return missing(m.producer.Offered, m.sink, m.producer.Failed) }

// measure makes the whole trial. The producer stops at the end, whatever happens.
func (t *trial) measure(ctx context.Context) (any, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // ends with the process, or with Close
	defer srv.Close()
	if t.conn, err = net.Dial("tcp", t.Producer); err != nil {
		return nil, fmt.Errorf("no producer is there: %w", err)
	}
	defer t.conn.Close()
	t.answers = json.NewDecoder(t.conn)
	if _, err = t.ask(event.Ask{Sink: "http://" + ln.Addr().String() + "/"}); err != nil {
		return nil, err
	}
	limit, err := t.load(ctx)
	last, stopped := t.ask(event.Ask{Stop: true})
	if err == nil {
		err = stopped
	}
	if err != nil {
		return nil, err
	}
	// Round(0) removes the monotonic reading, so that the printed times differ as the wall clock does.
	out := &output{Generator: "event_sink", Start: t.from.at.Round(0).UTC(), Finish: t.to.at.Round(0).UTC(),
		counters: t.to.sink.since(t.from.sink), Figures: t.to.producer.Since(t.from.producer), Delivery: t.to.delivery,
		BacklogStart: t.from.backlog(), BacklogFinish: t.to.backlog(), Limit: limit}
	c, _ := t.now()
	out.End = end{Added: last.Added, Arrived: c.Events, Failed: last.Failed, Unaccounted: missing(last.Added, c, last.Failed)}
	return out, nil
}

// load waits for the warm-up and watches the window. It searches for the limit before, if that is asked for.
func (t *trial) load(ctx context.Context) (limit int, err error) {
	if err = sleep(ctx, t.Warmup); err != nil {
		return
	}
	if t.from, err = t.look(); err != nil {
		return
	}
	if t.FindLimit {
		return t.findLimit(ctx)
	}
	if err = sleep(ctx, time.Until(t.from.at.Add(t.Duration))); err == nil {
		t.to, err = t.look()
	}
	return
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// askTime is how long the producer may take to answer: it drains for ten seconds before it stops.
const askTime = 15 * time.Second

func (t *trial) ask(what event.Ask) (f event.Figures, err error) {
	_ = t.conn.SetDeadline(time.Now().Add(askTime))
	if err = json.NewEncoder(t.conn).Encode(what); err == nil {
		err = t.answers.Decode(&f)
	}
	if err == nil && f.Error != "" {
		err = errors.New(f.Error)
	}
	if err != nil {
		err = fmt.Errorf("the producer at %s: %w", t.Producer, err)
	}
	return f, err
}

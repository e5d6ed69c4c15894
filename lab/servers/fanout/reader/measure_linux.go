package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// An output is the line that is printed. Counts are of the window, unless their comment says more.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	Open       int           `json:"open"`                 // streams at the window's end
	ShardsUsed int           `json:"shards_used"`          // that have a reader
	Memory     int64         `json:"bytes_per_connection"` // the server's, for each reader, before the first event
	Likes      float64       `json:"likes_per_s"`          // that were answered
	Offered    float64       `json:"offered_per_s"`        // deliveries, if each like went to all readers of its post
	Refused    int64         `json:"refused"`              // likes whose connection failed, or that had another status
	Events     int64         `json:"events"`               // that were read
	Bytes      int64         `json:"bytes"`                // that were read, with heads and framing
	Repeated   int64         `json:"repeated"`             // in the whole trial: came twice, or after a later one
	Delivery   *load.Latency `json:"delivery_s,omitempty"` // from publishing to reading

	Account account `json:"account"`
	Faults  []fault `json:"faults"`
}

// A fault is of the streams.
type fault struct {
	Kind  string `json:"kind"`
	First string `json:"first"`
}

// An account holds the server's ledger against what came here, from before the first connection until
// after the last.
type account struct {
	hub.Ledger             // what it grew by
	Received   int64       `json:"received"`
	Closed     bool        `json:"closed"` // each delivery ended in one place, and what was written was read
	Push       *hub.Pushes `json:"push,omitempty"`
}

const (
	settle = 2 * time.Second        // the longest that something may be under way at a trial's beginning or end
	quiet  = 300 * time.Millisecond // without an event none is under way; if one was, the account does not close
)

var client = http.Client{Timeout: 10 * time.Second}

func ledgerOf(addr string) (l hub.Told, err error) {
	answer, err := client.Get("http://" + addr + "/ledger")
	if err != nil {
		return l, fmt.Errorf("no server is there: %w", err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&l); err != nil || answer.StatusCode != http.StatusOK {
		return l, fmt.Errorf("%s/ledger answered %s; is it a fanout_server? %v", addr, answer.Status, err)
	}
	return l, nil
}

// until reads a ledger until it is as wanted, for no longer than settle.
func until(addr string, is func(hub.Told) bool) (l hub.Told, err error) {
	for end := time.Now().Add(settle); ; time.Sleep(10 * time.Millisecond) {
		if l, err = ledgerOf(addr); err != nil || is(l) || time.Now().After(end) {
			return l, err
		}
	}
}

// measure makes the whole trial. After an error, what it began ends with the process.
func (s settings) measure(ctx context.Context) (any, error) {
	writes := s.server
	before, err := ledgerOf(writes)
	if err == nil && before.ReadersAt != "" {
		s.server = before.ReadersAt
		before, err = ledgerOf(s.server)
	}
	if err != nil {
		return nil, err
	}
	seen := events{delivery: load.NewHistogram()}
	streams, err := load.New(ctx, s.streams(), load.Options{Stream: seen.open})
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	wanted := before.Readers() + int64(s.connections)
	there, err := until(s.server, func(l hub.Told) bool { return l.Readers() >= wanted })
	if err == nil && there.Readers() < wanted {
		_, _ = streams.Turn(ctx, load.Slot{Seconds: quiet.Seconds()}) // which reads why
		err = fmt.Errorf("the server has %d of %d readers; %s", there.Readers(), wanted, streams.Close().Targets[0].Fault)
	}
	if err != nil {
		return nil, err
	}
	var wrote *load.Report
	over := make(chan error, 1)
	go func() {
		var err error
		if wrote, err = load.Run(ctx, s.likes(writes), load.Options{}); err == nil && wrote.Slots[0].Failed != "" {
			err = errors.New(wrote.Slots[0].Failed)
		}
		over <- err
	}()
	watch := func(length time.Duration) (r load.SlotReport) {
		if err == nil {
			r, err = streams.Turn(ctx, load.Slot{Seconds: length.Seconds()})
		}
		if err == nil && r.Failed != "" {
			err = errors.New(r.Failed)
		}
		return r
	}
	watch(s.warmup)
	seen.delivery = load.NewHistogram() // of the window alone
	start := time.Now().UTC()
	slot := watch(s.duration)
	delivery := seen.delivery.Latency()
	for end := time.Now().Add(settle); watch(quiet).Requests > 0 && time.Now().Before(end); { // what is under way
	}
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	if err := <-over; err != nil {
		return nil, fmt.Errorf("giving likes: %w", err)
	}
	streamed := streams.Close().Targets[0]
	account, err := s.account(writes, before, seen.n)
	if err != nil {
		return nil, err
	}
	likes, came := wrote.Slots[0], wrote.Summary.Targets[0]
	out := &output{Generator: "event_reader", Start: start, Finish: start.Add(s.duration),
		Open: streamed.Open, Likes: float64(likes.Requests) / likes.Seconds,
		Events: slot.Requests, Bytes: slot.Bytes, Repeated: seen.repeated,
		Delivery: delivery, Account: account, Faults: []fault{}}
	out.Memory = max(0, there.Resident-before.Resident) / int64(s.connections)
	out.Refused = came.Errors + came.Non2xx // likes that still wait are none: a rate may be more than a server can take
	out.Offered = out.Likes * float64(s.connections) / float64(s.topics)
	if streamed.Errors+streamed.Resets+streamed.Reopened > 0 {
		out.Faults = append(out.Faults, fault{"ended", cmp.Or(streamed.Fault, "a stream was ended, and was opened again")})
	}
	if out.Events == 0 {
		out.Faults = append(out.Faults, fault{"silent", fmt.Sprintf("no event in %v", s.duration)})
	}
	for _, n := range there.Shards {
		out.ShardsUsed += min(1, int(n))
	}
	return out, nil
}

// account waits until nothing is under way, for as long as that may take, and joins the ledgers of both
// servers.
func (s settings) account(writes string, before hub.Told, received int64) (a account, err error) {
	if writes != s.server {
		w, err := until(writes, func(l hub.Told) bool { return l.Push.UnderWay() == 0 })
		if err != nil {
			return a, err
		}
		a.Push = w.Push
	}
	after, err := until(s.server, func(l hub.Told) bool { return l.UnderWay() == 0 })
	a.Ledger, a.Received = after.Since(before.Ledger), received
	a.Closed = a.UnderWay() == 0 && a.Written == received && (a.Push == nil || a.Push.UnderWay() == 0)
	return a, err
}

// streams are the readers, spread over the posts.
func (s settings) streams() *load.Plan {
	t := load.Target{Name: "streams", URL: "http://" + s.server, Stream: true, Connections: s.connections, Pipelining: 1}
	for i := range s.topics {
		t.Requests = append(t.Requests, load.Request{Method: http.MethodGet, Path: "/events/" + strconv.Itoa(i),
			Headers: [][2]string{{"Accept", "text/event-stream"}},
			Check:   &load.Check{Headers: [][2]string{{"Content-Type", "text/event-stream"}}}})
	}
	return &load.Plan{Threads: 1, Targets: []load.Target{t}}
}

// likes go on until the readers' window has ended.
func (s settings) likes(writes string) *load.Plan {
	t := load.Target{Name: "likes", URL: "http://" + writes, Connections: s.writers, Pipelining: 1, Rate: float64(s.rate)}
	for i := range s.topics {
		t.Requests = append(t.Requests, load.Request{Method: http.MethodPost, Path: "/like/" + strconv.Itoa(i),
			Status: []int{http.StatusNoContent}})
	}
	return &load.Plan{Threads: 1, Targets: []load.Target{t},
		Slots: []load.Slot{{Seconds: (s.warmup + s.duration).Seconds(), Counts: true}}}
}

// events holds what came of all streams against itself, and against the publisher's clock. It reads the form of
// event that package hub writes.
type events struct {
	n        int64
	repeated int64           // ids that came twice, or after a higher one of their stream
	delivery *load.Histogram // from the time in an event to its reading
}

// open begins a stream. It returns the reader of a part, which tells how many events end there: see
// load.Options.
func (e *events) open() func(part []byte) int {
	var rest []byte   // the beginning of an event
	var highest int64 // id so far; 0: no event has come
	return func(part []byte) (found int) {
		now := time.Now()
		if len(rest) > 0 {
			rest = append(rest, part...)
			part = rest
		}
		for {
			one, behind, whole := bytes.Cut(part, []byte("\n\n"))
			if !whole {
				rest = append(rest[:0], part...)
				return found
			}
			e.delivery.Add(now.UnixNano() - number(one, `"at":`))
			e.n++
			id := number(one, "id: ")
			if id <= highest {
				e.repeated++
			}
			highest = max(highest, id)
			found++
			part = behind
		}
	}
}

// number is the one behind a mark in an event.
func number(text []byte, mark string) (n int64) {
	_, digits, _ := bytes.Cut(text, []byte(mark))
	for _, b := range digits {
		if b < '0' || b > '9' {
			break
		}
		n = n*10 + int64(b-'0')
	}
	return n
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/fanout/hub"
	"github.com/line-rate/line-rate/lab/fanout/push"
	"github.com/line-rate/line-rate/lab/load"
)

// maxTopics is how many kinds of requests a load can have.
const maxTopics = load.MaxRequests

// errNotReached is in the error where no server is.
var errNotReached = errors.New("no server is there")

// An output is the line that is printed. Counts are of the window, but for the account.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	Connections int     `json:"connections"`          // that were to be opened
	Open        int     `json:"open"`                 // at the window's end
	ShardsUsed  int     `json:"shards_used"`          // that have a reader
	Memory      int64   `json:"bytes_per_connection"` // what the server's memory grew by, over all readers, before the first event
	Likes       float64 `json:"likes_per_s"`          // that were answered
	Offered     float64 `json:"offered_per_s"`        // deliveries, if each of these likes went to all readers of its post
	Refused     int64   `json:"refused"`              // likes whose connection failed, or that had another status
	ClientCPUS  float64 `json:"client_cpu_s"`
	Events      int64   `json:"events"`
	Bytes       int64   `json:"bytes"` // that were read, with heads and framing
	Missed      int64   `json:"missed"`
	Repeated    int64   `json:"repeated"`
	Reordered   int64   `json:"reordered"`
	FirstEvent  *spread `json:"first_event_s,omitempty"` // from opening a stream, of the whole trial
	Delivery    *spread `json:"delivery_s,omitempty"`    // from publishing to reading

	Account account `json:"account"`
	Faults  []fault `json:"faults"`
}

// A fault is of the streams.
type fault struct {
	Kind  string `json:"kind"`
	N     int64  `json:"n"`
	First string `json:"first"`
}

// An account holds the server's ledger against what came here, from before the first connection until
// after the last.
type account struct {
	hub.Ledger              // what it grew by
	Received   int64        `json:"received"`
	InSockets  int64        `json:"in_sockets"` // written, and never read here
	Closed     bool         `json:"closed"`     // each delivery ended in one place, and what was written was read
	Push       *push.Ledger `json:"push,omitempty"`
}

// A spread summarises how long something took, in seconds.
type spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func spreadOf(h *load.Histogram) *spread {
	if h == nil || h.Latency() == nil {
		return nil
	}
	l := h.Latency()
	return &spread{l.P50, l.P99, l.Max}
}

// ledgers are what a fanout_server answers at /ledger.
type ledgers struct {
	hub.Ledger
	Push      *push.Ledger `json:"push"`
	ReadersAt string       `json:"readers_at"`
}

func ledgerOf(ctx context.Context, url string) (l ledgers, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/ledger", nil)
	if err != nil {
		return l, err
	}
	answer, err := http.DefaultClient.Do(r)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return l, fmt.Errorf("%w: %s", errNotReached, url)
	case err != nil:
		return l, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return l, fmt.Errorf("%s/ledger answered %s; is it a fanout_server?", url, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&l); err != nil {
		return l, fmt.Errorf("%s/ledger: %w", url, err)
	}
	return l, nil
}

// measure makes the whole trial.
func measure(ctx context.Context, s settings) (*output, error) {
	writes := s.server
	before, err := ledgerOf(ctx, s.server)
	if err == nil && before.ReadersAt != "" {
		s.server = before.ReadersAt
		before, err = ledgerOf(ctx, s.server)
	}
	if err != nil {
		return nil, err
	}
	var seen load.Events
	streams, err := load.New(ctx, s.streams(), load.Options{Events: &seen})
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	closed := false
	defer func() {
		if !closed {
			streams.Close()
		}
	}()
	there, err := s.subscribed(ctx, before.Ledger)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wrote *load.Report
	over := make(chan error, 1)
	go func() {
		var err error
		if wrote, err = load.Run(ctx, s.likes(writes), load.Options{}); err != nil {
			err = fmt.Errorf("giving likes: %w", err)
		} else if slot := wrote.Slots[0]; slot.Failed != "" {
			err = fmt.Errorf("giving likes: %s", slot.Failed)
		}
		over <- err
	}()
	watch := func(length time.Duration, counts bool) (r load.SlotReport, err error) {
		r, err = streams.Turn(ctx, load.Slot{Seconds: length.Seconds(), Counts: counts})
		if err == nil && r.Failed != "" {
			err = fmt.Errorf("watching: %s", r.Failed)
		}
		return r, err
	}
	if _, err = watch(s.warmup, false); err != nil {
		return nil, err
	}
	seen.Delivery = load.NewHistogram() // of the window alone
	start, atStart := time.Now(), seen
	slot, err := watch(s.duration, true)
	if err != nil {
		return nil, err
	}
	atFinish := seen
	seen.Delivery = load.NewHistogram()
	for end := time.Now().Add(s.settle); time.Now().Before(end); { // what is under way arrives
		if r, err := watch(quiet, false); err != nil {
			return nil, err
		} else if r.Requests == 0 {
			break
		}
	}
	if err := <-over; err != nil {
		return nil, err
	}
	streamed := streams.Close().Targets[0]
	closed = true
	after, err := s.settled(ctx, writes)
	if err != nil {
		return nil, err
	}
	likes := wrote.Slots[0]
	out := &output{Generator: "event_reader", Start: start.UTC(), Finish: start.Add(s.duration).UTC(),
		Connections: s.connections, Open: streamed.Open, Likes: float64(likes.Requests) / likes.Seconds,
		ClientCPUS: slot.ClientCPUS, Events: atFinish.N - atStart.N, Bytes: slot.Bytes,
		Missed: atFinish.Missed - atStart.Missed, Repeated: atFinish.Repeated - atStart.Repeated,
		Reordered: atFinish.Reordered - atStart.Reordered, FirstEvent: spreadOf(seen.First), Delivery: spreadOf(atFinish.Delivery),
		Faults: []fault{}}
	for kind, n := range map[string]int64{"reset": streamed.Resets, "ended": streamed.Reopened, "refused": streamed.Errors} {
		if n > 0 {
			out.Faults = append(out.Faults, fault{kind, n, cmp.Or(streamed.Fault, "a stream was ended, and was opened again")})
		}
	}
	if out.Events == 0 {
		out.Faults = append(out.Faults, fault{"silent", 1, fmt.Sprintf("no event in %v", s.duration)})
	}
	out.Offered = out.Likes * float64(s.connections) / float64(s.topics)
	out.Memory = max(0, there.Resident-before.Resident) / int64(s.connections)
	for _, readers := range there.Shards {
		out.ShardsUsed += min(1, int(readers))
	}
	came := wrote.Summary.Targets[0]
	// Likes that still wait at the end are no fault: a rate may be more than the server can take.
	out.Refused = came.Errors + came.Non2xx
	out.Account = accountOf(before, after, seen.N)
	return out, nil
}

func accountOf(before, after ledgers, received int64) account {
	a := account{Ledger: after.Ledger.Since(before.Ledger), Received: received, Push: after.Push}
	a.InSockets = a.Written - received
	a.Closed = a.UnderWay == 0 && a.InSockets == 0 && (a.Push == nil || a.Push.UnderWay == 0)
	return a
}

// quiet is after how long without an event none is taken to be under way. If one was, the account does
// not close.
const quiet = 300 * time.Millisecond

// streams are the readers, spread over the posts.
func (s settings) streams() *load.Plan {
	t := load.Target{Name: "streams", URL: s.server + "/", Protocol: load.EventStream, Connections: s.connections, Pipelining: 1}
	for i := range s.topics {
		t.Requests = append(t.Requests, load.Request{Method: http.MethodGet, Path: "/events/" + strconv.Itoa(i),
			Headers: [][2]string{{"Accept", "text/event-stream"}}})
	}
	return &load.Plan{Threads: 1, Targets: []load.Target{t}}
}

// likes go on until the readers' window has ended.
func (s settings) likes(writes string) *load.Plan {
	t := load.Target{Name: "likes", URL: writes + "/like/0", Connections: s.writers, Pipelining: 1, Rate: float64(s.rate)}
	for i := range s.topics {
		t.Requests = append(t.Requests, load.Request{Method: http.MethodPost, Path: "/like/" + strconv.Itoa(i),
			Status: []int{http.StatusNoContent}})
	}
	return &load.Plan{Threads: 1, Targets: []load.Target{t},
		Slots: []load.Slot{{Seconds: (s.warmup + s.duration).Seconds(), Counts: true}}}
}

// subscribed waits until the server has all the readers, whose streams it has begun.
func (s settings) subscribed(ctx context.Context, before hub.Ledger) (l ledgers, err error) {
	for end := time.Now().Add(s.settle); ; time.Sleep(10 * time.Millisecond) {
		if l, err = ledgerOf(ctx, s.server); err != nil || l.Readers()-before.Readers() >= int64(s.connections) {
			return l, err
		}
		if time.Now().After(end) {
			return l, fmt.Errorf("the server has %d of %d readers", l.Readers()-before.Readers(), s.connections)
		}
	}
}

// settled waits until nothing is under way, for as long as that may take, and joins the ledgers of both
// servers.
func (s settings) settled(ctx context.Context, writes string) (l ledgers, err error) {
	for end := time.Now().Add(s.settle); ; {
		if l, err = ledgerOf(ctx, s.server); err != nil {
			return l, err
		}
		if writes != s.server {
			w, err := ledgerOf(ctx, writes)
			if err != nil {
				return l, err
			}
			l.Push = w.Push
		}
		if l.UnderWay == 0 && (l.Push == nil || l.Push.UnderWay == 0) || time.Now().After(end) {
			return l, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// An output is the line that is printed. Counts are of the window, but for the account.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	Open       int           `json:"open"`                 // streams at the window's end
	ShardsUsed int           `json:"shards_used"`          // that have a reader
	Memory     int64         `json:"bytes_per_connection"` // what the server's memory grew by, over all readers, before the first event
	Likes      float64       `json:"likes_per_s"`          // that were answered
	Offered    float64       `json:"offered_per_s"`        // deliveries, if each of these likes went to all readers of its post
	Refused    int64         `json:"refused"`              // likes whose connection failed, or that had another status
	Events     int64         `json:"events"`
	Bytes      int64         `json:"bytes"`                   // that were read, with heads and framing
	Repeated   int64         `json:"repeated"`                // that came twice, or after a later one
	FirstEvent *load.Latency `json:"first_event_s,omitempty"` // from opening a stream, of the whole trial
	Delivery   *load.Latency `json:"delivery_s,omitempty"`    // from publishing to reading

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
	hub.Ledger             // what it grew by
	Received   int64       `json:"received"`
	Closed     bool        `json:"closed"` // each delivery ended in one place, and what was written was read
	Push       *hub.Pushes `json:"push,omitempty"`
}

const (
	// settle is the longest that something may be under way at a trial's beginning or end.
	settle = 2 * time.Second
	// quiet is after how long without an event none is taken to be under way. If one was, the account does
	// not close.
	quiet = 300 * time.Millisecond
)

func ledgerOf(ctx context.Context, addr string) (l hub.Told, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/ledger", nil)
	if err != nil {
		return l, err
	}
	answer, err := http.DefaultClient.Do(r)
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
func until(ctx context.Context, addr string, is func(hub.Told) bool) (l hub.Told, err error) {
	for end := time.Now().Add(settle); ; time.Sleep(10 * time.Millisecond) {
		if l, err = ledgerOf(ctx, addr); err != nil || is(l) || time.Now().After(end) {
			return l, err
		}
	}
}

// measure makes the whole trial. After an error, what it began ends with the process.
func (s settings) measure(ctx context.Context) (any, error) {
	writes := s.server
	before, err := ledgerOf(ctx, s.server)
	if err == nil && before.ReadersAt != "" {
		s.server = before.ReadersAt
		before, err = ledgerOf(ctx, s.server)
	}
	if err != nil {
		return nil, err
	}
	seen := events{first: load.NewHistogram(), delivery: load.NewHistogram()}
	streams, err := load.New(ctx, s.streams(), load.Options{Stream: seen.open})
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	joined := func(l hub.Told) int64 { return l.Readers() - before.Readers() }
	there, err := until(ctx, s.server, func(l hub.Told) bool { return joined(l) >= int64(s.connections) })
	if err == nil && joined(there) < int64(s.connections) {
		_, _ = streams.Turn(ctx, load.Slot{Seconds: quiet.Seconds()}) // which reads why
		err = fmt.Errorf("the server has %d of %d readers; %s", joined(there), s.connections, streams.Close().Targets[0].Fault)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wrote *load.Report
	over := make(chan error, 1)
	go func() {
		var err error
		if wrote, err = load.Run(ctx, s.likes(writes), load.Options{}); err == nil {
			err = failed(wrote.Slots[0])
		}
		over <- err
	}()
	watch := func(length time.Duration, counts bool) (r load.SlotReport, err error) {
		if r, err = streams.Turn(ctx, load.Slot{Seconds: length.Seconds(), Counts: counts}); err == nil {
			err = failed(r)
		}
		return r, err
	}
	if _, err = watch(s.warmup, false); err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	seen.delivery = load.NewHistogram() // of the window alone
	start, atStart := time.Now(), seen
	slot, err := watch(s.duration, true)
	atFinish := seen
	seen.delivery = load.NewHistogram()
	for end := time.Now().Add(settle); err == nil && time.Now().Before(end); { // what is under way arrives
		var r load.SlotReport
		if r, err = watch(quiet, false); r.Requests == 0 {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	if err := <-over; err != nil {
		return nil, fmt.Errorf("giving likes: %w", err)
	}
	streamed := streams.Close().Targets[0]
	account, err := s.account(ctx, writes, before, seen.n)
	if err != nil {
		return nil, err
	}
	likes, came := wrote.Slots[0], wrote.Summary.Targets[0]
	out := &output{Generator: "event_reader", Start: start.UTC(), Finish: start.Add(s.duration).UTC(),
		Open: streamed.Open, Likes: float64(likes.Requests) / likes.Seconds,
		Events: atFinish.n - atStart.n, Bytes: slot.Bytes,
		Repeated:   atFinish.repeated - atStart.repeated,
		FirstEvent: seen.first.Latency(), Delivery: atFinish.delivery.Latency(),
		Memory:  max(0, there.Resident-before.Resident) / int64(s.connections),
		Refused: came.Errors + came.Non2xx, // likes that still wait are no fault: a rate may be more than the server can take
		Account: account, Faults: []fault{}}
	out.Offered = out.Likes * float64(s.connections) / float64(s.topics)
	for kind, n := range map[string]int64{"reset": streamed.Resets, "ended": streamed.Reopened, "refused": streamed.Errors - streamed.Resets} {
		if n > 0 {
			out.Faults = append(out.Faults, fault{kind, n, cmp.Or(streamed.Fault, "a stream was ended, and was opened again")})
		}
	}
	if out.Events == 0 {
		out.Faults = append(out.Faults, fault{"silent", 1, fmt.Sprintf("no event in %v", s.duration)})
	}
	for _, n := range there.Shards {
		out.ShardsUsed += min(1, int(n))
	}
	return out, nil
}

// failed is why a slot failed, if it did.
func failed(slot load.SlotReport) error {
	if slot.Failed == "" {
		return nil
	}
	return fmt.Errorf("%s", slot.Failed)
}

// account waits until nothing is under way, for as long as that may take, and joins the ledgers of both
// servers.
func (s settings) account(ctx context.Context, writes string, before hub.Told, received int64) (a account, err error) {
	if writes != s.server {
		w, err := until(ctx, writes, func(l hub.Told) bool { return l.Push.UnderWay() == 0 })
		if err != nil {
			return a, err
		}
		a.Push = w.Push
	}
	after, err := until(ctx, s.server, func(l hub.Told) bool { return l.UnderWay() == 0 })
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

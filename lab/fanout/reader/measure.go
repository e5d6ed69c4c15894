package main

import (
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
	"github.com/line-rate/line-rate/lab/load/stream"
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
	stream.Counts
	FirstEvent *spread `json:"first_event_s,omitempty"`
	Gap        *spread `json:"gap_s,omitempty"`
	Delivery   *spread `json:"delivery_s,omitempty"` // from publishing to reading

	Account account        `json:"account"`
	Faults  []stream.Fault `json:"faults"`
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watched *stream.Report
	over := make(chan error, 1)
	go func() {
		var err error
		watched, err = stream.Run(ctx, s.readers())
		over <- err
	}()
	there, err := s.subscribed(ctx, before.Ledger, over)
	if err != nil {
		return nil, err
	}
	wrote, err := load.Run(ctx, s.likes(writes), load.Options{})
	if err != nil {
		return nil, fmt.Errorf("giving likes: %w", err)
	}
	if err := <-over; err != nil {
		return nil, err
	}
	after, err := s.settled(ctx, writes)
	if err != nil {
		return nil, err
	}
	slot := wrote.Slots[0]
	if slot.Failed != "" {
		return nil, fmt.Errorf("giving likes: %s", slot.Failed)
	}
	out := &output{Generator: "event_reader", Start: watched.Begin.UTC(),
		Finish:      watched.Begin.Add(time.Duration(watched.Seconds * float64(time.Second))).UTC(),
		Connections: s.connections, Open: watched.Open, Likes: float64(slot.Requests) / slot.Seconds,
		ClientCPUS: watched.CPUSeconds, Counts: watched.Window, FirstEvent: spreadOf(watched.FirstEvent),
		Gap: spreadOf(watched.Gaps), Delivery: spreadOf(watched.Latency), Faults: watched.Faults}
	out.Offered = out.Likes * float64(s.connections) / float64(s.topics)
	out.Memory = max(0, there.Resident-before.Resident) / int64(s.connections)
	for _, readers := range there.Shards {
		out.ShardsUsed += min(1, int(readers))
	}
	came := wrote.Summary.Targets[0]
	// Likes that still wait at the end are no fault: a rate may be more than the server can take.
	out.Refused = came.Errors + came.Non2xx
	out.Account = accountOf(before, after, watched.Whole.Events)
	return out, nil
}

func accountOf(before, after ledgers, received int64) account {
	a := account{Ledger: after.Ledger.Since(before.Ledger), Received: received, Push: after.Push}
	a.InSockets = a.Written - received
	a.Closed = a.UnderWay == 0 && a.InSockets == 0 && (a.Push == nil || a.Push.UnderWay == 0)
	return a
}

// portsEach is how many streams one address has ports for, with room: Linux has about 28,000.
const portsEach = 20_000

// quiet is after how long without an event none is taken to be under way. If one was, the account does
// not close.
const quiet = 300 * time.Millisecond

func (s settings) readers() *stream.Plan {
	p := &stream.Plan{Addresses: []string{s.server[len("http://"):]}, Connections: s.connections, WarmUp: s.warmup,
		Window: s.duration, Drain: s.settle, Quiet: quiet, Stalled: s.stalled}
	for i := 0; s.connections > portsEach && i <= s.connections/portsEach; i++ {
		p.Locals = append(p.Locals, fmt.Sprintf("127.0.0.%d", 1+i))
	}
	for i := range s.topics {
		p.Paths = append(p.Paths, "/events/"+strconv.Itoa(i))
	}
	return p
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

// subscribed waits until the server has all the readers.
func (s settings) subscribed(ctx context.Context, before hub.Ledger, over chan error) (l ledgers, err error) {
	for {
		if l, err = ledgerOf(ctx, s.server); err != nil || l.Readers()-before.Readers() >= int64(s.connections) {
			return l, err
		}
		select {
		case err := <-over: // before anything was published: no reader can have been served
			return l, errors.Join(err, fmt.Errorf("the server has %d of %d readers", l.Readers()-before.Readers(), s.connections))
		case <-time.After(10 * time.Millisecond):
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

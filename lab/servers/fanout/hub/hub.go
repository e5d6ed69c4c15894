// Package hub delivers each publication of a topic to all of its subscribers, in the ways of the
// series' chapter two: one goroutine for each topic, or one for each shard.
//
//	publish ─► broadcast ─► goroutine ─────────────────► subscriber ─► written      one goroutine
//	publish ─► broadcast ─► coordinator ─► shard ─► goroutine ─► subscriber ─► written    shards
//
// Each arrow is a channel with a set room, and nobody waits at one: what finds it full is lost there. The hub keeps a
// ledger of that. A publication is due to each subscriber that the topic then has. Each of these deliveries ends in
// just one place: lost at a channel, lost with a subscriber that left, lost at a socket, or written. So the places add
// up to what was due, as soon as nothing is under way.
//
// For this a topic has a lock, under which an event gets its number and its subscribers are counted. The series had
// none there; it costs a publication, and not a delivery, some tens of nanoseconds.
package hub

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// The rooms of channels that the series printed.
const (
	broadcastRoom = 64
	shardRoom     = 128
)

// Options are a hub's design.
type Options struct {
	Topics     int
	Subscriber int  // room of a subscriber's channel
	Shards     int  // of a topic; 0: one goroutine, and no coordinator
	Counter    bool // a subscriber's shard is the next one, in place of its address modulo their number, as published
}

// Published are the series' own settings, of entry 13: it has one goroutine for each of ten topics.
func Published() Options { return Options{Topics: 10, Subscriber: 8} }

// An Event is what one publication gives each subscriber. All share its text, so nobody may change
// it.
type Event struct {
	ID   uint64 // of its topic, from one
	Text []byte // as a stream of events has it
}

// A Hub has topics, by their numbers from zero. It runs until its process ends.
type Hub struct {
	Options
	topics []*topic
}

// New makes a hub and starts its goroutines.
func New(o Options) *Hub {
	h := &Hub{Options: o}
	for range o.Topics {
		t := &topic{broadcast: make(chan publication, broadcastRoom), members: make([]int64, max(1, o.Shards))}
		for i := range t.members {
			s := &shard{ledger: &t.ledger, at: i, events: t.broadcast}
			if o.Shards > 0 {
				s.events = make(chan publication, shardRoom)
			}
			t.shards = append(t.shards, s)
			go s.run()
		}
		if o.Shards > 0 {
			go t.coordinate()
		}
		h.topics = append(h.topics, t)
	}
	return h
}

// Live tells how many subscribers a topic has, by shard.
func (h *Hub) Live(topic int) []int64 {
	t := h.topics[topic]
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members
}

// A topic numbers its publications, and knows to whom each is due.
type topic struct {
	broadcast chan publication
	shards    []*shard
	ledger    Ledger

	mu      sync.Mutex
	last    uint64  // number of the last event
	members []int64 // by shard; replaced and never written, since publications share it
	joined  int
}

// A publication is an event on its way, with how many subscribers of each shard it is due to.
type publication struct {
	Event
	due []int64
}

// Publish gives a count to a topic's subscribers, without waiting for any.
func (h *Hub) Publish(topic int, count int64) {
	t := h.topics[topic]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	p := publication{Event{t.last, AppendText(nil, t.last, topic, count)}, t.members}
	var due int64
	for _, n := range p.due {
		due += n
	}
	atomic.AddInt64(&t.ledger.Published, 1)
	atomic.AddInt64(&t.ledger.Due, due)
	select {
	case t.broadcast <- p:
	default:
		atomic.AddInt64(&t.ledger.Broadcast, due)
	}
}

// AppendText appends an event as a subscriber reads it. The time lets a reader on the same machine tell
// how long it took.
func AppendText(b []byte, id uint64, topic int, count int64) []byte {
	const form = "id: %d\ndata: {\"post\":%d,\"likes\":%d,\"at\":%d}\n\n"
	return fmt.Appendf(b, form, id, topic, count, time.Now().UnixNano())
}

func (t *topic) coordinate() {
	for p := range t.broadcast {
		for i, s := range t.shards {
			select {
			case s.events <- p:
			default:
				atomic.AddInt64(&t.ledger.Shard, p.due[i])
			}
		}
	}
}

// A Subscriber has its own channel of events.
type Subscriber struct {
	Events chan Event
	topic  *topic
	shard  *shard
	from   uint64 // the events after it are due
}

// Subscribe joins a topic. Its caller reads Events until it calls Leave. The subscriber is in its shard before the
// topic publishes again, and so before the first event that is due to it.
func (h *Hub) Subscribe(topic int) *Subscriber {
	t := h.topics[topic]
	s := &Subscriber{Events: make(chan Event, h.Options.Subscriber), topic: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := uint64(uintptr(unsafe.Pointer(s)))
	if h.Counter {
		n = uint64(t.joined)
	}
	s.shard, s.from = t.shards[n%uint64(len(t.shards))], t.last
	t.joined++
	t.members = slices.Clone(t.members)
	t.members[s.shard.at]++
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	s.shard.subscribers = append(s.shard.subscribers, s)
	return s
}

// Leave ends a subscription. Its caller reads no more events.
func (s *Subscriber) Leave() {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	s.topic.members = slices.Clone(s.topic.members)
	s.topic.members[s.shard.at]--
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	at := slices.Index(s.shard.subscribers, s)
	s.shard.subscribers = slices.Delete(s.shard.subscribers, at, at+1)
	atomic.AddInt64(&s.topic.ledger.Left, int64(len(s.Events)))
}

// Wrote counts events that were written to the subscriber's socket, or failed to be.
func (s *Subscriber) Wrote(n int, err error) {
	place := &s.topic.ledger.Written
	if err != nil {
		place = &s.topic.ledger.Socket
	}
	atomic.AddInt64(place, int64(n))
}

// A shard is a goroutine with its part of a topic's subscribers.
type shard struct {
	ledger *Ledger
	at     int
	events chan publication

	mu          sync.Mutex // nobody joins or leaves while an event is offered
	subscribers []*Subscriber
}

// run offers each event to those that are still there. To others it was due too, which have left.
func (s *shard) run() {
	for p := range s.events {
		full, left := int64(0), p.due[s.at]
		s.mu.Lock()
		for _, to := range s.subscribers {
			if p.ID <= to.from { // published before it joined
				continue
			}
			left--
			select {
			case to.Events <- p.Event:
			default:
				full++
			}
		}
		s.mu.Unlock()
		atomic.AddInt64(&s.ledger.Subscriber, full)
		atomic.AddInt64(&s.ledger.Left, left)
	}
}

// A Ledger says what became of deliveries: one is due for each publication and each subscriber that its
// topic then had.
type Ledger struct {
	Published  int64 `json:"published"` // events
	Due        int64 `json:"due"`
	Broadcast  int64 `json:"lost_broadcast"`  // at a topic's channel
	Shard      int64 `json:"lost_shard"`      // at a shard's channel
	Subscriber int64 `json:"lost_subscriber"` // at a subscriber's channel
	Left       int64 `json:"lost_left"`       // in the channel of a subscriber that left
	Socket     int64 `json:"lost_socket"`     // at a write that failed
	Written    int64 `json:"written"`
}

// UnderWay is how much is due, and in no place yet; zero when all is quiet.
func (l *Ledger) UnderWay() int64 {
	return l.Due - l.Broadcast - l.Shard - l.Subscriber - l.Left - l.Socket - l.Written
}

// counts are the ledger's, places before what was due.
func (l *Ledger) counts() []*int64 {
	return []*int64{&l.Written, &l.Socket, &l.Left, &l.Subscriber, &l.Shard, &l.Broadcast, &l.Due, &l.Published}
}

// Since is what a ledger grew by after an earlier one.
func (l Ledger) Since(earlier Ledger) Ledger {
	for i, n := range earlier.counts() {
		*l.counts()[i] -= *n
	}
	return l
}

// Ledger reads the ledger. It reads counts one after the other, the places before the due
// deliveries. So no delivery is in two places, and those that change meanwhile are under way.
func (h *Hub) Ledger() (l Ledger) {
	for _, t := range h.topics {
		for i, n := range t.ledger.counts() {
			*l.counts()[i] += atomic.LoadInt64(n)
		}
	}
	return l
}

// A Pushes is the ledger of counts that are offered to be pushed to another process.
type Pushes struct {
	Offered  int64   `json:"offered"`
	Merged   int64   `json:"merged"`   // into a later count of its post, in its window
	Unrouted int64   `json:"unrouted"` // nobody watches the post
	Full     int64   `json:"full"`     // lost at the queue
	Failed   int64   `json:"failed"`   // the reader refused the push
	Pushed   int64   `json:"pushed"`
	PushS    float64 `json:"push_s"` // seconds that all pushes took, together
}

// UnderWay is how many counts are in no place yet.
func (p *Pushes) UnderWay() int64 {
	return p.Offered - p.Merged - p.Unrouted - p.Full - p.Failed - p.Pushed
}

// A Told is what a server of events answers at /ledger.
type Told struct {
	Ledger
	Shards    []int64 `json:"shards"`               // subscribers in each shard, over all topics
	Resident  int64   `json:"resident_bytes"`       // memory of this process
	ReadersAt string  `json:"readers_at,omitempty"` // of the process that has the readers, if that is another
	Push      *Pushes `json:"push,omitempty"`
}

// Readers is how many subscribers there are.
func (t Told) Readers() (n int64) {
	for _, m := range t.Shards {
		n += m
	}
	return n
}

// Resident is this process's memory, in bytes; 0 where the system does not tell.
func Resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

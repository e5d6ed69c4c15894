// Package hub gives what is published to a topic to all of its subscribers, in the ways that the
// series' chapter two has: one goroutine for each topic, or one for each of some shards of it.
//
//	publish ─► broadcast ─► goroutine ─────────────────► subscriber ─► written      one goroutine
//	publish ─► broadcast ─► coordinator ─► shard ─► goroutine ─► subscriber ─► written    shards
//
// Each arrow is a channel with a set room, and nobody waits at one: what finds it full is lost there.
// The hub keeps a ledger of that. A publication is due to each subscriber that the topic then has, and
// each of these deliveries ends in just one place: lost at a channel, lost with a subscriber that left,
// lost at a socket, or written. So the places add up to what was due, as soon as nothing is under way.
//
// For this a topic has a lock, under which an event gets its number and its subscribers are counted.
// The series' server had none there; it costs a publication, and not a delivery, some tens of
// nanoseconds.
package hub

import (
	"slices"
	"strconv"
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

// An Event is what one publication gives each subscriber. Its text is shared, and must not be changed.
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
		t := &topic{broadcast: make(chan publication, broadcastRoom)}
		t.members = make([]int64, max(1, o.Shards))
		for i := range t.members {
			s := &shard{ledger: &t.ledger, at: i, changes: make(chan change), events: t.broadcast}
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

// A topic numbers what is published, and knows to whom it is due.
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
	t, at := h.topics[topic], time.Now().UnixNano()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	p := publication{Event{t.last, AppendText(make([]byte, 0, 96), t.last, topic, count, at)}, t.members}
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
func AppendText(b []byte, id uint64, topic int, count, at int64) []byte {
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, "\ndata: {\"post\":"...)
	b = strconv.AppendInt(b, int64(topic), 10)
	b = append(b, ",\"likes\":"...)
	b = strconv.AppendInt(b, count, 10)
	b = append(b, ",\"at\":"...)
	b = strconv.AppendInt(b, at, 10)
	return append(b, "}\n\n"...)
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
	at     int    // among those of its shard
	from   uint64 // the events after it are due
}

// Subscribe joins a topic. Its caller reads Events until it calls Leave. The change is sent under the lock: so
// the subscriber is in its shard before the first event that is due to it, and a shard takes changes before it
// takes an event.
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
	t.change(s, 1)
	return s
}

// Leave ends a subscription. Its caller reads no more events.
func (s *Subscriber) Leave() {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	s.topic.change(s, -1)
}

// change counts a subscriber that joins or leaves, and tells its shard.
func (t *topic) change(s *Subscriber, by int64) {
	t.members = slices.Clone(t.members)
	t.members[s.shard.at] += by
	s.shard.changes <- change{s, by < 0}
}

// Wrote counts events that were written to the subscriber's socket, or failed to be.
func (s *Subscriber) Wrote(n int, err error) {
	if err != nil {
		atomic.AddInt64(&s.topic.ledger.Socket, int64(n))
		return
	}
	atomic.AddInt64(&s.topic.ledger.Written, int64(n))
}

// A shard is a goroutine with its part of a topic's subscribers.
type shard struct {
	ledger  *Ledger
	at      int
	changes chan change // no room: who changes something waits until it is taken
	events  chan publication

	subscribers []*Subscriber
}

// A change is a subscriber that joins or leaves.
type change struct {
	*Subscriber
	leaves bool
}

func (s *shard) run() {
	for {
		select {
		case c := <-s.changes:
			s.change(c)
		case p := <-s.events:
			for more := true; more; {
				select {
				case c := <-s.changes:
					s.change(c)
				default:
					more = false
				}
			}
			s.deliver(p)
		}
	}
}

func (s *shard) change(c change) {
	if !c.leaves {
		c.at = len(s.subscribers)
		s.subscribers = append(s.subscribers, c.Subscriber)
		return
	}
	last := len(s.subscribers) - 1
	s.subscribers[c.at] = s.subscribers[last]
	s.subscribers[c.at].at = c.at
	s.subscribers[last] = nil
	s.subscribers = s.subscribers[:last]
	atomic.AddInt64(&s.ledger.Left, int64(len(c.Events)))
}

// deliver offers an event to those that are still there. To others it was due too, which have left.
func (s *shard) deliver(p publication) {
	var full int64
	left := p.due[s.at]
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
	if full > 0 {
		atomic.AddInt64(&s.ledger.Subscriber, full)
	}
	if left > 0 {
		atomic.AddInt64(&s.ledger.Left, left)
	}
}

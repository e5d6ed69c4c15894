package hub

import (
	"fmt"
	"os"
	"sync/atomic"
)

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
	UnderWay   int64 `json:"under_way"` // due, and in none of these places; zero when all is quiet
	// Shards has the number of subscribers in each shard, over all topics.
	Shards []int64 `json:"shards"`
	// Resident is this process's memory, in bytes.
	Resident int64 `json:"resident_bytes"`
}

// counters are a topic's part of the ledger.
type counters struct {
	published, due, broadcast, shard, subscriber, left, socket, written atomic.Int64
}

// Ledger reads the ledger. Counters are read one after the other, the places before what was due: so
// nothing is in two places, and what changes meanwhile is under way.
func (h *Hub) Ledger() (l Ledger) {
	l.Shards = make([]int64, max(1, h.Options.Shards))
	for _, t := range h.topics {
		c := &t.ledger
		l.Written += c.written.Load()
		l.Socket += c.socket.Load()
		l.Left += c.left.Load()
		l.Subscriber += c.subscriber.Load()
		l.Shard += c.shard.Load()
		l.Broadcast += c.broadcast.Load()
		l.Due += c.due.Load()
		l.Published += c.published.Load()
		for i, n := range t.now() {
			l.Shards[i] += n
		}
	}
	l.Resident = Resident()
	l.UnderWay = l.Due - l.Broadcast - l.Shard - l.Subscriber - l.Left - l.Socket - l.Written
	return l
}

// A Pushes is the ledger of counts that are offered to be pushed to another process.
type Pushes struct {
	Offered  int64   `json:"offered"`
	Merged   int64   `json:"merged"`   // into a later count of its post, in its window
	Unrouted int64   `json:"unrouted"` // nobody watches the post
	Full     int64   `json:"full"`     // lost at the queue
	Failed   int64   `json:"failed"`   // the push was not accepted
	Pushed   int64   `json:"pushed"`
	UnderWay int64   `json:"under_way"`
	Windows  int64   `json:"windows"`
	PushS    float64 `json:"push_s"`        // seconds that all pushes took, together
	Why      string  `json:"why,omitempty"` // the first push or question that failed
}

// A Told is what a server of events answers at /ledger.
type Told struct {
	Ledger
	Likes int64 `json:"likes"`
	// ReadersAt is the base URL of the process that has the readers, if that is another.
	ReadersAt string  `json:"readers_at,omitempty"`
	Push      *Pushes `json:"push,omitempty"`
}

// Resident is this process's memory, in bytes; 0 where the system does not tell.
func Resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

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

// Readers is how many subscribers there are.
func (l Ledger) Readers() (n int64) {
	for _, m := range l.Shards {
		n += m
	}
	return n
}

// Since is what has come since an earlier ledger, with the shards as they are now.
func (l Ledger) Since(before Ledger) Ledger {
	for _, n := range []struct{ now, was *int64 }{{&l.Published, &before.Published}, {&l.Due, &before.Due},
		{&l.Broadcast, &before.Broadcast}, {&l.Shard, &before.Shard}, {&l.Subscriber, &before.Subscriber},
		{&l.Left, &before.Left}, {&l.Socket, &before.Socket}, {&l.Written, &before.Written},
		{&l.UnderWay, &before.UnderWay}} {
		*n.now -= *n.was
	}
	return l
}

// Resident is this process's memory, in bytes; 0 where the system does not tell.
func Resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

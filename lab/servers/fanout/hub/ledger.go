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

// Ledger reads the ledger. Counts are read one after the other, the places before what was due: so nothing
// is in two places, and what changes meanwhile is under way.
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
	Failed   int64   `json:"failed"`   // the push was not accepted
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
	Likes int64 `json:"likes"`
	// Shards has the number of subscribers in each shard, over all topics.
	Shards []int64 `json:"shards"`
	// Resident is this process's memory, in bytes.
	Resident int64 `json:"resident_bytes"`
	// ReadersAt is the address of the process that has the readers, if that is another.
	ReadersAt string  `json:"readers_at,omitempty"`
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

package hub

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// settle waits until nothing is under way.
func settle(t *testing.T, h *Hub) Ledger {
	t.Helper()
	l := h.Ledger()
	for range 2000 {
		if l.UnderWay() == 0 {
			return l
		}
		time.Sleep(time.Millisecond)
		l = h.Ledger()
	}
	t.Fatalf("the ledger does not close: %+v", l)
	return l
}

// read takes a subscriber's events until a stop; then it leaves.
func read(s *Subscriber, stop chan struct{}) (ids []uint64) {
	defer s.Leave()
	for {
		select {
		case <-stop:
			return ids
		case e := <-s.Events:
			ids = append(ids, e.ID)
			s.Wrote(1, nil)
		}
	}
}

func designs() map[string]Options {
	one, shards, counted := Published(), Published(), Published()
	shards.Shards, counted.Shards, counted.Counter = 8, 8, true
	return map[string]Options{"one goroutine": one, "shards by address": shards, "shards by counter": counted}
}

func TestEachSubscriberHasEachEventOnceAndInOrder(t *testing.T) {
	for name, o := range designs() {
		h := New(o)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		got := make([][]uint64, 30)
		for i := range got {
			s := h.Subscribe(3)
			wg.Go(func() { got[i] = read(s, stop) })
		}
		for n := range int64(200) {
			h.Publish(3, n)
			settle(t, h)
		}
		h.Publish(4, 1) // nobody watches it
		close(stop)
		wg.Wait()
		for i, ids := range got {
			if len(ids) != 200 || !slices.IsSorted(ids) || ids[0] != 1 || ids[199] != 200 {
				t.Errorf("%s: subscriber %d has %d events: %v", name, i, len(ids), ids)
			}
		}
		if l := h.Ledger(); l.Due != 6000 || l.Written != 6000 || l.Published != 201 || l.UnderWay() != 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// Subscribers come, go and stop reading, and each delivery still ends in one place.
func TestTheLedgerClosesWhateverHappens(t *testing.T) {
	for name, o := range designs() {
		o.Topics, o.Subscriber = 2, 2
		h := New(o)
		var wg sync.WaitGroup
		for i := range 20 {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			wg.Go(func() {
				for range 10 {
					s := h.Subscribe(i % 2)
					for n := range r.IntN(40) {
						if e := <-s.Events; n%7 == 6 {
							s.Wrote(1, errors.New("the socket is gone"))
						} else if s.Wrote(1, nil); e.ID <= s.from {
							t.Errorf("%s: a later subscriber got event %d", name, e.ID)
						}
					}
					s.Leave()
				}
			})
		}
		stop := make(chan struct{})
		var publishers sync.WaitGroup
		for p := range 4 {
			publishers.Go(func() {
				for n := int64(1); ; n++ {
					select {
					case <-stop:
						return
					default:
						h.Publish(p%2, n)
					}
				}
			})
		}
		wg.Wait()
		close(stop)
		publishers.Wait()
		// Events that are still in the channels tell the shards what those who left had missed.
		l := settle(t, h)
		if l.Written == 0 || l.Socket == 0 || l.Broadcast == 0 || l.Subscriber == 0 {
			t.Errorf("%s: a place has nothing: %+v", name, l)
		}
		if slices.Max(h.Live(0))+slices.Max(h.Live(1)) != 0 {
			t.Errorf("%s: all have left, and shards have %v", name, h.Live(0))
		}
	}
}

// By hand: a subscriber that takes nothing has room for 8 of 100 events.
func TestWhoDoesNotReadLosesAtTheSubscriber(t *testing.T) {
	for name, o := range designs() {
		h := New(o)
		s := h.Subscribe(0)
		for n := range int64(100) {
			h.Publish(0, n)
			for l := h.Ledger(); l.Subscriber+int64(len(s.Events)) < n+1; l = h.Ledger() {
				time.Sleep(10 * time.Microsecond)
			}
		}
		if l := h.Ledger(); l.Subscriber != 92 || l.UnderWay() != 8 || l.Written != 0 {
			t.Errorf("%s: %+v", name, l)
		}
		s.Leave()
		if l := settle(t, h); l.Left != 8 || l.Due != 100 {
			t.Errorf("%s: after it left %+v", name, l)
		}
	}
}

// Go aligns a subscriber to 16 bytes at least, so an address modulo eight is zero for all of them.
func TestShardsByAddressAreOne(t *testing.T) {
	for counter, want := range map[bool][]int64{false: {1000, 0, 0, 0, 0, 0, 0, 0},
		true: {125, 125, 125, 125, 125, 125, 125, 125}} {
		o := Published()
		o.Topics, o.Shards, o.Counter = 1, 8, counter
		h := New(o)
		for range 1000 {
			h.Subscribe(0)
		}
		if got := h.Live(0); !slices.Equal(got, want) {
			t.Errorf("%v: %v", counter, got)
		}
	}
}

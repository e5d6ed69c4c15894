package peers

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A tally is a sink that only counts.
type tally struct {
	events atomic.Int64
	hold   chan struct{} // if set, nothing is taken before it is closed
}

func (t *tally) take(events int, _ func([]byte) []byte) {
	if t.hold != nil {
		<-t.hold
	}
	t.events.Add(int64(events))
}

// produce has a producer for each queue and adds so many events in all, divided nearly
// equally.
func produce(q queues, events int) {
	var all sync.WaitGroup
	producers := len(q)
	for p := range producers {
		all.Go(func() {
			q[p].add(uint64(events*p/producers), uint64(events*(p+1)/producers))
		})
	}
	all.Wait()
}

// An enqueued is one measurement of what adding costs.
type enqueued struct{ ns, allocs, lost float64 }

func enqueue(p peer, producers, events int) enqueued {
	t := &tally{}
	q := p.queues(t, producers)
	first := min(events/10, 2*capacity)
	produce(q, first) // so that buffers are made and stacks have grown
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	produce(q, events)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	q.close()
	n := float64(events)
	e := enqueued{ns: float64(took.Nanoseconds()) / n, allocs: float64(after.Mallocs-before.Mallocs) / n}
	if p.sink {
		e.lost = 1 - float64(t.events.Load())/(n+float64(first))
	}
	return e
}

// affordable is roughly how many events a peer adds in a slice of time.
func affordable(p peer, producers int, slice time.Duration) int {
	for events := 20 * producers; ; events *= 4 {
		ns := enqueue(p, producers, events).ns
		if took := time.Duration(ns * float64(events)); took > slice/8 {
			return max(producers, int(float64(slice.Nanoseconds())/ns))
		}
	}
}

// held is the live heap, in bytes, that a peer uses when 8 producers have offered as many
// events as its queue is to hold, and its sink has not answered yet.
func held(p peer) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection frees what pools keep
	runtime.ReadMemStats(&before)
	t := &tally{hold: make(chan struct{})}
	q := p.queues(t, 8)
	done := make(chan struct{})
	go func() {
		produce(q, capacity)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	close(t.hold)
	<-done
	q.close()
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// enqueueing prints what adding costs if the sink takes everything at once.
func enqueueing(w io.Writer, rounds int, slice time.Duration) {
	heap := make([]float64, len(peers))
	for i, p := range peers {
		heap[i] = held(p)
	}
	for _, producers := range []int{1, 2, 8, 100} {
		events := make([]int, len(peers))
		for i, p := range peers {
			events[i] = affordable(p, producers, slice)
		}
		ns, allocs, lost := newTable(), newTable(), newTable()
		round(rounds, func(i int) {
			e := enqueue(peers[i], producers, events[i])
			ns.add(i, e.ns)
			allocs.add(i, e.allocs)
			lost.add(i, e.lost)
		})
		fmt.Fprintf(w, "\nEnqueue, %d producers: ns an event, and as multiples of %s in the same round\n", producers, ours)
		fmt.Fprintf(w, "  %-24s %9s %9s %9s %9s %8s %9s %7s\n", "", "median", "least", "× median", "× least", "allocs",
			"heap KiB", "lost %")
		for i, p := range peers {
			gone := fmt.Sprintf("%7.1f", 100*lost.median(i))
			if !p.sink {
				gone = "    all"
			}
			fmt.Fprintf(w, "  %-24s %9.1f %9.1f %9.2f %9.2f %8.2f %9.0f %s\n", p.name, ns.median(i), ns.least(i), ns.ratio(i),
				ns.leastRatio(i), allocs.median(i), heap[i]/1024, gone)
		}
	}
}

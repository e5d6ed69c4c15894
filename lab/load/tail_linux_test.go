package load

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// One answer in so many comes later than six slots last. The server notes when it was asked
// for each of these, so it is known how many a slot's requests had: all of them are in the
// histogram, with their full latency, though none was answered within its slot.
func TestAnswersThatOutliveTheirSlot(t *testing.T) {
	for _, every := range []int64{500, 2000} {
		t.Run(fmt.Sprintf("1 in %d", every), func(t *testing.T) {
			t.Parallel()
			// A busy machine may hold the server up between a request and its note of it,
			// by which the two counts differ; what is cut off is cut off in every try.
			why := ""
			for range 5 {
				if why = outlive(t, every); why == "" {
					return
				}
			}
			t.Error(why)
		})
	}
}

// outlive says what is wrong with the latencies of one load; empty if nothing is.
func outlive(t *testing.T, every int64) string {
	const late, slots, length = 300 * time.Millisecond, 6, 0.05
	var mu sync.Mutex
	var asked []int64 // when, of those that came late
	s := serve(t, func(n int64, c net.Conn) bool {
		if n%every == every/2 {
			mu.Lock()
			asked = append(asked, monotonic(t))
			mu.Unlock()
			time.Sleep(late)
		}
		return say(c, hello)
	})
	p := &Plan{Threads: 1, Targets: []Target{s.target(100, 1)}}
	for range slots {
		p.Slots = append(p.Slots, Slot{Seconds: length, Counts: true})
	}
	r := carry(t, p)
	sum := r.Summary.Targets[0]
	clean(t, sum)
	if sum.Unanswered != 0 {
		t.Errorf("%d unanswered", sum.Unanswered)
	}
	// A request takes a moment from being sent to being noted, so those near an edge
	// may belong to either side.
	const moment = int64(5e6)
	least, most := 0, 0
	mu.Lock()
	defer mu.Unlock()
	for _, at := range asked {
		for _, slot := range r.Slots {
			from, to := slot.AtNS, slot.AtNS+int64(slot.Seconds*1e9)
			if at >= from-moment && at < to+moment {
				most++
				if at >= from+moment && at < to-moment {
					least++
				}
			}
		}
	}
	n, got := sum.Histogram.n, 0
	for got < int(n) && sum.Histogram.Quantile(1-(float64(got)+0.5)/float64(n)) >= late.Seconds() {
		got++
	}
	if got < least || got > most || most == 0 {
		return fmt.Sprintf("%d of %d latencies are late ones, the server had %d to %d", got, n, least, most)
	}
	l := sum.Latency
	if share := float64(got) / float64(n); l.Max < late.Seconds() || share > 0.00101 && l.P999 < late.Seconds() {
		return fmt.Sprintf("%.2g of the answers came %v late, and the latencies are %+v", share, late, *l)
	}
	// What is counted of a slot is what was answered in it.
	if sum.Requests > n+100*slots || sum.Requests < n-100*slots {
		return fmt.Sprintf("%d requests, %d latencies", sum.Requests, n)
	}
	return ""
}

func monotonic(t *testing.T) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Error(err)
	}
	return now.Nano()
}

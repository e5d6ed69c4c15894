package peers

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"
)

// cpu is the CPU time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A pace is one measurement at a fixed rate.
type pace struct {
	cpu  float64 // seconds of CPU time per event, of the whole process
	p99  float64 // of the time that an add took, in seconds
	lost float64
}

// keepPace lets 8 producers add at a fixed rate in total: each sleeps for 4 ms, and adds
// the events that have become due. One add in eight is timed.
func keepPace(r *receiver, q queues, perSecond int, window time.Duration) pace {
	producers := len(q)
	each := int(float64(perSecond) * window.Seconds() / float64(producers))
	gap := window / time.Duration(each)
	times := make([][]time.Duration, producers)
	var all sync.WaitGroup
	r.events.Store(0)
	used, began := cpu(), time.Now()
	for p := range producers {
		times[p] = make([]time.Duration, 0, each/8+1)
		all.Go(func() {
			for n := 0; n < each; {
				due := min(each, int(time.Since(began)/gap)+1)
				for ; n < due; n++ {
					e := uint64(p*each + n)
					if n%8 != p {
						q[p].add(e, e+1)
						continue
					}
					start := time.Now()
					q[p].add(e, e+1)
					times[p] = append(times[p], time.Since(start))
				}
				time.Sleep(4 * time.Millisecond)
			}
		})
	}
	all.Wait()
	q.close()
	took := cpu() - used
	sorted := slices.Concat(times...)
	slices.Sort(sorted)
	n := float64(each * producers)
	return pace{took.Seconds() / n, sorted[len(sorted)*99/100].Seconds(), 1 - float64(r.events.Load())/n}
}

// pacing prints what it costs to add at a rate that all peers can hold.
func pacing(w io.Writer, rounds int, window time.Duration) {
	const perSecond = 200_000
	r := listen()
	defer r.close()
	used, p99, lost := newTable(), newTable(), newTable()
	takes := func(p peer) bool { return p.sink && !p.each }
	round(rounds, func(i int) {
		if !takes(peers[i]) {
			return
		}
		m := keepPace(r, peers[i].queues(r, 8), perSecond, window)
		used.add(i, m.cpu)
		p99.add(i, m.p99)
		lost.add(i, m.lost)
	})
	fmt.Fprintf(w, "\n%d events a second over loopback HTTP, 8 producers: ns of processor time an event, 99th "+
		"percentile of adding in ns, and as multiples of %s\n", perSecond, ours)
	fmt.Fprintf(w, "  %-24s %9s %9s %9s %9s %9s %9s %9s %9s %7s\n", "", "CPU", "least", "× median", "× least", "p99",
		"least", "× median", "× least", "lost %")
	for i, p := range peers {
		if takes(p) {
			fmt.Fprintf(w, "  %-24s %9.0f %9.0f %9.2f %9.2f %9.0f %9.0f %9.2f %9.2f %7.1f\n", p.name, 1e9*used.median(i),
				1e9*used.least(i), used.ratio(i), used.leastRatio(i),
				1e9*p99.median(i), 1e9*p99.least(i), p99.ratio(i), p99.leastRatio(i), 100*lost.median(i))
		}
	}
}

package load

import (
	"fmt"
	"time"
)

// mostLate is how late a generator may come to the begin or the end of a slot. A
// scheduler that has other work to do takes some milliseconds; a process that was stopped,
// or a virtual machine that did not run, takes longer, and then most of a slot was
// measured without its load.
const mostLate = int64(50 * time.Millisecond)

// tooFar refuses a plan by another clock, for which the generator would wait for years.
func (l *load) tooFar() error {
	at := l.plan.Slots[0].AtNS
	if in := time.Duration(at - l.clock.now()); at != 0 && in > MaxSeconds*time.Second {
		return fmt.Errorf("slot 0 begins in %v; at_ns is by CLOCK_MONOTONIC of this host", in.Round(time.Second))
	}
	return nil
}

func (b *leader) timed() bool { return b.load.plan.Slots[b.slot].AtNS != 0 }

// ownTime is when the slot begins to count, and for how long, in ns.
func (b *leader) ownTime() (at, length int64) {
	s := b.load.plan.Slots[b.slot]
	return s.AtNS, NS(s.Seconds)
}

// await tells whether it is time to load the slot's target. If its time has passed, it
// reports the slot as failed.
func (b *leader) await() (due bool, err error) {
	at, length := b.ownTime()
	now := b.load.clock.now()
	if now >= at {
		b.lateNS = max(now-at, 1)
		return false, b.report(SlotReport{Failed: began(b.lateNS), LateS: seconds(b.lateNS)})
	}
	if from := at - NS(b.load.plan.Slots[b.slot].FillS); now < from {
		b.deadline = from
		return false, nil
	}
	b.load.begin.Store(at)
	b.load.finish.Store(at + length)
	return true, nil
}

func began(late int64) string { return fmt.Sprintf("began %.3g s late", seconds(late)) }

// beginOnTime begins to count at the slot's time. Until then its target is loaded.
func (b *leader) beginOnTime(all bool) {
	at, _ := b.ownTime()
	now := b.load.clock.now()
	switch late := now - at; {
	case late < 0:
	case late > mostLate:
		b.lateNS = late
		b.miss(now, began(late))
	case !all:
		b.miss(now, fmt.Sprintf("%d of %d connections had no answer by its time", max(b.load.pending.Load(), 1),
			b.load.plan.Targets[b.target()].Connections))
	default:
		b.begin()
	}
}

// ended notes how late the end of a slot with a time was seen.
func (b *leader) ended() {
	if !b.timed() {
		return
	}
	late := b.edges[1].at - b.load.finish.Load()
	b.lateNS = max(b.lateNS, late)
	switch {
	case b.lateNS <= mostLate:
	case late == b.lateNS:
		b.failure = fmt.Sprintf("ended %.3g s late", seconds(late))
	default: // while the first edge was read
		b.failure = began(b.lateNS)
	}
}

// stalled gives up the target of a slot that was missed if its requests then timed out.
// Otherwise it would take the time of other targets' slots again and again.
func (b *leader) stalled() {
	of, now := b.target(), int64(0)
	for _, w := range b.load.threads {
		now += w.lanes[of].timeouts
	}
	if b.failure != "" && b.lateNS <= mostLate && b.failed[of] == "" && now > b.timeouts[of] {
		b.failed[of] = fmt.Sprintf("slot %d failed: %s, and had none within %v", b.slot, b.failure, b.load.plan.Timeout())
	}
	b.timeouts[of] = now
}

// between replaces what the leader read at the edges, a moment late, by what the threads
// counted at the slot's time.
func (b *leader) between(r *SlotReport) {
	r.AtNS, r.Seconds = b.load.begin.Load(), b.load.plan.Slots[b.slot].Seconds
	r.Requests, r.Bytes = 0, 0
	for _, w := range b.load.threads {
		m := &w.lanes[b.target()].marks
		r.Requests += m[1].requests - m[0].requests
		r.Bytes += m[1].bytes - m[0].bytes
	}
}

// A mark is a lane's counts at an edge of a slot that has a time.
type mark struct{ requests, bytes int64 }

// mark notes the counts at edges that have passed, before the first answer that was read
// after them is counted.
func (w *thread) mark(now int64) {
	for now >= w.markAt {
		l := w.lane
		l.marks[w.marked] = mark{l.requests, l.bytes}
		if w.marked++; w.marked == 1 {
			w.markAt += NS(w.slot.Seconds)
		} else {
			w.markAt = farOff
		}
	}
}

package load

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The phases of a slot.
const (
	filling  = iota // until each connection has had its first answer
	counting        // requests count
	draining        // send nothing more
	cutting         // give up requests still in flight, with their connections
	over            // the turn is
)

const (
	farOff = int64(1) << 62

	// mostDrain is the longest wait for requests that are still in flight, where answers take no longer,
	// and settling the time in which a server goes to sleep after its last answer.
	mostDrain = 2 * time.Second
	settling  = 300 * time.Microsecond

	// A slot lasts for so many answers, one after the other on each connection, and at most for so long.
	slotAnswers = 5
	slotAtMost  = int64(5 * time.Second)

	// A server that leaves connections or requests alone for so long is given up, if it answers others;
	// so many tell it from one that is slow.
	sayWithin   = 2 * time.Second
	manyAnswers = 40
)

// counts says whether the latency counts of a request that was sent then, or that was due
// then in an open loop. It is that of the answer, whenever that comes: were answers within
// the window counted in place of requests, the longest latencies would be left out.
func (l *Loader) counts(due int64) bool { return due >= l.begin.Load() && due < l.finish.Load() }

// An edge is everything that is read at one edge of the counted window or of the turn, by one thread,
// one after the other. It reads all edges in the same order, so that the time that reading takes
// shifts them alike.
type edge struct {
	at              int64
	requests, bytes int64
	answered        int64 // whatever the status
	client          int64
	threads         []int64
}

func (l *Loader) edge() edge {
	e := edge{threads: make([]int64, len(l.threads))}
	l.threads[0].lanes[l.slot.Target].show() // this thread's own: no other writes it
	e.at = l.clock.now()
	for _, w := range l.threads {
		a := w.lanes[l.slot.Target]
		e.requests += a.shownRequests.Load()
		e.bytes += a.shownBytes.Load()
		e.answered += a.shownAnswers.Load()
	}
	for i, w := range l.threads {
		e.threads[i] = threadTime(w.tid)
	}
	e.client = processTime()
	return e
}

// start begins a slot, unless its target has failed.
func (l *Loader) start(s Slot) (begun bool) {
	l.slot, l.report, l.full = s, SlotReport{Slot: l.number, Target: s.Target}, false
	l.count.Store(l.options.Full == nil)
	l.number++
	if why := l.targets[s.Target].failed; why != "" {
		l.report.Failed = "passed over: " + why
		return false
	}
	l.turn[0] = l.edge()
	l.pending.Store(0)
	l.living.Store(0)
	l.fillBegan = l.clock.now()
	if s.Requests > 0 { // all of them count, from the first on
		l.openWindow(int64(s.Seconds * 1e9))
	}
	// A little more than the timeout, so that a request that times out is counted as
	// a timeout first.
	l.set(filling, l.fillBegan+l.timeout+3*tick)
	return true
}

// openWindow begins the counted window.
func (l *Loader) openWindow(length int64) {
	l.window[0] = l.edge()
	at := l.window[0].at
	l.report.FillS = seconds(at - l.fillBegan)
	l.begin.Store(at)
	l.finish.Store(at + length)
	l.lastAnswer.Store(at)
}

// lead goes on to the next phase if it is time to.
func (l *Loader) lead(now int64) {
	t, phase, all := l.targets[l.slot.Target], l.phase.Load(), int(l.ready.Load()) == len(l.threads)
	switch left := l.pending.Load(); {
	case phase == over:
	case l.stopped.Load():
		l.set(over, farOff)
	case phase == filling && all && l.living.Load() == 0:
		l.fail(now, "no connection is left")
	case phase == filling && all && !l.count.Load():
		if !l.full {
			l.full, l.deadline = true, farOff
			l.options.Full()
		}
	case phase == filling && all:
		if l.slot.Requests == 0 {
			l.openWindow(max(int64(l.slot.Seconds*1e9), min(slotAnswers*l.response(), slotAtMost)))
		}
		l.set(counting, l.finish.Load())
	case phase == filling && now >= l.deadline:
		l.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v", left, t.Connections, l.plan.Timeout()))
	case phase == filling && now-l.fillBegan > int64(sayWithin) && l.answered() > manyAnswers:
		l.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v, while the others had many: the server "+
			"seems to take %d at a time", left, t.Connections, sayWithin, int64(t.Connections)-left))
	case phase == counting && t.Pipelining > 1 && now-l.lastAnswer.Load() > int64(sayWithin) &&
		l.answered() < int64(t.Connections*t.Pipelining):
		l.fail(now, fmt.Sprintf("nothing came for %v: the server does not seem to take %d requests at a time on a connection",
			sayWithin, t.Pipelining))
	case phase == counting && (all || now >= l.deadline || l.living.Load() == 0):
		l.finish.Store(min(now, l.finish.Load()))
		l.window[1] = l.edge()
		l.drain(now)
	case phase >= draining && all:
		l.end()
	case phase == draining && now >= l.deadline:
		if t.failed == "" {
			t.failed = fmt.Sprintf("what was in flight at the end of slot %d was not answered within %v", l.report.Slot,
				time.Duration(l.drainTime))
		}
		l.set(cutting, farOff)
	}
}

// set begins a phase, for all threads.
func (l *Loader) set(phase int32, deadline int64) {
	l.deadline = deadline
	l.ready.Store(0)
	l.phase.Store(phase)
	for _, w := range l.threads[1:] {
		w.wake()
	}
}

// answered is how many answers this turn has had.
func (l *Loader) answered() (n int64) {
	l.threads[0].lanes[l.slot.Target].show()
	for _, w := range l.threads {
		n += w.lanes[l.slot.Target].shownAnswers.Load()
	}
	return n - l.turn[0].answered
}

// response is how long answers take; 0 in an open loop.
func (l *Loader) response() int64 { return l.threads[0].lanes[l.slot.Target].response }

func (l *Loader) drain(now int64) {
	l.drainTime = min(max(int64(mostDrain), slotAnswers*l.response()), l.timeout)
	l.set(draining, now+l.drainTime)
}

// fail ends a slot that does not count, and gives up its target.
func (l *Loader) fail(now int64, why string) {
	l.targets[l.slot.Target].failed = fmt.Sprintf("slot %d failed: %s", l.report.Slot, why)
	l.report.Failed = why
	l.report.FillS = seconds(max(now-l.fillBegan, 0)) // now is older than this step
	// No schedule then has a request that counts in this slot.
	l.begin.Store(now)
	l.finish.Store(now)
	l.drain(now)
	l.deadline = now // what has no answer by now is not waited for
}

// end reports a slot, and ends the turn.
func (l *Loader) end() {
	_ = unix.Nanosleep(&unix.Timespec{Nsec: settling.Nanoseconds()}, nil)
	l.turn[1] = l.edge()
	r, from, to := &l.report, &l.window[0], &l.window[1]
	if r.Failed == "" {
		r.AtNS, r.Seconds, r.Requests, r.Bytes = from.at, seconds(to.at-from.at), to.requests-from.requests, to.bytes-from.bytes
		r.ClientCPUS = seconds(to.client - from.client)
		silence := to.at - l.lastAnswer.Load()
		for i, w := range l.threads {
			r.BusiestThreadS = max(r.BusiestThreadS, seconds(to.threads[i]-from.threads[i]))
			silence = max(silence, w.silence)
		}
		r.SilenceS = seconds(min(max(silence, 0), to.at-from.at))
		if t := l.targets[l.slot.Target]; l.slot.Counts {
			t.requests += r.Requests
			t.bytes += r.Bytes
		}
	}
	r.Turn = TurnReport{Requests: l.turn[1].answered - l.turn[0].answered, Seconds: seconds(l.turn[1].at - l.turn[0].at)}
	l.set(over, farOff)
}

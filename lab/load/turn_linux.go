package load

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The phases of a slot. A stage is a slot's number times phases, plus its phase.
const (
	filling  = iota // until each connection has had its first answer
	counting        // requests count
	draining        // nothing more is sent
	cutting         // requests still in flight are given up, with their connections
	over            // the turn is
	phases   = 8
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

// An edge is everything that is read at one edge of the counted window, by one thread,
// one after the other. Both edges are read in the same order, so that the time that
// reading takes shifts both alike.
type edge struct {
	at              int64
	requests, bytes int64
	answered        int64 // whatever the status
	client          int64
	threads         []int64
}

// A leader decides which stage all threads are in, and reads the edges of the counted
// window. One of the threads does this besides its own work.
type leader struct {
	load     *Loader
	number   int // of the slot
	phase    int
	deadline int64 // of the phase, ns
	window   [2]edge
	turn     [2]edge  // before the slot's first request, and after its last answer
	failed   []string // by target: why it is passed over
	report   SlotReport
}

func newLeader(l *Loader) *leader {
	b := &leader{load: l, phase: over, deadline: farOff, failed: make([]string, len(l.targets))}
	for _, e := range []*edge{&b.window[0], &b.window[1], &b.turn[0], &b.turn[1]} {
		e.threads = make([]int64, len(l.threads))
	}
	return b
}

func (b *leader) target() *target { return b.load.targets[b.load.slot.Target] }

// start begins a slot, unless its target has failed.
func (b *leader) start(s Slot) (begun bool) {
	l := b.load
	b.report, l.slot = SlotReport{Slot: b.number, Target: s.Target}, s
	if why := b.failed[s.Target]; why != "" {
		b.report.Failed = "passed over: " + why
		b.number++
		return false
	}
	b.read(&b.turn[0])
	l.pending.Store(0)
	l.living.Store(0)
	l.fillBegan = l.clock.now()
	if s.Requests > 0 { // all of them count, from the first on
		b.openWindow(int64(s.Seconds * 1e9))
	}
	b.set(filling)
	// A little more than the timeout, so that a request that times out is counted as
	// a timeout first.
	b.deadline = l.fillBegan + l.timeout + 3*tick
	return true
}

// openWindow begins the counted window.
func (b *leader) openWindow(length int64) {
	l := b.load
	b.read(&b.window[0])
	at := b.window[0].at
	b.report.FillS = seconds(at - l.fillBegan)
	l.begin.Store(at)
	l.finish.Store(at + length)
	l.lastAnswer.Store(at)
}

// step goes on to the next stage if it is time to.
func (b *leader) step(now int64) {
	l, t := b.load, b.target()
	if l.stopped.Load() && b.phase != over {
		b.set(over)
		return
	}
	all := int(l.ready.Load()) == len(l.threads)
	switch left := l.pending.Load(); b.phase {
	case filling:
		switch {
		case all && l.living.Load() == 0:
			b.fail(now, "no connection is left")
		case all && l.slot.Requests == 0:
			b.openWindow(max(int64(l.slot.Seconds*1e9), min(slotAnswers*b.response(), slotAtMost)))
			b.set(counting)
		case all:
			b.set(counting)
		case now >= b.deadline:
			b.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v", left, t.Connections, l.plan.Timeout()))
		case now-l.fillBegan > int64(sayWithin) && b.answered() > manyAnswers:
			b.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v, while the others had many: the server "+
				"seems to take %d at a time", left, t.Connections, sayWithin, int64(t.Connections)-left))
		}
	case counting:
		switch {
		case t.Pipelining > 1 && now-l.lastAnswer.Load() > int64(sayWithin) && b.answered() < int64(t.Connections*t.Pipelining):
			b.fail(now, fmt.Sprintf("nothing came for %v: the server does not seem to take %d requests at a time on a connection",
				sayWithin, t.Pipelining))
		case all || now >= b.deadline || l.living.Load() == 0:
			l.finish.Store(min(now, l.finish.Load()))
			b.read(&b.window[1])
			b.drain(now)
		}
	case draining, cutting: // which has no deadline
		if all {
			b.end()
		} else if now >= b.deadline {
			if b.failed[l.slot.Target] == "" {
				b.failed[l.slot.Target] = fmt.Sprintf("what was in flight at the end of slot %d was not answered within %v",
					b.number, time.Duration(l.drainTime))
			}
			b.set(cutting)
		}
	}
}

// set begins a stage, for all threads.
func (b *leader) set(phase int) {
	l := b.load
	b.phase, b.deadline = phase, farOff
	if phase == counting {
		b.deadline = l.finish.Load()
	}
	l.ready.Store(0)
	l.stage.Store(uint64((b.number+1)*phases + phase))
	for _, w := range l.threads[1:] {
		w.wake()
	}
}

// answered is how many answers this turn has had.
func (b *leader) answered() (n int64) {
	i := b.load.slot.Target
	b.load.threads[0].lanes[i].show() // this thread's own
	for _, w := range b.load.threads {
		n += w.lanes[i].shownAnswers.Load()
	}
	return n - b.turn[0].answered
}

// response is how long answers take; 0 in an open loop.
func (b *leader) response() int64 { return b.load.threads[0].lanes[b.load.slot.Target].response }

func (b *leader) drain(now int64) {
	l := b.load
	l.drainTime = min(max(int64(mostDrain), slotAnswers*b.response()), l.timeout)
	b.set(draining)
	b.deadline = now + l.drainTime
}

// fail ends a slot that does not count, and gives up its target.
func (b *leader) fail(now int64, why string) {
	l := b.load
	b.failed[l.slot.Target] = fmt.Sprintf("slot %d failed: %s", b.number, why)
	b.report.Failed = why
	b.report.FillS = seconds(max(now-l.fillBegan, 0)) // now was read before this step
	// No schedule then has a request that counts in this slot.
	l.begin.Store(now)
	l.finish.Store(now)
	b.drain(now)
	b.deadline = now // what has no answer by now is not waited for
}

// end reports a slot, and ends the turn.
func (b *leader) end() {
	_ = unix.Nanosleep(&unix.Timespec{Nsec: settling.Nanoseconds()}, nil)
	b.read(&b.turn[1])
	r, from, to := &b.report, &b.window[0], &b.window[1]
	if r.Failed == "" {
		r.AtNS, r.Seconds, r.Requests, r.Bytes = from.at, seconds(to.at-from.at), to.requests-from.requests, to.bytes-from.bytes
		r.ClientCPUS = seconds(to.client - from.client)
		for i := range from.threads {
			r.BusiestThreadS = max(r.BusiestThreadS, seconds(to.threads[i]-from.threads[i]))
		}
		silence := to.at - b.load.lastAnswer.Load()
		for _, w := range b.load.threads {
			silence = max(silence, w.silence)
		}
		r.SilenceS = seconds(min(max(silence, 0), to.at-from.at))
		if b.load.slot.Counts {
			b.target().counted.requests += r.Requests
			b.target().counted.bytes += r.Bytes
		}
	}
	from, to = &b.turn[0], &b.turn[1]
	r.Turn = TurnReport{Requests: to.answered - from.answered, Seconds: seconds(to.at - from.at)}
	b.set(over)
	b.number++
}

// read reads an edge.
func (b *leader) read(e *edge) {
	l := b.load
	l.threads[0].lanes[l.slot.Target].show() // this thread's own: no other writes it
	e.at = l.clock.now()
	e.requests, e.bytes, e.answered = 0, 0, 0
	for _, w := range l.threads {
		a := w.lanes[l.slot.Target]
		e.requests += a.shownRequests.Load()
		e.bytes += a.shownBytes.Load()
		e.answered += a.shownAnswers.Load()
	}
	for i, w := range l.threads {
		e.threads[i], _ = threadTime(w.tid)
	}
	e.client, _ = processTime(l.pid)
}

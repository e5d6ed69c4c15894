package load

import (
	"errors"
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

// mostDrain is the longest wait for requests that are still in flight, where answers take no longer,
// and settling the time in which a server goes to sleep after its last answer.
const (
	mostDrain = 2 * time.Second
	settling  = 300 * time.Microsecond
)

var errStopped = errors.New("ended by a signal; nothing was measured")

// A leader decides which stage all threads are in, and reads the edges of the counted
// window. One of the threads does this besides its own work.
type leader struct {
	load     *load
	slot     int // its number
	phase    int
	deadline int64 // of the phase, ns
	fillS    float64
	edges    [2]edge
	turn     [2]edge // before the slot's first request, and after its last answer
	gauges   *gauges
	failed   []string // by target: why it is passed over
	failure  string   // of this slot
	slots    []Slot   // that were begun or passed over
	reports  []SlotReport
}

// step goes on to the next stage if it is time to.
func (b *leader) step(now int64) error {
	l := b.load
	if l.stopped.Load() && b.phase != over {
		l.failure = errStopped
		b.set(over)
		return nil
	}
	all := int(l.ready.Load()) == len(l.threads)
	switch b.phase {
	case filling:
		switch {
		case all && l.living.Load() == 0:
			b.fail(now, "no connection is left")
		case all && l.slot.Requests > 0:
			b.set(counting)
		case all:
			b.begin()
		case now >= b.deadline:
			b.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v", l.pending.Load(), b.connections(),
				l.plan.Timeout()))
		case now-l.fillBegan > int64(sayWithin) && b.answered() > manyAnswers:
			left := l.pending.Load()
			b.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v, while the others had many: the server "+
				"seems to take %d at a time", left, b.connections(), sayWithin, int64(b.connections())-left))
		}
	case counting:
		depth := b.load.targets[b.target()].Pipelining
		switch {
		case depth > 1 && now-l.lastAnswer.Load() > int64(sayWithin) && b.answered() < int64(b.connections()*depth):
			b.fail(now, fmt.Sprintf("nothing came for %v: the server does not seem to take %d requests at a time on a connection",
				sayWithin, depth))
		case all || now >= b.deadline || l.living.Load() == 0:
			l.finish.Store(min(now, l.finish.Load()))
			if err := b.gauges.read(&b.edges[1], b.target()); err != nil {
				return err
			}
			b.drain(now)
		}
	case draining, cutting: // which has no deadline
		if all {
			b.end()
			return nil
		}
		if now >= b.deadline {
			if b.failed[b.target()] == "" {
				b.failed[b.target()] = fmt.Sprintf("what was in flight at the end of slot %d was not answered within %v", b.slot,
					time.Duration(l.drainTime))
			}
			b.set(cutting)
		}
	}
	return nil
}

func (b *leader) target() int { return b.load.slot.Target }

// set begins a stage, for all threads.
func (b *leader) set(phase int) {
	b.phase, b.deadline = phase, farOff
	if phase == counting {
		b.deadline = b.load.finish.Load()
	}
	b.load.ready.Store(0)
	b.load.stage.Store(uint64((b.slot+1)*phases + phase))
	for _, w := range b.load.threads[1:] {
		w.wake()
	}
}

const farOff = int64(1) << 62

// start begins a slot, unless its target has failed.
func (b *leader) start(s Slot) (begun bool) {
	l := b.load
	if l.slot = s; b.failed[s.Target] != "" {
		return false
	}
	b.failure = ""
	b.gauges.readOwn(&b.turn[0], s.Target)
	l.pending.Store(0)
	l.living.Store(0)
	l.fillBegan = l.clock.now()
	if s.Requests > 0 { // all of them count, from the first on
		b.window(int64(s.Seconds * 1e9))
	}
	b.set(filling)
	// A little more than the timeout, so that a request that times out is counted as
	// a timeout first.
	b.deadline = l.fillBegan + l.timeout + 3*tick
	return true
}

// sayWithin is after how long a server that leaves connections or requests alone is given up, if it
// answers others.
const sayWithin = 2 * time.Second

func (b *leader) connections() int { return b.load.targets[b.target()].Connections }

// manyAnswers tell a server that is slow from one that leaves some connections alone.
const manyAnswers = 40

// answered is how many answers this turn has had.
func (b *leader) answered() (n int64) {
	b.load.threads[0].lanes[b.target()].show() // this thread's own
	for _, w := range b.load.threads {
		n += w.lanes[b.target()].shownAnswers.Load()
	}
	return n - b.turn[0].answered
}

// A slot lasts for so many answers, one after the other on each connection, and at most for so long.
const (
	slotAnswers = 5
	slotAtMost  = int64(5 * time.Second)
)

// begin reads the first edge.
func (b *leader) begin() {
	b.window(max(int64(b.load.slot.Seconds*1e9), min(slotAnswers*b.response(), slotAtMost)))
	b.set(counting)
}

// window begins the counted time.
func (b *leader) window(length int64) {
	l := b.load
	// The same error would occur at the second edge, which reports it.
	_ = b.gauges.read(&b.edges[0], b.target())
	at := b.edges[0].at
	b.fillS = seconds(at - l.fillBegan)
	l.begin.Store(at)
	l.finish.Store(at + length)
	l.lastAnswer.Store(at)
}

// response is how long answers take; 0 in an open loop.
func (b *leader) response() int64 { return b.load.threads[0].lanes[b.target()].response }

func (b *leader) drain(now int64) {
	l := b.load
	l.drainTime = min(max(int64(mostDrain), slotAnswers*b.response()), l.timeout)
	b.set(draining)
	b.deadline = now + l.drainTime
}

// fail ends a slot that did not get as far as counting, and gives up its target.
func (b *leader) fail(now int64, why string) {
	b.failed[b.target()] = fmt.Sprintf("slot %d failed: %s", b.slot, why)
	b.failure = why
	b.fillS = seconds(max(now-b.load.fillBegan, 0)) // now was read before this step
	// No schedule then has a request that counts in this slot.
	b.load.begin.Store(now)
	b.load.finish.Store(now)
	b.drain(now)
	b.deadline = now // what has no answer by now is not waited for
}

// end reports a slot.
func (b *leader) end() {
	_ = unix.Nanosleep(&unix.Timespec{Nsec: settling.Nanoseconds()}, nil)
	b.gauges.readOwn(&b.turn[1], b.target())
	r := SlotReport{Failed: b.failure}
	if b.failure == "" {
		r = b.gauges.between(&b.edges[0], &b.edges[1], b.target())
		b.gauges.ofTurn(&r, &b.turn, b.target())
		r.SilenceS = seconds(b.silence())
	}
	r.FillS = b.fillS
	from, to := &b.turn[0], &b.turn[1]
	r.Turn = TurnReport{Requests: to.answered - from.answered, Seconds: seconds(to.at - from.at)}
	b.report(r)
	b.set(over)
}

// silence is the longest time without an answer between the edges.
func (b *leader) silence() int64 {
	from, to := b.edges[0].at, b.edges[1].at
	longest := to - b.load.lastAnswer.Load()
	for _, w := range b.load.threads {
		longest = max(longest, w.silence)
	}
	return min(max(longest, 0), to-from)
}

// report keeps the report of this slot, and goes on to the next number.
func (b *leader) report(r SlotReport) {
	r.Slot, r.Target = b.slot, b.target()
	b.reports = append(b.reports, r)
	b.slots = append(b.slots, b.load.slot)
}

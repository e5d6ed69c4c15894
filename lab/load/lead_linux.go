package load

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The phases of a slot. A stage is a slot's number times phases, plus its phase.
const (
	idle     = iota
	filling  // until each connection has had its first answer
	counting // requests count
	draining // nothing more is sent
	cutting  // requests still in flight are given up, with their connections
	over     // all slots are done
	phases   = 8
)

// mostDrain is the longest wait for requests that are still in flight, and settling the time in
// which a server goes to sleep after its last answer.
const (
	mostDrain = 2 * time.Second
	settling  = 300 * time.Microsecond
)

func drainTime(p *Plan) time.Duration { return min(mostDrain, p.Timeout()) }

var errStopped = errors.New("ended by a signal; nothing was measured")

// A leader decides which stage all threads are in, and reads the edges of the counted
// window. One of the threads does this besides its own work.
type leader struct {
	load     *load
	slot     int
	phase    int
	deadline int64 // of the phase, ns
	fillS    float64
	edges    [2]edge
	turn     [2]edge // before the slot's first request, and after its last answer
	gauges   *gauges
	failed   []string // by target: why it is passed over
	failure  string   // of this slot
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
	case idle:
		return b.next(now)
	case filling:
		switch {
		case all && l.living.Load() == 0:
			b.fail(now, "no connection is left")
		case all:
			b.begin()
		case now >= b.deadline:
			b.fail(now, fmt.Sprintf("%d of %d connections had no answer within %v", l.pending.Load(),
				l.plan.Targets[b.target()].Connections, l.plan.Timeout()))
		}
	case counting:
		if now >= b.deadline {
			if err := b.gauges.read(&b.edges[1], b.target()); err != nil {
				return err
			}
			b.drain(now)
		}
	case draining, cutting: // which has no deadline
		if all {
			return b.end()
		}
		if now >= b.deadline {
			if b.failed[b.target()] == "" {
				b.failed[b.target()] = fmt.Sprintf("what was in flight at the end of slot %d was not answered within %v", b.slot,
					drainTime(l.plan))
			}
			b.set(cutting)
		}
	}
	return nil
}

func (b *leader) target() int { return b.load.plan.Slots[b.slot].Target }

// set begins a stage, for all threads.
func (b *leader) set(phase int) {
	b.phase = phase
	if phase != counting {
		b.deadline = farOff
	}
	b.load.ready.Store(0)
	b.load.stage.Store(uint64(b.slot*phases + phase))
	for _, w := range b.load.threads[1:] {
		w.wake()
	}
}

const farOff = int64(1) << 62

// next begins the next slot whose target has not failed.
func (b *leader) next(now int64) error {
	l := b.load
	for ; b.slot < len(l.plan.Slots); b.slot++ {
		if why := b.failed[b.target()]; why != "" {
			if err := b.report(SlotReport{Failed: "passed over: " + why}); err != nil {
				return err
			}
			continue
		}
		b.failure = ""
		b.gauges.readOwn(&b.turn[0], b.target())
		l.pending.Store(0)
		l.living.Store(0)
		l.fillBegan = l.clock.now()
		b.set(filling)
		// A little more than the timeout, so that a request that times out is counted as
		// a timeout first.
		b.deadline = now + l.timeout + 3*tick
		return nil
	}
	b.slot = len(l.plan.Slots) - 1
	b.set(over)
	return nil
}

// begin reads the first edge.
func (b *leader) begin() {
	l := b.load
	length := int64(l.plan.Slots[b.slot].Seconds * 1e9)
	// The same error would occur at the second edge, which reports it.
	_ = b.gauges.read(&b.edges[0], b.target())
	at := b.edges[0].at
	b.fillS = seconds(at - l.fillBegan)
	l.begin.Store(at)
	l.finish.Store(at + length)
	l.lastAnswer.Store(at)
	b.deadline = at + length
	b.set(counting)
}

func (b *leader) drain(now int64) {
	b.set(draining)
	b.deadline = now + int64(drainTime(b.load.plan))
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
}

// end reports a slot and goes on to the next.
func (b *leader) end() error {
	r := SlotReport{Failed: b.failure, FillS: b.fillS}
	if b.failure == "" {
		r = b.gauges.between(&b.edges[0], &b.edges[1], b.target())
		if len(b.gauges.of[b.target()]) > 0 {
			_ = unix.Nanosleep(&unix.Timespec{Nsec: settling.Nanoseconds()}, nil)
			b.gauges.readOwn(&b.turn[1], b.target())
			b.gauges.ofTurn(&r, &b.turn, b.target())
		}
		r.FillS = b.fillS
		r.SilenceS = seconds(b.silence())
	}
	if err := b.report(r); err != nil {
		return err
	}
	b.slot++
	b.phase = idle
	return b.next(b.load.clock.now())
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

func (b *leader) report(r SlotReport) error {
	r.Slot, r.Target = b.slot, b.target()
	b.reports = append(b.reports, r)
	if each := b.load.options.Each; each != nil {
		return each(r)
	}
	return nil
}

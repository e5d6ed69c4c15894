// Package gate judges a trial by its figures: whether it counts, and what bounded it.
//
// A gate is what makes a trial invalid. Each has its name, its sentence and its kind,
// the thresholds, and a rule if a trial's figures can close it. A bound is what limited
// the trial: the wire, the client's CPU, the server's CPU, several of them, or nothing
// that is known. A trial is judged by the same rules while it is measured and when its
// file is checked. What the doctor warns of beforehand has its thresholds here too.
//
// Its stance: a gate on a figure that was not seen does not stand open. Its rule
// says which figure is missing. For a bound, a guess is worse than "unknown". A
// trial has the set of all walls that it met, since two can be met at once and either
// may have been what held throughput. A resource that was not looked at is neither a
// wall nor room: it is listed as unseen, and whoever draws a conclusion has to ask for
// both.
//
// The limit: most are thresholds on whole windows, all slots of a trial taken
// together. What disturbs a trial for a tenth of its time can stay below each of
// them; blocks and counting them are there for that. A trial that alternates between
// two walls looks like neither.
package gate

import "time"

const (
	// StealShare of a side's cores is the most the hypervisor may take: three
	// hundredths, the smallest margin that any claim uses.
	StealShare = 0.03
	// ForeignLoad, in cores, is the most that others may run on a side's
	// cores. Their times come in hundredths of a second, so a tenth of a core
	// is several steps even in a window of a second.
	ForeignLoad = 0.10
	// ClockStep is the most the wall clock may move against the monotonic one:
	// windows are cut by it. Slewing stays below half of this in ten seconds.
	ClockStep = 10 * time.Millisecond
	// StoodStill is the longest the lab's own sampling may be held up: a machine
	// that stands still for so long was not there for the trial either.
	StoodStill = time.Second
	// WindowOff and WindowSlack bound how far the measured window may differ
	// from the asked one: by this share of it, or by this much if that is more.
	WindowOff   = 0.10
	WindowSlack = 300 * time.Millisecond
	// SendLag is the most by which the load generator's 99th percentile may be
	// late at a fixed rate: latencies count from when a request was due, so
	// that its own lateness is in them.
	SendLag = time.Millisecond
	// LittleOff is how far rate times mean latency may differ from what a
	// closed loop keeps in flight, beyond what latencies' resolution and the
	// requests in flight at the window's ends explain.
	LittleOff = 0.10
	// LeastShare is the share of an asked rate that has to be answered. A hundredth
	// is left for what is in flight at both ends of a short trial; a generator or a
	// server that keeps up falls short by less, and one that does not makes of the
	// open loop a closed one.
	LeastShare = 0.99
	// ActiveShare of the busiest worker's CPU time makes a worker an active one.
	// Connections are dealt out by hash, so shares differ several times over; one
	// that serves nothing still wakes now and then.
	ActiveShare = 0.1
	// IdleChance is how likely it has to be that so many workers were left out by
	// the hash alone: at one in a million, a study of thousands of trials never
	// loses one to chance.
	IdleChance = 1e-6
	// ProfileSpread is the most by which the profiles of one window may begin
	// apart: they are read as pictures of the same moments.
	ProfileSpread = 50 * time.Millisecond
	// IdleServer, in cores, is the most that the servers may use together that are
	// up and not loaded: what they take in another's slot is none of its work. A
	// server that waits wakes for its timers, which costs a tenth of that.
	IdleServer = 0.02
	// Silence is the share of a slot that may pass without an answer, and
	// SilenceShare that of all of a trial, whichever is less. No time below
	// SilenceSlack counts as silence: a small machine takes that much now and then.
	Silence      = 0.5
	SilenceShare = 0.10
	SilenceSlack = 50 * time.Millisecond
	// SlotOff and SlotSlack bound how far a slot may differ from the asked length:
	// by this share of it, or by this much if that is more.
	SlotOff   = 0.10
	SlotSlack = 20 * time.Millisecond
	// SlotBusy is the most that a server may use of its cores in a slot: the CPU
	// clocks are read one right after the other, and more than all says that they
	// were not.
	SlotBusy = 1.10
	// SamplerShare is the share of one core that watching a trial aims to stay
	// below: where a sample costs more, there are fewer of them.
	SamplerShare = 0.01
)

// Package gate judges a trial by its figures: whether it counts, and what bounded
// it.
//
// A gate is a reason that makes a trial invalid. The package has each gate's
// name, sentence and kind, the thresholds, and a rule for each gate that a trial's
// figures can close. A bound is what limited the trial: the wire, the client's
// CPU, the server's CPU, several of them, or nothing known. The same rules judge a
// trial while it is measured and when its file is checked. The thresholds of the
// doctor's warnings are here too.
//
// A gate is not passed by a missing figure: its rule says which figure is
// missing. For a bound, a guess is worse than "unknown". A trial has the set of
// all walls that it met, since two can be met at once and either may have limited
// throughput. A resource that was not recorded is neither a wall nor known to
// have room: it is listed as unseen, and a conclusion must check both lists.
//
// Most thresholds apply to whole windows, all slots of a trial taken together. A
// disturbance during a tenth of a trial can stay below all of them; counting
// blocks makes up for that. A trial that alternates between two walls shows
// neither.
package gate

import "time"

const (
	// StealShare is the largest share of a side's cores that the hypervisor may
	// take: three hundredths, the smallest margin of any claim.
	StealShare = 0.03
	// ForeignLoad is the most, in cores, that other processes may use of a side's
	// cores. Their times are in hundredths of a second, so a tenth of a core is
	// several steps even in a window of one second.
	ForeignLoad = 0.10
	// ClockStep is the most that the wall clock may move relative to the monotonic
	// clock, since windows are cut by the wall clock. Slewing stays below half of
	// this in ten seconds.
	ClockStep = 10 * time.Millisecond
	// StoodStill is the longest that the lab's own sampling may be held up: a
	// machine that stands still for so long did not run the trial either.
	StoodStill = time.Second
	// WindowOff and WindowSlack limit how far the measured window may differ from
	// the one asked for: by this share, or by this time if that is more.
	WindowOff   = 0.10
	WindowSlack = 300 * time.Millisecond
	// SendLag limits the load generator's own lateness at a fixed rate, as a 99th
	// percentile: latencies count from the time a request was due, so lateness is
	// included in them.
	SendLag = time.Millisecond
	// LittleOff is how far rate times mean latency may differ from the requests
	// that a closed loop keeps in flight, as a share, beyond what the latencies'
	// resolution and the requests in flight at the window's ends explain.
	LittleOff = 0.10
	// LeastShare is the share of the rate asked for that must be answered. A
	// hundredth is allowed for requests in flight at both ends of a short trial. A
	// generator or server that keeps up loses less than that; one that does not
	// turns the open loop into a closed one.
	LeastShare = 0.99
	// ActiveShare is the share of the busiest worker's CPU time that makes a
	// worker active. A hash distributes connections over workers, so shares may
	// differ by a factor of several; and an idle worker still wakes up now and then.
	ActiveShare = 0.1
	// EachWorker is how many connections a worker has in the mean where none can be without one by
	// chance: of four workers, one is in less than one of a million trials.
	EachWorker = 16
	// ProfileSpread is the most by which the starts of one window's profiles may
	// differ: they are read as describing the same time.
	ProfileSpread = 50 * time.Millisecond
	// IdleServer is the most CPU, in cores, that all waiting servers may use
	// together, since the measured server then lacks that CPU. A waiting server
	// wakes up for its timers, which costs a tenth of this limit.
	IdleServer = 0.02
	// Silence is the share of a slot, and SilenceShare the share of a whole trial,
	// that may pass without an answer; the smaller applies. A time below
	// SilenceSlack is never silence: small machines pause for that long now and
	// then.
	Silence      = 0.5
	SilenceShare = 0.10
	SilenceSlack = 50 * time.Millisecond
	// SlotOff and SlotSlack limit how far a slot's length may differ from the one
	// asked for: by this share, or by this time if that is more.
	SlotOff   = 0.10
	SlotSlack = 20 * time.Millisecond
	// SlotBusy is the most that a server may use of its cores in a slot. A slot has its
	// part, by requests, of the CPU time of a whole turn, so what a collector does as the
	// turn begins and ends may lift a slot above 1 by a tenth; a share far above 1 shows
	// that clocks were misread.
	SlotBusy = 1.25
	// SamplerShare is the share of one core that sampling may use: costly samples
	// are taken less often.
	SamplerShare = 0.01
	// AutocannonStep is the step of autocannon's latencies, in seconds: up to that much is cut off.
	AutocannonStep = 0.001
)

package gate

import (
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// The gates' names, as written in a trial's reasons.
const (
	// From the load generator's output.
	Non2xx     = "non-2xx"
	Timeouts   = "timeouts"
	Errors     = "errors"
	Resets     = "resets"
	Mismatches = "mismatches"
	NoRequests = "no-requests"
	RateShort  = "rate-short"
	SendLate   = "send-late"
	Misreport  = "misreport"

	// From comparing answers with the route's.
	WrongAnswer = "wrong-answer"

	// From the server and the client.
	LostWorker   = "lost-worker"
	IdleWorker   = "idle-worker"
	ServerExited = "server-exited"
	ClientFailed = "client-failed"
	ClientHung   = "client-hung"
	Connections  = "connections"
	Little       = "littles-law"
	Stopped      = "stopped"
	Silent       = "silent"
	IdleServers  = "idle-server"
	Ledger       = "ledger"
	Slot         = "slot"

	// From profiles.
	ProfileFailed = "profile-failed"
	ProfileApart  = "profile-apart"

	// From the clients of a fleet and their clocks.
	ClocksUnsure = "clocks-unsure"
	ClocksOff    = "clocks-off"
	ClientsApart = "clients-apart"
	ClientLost   = "client-lost"
	EndsDiffer   = "ends-differ"

	// From the machine and the sampling.
	SlowCore    = "slow-core"
	OtherLoad   = "other-load"
	Steal       = "steal"
	Throttled   = "throttled"
	Swap        = "swap"
	Clock       = "clock"
	HeldUp      = "held-up"
	Window      = "window"
	NoTelemetry = "no-telemetry"
)

// A Kind says what may have caused a closed gate.
type Kind int

const (
	// Fault is caused by the server or the load generator: it died, or answered
	// wrongly.
	Fault Kind = iota
	// Passing may be caused by a passing disturbance of the machine.
	Passing
	// Following is caused by such a disturbance if a Passing gate is closed too,
	// else by a fault.
	Following
)

// A Gate is one reason for which a trial is invalid.
type Gate struct {
	Name   string
	Closes string // its cause, as printed on pages
	Kind   Kind
}

// All lists every gate, in the order in which pages show them.
var All = []Gate{
	{Non2xx, "an answer was no success", Fault},
	{Errors, "a connection failed", Passing},
	{Timeouts, "a request was not answered in time", Passing},
	{Resets, "a connection was reset", Passing},
	{Mismatches, "a body was not the one expected", Fault},
	{Misreport, fmt.Sprintf("what a load generator reported cannot be: its latencies are of more or fewer requests "+
		"than its slots or a set rate make, more was answered than asked for, more was read than the server's interface "+
		"sent, or its host saw it use more than %v times the CPU time that it told of", CPUOff), Following},
	{WrongAnswer, "an answer that the lab compared was not one that the route has, or all of them came to more or " +
		"fewer bytes than the route's can", Fault},
	{NoRequests, "no request was completed", Fault},
	{Ledger, "an event of a stream ended in none of the places that its server counts, or in two, or was read twice",
		Fault},
	{RateShort, fmt.Sprintf("less than %s of the asked rate was answered, where meeting it was not the question itself",
		percent(LeastShare)), Following},
	{SendLate, fmt.Sprintf("at a fixed rate that should be met, the load generator itself was more than %s late with "+
		"one request in a hundred", millis(SendLag)), Following},
	{LostWorker, "a worker of the server ended, or was not there", Fault},
	{IdleWorker, fmt.Sprintf("workers took no part, more of them than the hash that deals connections out leaves idle "+
		"in one of %.0f trials, where that was not the question itself", 1/IdleChance), Fault},
	{ServerExited, "the server ended before the load did", Fault},
	{ClientFailed, "the load generator ended with an error", Fault},
	{ClientHung, "the load generator did not end", Fault},
	{Connections, "fewer connections were established than asked for", Passing},
	{Little, fmt.Sprintf("rate times mean latency was more than %s off what a closed loop keeps in flight, beyond what "+
		"resolution and the window's ends explain", percent(LittleOff)), Following},
	{Stopped, "a signal held the server or the client", Passing},
	{Silent, fmt.Sprintf("no answer came for longer than %s, %s of a slot or %s of all that counts of the trial, and "+
		"than twice the mean latency or ten requests of an asked rate take", millis(SilenceSlack), percent(Silence),
		percent(SilenceShare)), Passing},
	{IdleServers, fmt.Sprintf("servers that were up and not loaded used more than %s of a core in the trial's slots",
		percent(IdleServer)), Passing},
	{Slot, fmt.Sprintf("a slot was missing or had no answer, was off the asked length by more than %s, or %s if that "+
		"is more, or showed its server on more than %s of its cores: a clock was misread", percent(SlotOff),
		millis(SlotSlack), percent(SlotBusy)), Passing},
	{ProfileFailed, "a profile of one of the server's processes was not to be had, or did not parse", Fault},
	{ProfileApart, fmt.Sprintf("the profiles of one window, but for that of goroutines, began more than %s apart, or "+
		"outside of the load", millis(ProfileSpread)), Passing},
	{ClocksUnsure, fmt.Sprintf("how far a client's clock was from that of the server's host was known only to more than %s", millis(ClockUnsure)), Passing},
	{ClocksOff, fmt.Sprintf("a client's clock was more than %s from that of the server's host, or moved against it by "+
		"more than %s during the turn: nothing keeps them together", millis(ClockOff), millis(ClockMoved)), Fault},
	{ClientsApart, fmt.Sprintf("a client missed a slot, or came more than %s late to its begin or end; or clients "+
		"counted it at times that differ by more than %s of it, or %s if that is more; or the server's CPU time was read "+
		"later than its ends by %s of it, or %s if that is more", millis(ClientLate), percent(ApartShare), millis(ApartSlack),
		percent(EdgeShare), millis(EdgeSlack)), Passing},
	{ClientLost, "a client could not be reached any more", Fault},
	{EndsDiffer, fmt.Sprintf("the bytes that passed the server's interface and those that passed the clients' differed "+
		"by more than %s", percent(EndsOff)), Passing},
	{SlowCore, fmt.Sprintf("the calibration loop took more than %.4g times its best of the block, before the trial or "+
		"after it", cores.SlowBy), Passing},
	{OtherLoad, fmt.Sprintf("others ran on one side's cores for more than %s of a core", percent(ForeignLoad)), Passing},
	{Steal, fmt.Sprintf("the hypervisor took more than %s of one side's cores", percent(StealShare)), Passing},
	{Throttled, "a quota or heat held the cores back", Passing},
	{Swap, "a page was swapped", Passing},
	{Clock, fmt.Sprintf("the wall clock moved by more than %s against the monotonic one", millis(ClockStep)), Passing},
	{HeldUp, fmt.Sprintf("nothing was sampled for %.4g s and a fifth of the window: the machine stood still",
		StoodStill.Seconds()), Passing},
	{Window, fmt.Sprintf("the measured window was off the asked one by more than %s, or %s if that is more",
		percent(WindowOff), millis(WindowSlack)), Passing},
	{NoTelemetry, "something that another gate looks at was not seen", Passing},
}

// Of finds a gate by its name.
func Of(name string) (Gate, bool) {
	return strict.First(All, func(g Gate) bool { return g.Name == name })
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", share*100) }

func millis(d time.Duration) string { return fmt.Sprintf("%.4g ms", d.Seconds()*1e3) }

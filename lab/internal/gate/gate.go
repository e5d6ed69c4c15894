// Package gate judges a trial by its figures: whether it counts, and what bounded it. The same rules judge it while it
// is measured and when its file is checked.
//
// A fault is a reason for which a trial does not count; that a figure is missing which a rule needs is one of its own. A
// bound is all walls that limited the trial, since two can be met at once and either may have limited throughput. A
// resource that was not recorded is neither a wall nor known to have room, so a conclusion must check both lists.
//
// Most thresholds apply to all slots of a trial taken together. A trial that alternates between two walls shows neither.
package gate

import (
	"fmt"
	"slices"
	"time"
)

const (
	// SendLag limits the load generator's own lateness at a fixed rate, as a 99th percentile: latencies count from the
	// time a request was due, so lateness is included in them.
	SendLag = time.Millisecond
	// LittleOff is how far rate times mean latency may differ from the requests that a closed loop keeps in flight, as
	// a share. The latencies' resolution and the requests in flight at the window's ends come on top.
	LittleOff = 0.10
	// LeastShare is the share of the rate asked for that must be answered. A hundredth covers requests in flight at
	// both ends of a short trial. A generator or server that keeps up loses less than that; one that does not turns the
	// open loop into a closed one.
	LeastShare = 0.99
	// ActiveShare is the share of the busiest worker's CPU time that makes a
	// worker active. A hash distributes connections over workers, so shares may
	// differ by a factor of several; and an idle worker still wakes up now and then.
	ActiveShare = 0.1
	// EachWorker is how many connections a worker has in the mean where none can be without one by
	// chance: of four workers, one is in less than one of a million trials.
	EachWorker = 16
	// IdleServer is the most CPU, in cores, that all waiting servers may use together, since the measured server then
	// lacks that CPU. A waiting server wakes up for its timers, which costs a tenth of this limit.
	IdleServer = 0.02
	// AutocannonStep is the step of autocannon's latencies, in seconds: up to that much is cut off.
	AutocannonStep = 0.001
)

// The faults' names, as written in a trial's reasons.
const (
	WrongAnswer   = "wrong-answer"
	Errors        = "errors"
	NoRequests    = "no-requests"
	RateShort     = "rate-short"
	SendLate      = "send-late"
	ServerExited  = "server-exited"
	LostWorker    = "lost-worker"
	ClientFailed  = "client-failed"
	Connections   = "connections"
	Little        = "littles-law"
	IdleServers   = "idle-server"
	Ledger        = "ledger"
	HeldBack      = "held-back"
	ProfileFailed = "profile-failed"
	NoTelemetry   = "no-telemetry"
)

// A Gate is one reason for which a trial does not count.
type Gate struct {
	Name   string `json:"name"`
	Closes string `json:"closes"` // its cause, as printed on pages
	WayOut string `json:"way_out"`
}

// All lists the faults, and then the disturbances that refused trials of earlier labs: recorded runs name
// them. A disturbance refuses nothing today. Conditions take turns of a fraction of a second in an order
// drawn by lot, so it widens an interval and cannot move it.
var All = []Gate{
	{WrongAnswer, "an answer had another status, head or body than the expected one",
		"ask the server by hand; the detail has the first answer that was wrong"},
	{Errors, "a connection failed or was reset, or a request was not answered in time",
		"see what the server prints, and whether it has enough open files"},
	{NoRequests, "no request was answered", "try more time for a slot, or fewer connections"},
	{RateShort, fmt.Sprintf("less than %.0f %% of the asked rate was answered, where meeting it was not the question itself",
		LeastShare*100), "ask for a lower rate"},
	{SendLate, fmt.Sprintf("at a fixed rate that should be met, the load generator itself was more than %v late with one request "+
		"in a hundred", SendLag), "ask for a lower rate, or give the client a core of its own"},
	{ServerExited, "the server ended before the load did", "see what it printed last"},
	{LostWorker, fmt.Sprintf("a worker of the server ended or was not there, or had no connection, where there were %d or more for "+
		"each and that was not the question itself", EachWorker), "see what the server prints"},
	{ClientFailed, "the load generator ended with an error, or did not end", "the detail has its last line"},
	{Connections, "fewer connections were established than asked for",
		"raise the limit of open files; make sure that nothing else answers at the server's address"},
	{Little, fmt.Sprintf("rate times mean latency was more than %.0f %% off what a closed loop keeps in flight, beyond what "+
		"resolution and the window's ends explain", LittleOff*100), "this is a mistake of the lab or of its load generator: report it"},
	{IdleServers, fmt.Sprintf("servers that were up and not loaded used more than %.0f %% of a core in the trial's slots",
		IdleServer*100), "switch off what they do without a request"},
	{Ledger, "an event of a stream ended in none of the places that its server counts, or in two, or was read twice",
		"this is a mistake of the server's ledger or of the reader: report it"},
	{HeldBack, "a quota held the cores back, or a signal stopped the server or the client",
		"lift the quota of the session or the container"},
	{ProfileFailed, "a profile of one of the server's processes was not to be had, or did not parse", "the detail says why"},
	{NoTelemetry, "something that another gate looks at was not seen", "the doctor says what this machine cannot show"},
	{"slow-core", "in earlier runs only: the calibration loop took more than 1.25 times its best of the block, before the trial or " +
		"after it", ""},
	{"other-load", "in earlier runs only: others ran on one side's cores for more than 10 % of a core", ""},
	{"steal", "in earlier runs only: the hypervisor took more than 3 % of one side's cores", ""},
	{"window", "in earlier runs only: the measured window was off the asked one by more than 10 %, or 300 ms if that is more", ""},
}

// Known tells whether a reason has a name of All.
func Known(name string) bool {
	return slices.ContainsFunc(All, func(g Gate) bool { return g.Name == name })
}

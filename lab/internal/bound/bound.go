// Package bound decides what limited a trial: the wire, the client's CPU, the
// server's CPU, or nothing that is known.
//
// Its stance: a guess is worse than "unknown". Each decision needs the figure
// it rests on; telemetry that is missing can only ever lead to Unknown. Where
// several things were saturated at once, the one that most weakens a claim
// about the server is named: the client before the server.
//
// The limit: these are thresholds on averages over the measured window. A
// trial that alternates between two walls looks like neither.
package bound

import (
	"fmt"
	"strings"
)

// A Bound is what limited a trial.
type Bound string

// The bounds, in the words of the results files.
const (
	ServerCPU Bound = "server-cpu"
	ClientCPU Bound = "client-cpu"
	Wire      Bound = "wire"
	Unknown   Bound = "unknown"
)

// The thresholds: shares of the line rate and of a core's time from which a
// resource counts as saturated. They were set before any run of this lab. At
// nine tenths, at most a ninth of headroom is left, which is also why claims
// of flatness at the wire use a margin of a tenth.
const (
	WireSaturated = 0.90
	CPUSaturated  = 0.90
)

// Evidence is what a decision rests on. A nil field was not measured.
type Evidence struct {
	LineRateShare    *float64 // busier direction over the line rate
	ClientThreadBusy *float64 // busiest client thread, share of a core
	ClientCoresBusy  *float64 // client's cores, mean share not idle
	ServerWorkerBusy *float64 // server's workers, mean share of the one core each can use
	ServerCoresBusy  *float64 // server's cores, mean share not idle
	// WireUnread says that there is a wire of known line rate and that nothing
	// read it: its share above, if any, is only the least it can have been.
	WireUnread bool
}

// Of takes the evidence from a trial's metrics. Where the wire was not read
// but its line rate is known (0 where not), what the client read stands in for
// it: the wire carried at least that.
func Of(metrics map[string]float64, lineRateBps float64) Evidence {
	get := func(name string) *float64 {
		if v, ok := metrics[name]; ok {
			return &v
		}
		return nil
	}
	share := get("line_rate_share")
	unread := share == nil && lineRateBps > 0
	if transfer := get("transfer_bytes_per_s"); share == nil && transfer != nil && lineRateBps > 0 {
		least := *transfer * 8 / lineRateBps
		share = &least
	}
	return Evidence{
		LineRateShare:    share,
		ClientThreadBusy: get("client_thread_busy_max"),
		ClientCoresBusy:  get("client_cores_busy"),
		ServerWorkerBusy: get("server_workers_busy"),
		ServerCoresBusy:  get("server_cores_busy"),
		WireUnread:       unread,
	}
}

// Decide names the bound and the figures it was decided on.
//
// The wire comes first: a full wire is a wall whatever the CPUs did. The
// server is only named where the client's CPU, and the wire if there is one,
// are known to have had room.
func Decide(e Evidence) (Bound, string) {
	switch {
	case e.Full(Wire):
		return Wire, e.figures()
	case e.Full(ClientCPU):
		return ClientCPU, e.figures()
	case e.ClientThreadBusy == nil || e.ClientCoresBusy == nil:
		return Unknown, strings.TrimSuffix("the client's CPU was not recorded; "+e.figures(), "; ")
	case e.WireUnread:
		return Unknown, strings.TrimSuffix("the wire was not read; "+e.figures(), "; ")
	case e.Full(ServerCPU):
		return ServerCPU, e.figures()
	}
	return Unknown, e.figures()
}

// Full tells whether a resource was saturated, whatever else was: the bound
// names only one of several.
func (e Evidence) Full(b Bound) bool {
	over := func(v *float64, limit float64) bool { return v != nil && *v >= limit }
	switch b {
	case Wire:
		return over(e.LineRateShare, WireSaturated)
	case ClientCPU:
		return over(e.ClientThreadBusy, CPUSaturated) || over(e.ClientCoresBusy, CPUSaturated)
	case ServerCPU:
		return over(e.ServerWorkerBusy, CPUSaturated) || over(e.ServerCoresBusy, CPUSaturated)
	}
	return false
}

func (e Evidence) figures() string {
	var parts []string
	add := func(name string, v *float64) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", name, *v*100))
		}
	}
	add("wire", e.LineRateShare)
	add("busiest client thread", e.ClientThreadBusy)
	add("client cores", e.ClientCoresBusy)
	add("server workers", e.ServerWorkerBusy)
	add("server cores", e.ServerCoresBusy)
	return strings.Join(parts, ", ")
}

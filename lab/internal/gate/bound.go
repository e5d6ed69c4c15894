package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Bound is what limited a trial, as in results files: one wall, several
// joined by "+" in the order client-cpu, server-cpu, wire, or unknown.
type Bound string

// The single walls, and unknown.
const (
	BoundServerCPU Bound = "server-cpu"
	BoundClientCPU Bound = "client-cpu"
	BoundWire      Bound = "wire"
	BoundUnknown   Bound = "unknown"
)

// single has the walls in the order in which a bound joins them.
var single = []Bound{BoundClientCPU, BoundServerCPU, BoundWire}

// WallNames lists what a claim may call the wall.
func WallNames() []string { return strict.Called(single, func(b Bound) string { return string(b) }) }

var meanings = map[Bound]string{
	BoundClientCPU: fmt.Sprintf("The load generator's cores, or its busiest thread, were busy for %v %% of the time or more.",
		CPUSaturated*100),
	BoundServerCPU: fmt.Sprintf("The server's cores, or its workers, were busy for %v %% of the time or more.",
		CPUSaturated*100),
	BoundWire: fmt.Sprintf("The wire carried %v %% of its line rate or more, in its busier direction.", WireSaturated*100),
}

// Meaning says in a sentence when a trial has met the wall.
func (b Bound) Meaning() string { return meanings[b] }

// The shares of the line rate and of a core's time from which a resource counts
// as saturated. They were set before any run of this lab. At 0.9 at most a
// ninth of headroom is left, which is why claims of flatness at the wire use a
// margin of a tenth.
const (
	WireSaturated = 0.90
	CPUSaturated  = 0.90
)

// shares are the metrics that show how much of a resource was in use, in the order in which
// DecideBound tells them.
var shares = []struct {
	metric, name string
	of           Bound
}{
	{"line_rate_share", "wire", BoundWire}, // of the busier direction
	{"client_thread_busy_max", "busiest client thread", BoundClientCPU},
	{"client_cores_busy", "client cores", BoundClientCPU},
	{"server_workers_busy", "server workers", BoundServerCPU}, // each of one core
	{"server_cores_busy", "server cores", BoundServerCPU},
}

// Evidence is what a bound is decided from.
type Evidence struct {
	known map[string]float64 // of shares; one that is absent was not measured
	// WireUnread says that there is a wire of known line rate that was not read.
	// Its share, if any, is then only a lower limit.
	WireUnread bool
}

// EvidenceOf takes the evidence from a trial's metrics. lineRateBps is in bits
// per second, 0 if unknown. If the wire was not read but its line rate is known,
// the bytes that the client read give a lower limit.
func EvidenceOf(metrics map[string]float64, lineRateBps float64) Evidence {
	e := Evidence{known: map[string]float64{}}
	for _, s := range shares {
		if v, ok := metrics[s.metric]; ok {
			e.known[s.metric] = v
		}
	}
	if _, read := e.known["line_rate_share"]; !read && lineRateBps > 0 {
		e.WireUnread = true
		if transfer, ok := metrics["transfer_bytes_per_s"]; ok {
			e.known["line_rate_share"] = transfer * 8 / lineRateBps
		}
	}
	return e
}

// Walls is what the evidence says about each resource. A resource in neither
// list was recorded and had room.
type Walls struct {
	Met    []Bound // in the order in which a bound joins them
	Unseen []Bound // may have been met, but were not recorded
}

// Walls sorts the resources.
func (e Evidence) Walls() (w Walls) {
	for _, b := range single {
		limit := CPUSaturated
		if b == BoundWire {
			limit = WireSaturated
		}
		switch share, known := e.Use(b); {
		case share >= limit:
			w.Met = append(w.Met, b)
		case !known && (b != BoundWire || e.WireUnread): // a wire that is none cannot be full
			w.Unseen = append(w.Unseen, b)
		}
	}
	return w
}

// Use is how much of a resource was in use, as a share of what it can carry; of
// its figures the largest. It is not known where a figure is missing that could
// have been larger: a client's, or that of a wire that was not read.
func (e Evidence) Use(b Bound) (share float64, known bool) {
	missing := b == BoundWire && e.WireUnread
	for _, s := range shares {
		if v, ok := e.known[s.metric]; s.of == b && ok {
			share, known = max(share, v), true
		} else if s.of == b && b == BoundClientCPU {
			missing = true
		}
	}
	return share, known && !missing
}

// Meets tells whether a wall was met, alone or with others.
func (w Walls) Meets(b Bound) bool { return slices.Contains(w.Met, b) }

// Room tells whether a resource was recorded and not saturated.
func (w Walls) Room(b Bound) bool { return !w.Meets(b) && !slices.Contains(w.Unseen, b) }

// Bound joins the walls met. The server is named only if client and wire were
// recorded: otherwise it may have been waiting for either.
func (w Walls) Bound() Bound {
	var names []string
	for _, b := range w.Met {
		if b != BoundServerCPU || w.seen(BoundClientCPU) && w.seen(BoundWire) {
			names = append(names, string(b))
		}
	}
	if len(names) == 0 {
		return BoundUnknown
	}
	return Bound(strings.Join(names, "+"))
}

func (w Walls) seen(b Bound) bool { return !slices.Contains(w.Unseen, b) }

// DecideBound gives the bound and the figures that show it.
func DecideBound(e Evidence) (Bound, string) {
	w, why := e.Walls(), e.figures()
	switch {
	case w.Bound() != BoundUnknown:
		return w.Bound(), why
	case !w.seen(BoundClientCPU):
		return BoundUnknown, strings.TrimSuffix("the client's CPU was not recorded; "+why, "; ")
	case !w.seen(BoundWire):
		return BoundUnknown, strings.TrimSuffix("the wire was not read; "+why, "; ")
	}
	return BoundUnknown, why
}

func (e Evidence) figures() string {
	var parts []string
	for _, s := range shares {
		if v, ok := e.known[s.metric]; ok {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", s.name, v*100))
		}
	}
	return strings.Join(parts, ", ")
}

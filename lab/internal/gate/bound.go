package gate

import (
	"fmt"
	"maps"
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

// The shares of the line rate and of a core's time from which a resource counts as
// saturated. They are older than any run of this lab. At 0.9 at most a ninth of headroom
// is left, which is why claims of flatness at the wire use a margin of a tenth.
const (
	WireSaturated = 0.90
	CPUSaturated  = 0.90
)

// A resource may be a wall. Figures show how much was in use, as shares of what it can carry; the largest counts. Of
// a client's figures each is needed, since the one that is missing could be the larger.
type resource struct {
	bound   Bound
	limit   float64
	figures [][2]string // metrics, and what each shows
	needs   int         // so many of them
}

// resources are in the order in which a bound joins them.
var resources = []resource{
	{BoundClientCPU, CPUSaturated, [][2]string{{"client_thread_busy_max", "busiest client thread"}, {"client_cores_busy", "client cores"}}, 2},
	{BoundServerCPU, CPUSaturated, [][2]string{{"server_workers_busy", "server workers"}, {"server_cores_busy", "server cores"}}, 1},
	{BoundWire, WireSaturated, [][2]string{{lineShare, "wire"}}, 0}, // a wire that is none cannot be full
}

const lineShare = "line_rate_share" // of the wire's busier direction

// WallNames lists what a claim may call the wall.
func WallNames() []string {
	return strict.Map(resources, func(r resource) string { return string(r.bound) })
}

// Walls is what a trial's figures say about each resource. A resource in neither list was recorded and had room.
type Walls struct {
	Met    []Bound // in the order in which a bound joins them
	Unseen []Bound // not recorded, so perhaps met

	shares []string
}

// WallsOf sorts the resources by a trial's metrics. lineRateBps is in bits per second, 0 if unknown. If the
// wire was not read but its line rate is known, the bytes that the client read give a lower limit.
func WallsOf(metrics map[string]float64, lineRateBps float64) Walls {
	var w Walls
	_, read := metrics[lineShare]
	unread := !read && lineRateBps > 0
	if transfer, ok := metrics["transfer_bytes_per_s"]; ok && unread {
		metrics = maps.Clone(metrics)
		metrics[lineShare] = transfer * 8 / lineRateBps
	}
	for _, r := range resources {
		share, seen := 0.0, 0
		for _, f := range r.figures {
			if v, ok := metrics[f[0]]; ok {
				share, seen = max(share, v), seen+1
				w.shares = append(w.shares, fmt.Sprintf("%s %.0f %%", f[1], v*100))
			}
		}
		switch {
		case share >= r.limit:
			w.Met = append(w.Met, r.bound)
		case seen < r.needs, r.bound == BoundWire && unread:
			w.Unseen = append(w.Unseen, r.bound)
		}
	}
	return w
}

// Meets tells whether a wall was met, alone or with others.
func (w Walls) Meets(b Bound) bool { return slices.Contains(w.Met, b) }

// Room tells whether a resource was recorded and not saturated.
func (w Walls) Room(b Bound) bool { return !w.Meets(b) && !slices.Contains(w.Unseen, b) }

// Bound joins the walls met. It names the server only if client and wire were recorded: otherwise
// the server may have waited for either.
func (w Walls) Bound() Bound {
	var names []string
	for _, b := range w.Met {
		if b != BoundServerCPU || !slices.Contains(w.Unseen, BoundClientCPU) && !slices.Contains(w.Unseen, BoundWire) {
			names = append(names, string(b))
		}
	}
	if len(names) == 0 {
		return BoundUnknown
	}
	return Bound(strings.Join(names, "+"))
}

// Why has the figures that show the bound, and what is missing for one.
func (w Walls) Why() string {
	var says []string
	switch {
	case w.Bound() != BoundUnknown:
	case slices.Contains(w.Unseen, BoundClientCPU):
		says = append(says, "the client's CPU was not recorded")
	case slices.Contains(w.Unseen, BoundWire):
		says = append(says, "the wire was not read")
	}
	if len(w.shares) > 0 {
		says = append(says, strings.Join(w.shares, ", "))
	}
	return strings.Join(says, "; ")
}

package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/stats"
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
	return cmp.Or(Bound(strings.Join(names, "+")), BoundUnknown)
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

// Disturbed says in a line what else a machine did while trials were measured, by their figures; empty if there was
// next to nothing. It decides nothing. A figure that a trial lacks counts as none. Where both sides share their cores,
// each side's figure is of all of them.
func Disturbed(trials []map[string]float64, shared bool) string {
	var others, steal, slow float64
	var loops []float64 // the calibration's, in seconds
	for _, m := range trials {
		if others += m["server_foreign_load"]; !shared {
			others += m["client_foreign_load"]
		}
		steal += (m["server_steal"] + m["client_steal"]) / 2
		for _, name := range []string{"calibration_before_s", "calibration_after_s"} {
			if v := m[name]; v > 0 {
				loops = append(loops, v)
			}
		}
	}
	if loops != nil {
		slow = slices.Max(loops) / slices.Min(loops)
	}
	n := max(1, float64(len(trials)))
	var says []string
	for _, one := range []struct {
		v, least float64 // the least that counts
		format   string
	}{
		{others / n, 0.05, "%.2g of a core was used by others"},
		{100 * steal / n, 1, "%.0f %% of the cores' time was stolen"},
		{slow, 1.25, "the server's core was up to %.1f times slower at times"},
	} {
		if one.v >= one.least {
			says = append(says, fmt.Sprintf(one.format, one.v))
		}
	}
	if len(says) == 0 {
		return ""
	}
	return strings.Join(says, ", ") + "; intervals are wider for it"
}

// The metrics that say what ran in a trial's slots on the server's cores, beside the server that was loaded.
const (
	Strangers = "strangers_cores"
	Idle      = "idle_servers_busy" // the block's other servers, as work that they left behind
)

// The bet on whether what others ran follows one of two conditions, as work that a server leaves to
// others would. It has a level of its own. A difference of the figures that is more than
// strangeFactor times what they ran more, as a share of a core, is not explained by it.
const (
	strangersLevel = 0.01
	leastStrange   = 0.02
	strangeFactor  = 2
)

// Follows tells whether others ran more in the slots of one of two conditions, and whether that can explain the ratio
// of a figure. It goes by the difference in each block, in cores. by is the median; k of n blocks have its sign.
func Follows(more []float64, ratio float64) (by float64, k, n int, is bool) {
	more = slices.DeleteFunc(slices.Clone(more), func(v float64) bool { return v == 0 || math.IsNaN(v) })
	if n = len(more); n == 0 {
		return 0, 0, 0, false
	}
	by = stats.Median(more)
	for _, v := range more {
		if v > 0 == (by > 0) {
			k++
		}
	}
	return by, k, n, Explains(by, ratio) && confseq.Shown(k, n, strangersLevel/2)
}

// Explains tells whether what others ran more, in cores, can explain the ratio of a figure.
func Explains(by, ratio float64) bool {
	return math.Abs(by) >= leastStrange && math.Abs(ratio-1) <= strangeFactor*math.Abs(by)
}

package results

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Fleet says on what the clients of a run ran that were on hosts of their own.
type Fleet struct {
	Machines []int     `json:"machines" jsonschema:"minItems=2,description=The machine of each host\\, the server's first: hosts with the same number share one machine."`
	Clients  []OfFleet `json:"clients" jsonschema:"minItems=1,description=The clients in their order."`
}

// An OfFleet is one client of a fleet, as it was all through the run.
type OfFleet struct {
	CPUs        string            `json:"cpus,omitempty" jsonschema:"pattern=^[0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*$,maxLength=1000,description=Cores that its load was pinned to; absent if it was not pinned."`
	LineRateBps float64           `json:"line_rate_bps,omitempty" jsonschema:"exclusiveMinimum=0,description=Bits a second that its interface to the server carries each way; absent where it is not known."`
	Clock       string            `json:"clock,omitempty" jsonschema:"enum=chrony,enum=round-trips,description=How its clock was compared with that of the server's host."`
	Tools       map[string]string `json:"tools"`
	Kernel      map[string]string `json:"kernel"`
	MemoryBytes int64             `json:"memory_bytes,omitempty" jsonschema:"minimum=0"`
}

// A Client is one client's part of a trial. One that did not load in the trial's
// condition has no request and no bound.
type Client struct {
	Requests int64      `json:"requests" jsonschema:"minimum=0"`
	Bound    gate.Bound `json:"-"` // the walls of its own that it met; empty if it did not load
	BoundWhy string     `json:"-"`

	CoresBusy     *float64 `json:"cores_busy,omitempty" jsonschema:"minimum=0,description=CPU time of its load generator over the slots and its cores\\, with that of others of the fleet on the same cores."`
	ThreadBusyMax *float64 `json:"thread_busy_max,omitempty" jsonschema:"minimum=0,description=CPU time of its load generator's busiest thread over the window."`
	LineRateShare *float64 `json:"line_rate_share,omitempty" jsonschema:"minimum=0,description=Bits at its own interface in the busier direction over the interface's line rate."`

	OffsetS      float64 `json:"offset_s" jsonschema:"description=How far its clock was ahead of that of the server's host before the turn."`
	UncertaintyS float64 `json:"uncertainty_s" jsonschema:"minimum=0,description=The true offset lay no further away than this; the larger of before and after the turn."`
	MovedS       float64 `json:"moved_s" jsonschema:"description=How far the offset moved from before the turn to after it."`
	LateS        float64 `json:"late_s" jsonschema:"minimum=0,description=The latest that one of its slots began after its time."`

	LatencyP50S *float64 `json:"latency_p50_s,omitempty" jsonschema:"minimum=0"`
	LatencyP99S *float64 `json:"latency_p99_s,omitempty" jsonschema:"minimum=0"`
}

// Loads tells whether the client loaded the server in the trial.
func (c Client) Loads() bool { return c.Bound != "" }

// Clock is what gates judge of the client's clock.
func (c Client) Clock() gate.ClientClock {
	return gate.ClientClock{OffsetS: c.OffsetS, UncertaintyS: c.UncertaintyS, MovedS: c.MovedS}
}

// Fullest adds to a trial's metrics those that are of the fullest of its clients:
// where several load one server, the fullest is the first to hold all back.
func Fullest(m map[string]float64, clients []Client) {
	for _, c := range clients {
		for name, v := range map[string]*float64{"client_cores_busy": c.CoresBusy, "client_thread_busy_max": c.ThreadBusyMax,
			"line_rate_share": c.LineRateShare} {
			if before, there := m[name]; v != nil && (!there || *v > before) {
				m[name] = *v
			}
		}
	}
}

// Evidence is what a trial's bound is decided from. On a fleet, a link that was not
// read or whose line rate is not known may have been full.
func (f *File) Evidence(t Trial) gate.Evidence {
	e := gate.EvidenceOf(t.Metrics, f.Topology.LineRateBps)
	for i, c := range t.Clients {
		if f.Provenance.Fleet != nil && c.Loads() && f.linkUnread(i, c) {
			e.WireUnread = true
		}
	}
	return e
}

// ClientEvidence is what the bound of client i, from 0, is decided from. It has
// nothing of the server.
func (f *File) ClientEvidence(i int, c Client) gate.Evidence {
	own := map[string]float64{}
	Fullest(own, []Client{c})
	e := gate.EvidenceOf(own, 0)
	e.WireUnread = f.linkUnread(i, c)
	return e
}

// linkUnread tells whether the link between the server and client i may have been
// full without showing it. Between two hosts on one machine there is no link
// that could be full, but where it is shaped, and its rate then known.
func (f *File) linkUnread(i int, c Client) bool {
	fl := f.Provenance.Fleet
	if i >= len(fl.Clients) || i+1 >= len(fl.Machines) {
		return true
	}
	rate, apart := fl.Clients[i].LineRateBps, fl.Machines[i+1] != fl.Machines[0]
	return c.LineRateShare == nil && (rate > 0 || apart) || rate == 0 && apart || f.Topology.LineRateBps == 0 && apart
}

// Bound decides a trial's bound, and says by which figures; on a fleet also which
// client was the fullest.
func (f *File) Bound(t Trial) (gate.Bound, string) {
	bound, why := gate.DecideBound(f.Evidence(t))
	most, of := 0.0, -1
	for i, c := range t.Clients {
		for _, v := range []*float64{c.CoresBusy, c.ThreadBusyMax, c.LineRateShare} {
			if c.Loads() && v != nil && *v > most {
				most, of = *v, i
			}
		}
	}
	if of >= 0 {
		why += fmt.Sprintf("; the fullest client is %d of %d: %s", of+1, len(t.Clients), t.Clients[of].BoundWhy)
	}
	return bound, why
}

// OnFleet tells whether the run's clients were on hosts of their own, reached by
// the lab.
func (f *File) OnFleet() bool { return f.Provenance.Fleet != nil }

// Machines is the number of machines that the hosts of a fleet were on; 0 of a run
// without one.
func (f *File) Machines() int {
	if fl := f.Provenance.Fleet; fl != nil {
		return slices.Max(fl.Machines) + 1
	}
	return 0
}

// SharedCores tells whether server and clients ran on the same cores, where each
// takes CPU time from the other.
func (f *File) SharedCores() bool {
	p, fl := f.Provenance, f.Provenance.Fleet
	if fl == nil {
		return f.Topology.Kind != "fleet" && overlap(p.ServerCPUs, p.ClientCPUs)
	}
	for i, c := range fl.Clients {
		if fl.Machines[i+1] == fl.Machines[0] && overlap(p.ServerCPUs, c.CPUs) {
			return true
		}
	}
	return false
}

// overlap tells whether two lists of cores of one machine have one in common. An
// empty list stands for cores that nothing was pinned to.
func overlap(a, b string) bool {
	server, err := cores.Parse(a)
	client, err2 := cores.Parse(b)
	if err != nil || err2 != nil || len(server) == 0 || len(client) == 0 {
		return true
	}
	return slices.ContainsFunc(server, func(cpu int) bool { return slices.Contains(client, cpu) })
}

// Loading is how many of a fleet's clients load in a condition with these
// settings: all but where a setting says fewer.
func Loading(levels setting.Levels, clients int) int {
	return levels.Whole(setting.Clients, clients)
}

// LevelsOf are all settings of a trial's condition.
func (f *File) LevelsOf(t Trial) setting.Levels {
	if c := f.condition(t.Condition); c != nil {
		return f.Settings.With(c.Levels)
	}
	return f.Settings
}

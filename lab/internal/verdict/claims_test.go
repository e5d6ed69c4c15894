package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// A world is a possible state of a machine: the effect that a claim asks about, and
// the walls.
type world struct {
	effect float64    // the claim's metric at the last level, relative to the first
	wall   gate.Bound // met by each trial
	off    int        // error of a count
	share  float64    // share of what the claim looks for in a profile
}

// enough is a number of blocks that decides every claim if all say the same.
const enough = 20

// worlds are those in which a claim is tried, each with every wall. They differ
// in what the claim looks at: on either side of its bar.
func worlds(x *experiment.Experiment, c experiment.Claim) []world {
	var out []world
	with := func(w world) {
		for _, wall := range []gate.Bound{gate.BoundServerCPU, gate.BoundClientCPU, gate.BoundWire} {
			w.wall = wall
			out = append(out, w)
		}
	}
	with(world{effect: 1})
	switch c.Kind {
	case experiment.Bound:
	case experiment.Value:
		with(world{effect: 1, off: 1})
	case experiment.Share:
		for _, share := range []float64{0.9, 0.3, 0.004} {
			with(world{effect: 1, share: share})
		}
	default:
		rec := &record{fixed: x.Fixed()}
		rec.about(c, x.Conditions())
		all := rec.comparisons(c)
		b := all[len(all)-1].band
		for _, edge := range []float64{b.low, b.high} {
			if edge <= 0 || math.IsInf(edge, 1) {
				continue
			}
			for _, effect := range []float64{edge * 1.05, edge / 1.05} {
				with(world{effect: effect})
			}
		}
	}
	return out
}

// in makes a run of an experiment in a world, for one of its claims: what
// server, client and wire do in the slots, and all other figures. The figures
// are consistent, so that the run passes or fails the checks of a results file
// and the gates as a measured run would.
func in(x *experiment.Experiment, c experiment.Claim, w world, blocks int) *results.File {
	along := c.Compared()
	if along == nil {
		along = levelsOf(x, c.Over)
	}
	effect := func(all setting.Levels) float64 { return math.Pow(w.effect, place(along, all[c.Over])) }
	r := madeup.Run(madeup.Plan{
		Experiment: x, Host: "h", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Seed: 1, Blocks: blocks, NoControl: true,
		Trial: func(all setting.Levels, _ int) madeup.Came { return cameIn(x, c, w.wall, all, effect(all)) },
	})
	all := map[string]setting.Levels{}
	for i := range r.Conditions {
		cond := &r.Conditions[i]
		all[cond.ID] = r.Settings.With(cond.Levels)
		for _, kind := range taken {
			if x.Profile != nil {
				cond.Profiles = append(cond.Profiles,
					results.RawProfile{Kind: kind, SHA256: strings.Repeat("0", 64), Trials: blocks,
						File: fmt.Sprintf("%s/%s/%s-%s.pb.gz", x.Name, r.Run, cond.ID, kind)})
			}
		}
	}
	for i := range r.Trials {
		t := &r.Trials[i]
		levels := all[t.Condition]
		figuresIn(x, c, w, levels, place(along, levels[c.Over]), effect(levels), t.Metrics)
		if x.Profile != nil {
			// A package that is claimed absent must be present elsewhere, and is present
			// here or not as the world says.
			of := w
			if c.Absent() && levels.With(c.Where()).Key() != levels.Key() {
				of.share = 0.5
			}
			t.Profiles = profilesIn(c, of.share, t.Metrics)
		}
		slots.Round(t.Metrics)
		w := r.Walls(*t)
		t.Bound, t.BoundWhy = w.Bound(), w.Why()
	}
	return r
}

// place is where a level is between the claim's first, 0, and its last, 1.
func place(along []setting.Level, l setting.Level) float64 {
	if i := slices.Index(along, l); i > 0 {
		return float64(i) / float64(len(along)-1)
	}
	return 0
}

func levelsOf(x *experiment.Experiment, name string) (out []setting.Level) {
	for _, ls := range x.Conditions() {
		if !slices.Contains(out, ls[name]) {
			out = append(out, ls[name])
		}
	}
	return out
}

func number(all setting.Levels, name string, otherwise int64) float64 {
	if n, ok := all[name].Int(); ok {
		return float64(n)
	}
	return float64(otherwise)
}

// inFlight is the number of requests to be kept in flight.
func inFlight(all setting.Levels) float64 {
	return number(all, setting.Connections, 100) * number(all, setting.Pipelining, 1)
}

// cameIn gives the use of server, client and wire in a trial, and the cost of a
// request on either side that results in the throughput.
func cameIn(x *experiment.Experiment, c experiment.Claim, wall gate.Bound, all setting.Levels,
	effect float64) madeup.Came {
	serverBusy, clientBusy, wire := 0.5, 0.5, 0.5
	switch wall {
	case gate.BoundServerCPU:
		serverBusy = 0.99
	case gate.BoundClientCPU:
		clientBusy = 0.99
	case gate.BoundWire:
		wire = 0.95
	}
	used := serverBusy * madeup.ServerCores(all)
	rate, rps := number(all, setting.Rate, 0), 20000.0
	if overload, _ := all[setting.Overload].Bool(); rate > 0 && !overload {
		rps = rate
	}
	switch c.Metric {
	case "throughput_rps":
		rps *= effect
	case "latency_mean_s":
		rps /= effect / (inFlight(all) / 20)
	case "answered_share":
		rps = rate * min(effect, 1)
	case "server_cpu_per_request_s":
		rps = used / (2e-5 * effect)
	case "client_cpu_per_request_s":
		rps = clientBusy / (1e-5 * effect)
	}
	// The world has its own noise.
	return madeup.Came{CostS: used / rps, ServerBusy: serverBusy, ClientBusy: clientBusy, Noise: 1e-9,
		ResponseBytes: max(1, wire*x.Topology.LineRateBps/8/rps-madeup.Overhead)}
}

// figuresIn gives the other figures of a trial.
func figuresIn(x *experiment.Experiment, c experiment.Claim, w world, all setting.Levels, at, effect float64,
	m sample.Figures) {
	rps, rate := m["throughput_rps"], number(all, setting.Rate, 0)
	switch off := float64(w.off); c.Metric {
	case "workers":
		m["server_workers_busy"] *= m["workers"] / (m["workers"] + off)
		m["workers"], m["processes"] = m["workers"]+off, m["processes"]+off
	case "processes":
		m["processes"] += off
	case "workers_active": // all workers exist, and some are idle
		m["workers_active"] -= off
	}
	if x.Topology.Kind == "fleet" {
		m["line_rate_share"] = 0.5
		if met := m["server_cores_busy"] > 0.9 || m["client_cores_busy"] > 0.9; w.wall == gate.BoundWire && !met {
			m["line_rate_share"] = 0.97
		}
	}
	mean := inFlight(all) / rps
	switch {
	case rate > 0:
		mean = 2e-4
	case c.Metric == "in_flight":
		mean *= effect / math.Pow(16, at)
	}
	p50, p99 := mean*0.9, mean*10
	switch c.Metric {
	case "latency_p50_s":
		p50 = 1e-4 * effect
		if all[setting.Generator] != setting.String(setting.HTTPLoad) {
			p50 = 0.1 * effect // autocannon cuts to whole milliseconds
		}
		p99 = max(p99, 2*p50)
	case "latency_p99_s":
		p99 *= effect
	}
	m["latency_mean_s"], m["latency_p50_s"], m["latency_p90_s"], m["latency_p99_s"], m["latency_p999_s"],
		m["latency_max_s"] = mean, p50, max(p50, p99/2), p99, 2*p99, 4*p99
	m["in_flight"] = rps * mean
	if rate > 0 {
		m["asked_rate_rps"], m["answered_share"], m["send_lag_p99_s"] = rate, rps/rate, 1e-5
		delete(m, "asked_in_flight")
		delete(m, "in_flight")
	}
	m["threads_per_worker"] = 8
	if x.Profile != nil {
		m["block_stacks"], m["goroutines_parked"] = 50000, 100
	}
	switch c.Metric {
	case "threads_per_worker", "block_stacks", "goroutines_parked":
		m[c.Metric] *= effect
	}
}

var taken = []profile.Kind{profile.CPU, profile.Mutex, profile.Block}

// profilesIn gives profiles of each kind, with the share that the claim looks
// for, consistent with the trial's figures.
func profilesIn(c experiment.Claim, share float64, m sample.Figures) (out []profile.Profile) {
	for _, kind := range taken {
		p := profile.Profile{Kind: kind, Unit: "s", Total: 50, Events: 1000, Stacks: 10, DurationS: 10,
			Work: map[string]float64{"http": 1}, Packages: map[string]float64{"net/http": 1}}
		if kind == profile.Block {
			m["block_stacks"], m["block_events"] = math.Round(m["block_stacks"]), 1000
			p.Stacks, p.Total = int(m["block_stacks"]), p.DurationS*m["goroutines_parked"]
		}
		if c.Work != "" && share > 0 {
			p.Work = map[string]float64{c.Work: share, "http": 1 - share}
		}
		if c.Package != "" && share > 0 {
			p.Packages[c.Package] = share
		}
		out = append(out, p)
	}
	return out
}

// first are the experiments of the first twelve entries. Others do not come into
// the test, since the runs that it makes up may not suit their claims.
const first = `
01-prefork 01-servers 02-offered-rate 02-prefork-spreads 03-rps-rfs
04-client-ceiling 04-ramp 05-littles-law 06-irq-pinning
08-cpu-bound 09-mutex 09-prefork
10-workers 11-pipelining-read 11-pipelining-simple 11-threads 11-workers-at-the-wall
aa-control aa-slowed
`

// Every claim of the first experiments can get each verdict from a run of valid
// trials. A claim that cannot fail, or cannot hold, would test nothing.
func TestEveryClaimCanBeConfirmedRefutedAndLeftOpen(t *testing.T) {
	large := &host.Profile{SchemaVersion: host.Version, ID: "h", Name: "H", Cores: 256}
	every := []Verdict{Open, Confirmed, Refuted}
	for _, name := range strings.Fields(first) {
		x, err := experiment.Load("../../experiments/" + name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range x.Claims {
			seen, refused := map[Verdict]string{}, map[string]int{}
			try := func(w world, blocks int) {
				r := in(x, c, w, blocks)
				said := newDecider(Asked(nil), large, []Run{{r, x}}).decide(c, nil)
				if seen[said.Verdict] != "" {
					return
				}
				if err := r.Check(x); err != nil {
					refused[strings.SplitN(err.Error(), ": ", 2)[1]]++
					return
				}
				seen[said.Verdict] = fmt.Sprintf("%+v: %s", w, said.Reason)
			}
			for _, w := range worlds(x, c) {
				for _, blocks := range []int{stats.MinSamples - 1, enough} { // of which the first are too few
					if slices.ContainsFunc(every, func(v Verdict) bool { return seen[v] == "" }) {
						try(w, blocks)
					}
				}
			}
			for _, v := range every {
				if seen[v] == "" {
					t.Errorf("%s/%s: no valid run makes it %s; refused %v; seen %v", x.Name, c.ID, v, refused, seen)
				}
			}
		}
	}
}

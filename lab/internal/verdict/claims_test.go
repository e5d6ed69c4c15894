package verdict

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/order"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A world is how things may be on some machine: what a claim asks about comes
// out by a factor, between walls, with some noise.
type world struct {
	effect float64     // of the claim's metric at the last level, over the first
	wall   bound.Bound // that each trial meets
	spare  int         // of each dozen trials, how many meet none
	off    int         // of a count
	share  float64     // of what a profile is asked for, in two of three trials
	rest   float64     // and in the others
	noise  float64     // standard deviation of a figure's logarithm
}

// enough is how many blocks tell, all of one mind, whatever an experiment has of
// claims and comparisons: 6839 is what fourteen of fourteen come to.
const enough = 14

// worlds are those that any claim is tried in.
func worlds() []world {
	var out []world
	walls := []bound.Bound{bound.ServerCPU, bound.Wire, bound.ClientCPU}
	for _, effect := range []float64{1.0 / 16, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.93, 0.97, 0.9999, 1, 1.0001, 1.03, 1.07, 1.12, 1.2, 1.4, 1.8, 3, 6, 10, 13.5, 14.6, 15.5, 16, 30} {
		for _, wall := range walls {
			out = append(out, world{effect: effect, wall: wall, noise: 1e-6})
		}
	}
	for _, wall := range walls {
		out = append(out,
			world{effect: 1, wall: wall, noise: 1e-6, spare: 1}, world{effect: 1, wall: wall, noise: 1e-6, spare: 12},
			world{effect: 1, wall: wall, noise: 0.5}, world{effect: 1, wall: wall, noise: 0.02}, world{effect: 1, wall: wall, noise: 0.002},
			world{effect: 15, wall: wall, noise: 0.03}, world{effect: 1, wall: wall, off: 1})
		for _, s := range []float64{0, 0.004, 0.3, 0.9} {
			out = append(out, world{effect: 1, wall: wall, share: s, rest: s}, world{effect: 1, wall: wall, share: s, rest: 0.9 - s})
		}
	}
	return out
}

// in makes a run of an experiment in a world, as one claim of it sees the world.
// Figures fit each other as those of a measured run do, so that the checks of a
// results file and the gates of its trials are passed or not as they would be.
func in(x *experiment.Experiment, c experiment.Claim, w world, blocks int) *results.File {
	size := x.Sizes[experiment.Full]
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &results.File{
		SchemaVersion: 1, Experiment: x.Name, Run: "20260102t030405z-h", Source: results.Measured, Hosts: results.Hosts{Server: "h", Client: "h"},
		Provenance: &results.Provenance{
			StartedAt: started, Commit: "unknown", Dirty: true, ExperimentSHA256: x.SHA256, Size: experiment.Full, Blocks: blocks,
			WarmupS: size.WarmupS, DurationS: size.DurationS, Seed: 1, Generator: "made up", ServerCPUs: "0-127", ClientCPUs: "128-255", CalibrationS: 1e-6,
		},
		Topology: results.Topology(x.Topology), Settings: x.Fixed(),
	}
	for i, ls := range x.Conditions() {
		cond := results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: ls}
		for _, kind := range kinds {
			if x.Profile != nil {
				cond.Profiles = append(cond.Profiles, results.RawProfile{Kind: kind, SHA256: strings.Repeat("0", 64), Trials: blocks,
					File: fmt.Sprintf("%s/%s/%s-%s.pb.gz", x.Name, r.Run, cond.ID, kind)})
			}
		}
		r.Conditions = append(r.Conditions, cond)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	fixed, along := x.Fixed(), levelsOf(x, c.Over)
	each := time.Duration((size.WarmupS + size.DurationS + 2) * float64(time.Second))
	if x.Profile != nil {
		each *= 3
	}
	seq := 1
	for b, block := range order.Draw(len(r.Conditions), blocks, r.Provenance.Seed) {
		for _, at := range block {
			cond := r.Conditions[at]
			t := results.Trial{Seq: seq, Block: b + 1, Condition: cond.ID, Valid: true, StartedAt: started.Add(time.Duration(seq) * each)}
			t.Metrics = figuresIn(x, c, w, fixed.With(cond.Levels), place(along, cond.Levels[c.Over]), rnd)
			if x.Profile != nil {
				t.Profiles = profilesIn(c, w, seq, t.Metrics)
			}
			t.Bound, _ = bound.Decide(bound.Of(t.Metrics, r.Topology.LineRateBps))
			r.Trials = append(r.Trials, t)
			seq++
		}
	}
	r.Provenance.FinishedAt = started.Add(time.Duration(len(r.Trials)+1) * each)
	return r
}

// place is where a level lies between the claim's first, 0, and its last, 1.
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

func figuresIn(x *experiment.Experiment, c experiment.Claim, w world, s setting.Levels, at float64, rnd *rand.Rand) figures {
	number := func(name string, otherwise int64) float64 {
		if n, ok := s[name].Int(); ok {
			return float64(n)
		}
		return float64(otherwise)
	}
	seconds := x.Sizes[experiment.Full].DurationS
	effect := math.Pow(w.effect, at) * math.Exp(w.noise*rnd.NormFloat64())
	inFlight := number(setting.Connections, 100) * number(setting.Pipelining, 1)
	rate := number(setting.Rate, 0)
	overload, _ := s[setting.Overload].Bool()

	m := figures{
		"server_cpu_per_request_s": 2e-5, "client_cpu_per_request_s": 1e-5, "threads_per_worker": 8, "block_stacks": 50000, "goroutines_parked": 100,
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "duration_s": seconds,
		"server_steal": 0, "client_steal": 0, "server_foreign_load": 0, "client_foreign_load": 0, "swap_pages": 0, "throttled_s": 0, "clock_step_s": 0,
		"calibration_before_s": 1e-6, "calibration_after_s": 1e-6, "sampler_busy": 0.005,
		"connections_established": number(setting.Connections, 100),
		"workers":                 number(setting.Workers, 128) + float64(w.off), "workers_active": number(setting.Workers, 128) + float64(w.off),
		"processes": number(setting.Workers, 128) + 1 + float64(w.off),
	}
	if c.Metric == "workers_active" { // all are there, and some are idle
		m["workers"], m["workers_active"] = number(setting.Workers, 128), number(setting.Workers, 128)-float64(w.off)
	}
	if prefork, ok := s[setting.Prefork].Bool(); ok && !prefork {
		m["workers"], m["workers_active"], m["processes"] = 0, 0, 1
	}
	rps := 20000.0
	if rate > 0 && !overload {
		rps = rate
	}
	switch c.Metric {
	case "throughput_rps":
		rps *= effect
	case "latency_mean_s":
		rps /= effect / (inFlight / 20)
	case "answered_share":
		rps = rate * min(effect, 1)
	}
	mean := inFlight / rps
	p50 := mean * 0.9
	if rate > 0 {
		mean, p50 = 2e-4, 2e-4
	}
	if c.Metric == "in_flight" {
		mean *= math.Pow(effect/math.Pow(16, at), 1)
	}
	p99 := 10 * mean
	switch c.Metric {
	case "latency_p50_s":
		p50 = 1e-4 * effect
		p99 = max(p99, 2*p50)
	case "latency_p99_s":
		p99 = 10 * 5e-3 * effect
		mean, p50 = min(mean, p99), min(p50, p99/2)
	}
	m["throughput_rps"], m["requests"] = rps, math.Round(rps*seconds)
	m["throughput_rps"] = m["requests"] / seconds
	m["latency_mean_s"], m["latency_p50_s"], m["latency_p90_s"], m["latency_p99_s"], m["latency_p999_s"], m["latency_max_s"] = mean, p50, max(p50, p99/2), p99, 2*p99, 4*p99
	m["in_flight"], m["asked_in_flight"] = m["throughput_rps"]*mean, inFlight
	if rate > 0 {
		m["asked_rate_rps"], m["answered_share"], m["send_lag_p99_s"] = rate, m["throughput_rps"]/rate, 1e-5
		delete(m, "asked_in_flight")
		delete(m, "in_flight")
	}
	if x.Batches() {
		for _, name := range []string{"errors", "timeouts", "resets", "workers", "workers_active", "asked_in_flight", "in_flight", "latency_mean_s", "latency_p50_s", "latency_p90_s", "latency_p99_s", "latency_p999_s", "latency_max_s"} {
			delete(m, name)
		}
		for _, name := range []string{"delivered_per_s", "limit_per_s", "logged_per_s", "server_cpu_per_event_s", "arrived_share"} {
			m[name] = 1000
		}
		m["arrived_share"] = 1
	}
	switch c.Metric {
	case "throughput_rps", "latency_mean_s", "latency_p50_s", "latency_p99_s", "answered_share", "in_flight", "workers", "processes", "workers_active", "":
	case "arrived_share":
		m[c.Metric] = min(effect, 1)
	default:
		m[c.Metric] *= effect
	}
	maps.Copy(m, wallsIn(w, x, rnd))
	return m
}

func wallsIn(w world, x *experiment.Experiment, rnd *rand.Rand) figures {
	m := figures{"client_thread_busy_max": 0.5, "client_cores_busy": 0.5, "server_cores_busy": 0.5, "server_workers_busy": 0.5}
	if x.Topology.LineRateBps > 0 || x.Topology.Kind == "fleet" {
		m["line_rate_share"] = 0.5
	}
	if rnd.IntN(12) < w.spare {
		return m
	}
	switch w.wall {
	case bound.ServerCPU:
		m["server_cores_busy"] = 0.99
	case bound.ClientCPU:
		m["client_thread_busy_max"] = 0.99
	case bound.Wire:
		if _, ok := m["line_rate_share"]; ok {
			m["line_rate_share"] = 0.97
		}
	}
	return m
}

var kinds = []profiles.Kind{profiles.CPU, profiles.Mutex, profiles.Block}

// profilesIn gives what the claim looks for its share of each kind, in profiles
// that come to the trial's figures.
func profilesIn(c experiment.Claim, w world, seq int, m figures) (out []profiles.Profile) {
	share := w.share
	if seq%3 == 0 {
		share = w.rest
	}
	for _, kind := range kinds {
		p := profiles.Profile{Kind: kind, Unit: "s", Total: 50, Events: 1000, Stacks: 10, DurationS: 10,
			Work: map[string]float64{"http": 1}, Packages: map[string]float64{"net/http": 1}}
		if kind == profiles.Block {
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

// Every claim of the journal can come out each way, in a run whose every trial
// is valid. One that cannot fail, or cannot hold, asks nothing of a machine.
func TestEveryClaimCanBeReproducedRefutedAndLeftOpen(t *testing.T) {
	xs, err := experiment.LoadDir("../../experiments")
	if err != nil {
		t.Fatal(err)
	}
	large := &host.Profile{SchemaVersion: 1, ID: "h", Name: "H", Cores: 256}
	for _, x := range xs {
		for _, c := range x.Claims {
			seen, refused := map[Verdict]string{}, map[string]int{}
			try := func(w world, blocks int) {
				r := in(x, c, w, blocks)
				if c.Kind == experiment.Absent {
					// It has to be there elsewhere, and is here or not by the world.
					for i := range r.Trials {
						if !stands(r, r.Trials[i], c.Where()) {
							r.Trials[i].Profiles = profilesIn(c, world{share: 0.5, rest: 0.5}, 1, r.Trials[i].Metrics)
						}
					}
				}
				said := newDecider(large, []Run{{r, x}}).decide(c, nil)
				if seen[said.Verdict] != "" {
					return
				}
				if err := r.Check(x); err != nil {
					refused[strings.SplitN(err.Error(), ": ", 2)[1]]++
					return
				}
				seen[said.Verdict] = fmt.Sprintf("%+v: %s", w, said.Reason)
			}
			every := []Verdict{Reproduced, Refuted, Inconclusive}
			try(world{effect: 1, wall: bound.ServerCPU, noise: 0.001}, 5)
			for _, w := range worlds() {
				if slices.ContainsFunc(every, func(v Verdict) bool { return seen[v] == "" }) {
					try(w, enough)
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

func stands(r *results.File, t results.Trial, where setting.Levels) bool {
	for _, c := range r.Conditions {
		if c.ID == t.Condition {
			all := r.Settings.With(c.Levels)
			return all.With(where).Key() == all.Key()
		}
	}
	return false
}

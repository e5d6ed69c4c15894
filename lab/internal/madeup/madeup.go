// Package madeup makes up runs for tests: of any closed-loop
// design, and of designs with a receiver of events. They have everything that
// the lab records of a trial, in the order that the seed draws.
//
// A made-up run is one that the lab could have made. It passes
// package check, so its figures agree with each other, and slots do not overlap. The caller says how trials come out; noise is drawn from the run's
// seed, so that the same plan gives the same bytes.
//
// There is one host on each side, one thread of the client, no fixed rates of
// requests, and no profiles, which a caller may add.
package madeup

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Plan describes a run to make up.
type Plan struct {
	Experiment *experiment.Experiment
	Hosts      results.Hosts
	Started    time.Time // in whole seconds
	Seed       uint64
	Blocks     int
	Ended      results.Ended
	Stopped    string // stopped_early, for a run that was interrupted or failing
	NoControl  bool
	Shared     bool // server and client share one core; else each has its own
	OneStay    bool // blocks follow at once; else each is a visit, as in `lab reproduce`
	// Trial says how a trial came out; nil: all like Usual, with the server as the
	// wall. control marks the A/A control.
	Trial func(levels setting.Levels, block int, control bool) Came
}

// Came is how a trial came out. A field of 0 takes the value of Usual.
type Came struct {
	CostS         float64 // server CPU per request, in seconds
	ServerBusy    float64 // share of the server's cores
	ClientBusy    float64 // share of the client's core and thread
	ResponseBytes float64
	Noise         float64            // relative standard deviation of what differs between trials
	Metrics       map[string]float64 // replace the recorded metrics; NaN: not recorded
	Below         map[string]float64 // as a trial's Below; these are not in Metrics
	Reasons       []results.Reason   // why it is invalid
	Lost          bool               // nothing was measured: no slot, no figure
}

// Usual is a trial with the server as the wall.
var Usual = Came{CostS: 8e-6, ServerBusy: 0.97, ClientBusy: 0.55, ResponseBytes: 640, Noise: 0.01}

func (c Came) whole() Came {
	c.CostS, c.Noise = cmp.Or(c.CostS, Usual.CostS), cmp.Or(c.Noise, Usual.Noise)
	c.ServerBusy, c.ClientBusy = cmp.Or(c.ServerBusy, Usual.ServerBusy), cmp.Or(c.ClientBusy, Usual.ClientBusy)
	c.ResponseBytes = cmp.Or(c.ResponseBytes, Usual.ResponseBytes)
	return c
}

// commit is a made-up commit.
const commit = "0123456789abcdef0123456789abcdef01234567"

const (
	calibration = 9.5e-7 // a core's best time for the calibration loop, in seconds
	fullWire    = 0.96   // largest share of its rate that a wire carries
)

// Overhead is how many bytes a wire carries around an answer.
const Overhead = 70

// Run makes up a run.
func Run(p Plan) *results.File {
	x := p.Experiment
	m := &maker{Plan: p, r: rand.New(rand.NewPCG(p.Seed, 2)), at: 1}
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Run: Name(p.Started, p.Hosts.Server), Hosts: p.Hosts,
		Provenance: &results.Provenance{
			StartedAt: p.Started, Commit: commit, ExperimentSHA256: x.SHA256, Locks: x.Locks(),
			Block: &results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: x.Block.WarmupS,
				ProfileS: x.ProfileS()}, BudgetS: x.BudgetS,
			Blocks: p.Blocks, Ended: p.Ended, StoppedEarly: p.Stopped, Seed: p.Seed, Generator: "http_load " +
				setting.HTTPLoadVersion, ServerCPUs: "0", ClientCPUs: "1",
			Tools:  map[string]string{"go": "go1.26.8", "http_load": setting.HTTPLoadVersion},
			Kernel: map[string]string{"net.core.somaxconn": "4096"}, CalibrationS: calibration,
			Binaries: map[string]host.Binary{},
		},
		Topology: results.Topology(x.Topology), Settings: x.Fixed(),
	}
	for _, name := range results.Programs(x) {
		f.Provenance.Binaries[name] = host.Binary{SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("made up "+name)))}
	}
	switch f.Settings[setting.Generator] {
	case setting.String(setting.Autocannon):
		f.Provenance.Generator = "autocannon 9.0.0"
	case setting.String(setting.Sink):
		f.Provenance.Generator = setting.Sink
	}
	if p.Shared {
		f.Provenance.ServerCPUs, f.Provenance.ClientCPUs = "", ""
	}
	for i, levels := range x.Conditions() {
		f.Conditions = append(f.Conditions, results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels,
			Commands: commands(levels, f.Settings.With(levels))})
	}
	if n := len(f.Conditions); !p.NoControl {
		twin := f.Conditions[experiment.DrawControl(n, p.Seed)]
		f.Conditions = append(f.Conditions, results.Condition{ID: fmt.Sprintf("c%d", n+1), Levels: twin.Levels,
			ControlOf: twin.ID, Commands: twin.Commands})
	}
	m.f = f
	for b := 1; b <= p.Blocks; b++ {
		m.block(b)
		if !p.OneStay {
			m.at += results.VisitGap.Seconds() + x.ProfileS()*float64(len(f.Conditions))
		}
	}
	f.Provenance.FinishedAt = p.Started.Add(time.Duration(math.Ceil(m.at)+1) * time.Second)
	return f
}

// Name is a run's name, from its start and its server's host.
func Name(started time.Time, host string) string {
	return started.UTC().Format("20060102t150405z") + "-" + host
}

func commands(levels, all setting.Levels) []string {
	client := "lab/scripts/trial.sh --generator " + setting.HTTPLoad + " --plan - PLAN"
	switch generator := all[setting.Generator].String(); generator {
	case setting.Sink:
		client = "lab/scripts/sink.sh"
	case setting.Autocannon:
		client = "lab/scripts/trial.sh --generator " + generator
	}
	return []string{"lab/scripts/server.sh " + levels.Key(), client}
}

type maker struct {
	Plan
	f  *results.File
	r  *rand.Rand
	at float64 // seconds since the run began
}

func (m *maker) about(v, part float64) float64 { return v * math.Exp(part*m.r.NormFloat64()) }

// block makes one block's trials, group after group.
func (m *maker) block(number int) {
	f, x := m.f, m.Experiment
	all := strict.Called(f.Conditions, func(c results.Condition) setting.Levels { return f.Settings.With(c.Levels) })
	for _, sequence := range experiment.DrawBlock(f.Groups(), x.Block.Rounds, m.Seed, number) {
		m.at += 0.4 + x.Block.WarmupS
		machine := m.machine()
		if all[sequence[0]][setting.Generator] == setting.String(setting.Sink) {
			m.atOnce(number, experiment.Members(sequence), all, machine)
			continue
		}
		came, columns := map[int]Came{}, map[int]*slots.Slots{}
		for _, c := range sequence {
			if columns[c] == nil {
				columns[c], came[c] = &slots.Slots{}, m.came(number, c, all[c])
			}
			m.slot(columns[c], came[c], ServerCores(all[c]))
		}
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			columns[c].Round()
			f.Trials = append(f.Trials, m.trial(number, c, all[c], came[c], columns[c], machine))
		}
	}
}

// came says how a trial came out, with the block's noise.
func (m *maker) came(block, condition int, all setting.Levels) Came {
	one := Came{}
	if m.Trial != nil {
		one = m.Trial(all, block, m.f.Conditions[condition].ControlOf != "")
	}
	one = one.whole()
	one.CostS = m.about(one.CostS, one.Noise)
	return one
}

// ServerCores is the number of cores of a condition's server.
func ServerCores(all setting.Levels) float64 {
	if l, ok := all[setting.ServerCPUs]; ok {
		if list, err := cores.Parse(l.String()); err == nil {
			return float64(len(list))
		}
	}
	return 1
}

// slot adds one slot to a trial.
func (m *maker) slot(s *slots.Slots, c Came, serverCores float64) {
	length := m.Experiment.Block.SlotS
	fill := 0.001
	s.AtS, s.FillS = append(s.AtS, m.at+fill), append(s.FillS, fill)
	length += 1e-4 * m.r.Float64()
	busy := c.ServerBusy
	if line := m.f.Topology.LineRateBps; line > 0 { // a wire carries at most its rate
		busy = min(busy, fullWire*line/8/(c.ResponseBytes+Overhead)*c.CostS/serverCores)
	}
	server := min(1, busy*(1+0.005*(m.r.Float64()-0.5))) * length * serverCores
	requests := math.Round(server / c.CostS)
	s.DurationS, s.Requests = append(s.DurationS, length), append(s.Requests, int64(requests))
	s.ServerCPUS, s.ClientCPUS = append(s.ServerCPUS, server),
		append(s.ClientCPUS, min(1, c.ClientBusy*(1+0.005*(m.r.Float64()-0.5)))*length)
	s.IdleCPUS = append(s.IdleCPUS, 0.001*m.r.Float64()*length)
	if m.f.Topology.LineRateBps > 0 {
		s.TxBytes, s.RxBytes = append(s.TxBytes, int64(requests*(c.ResponseBytes+Overhead))),
			append(s.RxBytes, int64(requests*110))
	}
	m.at += fill + length + 0.002
}

// machine has the figures of a whole block, which each of its trials repeats.
func (m *maker) machine() map[string]float64 {
	steal := math.Round(m.r.Float64()*10) / 1e4
	return map[string]float64{
		"calibration_before_s": m.about(calibration*1.05, 0.005), "calibration_after_s": m.about(calibration*1.05, 0.005),
		"server_steal": steal, "client_steal": steal, "server_foreign_load": 0.01 * m.r.Float64(),
		"client_foreign_load": 0.01 * m.r.Float64(),
		"sampler_busy":        0.004 * m.r.Float64(), "clock_step_s": 4e-9, "throttled_s": 0, "swap_pages": 0,
		"interrupts_per_s": m.about(5000, 0.1),
		"tcp_retransmits":  0, "listen_drops": 0, "listen_overflows": 0, "softnet_drops": 0, "softnet_squeezes": 0,
	}
}

func (m *maker) trial(block, condition int, all setting.Levels, c Came, s *slots.Slots,
	machine map[string]float64) results.Trial {
	t := results.Trial{
		Seq: len(m.f.Trials) + 1, Block: block, Condition: m.f.Conditions[condition].ID, Reasons: c.Reasons, Below: c.Below,
		Slots:     s,
		StartedAt: m.Started.Add(time.Duration(s.AtS[0] * float64(time.Second))),
	}
	on := slots.Setup{SlotS: m.Experiment.Block.SlotS, ServerCores: int(ServerCores(all)), ClientCores: 1,
		LineRateBps: m.f.Topology.LineRateBps}
	if m.Shared {
		on.ServerCores, on.ClientCores = 0, 0
	}
	figures := s.Metrics(on)
	maps.Copy(figures, machine)
	maps.Copy(figures, m.served(all, c, figures))
	if m.Shared {
		figures["server_cores_busy"], figures["client_cores_busy"] = 1, 1
	}
	t.Cores = m.cores(c, machine["server_steal"])
	// in one piece, and the kernel's ticks give the use of its cores
	if all[setting.Generator] != setting.String(setting.HTTPLoad) {
		t.Slots = nil
		for i, name := range []string{"server_cores_busy", "client_cores_busy"} {
			if !m.Shared {
				figures[name] = 1 - t.Cores[i].Idle
			}
		}
		for _, name := range []string{"slots", "slot_requests_least", "slot_off_s", "slot_server_busy_max",
			"idle_servers_busy", "silence_s"} {
			delete(figures, name)
		}
	}
	m.finish(&t, c, figures, machine)
	return t
}

// finish fills in a trial.
func (m *maker) finish(t *results.Trial, c Came, figures, machine map[string]float64) {
	maps.Copy(figures, c.Metrics)
	for name, v := range figures {
		if _, limited := c.Below[name]; limited || math.IsNaN(v) {
			delete(figures, name)
		}
	}
	if c.Lost {
		t.Slots, t.Cores, figures = nil, nil, machine
	}
	t.Metrics = figures
	m.f.Follow(t)
	if busy, ok := figures["client_thread_busy_max"]; ok {
		t.ClientThreads = []float64{math.Round(busy*1e4) / 1e4}
	}
	m.f.Conclude(t)
}

// served has what a trial records apart from its slots and the machine.
func (m *maker) served(all setting.Levels, c Came, of map[string]float64) map[string]float64 {
	connections := float64(all.Whole(setting.Connections, 50))
	asked, rps := connections*float64(all.Whole(setting.Pipelining, 1)), of["throughput_rps"]
	workers := float64(all.Whole(setting.Workers, int(ServerCores(all))))
	out := map[string]float64{
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "response_bytes": c.ResponseBytes,
		"silence_s": m.about(0.002, 0.1), "client_thread_busy_max": of["client_cpu_per_request_s"] * rps,
		"server_rss_bytes": 45424640, "client_rss_bytes": 15286272,
		"connections_established": connections, "processes": 1, "workers": 0,
	}
	// A server that does not fork serves in its only process.
	if prefork, ok := all[setting.Prefork].Bool(); !ok || prefork {
		maps.Copy(out, map[string]float64{
			"processes": workers + 1, "workers": workers, "workers_active": workers, "workers_serving": workers,
			"threads_per_worker":     6 + math.Round(2*m.r.Float64())/2,
			"connections_per_worker": connections / workers,
			"server_workers_busy":    of["server_cpu_s"] / of["duration_s"] / workers * 0.99,
		})
	}
	mean := m.about(asked/rps, 0.002)
	out["latency_mean_s"] = mean
	for name, q := range map[string]float64{"p50": 0.9, "p90": 1.3, "p99": 1.8, "p999": 2.5, "max": 4} {
		out["latency_"+name+"_s"] = mean * q
	}
	if m.f.Topology.LineRateBps > 0 {
		out["wire_drops"], out["wire_tx_packets_per_s"], out["wire_rx_packets_per_s"] = 0, rps*4, rps*2
	}
	return out
}

// cores says where the time of both cores went.
func (m *maker) cores(c Came, steal float64) []results.Core {
	var out []results.Core
	for i, busy := range []float64{c.ServerBusy, c.ClientBusy} {
		if m.Shared {
			busy = 1 - steal
		}
		round := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
		core := results.Core{CPU: i, User: round(0.45 * busy), System: round(0.4 * busy),
			SoftIRQ: max(0, round(0.15*busy-0.01)), Steal: steal}
		core.Idle = round(1 - core.User - core.System - core.SoftIRQ - core.Steal)
		if out = append(out, core); m.Shared {
			break
		}
	}
	return out
}

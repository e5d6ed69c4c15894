// Package madeup makes up runs for tests, of any closed-loop design. They are runs that the lab could have made: they
// pass the check of results files, so their figures agree with each other. The caller says how trials come out; noise
// is drawn from the run's seed, so that the same plan gives the same bytes.
//
// There is one host on each side, the server on one core, one thread of http_load, no fixed rates of requests, and no
// profiles, which a caller may add.
package madeup

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

// A Plan describes a run to make up.
type Plan struct {
	Experiment *experiment.Experiment
	Host       string    // of the server and the client
	Started    time.Time // in whole seconds
	Seed       uint64
	Blocks     int
	// Trial says how a trial came out; nil: all like Usual, with the server as the bottleneck.
	Trial func(levels setting.Levels, block int) Came
}

// Came is how a trial came out. A field of 0 takes the value of Usual.
type Came struct {
	CostS      float64          // server CPU per request, in seconds
	ServerBusy float64          // share of the server's core
	Noise      float64          // relative standard deviation of what differs between trials
	Reasons    []results.Reason // why it is invalid
}

// Usual is a trial with the server as the bottleneck.
var Usual = Came{CostS: 8e-6, ServerBusy: 0.97, Noise: 0.01}

const (
	calibration   = 9.5e-7 // a core's best time for the calibration loop, in seconds
	fullWire      = 0.96   // largest share of its rate that a wire carries
	clientBusy    = 0.55   // share of the client's core and thread
	responseBytes = 640
	overhead      = 70 // bytes that a wire carries around an answer
)

// Run makes up a run.
func Run(p Plan) *results.File {
	x := p.Experiment
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Run: p.Started.UTC().Format("20060102t150405z") + "-" + p.Host,
		Hosts: results.Hosts{Server: p.Host, Client: p.Host},
		Provenance: &results.Provenance{
			StartedAt: p.Started, Commit: "0123456789abcdef0123456789abcdef01234567", ExperimentSHA256: x.SHA256,
			Locks: x.Locks(), Block: &results.BlockPlan{Block: x.Block, ProfileS: x.ProfileS()},
			BudgetS: x.BudgetS, Blocks: p.Blocks, Ended: results.Blocks, Seed: p.Seed, ServerCPUs: "0", ClientCPUs: "1",
			Generator: "http_load " + setting.HTTPLoadVersion, CalibrationS: calibration,
		},
		Topology: x.Topology, Settings: x.Fixed(),
	}
	for i, levels := range x.Conditions() {
		f.Conditions = append(f.Conditions, results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels})
	}
	n := len(f.Conditions)
	twin := f.Conditions[experiment.DrawControl(n, p.Seed)]
	twin.ID, twin.ControlOf = fmt.Sprintf("c%d", n+1), twin.ID
	f.Conditions = append(f.Conditions, twin)
	m := &maker{p, f, rand.New(rand.NewPCG(p.Seed, 2)), 1}
	for b := 1; b <= p.Blocks; b++ {
		for _, sequence := range experiment.DrawBlock(f.Groups(), x.Block.Rounds, p.Seed, b) {
			m.at += 0.4 + x.Block.WarmupS
			machine := m.machine()
			for _, c := range experiment.Members(sequence) {
				f.Trials = append(f.Trials, m.trial(b, f.Conditions[c], machine))
			}
		}
		m.at += results.BlockGap.Seconds() + x.ProfileS()*float64(len(f.Conditions)) // each block counts
	}
	f.Provenance.FinishedAt = p.Started.Add(time.Duration(math.Ceil(m.at)+1) * time.Second)
	return f
}

type maker struct {
	Plan
	f  *results.File
	r  *rand.Rand
	at float64 // seconds since the run began
}

func (m *maker) about(v, part float64) float64 { return v * math.Exp(part*m.r.NormFloat64()) }

// machine has the figures of a whole block, which each of its trials repeats.
func (m *maker) machine() map[string]float64 {
	steal := math.Round(m.r.Float64()*10) / 1e4
	return map[string]float64{
		"calibration_before_s": m.about(calibration*1.05, 0.005), "calibration_after_s": m.about(calibration*1.05, 0.005),
		"server_steal": steal, "client_steal": steal, "server_foreign_load": 0.01 * m.r.Float64(),
		"client_foreign_load": 0.01 * m.r.Float64(), "sampler_busy": 0.004 * m.r.Float64(), "clock_step_s": 4e-9,
		"throttled_s": 0, "interrupts_per_s": m.about(5000, 0.1), "tcp_retransmits": 0, "listen_drops": 0,
	}
}

// trial makes a trial of a condition.
func (m *maker) trial(block int, of results.Condition, machine map[string]float64) results.Trial {
	all, came := m.f.Settings.With(of.Levels), Came{}
	if m.Trial != nil {
		came = m.Trial(all, block)
	}
	came.ServerBusy = cmp.Or(came.ServerBusy, Usual.ServerBusy)
	came.CostS = m.about(cmp.Or(came.CostS, Usual.CostS), cmp.Or(came.Noise, Usual.Noise))

	t := results.Trial{Seq: len(m.f.Trials) + 1, Block: block, Condition: of.ID, Reasons: came.Reasons,
		StartedAt: m.Started.Add(time.Duration(m.at * float64(time.Second))), Metrics: maps.Clone(machine)}
	for range m.Experiment.Block.Rounds {
		t.Slots = append(t.Slots, m.slot(came).Rounded())
	}
	m.f.Conclude(&t)
	maps.Copy(t.Metrics, m.served(all, t.Metrics["throughput_rps"], t.Metrics["server_cores_busy"]))
	m.f.Conclude(&t)
	return t
}

// slot makes one slot of a trial.
func (m *maker) slot(c Came) slots.Slot {
	const fill = 0.001
	length, busy, wire := m.Experiment.Block.SlotS+1e-4*m.r.Float64(), c.ServerBusy, responseBytes+overhead
	if line := m.f.Topology.LineRateBps; line > 0 { // a wire carries at most its rate
		busy = min(busy, fullWire*line/8/float64(wire)*c.CostS)
	}
	// of is a share of time, about as it came out.
	of := func(busy float64) float64 { return min(1, busy*(1+0.005*(m.r.Float64()-0.5))) * length }
	server := of(busy)
	requests := math.Round(server / c.CostS)
	s := slots.Slot{AtS: m.at + fill, FillS: fill, DurationS: length, Requests: int64(requests), ServerCPUS: server,
		ClientCPUS: of(clientBusy), IdleCPUS: 0.001 * m.r.Float64() * length}
	if m.f.Topology.LineRateBps > 0 {
		s.TxBytes, s.RxBytes = int64(requests)*int64(wire), int64(requests*110)
	}
	m.at += fill + length + 0.002
	return s
}

// served has what a trial records apart from its slots and the machine.
func (m *maker) served(all setting.Levels, rps, busy float64) map[string]float64 {
	connections, workers := float64(all.Whole(setting.Connections, 50)), float64(all.Whole(setting.Workers, 1))
	out := map[string]float64{
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0, "response_bytes": responseBytes,
		"client_thread_busy_max": clientBusy, "server_rss_bytes": 45424640, "client_rss_bytes": 15286272,
		"connections_established": connections, "processes": 1, "workers": 0,
	}
	// A server that does not fork serves in its only process.
	if prefork, ok := all[setting.Prefork].Bool(); !ok || prefork {
		maps.Copy(out, map[string]float64{
			"processes": workers + 1, "workers": workers, "workers_active": workers, "workers_serving": workers,
			"threads_per_worker":     6 + math.Round(2*m.r.Float64())/2,
			"connections_per_worker": connections / workers, "server_workers_busy": busy / workers * 0.99,
		})
	}
	mean := m.about(connections*float64(all.Whole(setting.Pipelining, 1))/rps, 0.002)
	out["latency_mean_s"] = mean
	for name, q := range map[string]float64{"p50": 0.9, "p90": 1.3, "p99": 1.8, "p999": 2.5, "max": 4} {
		out["latency_"+name+"_s"] = mean * q
	}
	return out
}

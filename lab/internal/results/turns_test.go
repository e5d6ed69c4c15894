package results

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

// turning is a design of four conditions in two groups of two.
func turning(t testing.TB) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../experiment/testdata/turning.toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// turned is a made-up run of a design, with everything that the lab records in
// each trial, with or without a control.
func turned(t testing.TB, x *experiment.Experiment, blocks int, control bool) *File {
	t.Helper()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	f := &File{
		SchemaVersion: Version, Experiment: x.Name, Run: "20260102t030405z-h", Hosts: Hosts{Server: "h", Client: "h"},
		Provenance: &Provenance{
			StartedAt: began, Commit: "unknown", Dirty: true, ExperimentSHA256: digest,
			Block: &BlockPlan{x.Block.SlotS, x.Block.Rounds, x.Block.WarmupS, x.ProfileS()}, BudgetS: x.BudgetS, Blocks: blocks,
			Ended: Decided, Seed: 11,
			Generator: "http_load 1", ServerCPUs: "0", ClientCPUs: "1", Tools: map[string]string{}, Kernel: map[string]string{},
			CalibrationS: 9e-7, Binaries: map[string]host.Binary{},
		},
		Topology: Topology(x.Topology), Settings: x.Fixed(),
	}
	for i, levels := range x.Conditions() {
		f.Conditions = append(f.Conditions, Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels,
			Commands: []string{"lab/scripts/server.sh", "lab/scripts/trial.sh"}})
	}
	if n := len(f.Conditions); control {
		twin := f.Conditions[experiment.DrawControl(n, 11)]
		f.Conditions = append(f.Conditions, Condition{ID: fmt.Sprintf("c%d", n+1), Levels: twin.Levels, ControlOf: twin.ID,
			Commands: twin.Commands})
	}
	var all []setting.Levels
	for _, c := range f.Conditions {
		all = append(all, f.Settings.With(c.Levels))
	}
	r := rand.New(rand.NewPCG(1, 2))
	at := 1.0
	for b := 1; b <= blocks; b++ {
		for _, sequence := range experiment.DrawBlock(experiment.Groups(all), x.Block.Rounds, 11, b) {
			at += x.Block.WarmupS
			columns := map[int][]slots.Slot{}
			for _, c := range sequence {
				columns[c] = add(columns[c], x.Block.SlotS, at, r)
				at += columns[c][0].FillS + x.Block.SlotS + 0.002
			}
			for _, c := range slices.Sorted(maps.Keys(columns)) {
				f.Trials = append(f.Trials, f.trial(b, c, columns[c], r))
			}
		}
	}
	for _, name := range Programs(x) {
		f.Provenance.Binaries[name] = host.Binary{SHA256: digest}
	}
	f.Provenance.FinishedAt = began.Add(time.Duration((at + 1) * float64(time.Second)))
	return f
}

// add adds one slot that starts to fill at a given time.
func add(all []slots.Slot, slotS, from float64, r *rand.Rand) []slots.Slot {
	fill := 0.001 + 0.0005*r.Float64()
	if len(all) > 0 {
		fill = all[0].FillS
	}
	one := slots.Slot{AtS: from + fill, FillS: fill, DurationS: slotS + 1e-4*r.Float64(), Requests: 1200 + r.Int64N(100),
		ServerCPUS: slotS * (0.95 + 0.02*r.Float64()), ClientCPUS: slotS * (0.5 + 0.02*r.Float64()), IdleCPUS: slotS * 0.001 * r.Float64(),
		TxBytes: 5_600_000 + r.Int64N(100_000), RxBytes: 140_000 + r.Int64N(10_000)}
	return append(all, one.Rounded())
}

func (f *File) trial(block, condition int, s []slots.Slot, r *rand.Rand) Trial {
	m := slots.Metrics(s, slots.Setup{ServerCores: 1, ClientCores: 1,
		LineRateBps: f.Topology.LineRateBps})
	workers, _ := f.Conditions[condition].Levels[setting.Workers].Int()
	maps.Copy(m, map[string]float64{
		"errors": 0, "timeouts": 0, "resets": 0, "non_2xx": 0,
		"latency_mean_s": 100 / m["throughput_rps"] * (1 + 0.01*r.Float64()), "silence_s": 0.004 + 0.001*r.Float64(),
		"latency_max_s": 0.05 + 0.01*r.Float64(),
		"workers":       float64(workers), "workers_active": float64(workers), "workers_serving": float64(workers),
		"processes":          float64(workers + 1),
		"threads_per_worker": 6.5, "connections_per_worker": 100 / float64(workers), "connections_established": 100,
		"server_workers_busy":    m["server_cores_busy"] / float64(workers) * 0.99,
		"client_thread_busy_max": m["client_cores_busy"],
		"server_rss_bytes":       45424640, "client_rss_bytes": 15286272, "calibration_before_s": 9.58e-7,
		"calibration_after_s": 9.95e-7,
		"server_steal":        0.001 * r.Float64(), "client_steal": 0.001 * r.Float64(),
		"server_foreign_load": 0.01 * r.Float64(), "client_foreign_load": 0.01 * r.Float64(),
		"sampler_busy": 0.005 * r.Float64(), "interrupts_per_s": 5000 * r.Float64(), "clock_step_s": 4e-9, "throttled_s": 0,
		"swap_pages":      0,
		"tcp_retransmits": 0, "listen_drops": 0, "listen_overflows": 0, "softnet_drops": 0, "softnet_squeezes": 0,
		"wire_drops":            0,
		"wire_tx_packets_per_s": 80000 * r.Float64(), "wire_rx_packets_per_s": 20000 * r.Float64(),
		"response_bytes": 4631.798730754293,
	})
	if s[0].TxBytes == 0 {
		delete(m, "wire_drops")
		delete(m, "wire_tx_packets_per_s")
		delete(m, "wire_rx_packets_per_s")
	}
	steps := map[string]float64{"latency_max_s": 0.00024}
	for name, q := range map[string]float64{"p50": 1, "p90": 1.2, "p99": 1.5, "p999": 2} {
		name = "latency_" + name + "_s"
		m[name], steps[name] = m["latency_mean_s"]*q, 1.5e-5
	}
	t := Trial{
		Seq: len(f.Trials) + 1, Block: block, Condition: f.Conditions[condition].ID, Metrics: m, Resolution: steps, Slots: s,
		StartedAt: f.Provenance.StartedAt.Add(time.Duration(s[0].AtS * float64(time.Second))),
	}
	f.Conclude(&t)
	return t
}

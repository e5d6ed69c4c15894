package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A turned block is a made-up block of two conditions that took turns: what was
// asked for, what the load generator reported, which processes held the
// connections, and the samples. A correct one closes no gate.
type turned struct {
	*group
	said round
	seen []proc.Held
	w    telemetry.Window
}

// Two rounds of two conditions; each slot takes 20 ms to fill.
const (
	slotS  = 0.1
	rounds = 2
	fillS  = 0.02
)

func newTurned() *turned {
	c := newClock()
	t := &turned{group: &group{engine: &engine{plan: Plan{clock: c}}, conds: []int{0, 1}, profiles: taken{}}}
	plan := httpload.Plan{}
	for i := range 2 {
		l := load{addr: fmt.Sprintf("127.0.0.1:900%d", i), serves: &experiment.Server{Process: "fiber_server"},
			connections: 100, pipelining: 1, workers: 4, generator: setting.HTTPLoad,
			slot: seconds(slotS), rounds: rounds, split: cores.Split{Server: []int{0}, Client: []int{1}}, clock: c}
		l.asked = gate.Asked{Generator: setting.HTTPLoad, Connections: 100, Pipelining: 1, Workers: 4,
			WindowS: rounds * slotS, SlotS: slotS, Rounds: rounds}
		t.loads = append(t.loads, l)
		t.trials = append(t.trials, results.Trial{Condition: fmt.Sprintf("c%d", i+1), Metrics: map[string]float64{},
			StartedAt: c.now()})
		plan.Targets = append(plan.Targets, httpload.Target{Name: l.addr, Connections: 100, Pipelining: 1,
			Processes: []int{1, 2, 3, 4, 5}})
		h := proc.Held{Connections: 100, RSS: 5 << 20}
		for pid := range 5 {
			one := proc.HeldBy{PID: pid + 1, Threads: 4, Connections: 25}
			if pid == 0 {
				one.Connections = 0
			}
			h.Processes = append(h.Processes, one)
		}
		t.seen = append(t.seen, h)
		plan.Slots = append(plan.Slots, httpload.Slot{Target: i, Seconds: 0.05})
	}
	for _, i := range []int{0, 1, 1, 0} {
		plan.Slots = append(plan.Slots, httpload.Slot{Target: i, Seconds: slotS, Counts: true})
	}
	t.engine.file = &results.File{
		Settings: setting.Levels{setting.Generator: setting.String(setting.HTTPLoad), setting.Connections: setting.Int(100),
			setting.Pipelining: setting.Int(1)},
		Conditions: []results.Condition{{ID: "c1"}, {ID: "c2"}},
		Provenance: &results.Provenance{Block: &results.BlockPlan{SlotS: slotS, Rounds: rounds}, ServerCPUs: "0",
			ClientCPUs: "1"},
	}
	t.said = round{plan, &httpload.Report{Held: true}}
	at := c.mono
	for i, s := range plan.Slots {
		at += int64(fillS * 1e9)
		t.said.report.Slots = append(t.said.report.Slots,
			httpload.SlotReport{Slot: i, Target: s.Target, AtNS: at, Seconds: s.Seconds, FillS: fillS,
				Requests: int64(1e4 * s.Seconds), Bytes: int64(1e6 * s.Seconds),
				ServerCPUS: []float64{0, s.Seconds / 5, s.Seconds / 5, s.Seconds / 5, s.Seconds / 5}, IdleCPUS: s.Seconds / 100,
				ClientCPUS: s.Seconds / 2, BusiestThreadS: s.Seconds / 2, SilenceS: 0.001})
		at += int64(s.Seconds * 1e9)
	}
	for i := range 2 {
		t.said.report.Summary.Targets = append(t.said.report.Summary.Targets,
			httpload.TargetSummary{Name: plan.Targets[i].Name, Requests: 2000, Bytes: 200_000, Compared: 200,
				Latency: &httpload.Latency{N: 2000, Mean: 0.01, P50: 0.01, P90: 0.01, P99: 0.01, P999: 0.01, Max: 0.02}})
	}
	t.w = telemetry.Window{Gap: 300 * time.Millisecond, Metrics: map[string]float64{
		"server_steal": 0.03, "client_steal": 0, "server_foreign_load": 0, "client_foreign_load": 0.1, "swap_pages": 0,
		"throttled_s": 0, "clock_step_s": 0.01,
		"server_cpu_s": 77, "workers": 77, // not of one server, so not to be copied
	}}
	return t
}

// first is the report on the first condition, which most rows change.
func (t *turned) first() *httpload.TargetSummary { return &t.said.report.Summary.Targets[0] }

// slots are the first condition's counted slots.
func (t *turned) slots() (all []*httpload.SlotReport) {
	for i := range t.said.report.Slots {
		if s := &t.said.report.Slots[i]; s.Target == 0 && t.said.plan.Slots[i].Counts {
			all = append(all, s)
		}
	}
	return all
}

func (t *turned) rated() {
	t.engine.file.Settings[setting.Rate] = setting.Int(10_000)
	t.loads[0].rate, t.loads[0].asked.Rate, t.said.plan.Targets[0].Rate = 10_000, 10_000, 10_000
	t.first().SendLag = &httpload.SendLag{P99: 0.001, Max: 0.002}
}

// lose makes a worker of the first server end before connections are counted;
// the others then hold its connections.
func (t *turned) lose() {
	t.seen[0].Processes = t.seen[0].Processes[:4]
	t.seen[0].Processes[1].Connections += 25
}

// gone makes a slot fail.
func gone(s *httpload.SlotReport) {
	*s = httpload.SlotReport{Slot: s.Slot, Target: s.Target, FillS: 2, Failed: "the server ended the connections"}
}

// nothing has the gates that close if all slots failed.
var nothing = strings.Join([]string{gate.NoRequests, gate.NoTelemetry, gate.Slot}, " ")

// closed judges the block, and gives the reasons of each of its trials.
func (t *turned) closed() (first, second []results.Reason) {
	t.judge(t.said, t.seen, t.w)
	return t.trials[0].Reasons, t.trials[1].Reasons
}

func saw(spoil func(*httpload.TargetSummary)) func(*turned) {
	return func(t *turned) { spoil(t.first()) }
}

// one changes one counted slot, all changes every counted slot.
func one(spoil func(*httpload.SlotReport)) func(*turned) {
	return func(t *turned) { spoil(t.slots()[1]) }
}
func all(spoil func(*httpload.SlotReport)) func(*turned) {
	return func(t *turned) {
		for _, s := range t.slots() {
			spoil(s)
		}
	}
}

func unseen(metric string) func(*turned) { return func(t *turned) { delete(t.w.Metrics, metric) } }
func sampled(metric string, v float64) func(*turned) {
	return func(t *turned) { t.w.Metrics[metric] = v }
}

// ofMachine gives the rows of a gate on one figure of the machine, which all
// trials of a block share.
func ofMachine(name, metric string, shuts, stays float64) []row[*turned] {
	return []row[*turned]{{metric + " over", sampled(metric, shuts), name},
		{metric + " at the bar", sampled(metric, stays), none}, {metric + " missing", unseen(metric), gate.NoTelemetry}}
}

// turnRows has the rows of the gates on trials with slots.
var turnRows = map[string][]row[*turned]{
	gate.Non2xx: {
		{"one", saw(func(s *httpload.TargetSummary) { s.Non2xx = 1 }), gate.Non2xx},
		{"none", func(*turned) {}, none},
		{"of a receiver that was told to refuse", func(t *turned) { t.first().Non2xx = 1; t.loads[0].asked.Refuses = true },
			none},
	},
	gate.Errors: {
		{"one", saw(func(s *httpload.TargetSummary) { s.Errors = 1 }), gate.Errors},
		{"that were timeouts", saw(func(s *httpload.TargetSummary) { s.Timeouts = 2 }), gate.Timeouts},
	},
	gate.Resets: {{"one", saw(func(s *httpload.TargetSummary) { s.Resets = 1 }), gate.Resets}},
	gate.Mismatches: {
		{"one", saw(func(s *httpload.TargetSummary) { s.Mismatches, s.Mismatch = 1, "107 bytes" }), gate.Mismatches},
		{"none", func(*turned) {}, none},
		{"missing: none was compared", saw(func(s *httpload.TargetSummary) { s.Compared = 0 }), gate.NoTelemetry},
	},
	gate.NoRequests: {
		{"nothing came of a slot", one(gone), gate.NoRequests + " " + gate.Slot},
		{"missing: no slot came to anything", all(gone), nothing},
	},
	gate.RateShort: {
		{"a hundredth and more is unanswered", func(t *turned) { t.rated(); t.slots()[0].Requests -= 21 }, gate.RateShort},
		{"a hundredth is", func(t *turned) { t.rated(); t.slots()[0].Requests -= 20 }, none},
		{"that it cannot be met is what the trial is about",
			func(t *turned) { t.rated(); t.loads[0].asked.Overload = true; t.slots()[0].Requests -= 900 }, none},
		{"missing: no slot came to anything", func(t *turned) { t.rated(); all(gone)(t) }, nothing},
	},
	gate.SendLate: {
		{"over a millisecond", func(t *turned) { t.rated(); t.first().SendLag.P99 = 0.0011 }, gate.SendLate},
		{"a millisecond", (*turned).rated, none},
		{"missing", func(t *turned) { t.rated(); t.first().SendLag = nil }, gate.NoTelemetry},
		{"the rate cannot be met", func(t *turned) { t.rated(); t.loads[0].asked.Overload = true; t.first().SendLag.P99 = 1 },
			none},
	},
	gate.LostWorker: {
		{"one ended, and its clock could not be read", one(func(s *httpload.SlotReport) { s.Unread = []int{3} }),
			gate.LostWorker},
		{"one ended before the connections were counted", func(t *turned) { t.lose() }, gate.LostWorker + " " +
			gate.IdleWorker},
		{"one was never there", func(t *turned) {
			t.lose()
			for i := range t.said.report.Slots {
				if s := &t.said.report.Slots[i]; s.Target == 0 {
					s.ServerCPUS = s.ServerCPUS[:4]
				}
			}
		}, gate.LostWorker + " " + gate.IdleWorker},
		{"all were there", func(*turned) {}, none},
		{"no workers were asked for", func(t *turned) {
			t.loads[0].workers, t.loads[0].asked.Workers = 0, 0
			t.seen[0].Processes = []proc.HeldBy{{PID: 1, Threads: 4, Connections: 100}}
			for i := range t.said.report.Slots {
				if s := &t.said.report.Slots[i]; s.Target == 0 {
					s.ServerCPUS = s.ServerCPUS[1:2]
				}
			}
		}, none},
		{"missing: nobody looked", func(t *turned) { t.seen = nil }, gate.NoTelemetry},
	},
	gate.IdleWorker: {
		{"one of four holds all connections", func(t *turned) {
			for i := range t.seen[0].Processes {
				t.seen[0].Processes[i].Connections = 0
			}
			t.seen[0].Processes[2].Connections = 100
		}, gate.IdleWorker},
		{"all hold some and one uses CPU time",
			all(func(s *httpload.SlotReport) { s.ServerCPUS = []float64{0, 0.08, 0, 0.001, 0} }), gate.IdleWorker},
		{"missing: nobody looked", func(t *turned) { t.seen = nil }, gate.NoTelemetry},
	},
	gate.Connections: {
		{"one too few", func(t *turned) { t.seen[0].Connections, t.seen[0].Processes[1].Connections = 99, 24 },
			gate.Connections},
		{"all", func(*turned) {}, none},
		{"missing: nobody looked", func(t *turned) { t.seen = nil }, gate.NoTelemetry},
	},
	gate.Little: {
		{"more in flight than there can be", saw(func(s *httpload.TargetSummary) { s.Latency.Mean = 0.0131 }), gate.Little},
		{"missing", saw(func(s *httpload.TargetSummary) { s.Latency = nil }), gate.NoTelemetry},
		{"at a fixed rate", func(t *turned) { t.rated(); t.first().Latency.Mean = 5 }, none},
	},
	gate.IdleServers: {
		{"those beside it worked", all(func(s *httpload.SlotReport) { s.IdleCPUS = 0.0021 }), gate.IdleServers},
		{"missing: no slot came to anything", all(gone), nothing},
	},
	gate.Slot: {
		{"missing: one", one(gone), gate.Slot + " " + gate.NoRequests},
	},
	gate.Stopped: {
		{"the server was", func(t *turned) { t.w.Stopped = []string{"server"} }, gate.Stopped},
		{"nobody was", func(*turned) {}, none},
		{"missing: no samples", func(t *turned) { t.w = telemetry.Window{Metrics: map[string]float64{}} }, gate.NoTelemetry},
	},
	gate.Throttled: ofMachine(gate.Throttled, "throttled_s", 0.001, 0),
}

// A fault in one condition's slots closes a gate on its trial only; a
// disturbance of the machine closes it on all trials.
func TestTurnsCloseGates(t *testing.T) {
	shared := []string{gate.Stopped, gate.Throttled}
	for name, rows := range turnRows {
		for _, r := range rows {
			block := newTurned()
			r.spoil(block)
			first, second := block.closed()
			both := slices.Contains(shared, name) || strings.Contains(r.what, "nobody looked")
			for i, reasons := range [][]results.Reason{first, second} {
				want := r.closes
				if i == 1 && !both {
					want = none
				}
				closes(t, fmt.Sprintf("%s, %s, trial %d", name, r.what, i+1), want, func(fail failer) {
					for _, one := range reasons {
						fail(one.Gate, "%s", one.Detail)
					}
				})
			}
		}
	}
}

// A trial's figures come from its own counted slots, and each slot is kept.
func TestFiguresOfTurns(t *testing.T) {
	block := newTurned()
	block.slots()[1].Requests, block.slots()[1].ServerCPUS[2] = 900, 0.03
	block.slots()[0].SilenceS = 0.004
	if first, second := block.closed(); len(first)+len(second) > 0 {
		t.Fatalf("%v %v", first, second)
	}
	got := block.trials[0]
	for name, want := range map[string]float64{
		"requests": 1900, "duration_s": 0.2, "throughput_rps": 9500, "server_cpu_s": 0.17,
		"client_cpu_per_request_s": 0.1 / 1900, "silence_s": 0.004, "slots": 2,
		"response_bytes": 200_000. / 1900, "transfer_bytes_per_s": 1e6, "client_thread_busy_max": 0.5, "processes": 5,
		"workers": 4, "workers_serving": 4, "workers_active": 4,
		"threads_per_worker": 4, "connections_per_worker": 25, "connections_established": 100, "server_rss_bytes": 5 << 20,
		"latency_mean_s": 0.01, "latency_max_s": 0.02,
		"asked_in_flight": 100, "in_flight": 95, "server_workers_busy": 0.17 / 4 / 0.2, "server_steal": 0.03,
		"clock_step_s": 0.01, "idle_servers_busy": 0.01,
	} {
		if v, ok := got.Metrics[name]; !ok || v < want*(1-5e-6) || v > want*(1+5e-6) {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if s := got.Slots; !slices.Equal(s.Requests, []int64{1000, 900}) ||
		!slices.Equal(s.DurationS, []float64{slotS, slotS}) || !slices.Equal(s.FillS, []float64{fillS, fillS}) ||
		!slices.Equal(s.AtS, []float64{0.16, 0.52}) || len(s.TxBytes) > 0 {
		t.Errorf("%+v", s)
	}
	if want := block.engine.plan.clock.at(block.slots()[0].AtNS); !got.StartedAt.Equal(want) {
		t.Errorf("it began at %v, its first slot at %v", got.StartedAt, want)
	}
	if block.trials[1].Metrics["requests"] != 2000 {
		t.Errorf("the other trial has %v requests", block.trials[1].Metrics["requests"])
	}
}

// What of the requests has no answer has no latency, and so the percentiles among them
// are not known.
func TestLatenciesThatAreCutAreAbsent(t *testing.T) {
	for unanswered, known := range map[int64][]string{
		0: {"mean", "p50", "p90", "p99", "p999", "max"}, 2: {"p50", "p90", "p99", "p999"}, 3: {"p50", "p90", "p99"},
		201: {"p50"},
	} {
		block := newTurned()
		block.first().Unanswered = unanswered
		block.closed()
		m := block.trials[0].Metrics
		if m["latency_cut_share"] != float64(unanswered)/2000 {
			t.Errorf("%d unanswered: a share of %v", unanswered, m["latency_cut_share"])
		}
		for _, name := range []string{"mean", "p50", "p90", "p99", "p999", "max"} {
			if _, there := m["latency_"+name+"_s"]; there != slices.Contains(known, name) {
				t.Errorf("%d unanswered of 2000: %s is there: %v", unanswered, name, there)
			}
		}
	}
}

// Over a wire the shapers are read at the slots' edges too.
func TestFiguresOfTurnsOverAWire(t *testing.T) {
	block := newTurned()
	for i := range block.said.report.Slots {
		block.said.report.Slots[i].Wire = &httpload.WireReport{TxBytes: 1_000_000, TxPackets: 700, RxBytes: 100_000,
			RxPackets: 300, Drops: 1}
	}
	for i := range block.loads {
		block.loads[i].lineRate = 100e6
	}
	block.engine.file.Topology.LineRateBps = 100e6
	block.w.Metrics["wire_drops"] = 99 // at other times than the slots'
	block.closed()
	m := block.trials[0].Metrics
	for name, want := range map[string]float64{"wire_tx_bps": 80e6, "wire_rx_bps": 8e6, "line_rate_share": 0.8,
		"wire_tx_packets_per_s": 7000, "wire_rx_packets_per_s": 3000, "wire_drops": 2} {
		if v := m[name]; v < want*(1-1e-8) || v > want*(1+1e-8) {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if s := block.trials[0].Slots; !slices.Equal(s.TxBytes, []int64{1_000_000, 1_000_000}) ||
		!slices.Equal(s.RxBytes, []int64{100_000, 100_000}) {
		t.Errorf("%+v", s)
	}
}

// A failed slot is not kept as one of length 0; the number of slots shows that
// it is missing.
func TestASlotThatFailedHasNoFigures(t *testing.T) {
	block := newTurned()
	gone(block.slots()[1])
	block.closed()
	got := block.trials[0]
	if got.Slots == nil || len(got.Slots.AtS) != 1 || got.Metrics["slots"] != 1 || got.Metrics["requests"] != 1000 ||
		got.Metrics["duration_s"] != slotS {
		t.Errorf("%+v, %v", got.Slots, got.Metrics)
	}
	block = newTurned()
	for _, s := range block.slots() {
		gone(s)
	}
	block.closed()
	if got := block.trials[0]; got.Slots != nil || got.StartedAt.Before(block.engine.plan.clock.began) {
		t.Errorf("no slot came to anything: %+v, from %v", got.Slots, got.StartedAt)
	}
	if other := block.trials[1]; len(other.Slots.AtS) != 2 || len(other.Reasons) > 0 {
		t.Errorf("the other trial: %+v", other)
	}
}

// A fault of a client or a server is recorded in the trials that it affects.
func TestFaultsAreBlamedWhereTheyBelong(t *testing.T) {
	block := newTurned()
	block.blame([]fault{{reason(gate.ServerExited, "it exited"), 0}})
	if first, second := block.trials[0].Reasons, block.trials[1].Reasons; len(first) != 1 ||
		first[0].Detail != "it exited" ||
		len(second) != 1 || second[0].Gate != gate.ServerExited ||
		second[0].Detail != "beside it, fiber_server on 127.0.0.1:9000: it exited" {
		t.Errorf("%v, %v", first, second)
	}
	block = newTurned()
	block.blame([]fault{{reason(gate.LostWorker, "a worker ended"), 1}, {reason(gate.ClientHung, "it hung"), -1}})
	if first, second := gatesOf(block.trials[0]),
		gatesOf(block.trials[1]); !slices.Equal(first, []string{gate.LostWorker, gate.ClientHung}) ||
		!slices.Equal(second, first) {
		t.Errorf("%v, %v", first, second)
	}
}

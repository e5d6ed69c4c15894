package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestARunInTurnsFitsItsDesign(t *testing.T) {
	x := turning(t)
	for _, control := range []bool{false, true} {
		f := turned(t, x, 3, control)
		if err := f.Check(x); err != nil {
			t.Errorf("control %v: %v", control, err)
		}
		text, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		read := &File{}
		if err := Decode(text, SchemaURL, read); err != nil {
			t.Fatal(err)
		}
		if err := read.Check(x); err != nil {
			t.Errorf("control %v, read again: %v", control, err)
		}
		if fmt.Sprintf("%+v", read.Trials[0].Metrics) != fmt.Sprintf("%+v", f.Trials[0].Metrics) || !read.Complete() ||
			read.Figures != nil {
			t.Errorf("it was read as\n%+v, written was\n%+v", read.Trials[0], f.Trials[0])
		}
	}
}

func TestCheckFindsWhatNoRunInTurnsHas(t *testing.T) {
	x := turning(t)
	slots := func(i int, set func(*Slots)) func(*File) { return func(f *File) { set(f.Trials[i].Slots) } }
	for _, c := range []struct {
		name string
		set  func(*File)
		says string // empty: accepted
	}{
		{"no end", func(f *File) { f.Provenance.Ended = "" }, "/provenance/ended: missing"},
		{"a reason for the end, though it ended by itself", func(f *File) { f.Provenance.StoppedEarly = "x" },
			"/provenance/stopped_early: the run ended by itself"},
		{"a reason for the end", func(f *File) { f.Provenance.StoppedEarly, f.Provenance.Ended = "x", Failing }, ""},
		{"another plan", func(f *File) { f.Provenance.Block.Rounds = 5 },
			"/provenance/block: {SlotS:0.1 Rounds:5 WarmupS:0.2 ProfileS:0}, but the design of turning that"},
		{"profiles that the design does not take", func(f *File) { f.Provenance.Block.ProfileS = 2 },
			"/provenance/block: {SlotS:0.1 Rounds:6 WarmupS:0.2 ProfileS:2}, but the design of turning that"},
		{"not applicable, with blocks", func(f *File) { f.NotApplicable, f.Trials, f.Provenance.Ended = "x", nil, "" },
			"/provenance/blocks: 2;"},
		{"not applicable", func(f *File) {
			f.NotApplicable, f.Trials, f.Provenance.Ended, f.Provenance.Blocks = "x", nil, "", 0
		}, ""},
		{"not applicable, and it ended", func(f *File) { f.NotApplicable, f.Trials, f.Provenance.Blocks = "x", nil, 0 },
			"/provenance/ended: \"decided\", but the run could not be made"},

		{"half a block", func(f *File) { f.Trials = f.Trials[:8] },
			"/trials: 8, but 2 complete blocks of 5 conditions have 10"},
		{"a block less than said", func(f *File) { f.Trials = f.Trials[:5] }, "/trials: 5, but 2 complete"},
		{"a repeat", func(f *File) {
			again := f.Trials[9]
			again.Seq = 11
			f.Trials = append(f.Trials, again)
		}, "/trials: 11, but"},
		{"another seed", func(f *File) { f.Provenance.Seed = 12 }, "/conditions/4/control_of: "},
		{"two of a group swapped", func(f *File) {
			f.Trials[0].Condition, f.Trials[1].Condition = f.Trials[1].Condition, f.Trials[0].Condition
		}, `/trials/0: "c4" in block 1, but the seed draws "c3" in block 1 next`},
		{"started before the run", func(f *File) { f.Trials[0].StartedAt = f.Provenance.StartedAt.Add(-1) },
			"/trials/0/started_at: 2026-01-02T03:04:04.999999999Z is before the run began"},
		{"started during the group before", func(f *File) { f.Trials[9].StartedAt = f.Trials[0].StartedAt },
			"/trials/9/started_at: "},
		{"started before others of its group", func(f *File) {
			f.Trials[0].StartedAt, f.Trials[1].StartedAt = f.Trials[1].StartedAt, f.Trials[0].StartedAt
		}, ""},
		{"started at no time", func(f *File) { f.Trials[0].StartedAt = time.Time{} }, "/trials/0/started_at: missing"},
		{"ended after the run", func(f *File) { f.Provenance.FinishedAt = f.Trials[9].StartedAt },
			"/provenance/finished_at: "},

		{"no slots", func(f *File) { f.Trials[0].Slots = nil }, "/trials/0/slots: missing; http_load takes turns"},
		{"empty slots", func(f *File) { f.Trials[0].Slots = &Slots{} }, "/trials/0/slots: none; leave it out"},
		{"a column short", slots(3, func(s *Slots) { s.FillS = s.FillS[:5] }),
			"/trials/3/slots/fill_s: 5 entries of 6 slots"},
		{"a column missing", slots(3, func(s *Slots) { s.Requests = nil }), "/trials/3/slots/requests: 0 entries of 6"},
		{"one direction of the wire", slots(3, func(s *Slots) { s.RxBytes = nil }),
			"/trials/3/slots/wire_rx_bytes: 0 entries of 6"},
		{"fewer than no requests", slots(3, func(s *Slots) { s.Requests[2] = -1 }),
			"/trials/3/slots/requests/2: -1 cannot be"},
		{"an endless slot", slots(3, func(s *Slots) { s.DurationS[1] = math.Inf(1) }),
			"/trials/3/slots/duration_s/1: +Inf cannot be"},
		{"two slots swapped", slots(0, func(s *Slots) { s.AtS[0], s.AtS[1] = s.AtS[1], s.AtS[0] }), "/trials/"},
		{"slots that overlap", slots(1, func(s *Slots) { s.AtS[3] -= 0.05 }), "/trials/1/slots/at_s/3: "},
		{"a slot that filled while another counted", slots(1, func(s *Slots) { s.FillS[3] += 0.05 }),
			"/trials/1/slots/at_s/3: "},

		{"a server of others that worked", func(f *File) { spoil(f, 2, func(s *Slots) { s.IdleCPUS[0] = 0.02 }) },
			"/trials/2/metrics/idle_servers_busy: servers that were not loaded"},
		{"a slot without an answer", func(f *File) { spoil(f, 2, func(s *Slots) { s.Requests[4] = 0 }) },
			"/trials/2/metrics/slot_requests_least: "},
		{"a slot that was too short", func(f *File) { spoil(f, 2, func(s *Slots) { s.DurationS[4] = 0.07 }) },
			"/trials/2/metrics/slot_off_s: "},
		{"a slot too few", func(f *File) { spoil(f, 2, func(s *Slots) { s.cut(5) }) },
			"/trials/2/metrics/slots: 5 slots of 6"},
		{"a slot too few, and it does not count", func(f *File) {
			spoil(f, 2, func(s *Slots) { s.cut(5) })
			f.Trials[2].Valid, f.Trials[2].Reasons = false, []Reason{{Gate: gate.Slot, Detail: "x"}}
		}, ""},
		{"nothing, and it does not count", func(f *File) {
			f.Trials[2] = Trial{Seq: 3, Block: 1, Condition: f.Trials[2].Condition,
				Reasons: []Reason{{Gate: gate.ServerExited, Detail: "x"}}, Bound: "unknown", Metrics: map[string]float64{}}
		}, ""},
		{"slots in a piece", func(f *File) { f.Settings[setting.Generator] = setting.String(setting.Autocannon) },
			"/settings: "},
	} {
		f := turned(t, x, 2, true)
		c.set(f)
		err := f.Check(x)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// spoil changes a trial's slots and recomputes its figures.
func spoil(f *File, i int, set func(*Slots)) {
	t := &f.Trials[i]
	set(t.Slots)
	for name, v := range t.Slots.Metrics(Setup{f.Provenance.Block.SlotS, 1, 1, f.Topology.LineRateBps, nil}) {
		t.Metrics[name] = v
	}
	t.Metrics["latency_mean_s"] = 100 / t.Metrics["throughput_rps"]
	t.Metrics["in_flight"] = 100
	t.Metrics["transfer_bytes_per_s"] = t.Metrics["throughput_rps"] * t.Metrics["response_bytes"]
	_, t.BoundWhy = f.Bound(*t)
}

// cut keeps the first n slots.
func (s *Slots) cut(n int) {
	for _, c := range []*[]float64{&s.AtS, &s.DurationS, &s.FillS, &s.ServerCPUS, &s.ClientCPUS, &s.IdleCPUS} {
		*c = (*c)[:n]
	}
	s.Requests, s.TxBytes, s.RxBytes = s.Requests[:n], s.TxBytes[:n], s.RxBytes[:n]
}

func TestFiguresOfSlotsAreTheirSums(t *testing.T) {
	s := &Slots{
		AtS: []float64{1, 2}, DurationS: []float64{0.5, 0.75}, FillS: []float64{0, 0}, Requests: []int64{100, 400},
		ServerCPUS: []float64{0.5, 0.25}, ClientCPUS: []float64{0.125, 0.125}, IdleCPUS: []float64{0, 0.0125},
		TxBytes: []int64{1000, 250}, RxBytes: []int64{10, 15},
	}
	want := map[string]float64{
		"slots": 2, "requests": 500, "duration_s": 1.25, "throughput_rps": 400, "server_cpu_s": 0.75,
		"server_cpu_per_request_s": 0.0015, "client_cpu_per_request_s": 0.0005,
		"server_cores_busy": 0.3, "client_cores_busy": 0.2, "idle_servers_busy": 0.01, "wire_tx_bps": 8000,
		"wire_rx_bps": 160, "line_rate_share": 0.8,
		"slot_requests_least": 100, "slot_off_s": 0.25, "slot_server_busy_max": 0.5,
	}
	got := s.Metrics(Setup{0.5, 2, 1, 10_000, nil})
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	// An unknown value has no share, and nothing is divided by 0.
	s.TxBytes, s.RxBytes, s.Requests, s.DurationS = nil, nil, []int64{0, 0}, []float64{0, 0}
	got = s.Metrics(Setup{})
	for name, v := range got {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s: %v", name, v)
		}
	}
	for _, name := range []string{"server_cores_busy", "wire_tx_bps", "line_rate_share", "throughput_rps", "slot_off_s",
		"slot_server_busy_max"} {
		if _, ok := got[name]; ok {
			t.Errorf("%s of nothing: %v", name, got[name])
		}
	}
}

func TestFiguresAreCutToTheirDigits(t *testing.T) {
	m := map[string]float64{"a": 4631.798730754293, "b": 123456789012, "c": 1.4259642523866149e-05, "d": 0,
		"e": math.NaN()}
	Round(m)
	if m["a"] != 4631.8 || m["b"] != 123456789012 || m["c"] != 1.42596e-05 || m["d"] != 0 || !math.IsNaN(m["e"]) {
		t.Errorf("%v", m)
	}
	s := &Slots{AtS: []float64{1.23456789}, DurationS: []float64{0.1000004}, FillS: []float64{1e-7},
		ServerCPUS: []float64{0.12345678949}, ClientCPUS: []float64{1}, IdleCPUS: []float64{0}}
	s.Round()
	if s.AtS[0] != 1.234568 || s.DurationS[0] != 0.1 || s.FillS[0] != 0 || s.ServerCPUS[0] != 0.123457 ||
		!slices.Equal(s.ClientCPUS, []float64{1}) {
		t.Errorf("%+v", s)
	}
}

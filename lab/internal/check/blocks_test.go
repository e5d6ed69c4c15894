package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

func TestARunInTurnsFitsItsDesign(t *testing.T) {
	x := turning(t)
	for _, control := range []bool{false, true} {
		f := turned(x, 3, control)
		if err := File(f, x); err != nil {
			t.Errorf("control %v: %v", control, err)
		}
		read := again(t, f)
		if err := File(read, x); err != nil {
			t.Errorf("control %v, read again: %v", control, err)
		}
		if fmt.Sprintf("%+v", read.Trials[0].Metrics) != fmt.Sprintf("%+v", f.Trials[0].Metrics) || !complete(read) ||
			read.Figures != nil {
			t.Errorf("it was read as\n%+v, written was\n%+v", read.Trials[0], f.Trials[0])
		}
	}
}

func TestCheckFindsWhatNoRunInTurnsHas(t *testing.T) {
	x := turning(t)
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string // empty: accepted
	}{
		{"no end", func(f *results.File) { f.Provenance.Ended = "" }, "/provenance/ended: missing"},
		{"another plan", func(f *results.File) { f.Provenance.Block.Rounds = 5 },
			"/provenance/block: {SlotS:0.1 Rounds:5 WarmupS:0.2 ProfileS:0}, but the design of turning that"},
		{"profiles that the design does not take", func(f *results.File) { f.Provenance.Block.ProfileS = 2 },
			"/provenance/block: {SlotS:0.1 Rounds:6 WarmupS:0.2 ProfileS:2}, but the design of turning that"},
		{"half a block", func(f *results.File) { f.Trials = f.Trials[:8] },
			"/trials: 8, but 2 complete blocks of 5 conditions have 10"},
		{"a block less than said", func(f *results.File) { f.Trials = f.Trials[:5] }, "/trials: 5, but 2 complete"},
		{"a repeat", func(f *results.File) {
			again := f.Trials[9]
			again.Seq = 11
			f.Trials = append(f.Trials, again)
		}, "/trials: 11, but"},
		{"another seed", func(f *results.File) { f.Provenance.Seed = 12 }, "/conditions/4/control_of: "},
		{"two of a group swapped", func(f *results.File) {
			f.Trials[0].Condition, f.Trials[1].Condition = f.Trials[1].Condition, f.Trials[0].Condition
		}, `/trials/0: "c4" in block 1, but the seed draws "c3" in block 1 next`},
		{"a server of others that worked", func(f *results.File) {
			f.Trials[2].Slots[0].IdleCPUS = 0.02
			spoil(f, 2, 6)
		},
			"/trials/2/metrics/idle_servers_busy: servers that were not loaded"},
		{"a slot too few", func(f *results.File) { spoil(f, 2, 5) },
			"/trials/2/slots: 5 slots of 6"},
		{"a slot too few, and it does not count", func(f *results.File) {
			spoil(f, 2, 5)
			f.Trials[2].Valid, f.Trials[2].Reasons = false, []results.Reason{{Gate: gate.NoRequests, Detail: "x"}}
		}, ""},
		{"nothing, and it does not count", func(f *results.File) {
			f.Trials[2] = results.Trial{Seq: 3, Block: 1, Condition: f.Trials[2].Condition,
				Reasons: []results.Reason{{Gate: gate.ServerExited, Detail: "x"}}, Bound: "unknown", Metrics: map[string]float64{}}
		}, ""},
	} {
		f := turned(x, 2, true)
		c.set(f)
		err := File(f, x)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// spoil keeps the first n slots of a trial, and recomputes its figures.
func spoil(f *results.File, i, n int) {
	t := &f.Trials[i]
	t.Slots = t.Slots[:n]
	for name, v := range slots.Metrics(t.Slots, slots.Setup{ServerCores: 1, ClientCores: 1,
		LineRateBps: f.Topology.LineRateBps}) {
		t.Metrics[name] = v
	}
	t.Metrics["latency_mean_s"] = 100 / t.Metrics["throughput_rps"]
	t.Metrics["in_flight"] = 100
	t.Metrics["transfer_bytes_per_s"] = t.Metrics["throughput_rps"] * t.Metrics["response_bytes"]
	t.BoundWhy = f.Walls(*t).Why()
}

// complete tells whether every condition of a run has a valid trial in every block.
func complete(f *results.File) bool {
	valid := slices.DeleteFunc(slices.Clone(f.Trials), func(t results.Trial) bool { return !t.Valid })
	return len(valid) == f.Provenance.Blocks*len(f.Conditions)
}

package contest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/load"
)

// A Remote measures servers that run already, from outside: the same slots in the
// same drawn order and the same control, without the servers' processes, and
// without fresh starts.
type Remote struct {
	Options
	Client Client
	Seed   uint64
	Slot   time.Duration
	// Decided is asked after each block. Block is told of each.
	Decided func(*results.File) bool
	Block   func(*results.File, []results.Trial)
	now     func() time.Time // nil: the clock
}

// mostBlocks limits a run, as the results of any run are.
const mostBlocks = 1000

// Measure goes on until the answer is known or the budget is spent. The file that
// it returns has the shape of a run's, and is never written: a run of the journal
// starts its servers itself.
func (r Remote) Measure(ctx context.Context) (*results.File, error) {
	if r.now == nil {
		r.now = time.Now
	}
	began := r.now()
	n := len(r.Servers)
	f := &results.File{
		SchemaVersion: results.Version, Experiment: "compare",
		Topology: results.Topology{Kind: "fleet"}, // server and client are apart, or may be
		Settings: setting.Levels{setting.Generator: setting.String(setting.HTTPLoad)},
		Provenance: &results.Provenance{
			StartedAt: began.UTC().Truncate(time.Second), Seed: r.Seed, Generator: setting.HTTPLoad,
			ClientCPUs: cores.Format(r.Client.CPUs),
			Block:      &results.BlockPlan{SlotS: r.Slot.Seconds(), Rounds: rounds, WarmupS: r.Warmup.Seconds()},
		},
	}
	twin := experiment.DrawControl(n, r.Seed)
	for i := range n + 1 {
		of := i
		if i == n {
			of = twin
		}
		c := results.Condition{ID: fmt.Sprintf("c%d", i+1),
			Levels: setting.Levels{setting.Server: setting.String(serverID(of))}}
		if i == n {
			c.ControlOf = f.Conditions[twin].ID
		}
		f.Conditions = append(f.Conditions, c)
	}
	for block := 1; ; block++ {
		trials, err := r.block(ctx, block, twin)
		if err != nil {
			if ctx.Err() != nil && f.Provenance.Blocks > 0 {
				f.Provenance.Ended = results.Interrupted
			}
			return f, err
		}
		for i := range trials {
			trials[i].Block, trials[i].Seq, trials[i].Condition = block, len(f.Trials)+i+1, f.Conditions[i].ID
		}
		f.Trials = append(f.Trials, trials...)
		f.Provenance.Blocks = block
		if r.Block != nil {
			r.Block(f, trials)
		}
		took := r.now().Sub(began)
		switch {
		case r.Decided != nil && r.Decided(f):
			f.Provenance.Ended = results.Decided
			return f, nil
		case block == mostBlocks:
			f.Provenance.Ended = results.Blocks
			return f, nil
		case took+took/time.Duration(block) > r.Budget:
			f.Provenance.Ended = results.Budget
			return f, nil
		}
	}
}

// block loads each server in turns, on fresh connections.
func (r Remote) block(ctx context.Context, block, twin int) ([]results.Trial, error) {
	n := len(r.Servers)
	group := make([]int, n+1)
	p := load.Plan{TimeoutS: answerWithin.Seconds()}
	for i := range group {
		group[i] = i
		s := r.Servers[min(i, n-1)]
		if i == n {
			s = r.Servers[twin]
		}
		p.Targets = append(p.Targets, r.target(fmt.Sprintf("%s %d", s.Name, i), s.URL[len("http://"):], nil))
		if r.Warmup > 0 {
			p.Slots = append(p.Slots, load.Slot{Target: i, Seconds: r.Warmup.Seconds()})
		}
	}
	for _, i := range experiment.DrawBlock([][]int{group}, rounds, r.Seed, block)[0] {
		p.Slots = append(p.Slots, load.Slot{Target: i, Seconds: r.Slot.Seconds(), Counts: true})
	}
	report, err := run.CarryOut(ctx, r.Client.Root, r.Client.CPUs, p)
	if err != nil {
		return nil, err
	}
	trials := make([]results.Trial, n+1)
	for i := range trials {
		trials[i] = r.trial(p, report, i)
	}
	return trials, nil
}

// trial sums up a server's slots. What only the server's own machine could tell
// is absent, so its bound is the client, or unknown.
func (r Remote) trial(p load.Plan, report *load.Report, i int) results.Trial {
	s := report.Summary.Targets[i]
	m := map[string]float64{}
	t := results.Trial{StartedAt: report.Summary.Start, Metrics: m}
	var requests, bytes, length, cpu, busiest float64
	for _, one := range report.Slots {
		if one.Target != i || !p.Slots[one.Slot].Counts {
			continue
		}
		if one.Failed != "" {
			t.Reasons = append(t.Reasons, results.Reason{Gate: gate.NoRequests, Detail: "a slot gave nothing: " + one.Failed})
			continue
		}
		requests, bytes, length = requests+float64(one.Requests), bytes+float64(one.Bytes), length+one.Seconds
		cpu, busiest = cpu+one.ClientCPUS, busiest+one.BusiestThreadS
	}
	if why := fault(s); why != "" && len(t.Reasons) == 0 {
		t.Reasons = append(t.Reasons, results.Reason{Gate: gate.Errors, Detail: why})
	}
	if length > 0 {
		m[throughput], m["requests"], m["duration_s"] = requests/length, requests, length
		m["client_thread_busy_max"] = busiest / length
		m["client_cores_busy"] = cpu / length / float64(max(len(r.Client.CPUs), 1))
	}
	if requests > 0 {
		m["response_bytes"] = bytes / requests
	}
	maps.Copy(m, s.Figures())
	if s.SendLag != nil {
		m["send_lag_p99_s"] = s.SendLag.P99
	}
	if why := report.Tally(&p, i); why != "" {
		t.Reasons = append(t.Reasons, results.Reason{Gate: gate.Misreport, Detail: why})
	}
	asked := gate.Asked{Generator: setting.HTTPLoad, Connections: r.Connections, Pipelining: r.Pipelining,
		Rate:    float64(r.Rate),
		WindowS: float64(rounds) * r.Slot.Seconds(), SlotS: r.Slot.Seconds(), Rounds: rounds}
	for _, name := range []string{gate.RateShort, gate.SendLate, gate.Misreport, gate.Little, gate.Window} {
		for _, found := range gate.Hold(name, m, asked) {
			if !found.Missing() {
				t.Reasons = append(t.Reasons, results.Reason{Gate: found.Gate, Detail: found.Detail})
			}
		}
	}
	t.Valid = len(t.Reasons) == 0
	t.Bound = gate.BoundUnknown
	if e := gate.EvidenceOf(m, 0); slices.Contains(e.Walls().Met, gate.BoundClientCPU) {
		t.Bound = gate.BoundClientCPU
	}
	if math.IsNaN(m[throughput]) {
		t.Valid = false
	}
	return t
}

// Usable refuses machines on which nothing is measured.
func Usable() error {
	if runtime.GOOS != "linux" {
		return errors.New("the lab measures on Linux only: it reads /proc and pins cores")
	}
	return nil
}

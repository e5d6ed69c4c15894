package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/strict"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A group is a set of conditions whose servers are up at once.
type group struct {
	run      *Run
	conds    []int // indexes of conditions, in the order drawn for the first round
	loads    []load
	profiles []profile.Set
	gauged   []float64 // the client's part in a server's CPU time; 0: not gauged
}

// group measures conditions that can be up together, between two loops on the server's core, which
// tell its speed. A slow core refuses nothing: it slows all of them alike. Its trials count from
// seq on.
//
// A condition's name decides nothing else: the drawn order of the block decides which server
// starts first, and which has which port and place with the client. So servers that do not differ
// are exchangeable, which package compare relies on.
func (r *Run) group(ctx context.Context, sequence []int, seq int) (trials []results.Trial, err error) {
	members := experiment.Members(sequence)
	n := len(members)
	g := &group{run: r, conds: sequence[:n], profiles: make([]profile.Set, n), gauged: make([]float64, n)}
	for i, c := range g.conds {
		l := r.load(r.File.Conditions[c].Levels, r.Port+i)
		g.loads = append(g.loads, l)
		if l.at.Sockets != "" { // those of ended processes in it do no harm
			if err := os.MkdirAll(r.Root.Path(l.at.Sockets), 0o700); err != nil {
				return nil, err
			}
		}
	}
	before, err := r.speed()
	if err != nil {
		return nil, err
	}
	// Conditions of a group have the same kernel settings, so those of the first serve for all.
	back, err := turn(ctx, string(r.Root), r.link, r.knobs(g.loads[0].levels))
	if err != nil {
		return nil, err
	}
	measured, err := g.block(ctx, strict.Map(sequence, func(c int) int { return slices.Index(g.conds, c) }))
	if err = joinOnOneLine(err, back()); err != nil {
		return nil, err
	}
	after, err := r.speed()
	for _, c := range members {
		i := slices.Index(g.conds, c)
		t := g.trial(i, measured[i])
		t.Block, t.Seq = r.File.Provenance.Blocks+1, seq+len(trials)
		t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before, after
		slots.Round(t.Metrics)
		if t.Valid && g.profiles[i] != nil {
			r.taken[t.Seq] = g.profiles[i]
		}
		trials = append(trials, t)
	}
	return trials, err
}

// speed times the loop once, in seconds. The file has the fastest of the run.
func (r *Run) speed() (float64, error) {
	seen, err := machine.TimeLoop(r.Split.Server)
	if err != nil {
		return 0, fmt.Errorf("the calibration loop: %w", err)
	}
	if fastest := &r.File.Provenance.CalibrationS; *fastest == 0 || seen.Seconds() < *fastest {
		*fastest = seen.Seconds()
	}
	return seen.Seconds(), nil
}

// block has the engine measure the group.
func (g *group) block(ctx context.Context, order []int) ([]measure.Trial, error) {
	r, l := g.run, g.loads[0]
	dir := string(r.Root)
	serverOn, clientOn := l.Split.On()
	timing := r.Experiment.Block
	plan := &measure.Plan{Slot: seconds(timing.SlotS), Rounds: timing.Rounds, Link: r.link, Dir: dir, Self: r.Lab,
		Loader:     []string{r.Root.Path(".tools", "bin", host.Loader)},
		ServerCPUs: serverOn, ClientCPUs: clientOn,
		LineRateBps: r.Experiment.Topology.LineRateBps, Clock: r.clock, Threads: l.threads(), Seed: r.Seed,
		Target: func(i int, _ string) httpload.Target { return g.loads[i].target() }}
	var pieces []measure.Piece
	for _, l := range g.loads {
		plan.Subjects = append(plan.Subjects, l.subject(r.link))
		plan.Asked, plan.Warmup = append(plan.Asked, l.asked), append(plan.Warmup, seconds(r.Experiment.Block.WarmupS))
		pieces = append(pieces, l.piece())
	}
	plan.Extras = g.extras(plan.Subjects)
	if l.asked.Generator == setting.HTTPLoad {
		return plan.Block(ctx, order)
	}
	return plan.Pieces(ctx, pieces)
}

// trial is the results file's record of what the engine measured.
func (g *group) trial(i int, m measure.Trial) results.Trial {
	f := g.run.File
	t := results.Trial{Condition: f.Conditions[g.conds[i]].ID, StartedAt: m.StartedAt, Bound: gate.BoundUnknown, Metrics: m.Metrics,
		Slots: m.Slots, Below: m.Below, Resolution: m.Resolution}
	for _, note := range m.Notes {
		if !slices.Contains(f.Warnings, note) {
			f.Warnings = append(f.Warnings, note)
		}
	}
	for _, why := range m.Faults {
		if g.run.inFleet() { // whose address is nobody else's
			why.Detail = strings.ReplaceAll(why.Detail, g.run.Fleet.Host(), "SERVER")
		}
		t.Reasons = append(t.Reasons, results.Reason{Gate: why.Name, Detail: why.Detail})
	}
	if len(t.Reasons) == 0 && g.profiles[i] != nil {
		take(&t, g.profiles[i], m.Extra)
	}
	if g.gauged[i] > 0 {
		t.Metrics[receiveShare] = math.Round(g.gauged[i]*1e4) / 1e4 // to a hundredth of a percent, which is finer than clock ticks
	}
	f.Conclude(&t)
	return t
}

// extras are the windows in which servers are profiled, or gauged.
func (g *group) extras(subjects []measure.Subject) (all []measure.Extra) {
	x := g.run.Experiment
	if x.Profile != nil {
		window := seconds(x.ProfileS())
		all = append(all, measure.Extra{Window: window, Due: func(int) bool { return true },
			Do: func(ctx context.Context, i int) (err error) {
				g.profiles[i], err = profile.Take(ctx, g.loads[i].sockets(), g.loads[i].workers(), window)
				return err
			}})
	}
	if x.OwnWork && kernel.Usable() == "" {
		all = append(all, measure.Extra{Window: gaugeFor, Due: g.ungauged,
			Do: func(ctx context.Context, i int) error { // leave out what has no gauge
				if stacks, err := kernel.Record(ctx, subjects[i].CPU().PIDs, gaugeFor/2); err == nil {
					g.gauged[i] = kernel.ReceiveShare(stacks)
				}
				return nil
			}})
	}
	return all
}

// Once a run, each server is loaded alone for gaugeFor, to gauge how much of its CPU time goes into
// handing packets to the client. The lab tries that in gaugings blocks, since each try takes time
// from them.
const (
	gaugeFor = 2 * time.Second
	gaugings = 2
)

// receiveShare is the metric that a gauge gives.
const receiveShare = "client_receive_share"

// ungauged reports whether a condition has still to be gauged.
func (g *group) ungauged(i int) bool {
	f := g.run.File
	c := f.Conditions[g.conds[i]]
	return c.ControlOf == "" && f.Provenance.Blocks < gaugings && !slices.ContainsFunc(f.Trials, func(t results.Trial) bool {
		return t.Condition == c.ID && t.Metrics[receiveShare] > 0
	})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// pprof is the directory of the server's own sockets, below the root. One lab runs at a time, so a port's is
// one server's.
func (l load) pprof() string { return filepath.Join(".tools", "scratch", "pprof", l.at.Port) }

// sockets is that directory by its shortest path, since the length of a unix socket's path is limited.
func (l load) sockets() string {
	dir := l.Root.Path(l.pprof())
	wd, _ := os.Getwd()
	if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
		return rel
	}
	return dir
}

// take adds the profiles to the trial, with the throughput of their window.
func take(t *results.Trial, set profile.Set, extra []httpload.SlotReport) {
	for _, kind := range profile.Kinds() {
		p, err := profile.Analyse(kind, set[kind])
		if err != nil {
			t.Reasons = append(t.Reasons, results.Reason{Gate: gate.ProfileFailed, Detail: fmt.Sprintf("the %s profile: %v", kind, err)})
			return
		}
		t.Profiles = append(t.Profiles, p)
	}
	if before := t.Metrics["throughput_rps"]; before > 0 && len(extra) > 0 && extra[0].Seconds > 0 {
		t.Metrics["profiled_throughput_share"] = float64(extra[0].Requests) / extra[0].Seconds / before
	}
}

// Raw merges the profiles of each condition's valid trials, names them in the
// file, and returns their archive; nil if there are none.
func (r *Run) Raw() ([]byte, error) {
	out := map[string][]byte{}
	for i := range r.File.Conditions {
		cond := &r.File.Conditions[i]
		var of []profile.Set
		for _, t := range r.File.Trials {
			if set := r.taken[t.Seq]; set != nil && t.Condition == cond.ID {
				of = append(of, set)
			}
		}
		if len(of) == 0 {
			continue
		}
		merged, err := profile.Merge(of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cond.Levels.Key(), err)
		}
		for _, kind := range profile.Kinds() {
			var b bytes.Buffer
			_ = merged[kind].Write(&b) // to memory, where nothing fails
			name := fmt.Sprintf("%s/%s/%s-%s.pb.gz", r.File.Experiment, r.File.Run, cond.ID, kind)
			out[name] = b.Bytes()
			cond.Profiles = append(cond.Profiles,
				results.RawProfile{Kind: kind, File: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(b.Bytes())), Trials: len(of)})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return results.PackRaw(out)
}

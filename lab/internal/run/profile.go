package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// pprofDir is the directory, below the root, of the servers' profile sockets.
// One lab runs at a time, so one directory will do.
var pprofDir = filepath.Join(".tools", "scratch", "pprof")

// pprof is the directory of the server's own sockets, below the root.
func (l load) pprof() string { return filepath.Join(pprofDir, strconv.Itoa(l.port)) }

// freshSockets empties the group's socket directories, so that no socket of an
// earlier process is left.
func freshSockets(loads []load) error {
	if loads[0].profile == 0 {
		return nil // nor are the others profiled
	}
	if err := os.RemoveAll(filepath.Join(loads[0].dir, pprofDir)); err != nil {
		return err
	}
	for _, l := range loads {
		if err := os.MkdirAll(filepath.Join(l.dir, l.pprof()), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// sockets is the server's directory by its shortest path, since the length of a
// unix socket's path is limited.
func (l load) sockets() string {
	dir := filepath.Join(l.dir, l.pprof())
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
			return rel
		}
	}
	return dir
}

// defaultProfileTime is the length of a profile where the design does not give one.
const defaultProfileTime = time.Second

// profileFor is how long each server is profiled; 0 where no profiles are
// taken.
func (p Plan) profileFor() time.Duration {
	if s := p.Experiment.ProfileS(); s > 0 || !p.Profile {
		return seconds(s)
	}
	return defaultProfileTime
}

// leadOf is how long a profiled window is loaded after its warm-up before profiles
// are requested: they must begin after the client surely measures. http_load reports
// the end of its warm-up, and measures once each connection has had its first answer.
// For other generators the begin is not known to a tenth of a second.
func leadOf(generator string, wire bool) time.Duration {
	switch {
	case generator != setting.HTTPLoad:
		return 600 * time.Millisecond
	case wire:
		return fillWire
	}
	return fillLoopback
}

// restAfter is how long a window is loaded after its profiles, which must end before the
// client stops: they begin only when all processes of a busy server have answered,
// which was seen to take four tenths of a second.
const restAfter = 600 * time.Millisecond

// profiled loads each of the group's servers once more and takes all its
// profiles meanwhile, if its trial is valid. Servers are loaded one after the
// other in the order of their first turns, or at once if they were measured at
// once. An error ends the run.
func (g *group) profiled(ctx context.Context) error {
	var due []int
	for _, i := range g.sequence {
		if !slices.Contains(due, i) && g.loads[i].profile > 0 && len(g.trials[i].Reasons) == 0 {
			due = append(due, i)
		}
	}
	sets, found := make([]*capture.Set, len(due)), make([][]fault, len(due))
	one := func(ctx context.Context, k int) (err error) {
		sets[k], found[k], err = g.profile(ctx, due[k])
		return err
	}
	if g.loads[0].rotates() {
		for k := range due {
			if err := one(ctx, k); err != nil {
				return err
			}
			if len(found[k]) > 0 {
				break
			}
		}
	} else if err := atOnce(ctx, len(due), one); err != nil {
		return err
	}
	for k, i := range due {
		if g.blame(found[k]); sets[k] != nil {
			g.profiles[i] = sets[k]
		}
	}
	return nil
}

// profile loads one member for its profiled window and adds the profiles to its
// trial. The trial's own metrics were measured before, without profiling. The
// faults returned are those of servers.
func (g *group) profile(ctx context.Context, i int) (taken *capture.Set, faults []fault, err error) {
	l, t, fail := g.loads[i], &g.trials[i], g.failer(i)
	sources, err := capture.Sockets(l.sockets())
	if err != nil {
		fail(gate.ProfileFailed, "%v", err)
		return nil, nil, nil
	}
	var set *capture.Set
	var failed error
	load, found, over, err := g.meanwhile(ctx, i, l.profile+restAfter, written, func(ctx context.Context) {
		set, failed = capture.Capture(ctx, sources, l.profile)
	})
	if err != nil {
		return nil, nil, err
	}
	for _, f := range found {
		f.Detail = "in the profiled window: " + f.Detail
		switch {
		case f.of < 0: // the client loaded no other server
			t.Reasons = append(t.Reasons, f.Reason)
			continue
		case !l.rotates():
			f.of = i
		}
		faults = append(faults, f)
	}
	if len(found) > 0 {
		return nil, faults, nil
	}
	switch {
	case !over:
		fail(gate.ProfileFailed, "the client ended before the profiles of its window were taken")
		return nil, nil, nil
	case failed != nil:
		fail(gate.ProfileFailed, "%v", failed)
		return nil, nil, nil
	}
	r, err := load()
	if err != nil {
		fail(gate.ClientFailed, "in the profiled window: %v", err)
		return nil, nil, nil
	}
	for _, f := range r.faults {
		fail(f.Gate, "in the profiled window: %s", f.Detail)
	}
	l.apart(set, r, fail)
	if l.take(t, set, r.rps, fail); len(t.Reasons) == 0 {
		taken = set
	}
	return taken, nil, nil
}

// meanwhile loads one member's server alone, and calls do as soon as a profile may begin;
// the load then counts for some time. over is false if the client ended before do began,
// or if do took longer than patience after the load. What do has set must not be read
// then, since it may still run.
func (g *group) meanwhile(ctx context.Context, i int, counts, patience time.Duration, do func(context.Context)) (
	load func() (loaded, error), found []fault, over bool, err error) {
	l := g.loads[i]
	lead := leadOf(l.generator, l.link.NetPID > 0)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	begun, done := make(chan struct{}), make(chan struct{})
	load, found, err = g.alone(ctx, i, lead, lead+counts, func(after time.Duration) {
		select {
		case <-time.After(after):
			close(begun)
			do(within)
			close(done)
		case <-within.Done():
		}
	})
	if err != nil || len(found) > 0 || !isClosed(begun) {
		return load, found, false, err
	}
	select {
	case <-done:
		over = true
	case <-time.After(patience):
	}
	return load, nil, over, nil
}

// alone loads one member's server alone. begin is called as soon as it is known
// after what time profiles may be taken: lead after the load counts. What the load
// came to is read later, since profiles are awaited first.
func (g *group) alone(ctx context.Context, i int, lead, counts time.Duration,
	begin func(after time.Duration)) (load func() (loaded, error), found []fault, err error) {
	l, warmup := g.loads[i], max(g.loads[i].warmup, leastWarmup)
	if !l.rotates() { // each other piece has a client of its own
		c := client{dir: l.dir, link: l.link, argv: l.lasting(warmup, counts), limit: warmup + counts + l.grace,
			began: func(int) { go begin(warmup + lead) }}
		printed, found, err := c.drive(ctx, g.servers[i:i+1])
		return func() (loaded, error) {
			r, err := l.parse(printed)
			if err != nil {
				return loaded{}, err
			}
			return loaded{r.Start, r.Finish, r.Metrics["throughput_rps"], l.faults(r)}, nil
		}, found, err
	}
	plan := g.planAlone(i, warmup, counts)
	c := g.rotating(plan)
	c.first = func() { go begin(lead) }
	printed, found, err := c.drive(ctx, g.servers)
	return func() (loaded, error) { return l.window(read(plan, printed)) }, found, err
}

// written is how long a server may take, after the load is over, to send
// profiles whose window has ended.
const written = 5 * time.Second

// leastWarmup gives every profiled window a warm-up, since the client reports
// its end.
const leastWarmup = 50 * time.Millisecond

// planAlone is the client's plan for one member's profiled window.
func (g *group) planAlone(i int, warmup, counts time.Duration) httpload.Plan {
	p := g.plan(counts)
	p.Targets, p.Slots = p.Targets[i:i+1], nil
	if warmup > 0 {
		p.Slots = append(p.Slots, httpload.Slot{Seconds: warmup.Seconds()})
	}
	p.Slots = append(p.Slots, httpload.Slot{Seconds: counts.Seconds(), Counts: true})
	return p
}

// A loaded is what a client reported of a profiled window.
type loaded struct {
	start, finish time.Time
	rps           float64
	faults        []generator.Fault
}

// window is what a plan of one target came to, unless its round cannot be read.
func (l load) window(r round, err error) (loaded, error) {
	if err != nil {
		return loaded{}, err
	}
	s, t := r.of(0)[0], r.report.Summary.Targets[0] // one slot counts
	if s.Failed != "" {
		return loaded{}, errors.New(s.Failed)
	}
	from, to := r.counted()
	of := generator.Of(l.clock.at(from), l.clock.at(to),
		generator.Counts{OK: float64(s.Requests), Non2xx: float64(t.Non2xx), Errors: float64(t.Errors),
			Timeouts: float64(t.Timeouts), Resets: float64(t.Resets), Mismatches: float64(t.Mismatches),
			Mismatch: t.Mismatch})
	return loaded{of.Start, of.Finish, float64(s.Requests) / s.Seconds, of.Faults}, nil
}

// take adds the profiles to the trial.
func (l load) take(t *results.Trial, set *capture.Set, rps float64, fail failer) {
	for _, kind := range profiles.Kinds() {
		p, err := profiles.Analyse(kind, set.Merged[kind])
		if err != nil {
			fail(gate.ProfileFailed, "the %s profile: %v", kind, err)
			return
		}
		t.Profiles = append(t.Profiles, p)
	}
	m := t.Metrics
	m["profile_spread_s"] = set.Spread.Seconds()
	if before := m["throughput_rps"]; before > 0 {
		m["profiled_throughput_share"] = rps / before
	}
}

// raw merges the profiles of each condition's valid trials, names them in the
// file, and returns their bytes by file name.
func (e *engine) raw() (map[string][]byte, error) {
	out := map[string][]byte{}
	for i := range e.file.Conditions {
		cond := &e.file.Conditions[i]
		cond.Profiles = nil // those of the run so far, merged anew
		for _, kind := range profiles.Kinds() {
			var of []*profile.Profile
			for _, t := range e.file.Trials {
				if set := e.taken[t.Seq]; set != nil && t.Valid && t.Condition == cond.ID {
					of = append(of, set.Merged[kind])
				}
			}
			if len(of) == 0 {
				continue
			}
			merged, err := profile.Merge(of)
			if err != nil {
				return nil, fmt.Errorf("%s, %s profile: %w", cond.Levels.Key(), kind, err)
			}
			var b bytes.Buffer
			if err := merged.Write(&b); err != nil {
				return nil, err
			}
			sum := sha256.Sum256(b.Bytes())
			name := fmt.Sprintf("%s/%s/%s-%s.pb.gz", e.file.Experiment, e.file.Run, cond.ID, kind)
			out[name] = b.Bytes()
			cond.Profiles = append(cond.Profiles,
				results.RawProfile{Kind: kind, File: name, SHA256: hex.EncodeToString(sum[:]), Trials: len(of)})
		}
	}
	return out, nil
}

// ProfileTime is about how long profiling one condition takes.
func ProfileTime(x *experiment.Experiment) time.Duration {
	p, b := Plan{Experiment: x, Profile: true}, x.Block
	return groupOverhead + seconds(b.WarmupS+float64(b.Rounds)*b.SlotS) + p.profiledFor(x.Conditions()[0])
}

// profiledFor is about how long a condition's profiled window takes, with its
// warm-up and the client's start.
func (p Plan) profiledFor(levels setting.Levels) time.Duration {
	x := p.Experiment
	lead := leadOf(experiment.Generator(x.Fixed().With(levels)), p.onWire())
	return clientStart + max(seconds(x.Block.WarmupS), leastWarmup) + lead + p.profileFor() + restAfter
}

// clientStart is about how long it takes to start and end a client once more.
const clientStart = 100 * time.Millisecond

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
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// pprofDir is where the server's processes put their sockets, from the root:
// one lab runs at a time, so one place will do.
var pprofDir = filepath.Join(".tools", "scratch", "pprof")

// What the load of a profiled window takes beyond it: the profiles begin when
// the slower generator has surely begun to measure, and end before the quicker
// one has ended.
const (
	profileLead = 600 * time.Millisecond
	profileRest = 600 * time.Millisecond
)

// freshSockets makes that place anew, so that no dead process's socket is left.
func freshSockets(root string) error {
	dir := filepath.Join(root, pprofDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// sockets is that place by its shortest path, since a unix socket's is bounded.
func (l load) sockets() string {
	dir := filepath.Join(l.dir, pprofDir)
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
			return rel
		}
	}
	return dir
}

// profiled loads the server once more, takes all profiles meanwhile, and puts
// what they came to into the trial. The trial's own metrics are of the window
// before, which nothing was taken in. An error ends the run.
func (l load) profiled(ctx context.Context, t *results.Trial, server *server, fail failer) error {
	sources, err := profiles.Sockets(l.sockets())
	if err != nil {
		fail(gate.ProfileFailed, "%v", err)
		return nil
	}
	argv := slices.Clone(l.client)
	lasts := l.window + profileLead + profileRest
	for i, a := range argv {
		if a == "--duration" {
			argv[i+1] = number(lasts.Seconds())
		}
	}
	var out bytes.Buffer
	client, err := leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Client(argv), Stdout: &out})
	if err != nil {
		return fmt.Errorf("the client did not start: %w", err)
	}
	defer client.Stop(client.Pid(), time.Second)

	ctx, cancel := context.WithTimeout(ctx, l.limit+profileLead+profileRest)
	defer cancel()
	var set *profiles.Set
	var failed error
	select {
	case <-time.After(l.warmup + profileLead):
		set, failed = profiles.Capture(ctx, sources, l.window)
	case <-client.Done():
	case <-ctx.Done():
	}
	select {
	case <-client.Done():
	case <-server.proc.Done():
	case <-ctx.Done():
	}
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		fail(gate.ClientHung, "the client had not ended %v after it should have, in the profiled window", 15*time.Second)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case server.gone():
		fail(gate.ServerExited, "the server exited in the profiled window: %s", server.lastWords())
		return nil
	case client.Err() != nil:
		fail(gate.ClientFailed, "the client failed in the profiled window (%v): %s", client.Err(), client.LastLine())
		return nil
	case failed != nil:
		fail(gate.ProfileFailed, "%v", failed)
		return nil
	case set == nil:
		fail(gate.ProfileFailed, "the client ended before the profiles of its window were begun")
		return nil
	}
	r, err := l.parse(out.Bytes())
	if err != nil {
		fail(gate.ClientFailed, "in the profiled window: %v", err)
		return nil
	}
	for _, f := range l.faults(r) {
		fail(f.Gate, "in the profiled window: %s", f.Detail)
	}
	l.apart(set, r, fail)
	return l.take(t, set, r.Metrics["throughput_rps"], fail)
}

// take puts what the profiles came to into the trial.
func (l load) take(t *results.Trial, set *profiles.Set, rps float64, fail failer) error {
	for _, kind := range profiles.Kinds() {
		p, err := profiles.Analyse(kind, set.Merged[kind])
		if err != nil {
			fail(gate.ProfileFailed, "the %s profile: %v", kind, err)
			return nil
		}
		t.Profiles = append(t.Profiles, p)
	}
	m := t.Metrics
	m["profile_spread_s"] = set.Spread.Seconds()
	if before := m["throughput_rps"]; before > 0 {
		m["profiled_throughput_share"] = rps / before
	}
	if block, ok := t.Profile(profiles.Block); ok && block.DurationS > 0 {
		m["goroutines_parked"], m["block_events"], m["block_stacks"] = profiles.Parked(block), block.Events, float64(block.Stacks)
	}
	if heap, ok := t.Profile(profiles.Heap); ok {
		m["live_heap_bytes"] = heap.Total
	}
	if l.keep != nil {
		l.keep(set)
	}
	return nil
}

// raw merges the profiles of each condition's valid trials, names them in the
// file, and returns their bytes by that name.
func (m *measuring) raw() (map[string][]byte, error) {
	out := map[string][]byte{}
	for i := range m.file.Conditions {
		cond := &m.file.Conditions[i]
		for _, kind := range profiles.Kinds() {
			var of []*profile.Profile
			for _, t := range m.file.Trials {
				if set := m.taken[t.Seq]; set != nil && t.Valid && t.Condition == cond.ID {
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
			name := fmt.Sprintf("%s/%s/%s-%s.pb.gz", m.file.Experiment, m.file.Run, cond.ID, kind)
			out[name] = b.Bytes()
			cond.Profiles = append(cond.Profiles, results.RawProfile{Kind: kind, File: name, SHA256: hex.EncodeToString(sum[:]), Trials: len(of)})
		}
	}
	return out, nil
}

// A Profiled is one condition's profiles, taken by themselves.
type Profiled struct {
	Levels setting.Levels
	Before float64 // requests a second without profiles, just before
	During float64 // and while they were taken
	Set    *profiles.Set
	Shares []profiles.Profile
}

// Profiles loads each condition once and profiles its server. As Syscalls it is
// no run: one window decides nothing.
func Profiles(ctx context.Context, p Plan, each func(Profiled) error) error {
	x := p.Experiment
	if x.Null() {
		return errors.New("the null server has no profiles")
	}
	if why := p.unreachable(); why != "" {
		return errors.New(why)
	}
	link, err := p.up()
	if err != nil {
		return err
	}
	defer link.Down()
	if p.found, err = p.find(); err != nil {
		return err
	}
	if err := link.Watch(string(p.Root), append(slices.Clone(p.Lab), "watch-shaper")); err != nil {
		return err
	}
	p.Profile = true
	for _, levels := range x.Conditions() {
		done := Profiled{Levels: levels}
		l := p.load(link, x.Fixed().With(levels))
		l.keep = func(s *profiles.Set) { done.Set = s }
		t, err := l.trial(ctx)
		switch {
		case err != nil:
		case done.Set == nil && len(t.Reasons) > 0:
			err = errors.New(t.Reasons[0].Detail)
		case done.Set == nil:
			err = errors.New("no profile was taken")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
		done.Before = t.Metrics["throughput_rps"]
		done.During = done.Before * t.Metrics["profiled_throughput_share"]
		done.Shares = t.Profiles
		if err := each(done); err != nil {
			return err
		}
	}
	return nil
}

// ProfileEstimate is about how long one condition takes to be profiled.
func ProfileEstimate(x *experiment.Experiment, size string) time.Duration {
	s := x.Sizes[size]
	return overhead + time.Duration((s.WarmupS+s.DurationS)*float64(time.Second)) + profiledFor(s.WarmupS, s.DurationS)
}

// profiledFor is how long the profiled window and what surrounds it take.
func profiledFor(warmup, duration float64) time.Duration {
	return time.Duration((warmup+duration)*float64(time.Second)) + profileLead + profileRest
}

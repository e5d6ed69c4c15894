// Package run carries out an experiment: it makes the topology, and for each
// trial starts the server, loads it, watches both, and decides whether the
// trial counts.
//
// Its stance: a trial is fresh (its own server process), blocked (every
// condition once a block, in an order drawn from a recorded seed), and judged
// by gates that know nothing of what claims hope for. Invalid trials stay in the
// file; a bounded number of them is repeated, in their own block or, where that
// is over, with a whole new one. One condition, drawn by the same
// seed, is measured twice under two names: the run's A/A control.
//
// Its limit: one machine, one client. Several hosts are not driven from here.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/oneline"
	"github.com/line-rate/line-rate/lab/internal/order"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/speed"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A Plan is one run to be made.
type Plan struct {
	Root       journal.Root
	Experiment *experiment.Experiment
	Size       string
	Seed       uint64
	Port       int
	Split      cores.Split
	Host       *host.Profile
	// Lab is the command that the lab itself can be started by, to read a
	// wire's counters from inside its namespaces.
	Lab []string
	// Profile has the server profiled although the experiment does not ask for it.
	Profile bool

	found *provenance.Programs // before the run

	wall wallClock
}

// A wallClock shows the wall clock's time as it was when the run began, moved on by the
// monotonic clock: one that is set back in mid-run must not put trials before
// those that they came after.
type wallClock struct{ began time.Time }

func (c wallClock) now() time.Time { return c.began.Add(time.Since(c.began)).UTC() }

// A Made is a run that was made: its file, and the raw profiles that it names,
// by path from data/profiles.
type Made struct {
	File *results.File
	Raw  map[string][]byte
}

// generators names the load generators of an experiment, with versions.
func generators(x *experiment.Experiment, tools map[string]string) string {
	var names []string
	for _, levels := range x.Conditions() {
		if name := versioned(generatorOf(x.Fixed().With(levels)), tools); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// versioned is a load generator's name with its version, where that is known.
func versioned(name string, tools map[string]string) string {
	return strings.TrimSpace(name + " " + tools[name])
}

// A Watcher is told how a run goes on.
type Watcher interface {
	// Begin names the run and how many trials are planned, of about how long.
	Begin(x *experiment.Experiment, size string, trials int, each time.Duration)
	// Trial is called before each trial.
	Trial(seq, block int, levels setting.Levels)
	// Result is called after each trial.
	Result(t results.Trial)
}

// A slot is one trial to be made.
type slot struct {
	block int
	cond  int
}

// slots are the trials to be made, in the order drawn for the seed.
func slots(conditions, blocks int, seed uint64) []slot {
	var out []slot
	for b, block := range order.Draw(conditions, blocks, seed) {
		for _, c := range block {
			out = append(out, slot{b + 1, c})
		}
	}
	return out
}

// Do makes the run. An error means that there is nothing to write: a run that
// was interrupted, or could not begin. What goes wrong within a trial is in
// the trial.
func Do(ctx context.Context, p Plan, w Watcher) (*Made, error) {
	p.wall = wallClock{time.Now()}
	x := p.Experiment
	size := x.Sizes[p.Size]
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name, Source: results.Measured,
		Hosts:    results.Hosts{Server: p.Host.ID, Client: p.Host.ID},
		Topology: results.Topology(x.Topology),
		Settings: x.Fixed(), Conditions: []results.Condition{}, Trials: []results.Trial{},
	}
	tools := provenance.Tools(string(p.Root))
	commit, dirty := provenance.Commit(string(p.Root))
	f.Provenance = &results.Provenance{
		StartedAt: p.wall.now().Truncate(time.Second), Commit: commit, Dirty: dirty,
		ExperimentSHA256: x.SHA256, Size: p.Size, Blocks: size.Blocks, WarmupS: size.WarmupS, DurationS: size.DurationS,
		Seed: p.Seed, Generator: generators(x, tools),
		ServerCPUs: cores.Format(p.Split.Server), ClientCPUs: cores.Format(p.Split.Client),
		Tools: tools, Kernel: provenance.Kernel(),
	}
	f.Run = f.Provenance.StartedAt.Format("20060102t150405z") + "-" + p.Host.ID
	finish := func(raw map[string][]byte) (*Made, error) {
		f.Provenance.FinishedAt = p.wall.now().Truncate(time.Second)
		return &Made{f, raw}, nil
	}

	if why := p.unreachable(); why != "" {
		f.NotApplicable = why
		w.Begin(x, p.Size, 0, 0)
		return finish(nil)
	}
	link, err := p.up()
	var unavailable topology.Unavailable
	if errors.As(err, &unavailable) {
		f.NotApplicable = fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, oneline.Of(unavailable.Why, longestReason))
		w.Begin(x, p.Size, 0, 0)
		return finish(nil)
	}
	if err != nil {
		return nil, err
	}
	defer link.Down()
	if p.found, err = p.find(); err != nil {
		return nil, err
	}
	f.Provenance.Binaries, f.Provenance.Environment = p.found.Binaries(), provenance.Environment()
	if link.Command != "" {
		f.Provenance.Commands = []string{link.Command}
	}
	if err := link.Watch(string(p.Root), append(slices.Clone(p.Lab), "watch-shaper")); err != nil {
		return nil, err
	}

	conditions := x.Conditions()
	twin := order.Control(len(conditions), p.Seed)
	for i, levels := range append(conditions, conditions[twin]) {
		l := p.load(link, x.Fixed().With(levels))
		c := results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels, Commands: l.commands()}
		if _, factor := levels[setting.Generator]; factor {
			c.Generator = versioned(l.generator, tools)
		}
		if i == len(conditions) {
			c.ControlOf = f.Conditions[twin].ID
		}
		f.Conditions = append(f.Conditions, c)
	}
	m := &measuring{taken: map[int]*profiles.Set{}, plan: p, link: link, file: f, watcher: w, repeats: size.Repeats, spare: loopsSpare, pause: loopPause, loop: speed.Loop, trial: load.trial}
	if err := m.calibrate(); err != nil {
		return nil, err
	}
	todo := slots(len(f.Conditions), size.Blocks, p.Seed)
	w.Begin(x, p.Size, len(todo), estimate(x, size))
	for len(todo) > 0 && f.Provenance.StoppedEarly == "" {
		if err := m.trials(ctx, todo); err != nil {
			return nil, err
		}
		todo = m.again(m.recheck())
	}
	f.Provenance.CalibrationS = m.reference.Seconds()
	if err := p.found.Changed(); err != nil {
		return nil, err
	}
	raw, err := m.raw()
	if err != nil {
		return nil, err
	}
	return finish(raw)
}

// up makes the topology: as root where the design turns settings of its
// interfaces, which takes that.
func (p Plan) up() (*topology.Link, error) {
	x := p.Experiment
	turns := slices.ContainsFunc(x.Conditions(), func(levels setting.Levels) bool {
		return slices.ContainsFunc(p.knobs("", x.Fixed().With(levels)), func(k knob) bool { return k.inside })
	})
	return topology.Up(x.Topology, string(p.Root), scriptPath("wire.sh"), turns)
}

// A measuring is a run under way.
type measuring struct {
	plan      Plan
	link      *topology.Link
	file      *results.File
	watcher   Watcher
	repeats   int                   // how many are left
	deaths    int                   // invalid trials in a row
	spare     int                   // loops that are left for waiting
	taken     map[int]*profiles.Set // by trial
	reference time.Duration
	// What measures: the calibration loop, and a trial.
	pause time.Duration // before a slow core is looked at again
	loop  func(cpus []int) (time.Duration, error)
	trial func(load, context.Context) (results.Trial, error)
}

// calibrate finds the server's core's own full speed, as far as it shows it
// now. A faster pass that turns up later takes this one's place.
func (m *measuring) calibrate() error {
	const passes = 10
	for range passes {
		if _, err := m.pass(); err != nil {
			return err
		}
	}
	return nil
}

// pass runs the calibration loop once.
func (m *measuring) pass() (time.Duration, error) {
	seen, err := m.loop(m.plan.Split.Server)
	if err != nil {
		return 0, fmt.Errorf("the calibration loop: %w", err)
	}
	if m.reference == 0 || seen < m.reference {
		m.reference = seen
	}
	return seen, nil
}

// trials makes the trials of the slots, and repeats within their block those
// that only the machine's weather made invalid.
func (m *measuring) trials(ctx context.Context, todo []slot) error {
	f, x := m.file, m.plan.Experiment
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		cond := f.Conditions[s.cond]
		m.watcher.Trial(len(f.Trials)+1, s.block, cond.Levels)
		l := m.plan.load(m.link, x.Fixed().With(cond.Levels))
		l.keep = func(set *profiles.Set) { m.taken[len(f.Trials)+1] = set }
		t, err := m.calibrated(ctx, l)
		if err != nil {
			return err
		}
		t.Seq, t.Block, t.Condition = len(f.Trials)+1, s.block, cond.ID
		f.Trials = append(f.Trials, t)
		m.watcher.Result(t)
		if t.Valid {
			m.deaths = 0
			continue
		}
		limit := giveUp
		if weather(t) {
			limit *= 2
		}
		if m.deaths++; m.deaths >= limit {
			if alike(f.Trials, gate.ClientFailed) {
				return fmt.Errorf("nothing was measured: in each of the first %d trials %s", len(f.Trials), t.Reasons[0].Detail)
			}
			f.Provenance.StoppedEarly = fmt.Sprintf("%d trials in a row were invalid, the last: %s", m.deaths, t.Reasons[0].Detail)
			return nil
		}
		if m.repeats > 0 && weather(t) {
			m.repeats--
			todo = after(todo, s)
		}
	}
	return nil
}

// How many loops a core may take to show its full speed, with a pause between.
// Before a trial it is waited for, some seconds, since a trial on a slow core
// would count for nothing; after it about one second, which tells a core that
// flickers, as shared ones were seen to several times a second, from one that
// is slow.
const (
	loopsBefore = 80
	loopsAfter  = 12
	loopPause   = 60 * time.Millisecond
	// loopsSpare is how many loops a whole run may wait for its core beyond the
	// one that each calibration takes: about half a minute.
	loopsSpare = 350
)

// calibrated makes one trial between two calibrations of the server's core.
func (m *measuring) calibrated(ctx context.Context, l load) (results.Trial, error) {
	before, err := m.speed(ctx, loopsBefore)
	if err != nil {
		return results.Trial{}, err
	}
	t, err := m.trial(l, ctx)
	if err != nil {
		return t, err
	}
	after, err := m.speed(ctx, loopsAfter)
	if err != nil {
		return t, err
	}
	t.Metrics["calibration_before_s"], t.Metrics["calibration_after_s"] = before.Seconds(), after.Seconds()
	slow(&t, m.reference)
	return t, nil
}

// speed runs the calibration loop until it finds the core at its full speed, or
// so many times, and returns the fastest it saw.
func (m *measuring) speed(ctx context.Context, loops int) (fastest time.Duration, err error) {
	for i := 1; ; i++ {
		seen, err := m.pass()
		if err != nil {
			return 0, err
		}
		if fastest == 0 || seen < fastest {
			fastest = seen
		}
		if !speed.Slow(m.reference, fastest) || i == loops || m.spare == 0 {
			return fastest, nil
		}
		m.spare--
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(m.pause):
		}
	}
}

// recheck holds the valid trials against the fastest calibration of the whole
// run, which may have come after them, and returns how many blocks lost one.
func (m *measuring) recheck() int {
	lost := map[int]bool{}
	for i := range m.file.Trials {
		t := &m.file.Trials[i]
		if !t.Valid {
			continue
		}
		if slow(t, m.reference); !t.Valid {
			lost[t.Block] = true
		}
	}
	return len(lost)
}

// again adds whole blocks for those that lost a trial when they were over, as
// far as the repeats go, and returns their slots. A trial that was made again by
// itself would be of another time than what it is compared with; the blocks that
// lost one stay as they are. The seed goes on with the order.
func (m *measuring) again(lost int) []slot {
	conditions, done := len(m.file.Conditions), m.file.Provenance.Blocks
	blocks := min(lost, m.repeats/conditions)
	m.repeats -= blocks * conditions
	m.file.Provenance.Blocks += blocks
	return slots(conditions, done+blocks, m.plan.Seed)[done*conditions:]
}

// giveUp is how many invalid trials in a row end a run: what fails like that
// is broken, and more of it would only take longer. Weather may last twice as
// long.
const giveUp = 4

// after puts a slot behind the rest of its block.
func after(todo []slot, s slot) []slot {
	i := 0
	for i < len(todo) && todo[i].block == s.block {
		i++
	}
	return append(append(append([]slot{}, todo[:i]...), s), todo[i:]...)
}

// overhead is about what starting and stopping server and client takes.
const overhead = 700 * time.Millisecond

func estimate(x *experiment.Experiment, s experiment.Size) time.Duration {
	each := overhead + time.Duration((s.WarmupS+s.DurationS)*float64(time.Second))
	if x.Profile != nil {
		each += profiledFor(s.WarmupS, s.DurationS)
	}
	return each
}

// Estimate is about how long a run takes.
func Estimate(x *experiment.Experiment, size string) time.Duration {
	s := x.Sizes[size]
	return time.Duration(s.Blocks*(len(x.Conditions())+1)) * estimate(x, s) // the control is one more
}

// scriptPath names a script from the repository's root, so that recorded
// command lines can be typed there.
func scriptPath(name string) string { return filepath.Join("lab", "scripts", name) }

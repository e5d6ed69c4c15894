// Package run carries out an experiment: block after block, until its claims are decided or the
// time is up. Package measure measures the blocks.
//
// It measures the conditions of a comparison side by side (see package measure). What cannot share a
// block is measured one after the other within it: other kernel settings, or a load generator that
// cannot take turns. Producers of events at a set rate leave most of the cores idle and are measured
// at once, each by a receiver of its own.
//
// Faults do not know the claims. Refused trials stay in the file and are never repeated; the next
// block is a new one.
package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// A Plan says how a run is made.
type Plan struct {
	Root       journal.Root // its scripts start servers and clients, and commands start from there
	Experiment *experiment.Experiment
	Seed       uint64
	Port       int // of the first server of a block; the others use the ports above
	Split      machine.Split
	Host       *host.Profile
	Lab        []string      // the command that starts this program, which answers the calls of package measure
	Budget     time.Duration // the longest that the run may take, for its file
	Fleet      *fleet.Fleet  // of an experiment on several machines; nil where nobody named any
}

// Of is the plan for an experiment.
func (p Plan) Of(x *experiment.Experiment) Plan {
	p.Experiment = x
	if p.Fleet != nil && p.inFleet() { // this machine is the server alone
		server, client := p.Split.On()
		p.Split = machine.Split{Server: slices.Compact(slices.Sorted(slices.Values(slices.Concat(server, client))))}
	}
	return p
}

// A Run goes block by block. Between two blocks nothing is up, and another run may have the
// machine.
type Run struct {
	Plan
	File *results.File // with the blocks so far

	found  *host.Programs // before the first block
	clock  measure.Clock
	link   measure.Link // of the block that is under way
	groups [][]int
	dead   int                 // blocks in a row without a valid trial
	taken  map[int]profile.Set // the profiles of trials, by their numbers
}

// Unable says why nothing of an experiment can be measured here.
type Unable struct{ Why string }

func (u Unable) Error() string { return u.Why }

// Start prepares a run of a plan that is ready. It has no block yet.
func Start(p Plan) (r *Run, err error) {
	r = &Run{Plan: p, clock: measure.NewClock(), taken: map[int]profile.Set{}}
	if r.found, err = p.find(); err != nil {
		return nil, err
	}
	r.File = r.file()
	r.groups = r.File.Groups()
	return r, nil
}

// Block measures one more block: each group of conditions that can be up together, in the order
// drawn. Its trials are in the file once all of them are there.
func (r *Run) Block(ctx context.Context) (trials []results.Trial, err error) {
	if r.link, err = r.up(); err != nil {
		return nil, err
	}
	defer r.link.Down()
	p := r.File.Provenance
	for _, sequence := range experiment.DrawBlock(r.groups, p.Block.Rounds, r.Seed, p.Blocks+1) {
		some, err := r.group(ctx, sequence, len(r.File.Trials)+len(trials)+1)
		if err != nil {
			return nil, err
		}
		trials = append(trials, some...)
	}
	if err := r.found.Changed(); err != nil {
		return nil, err
	}
	r.File.Trials = append(r.File.Trials, trials...)
	p.Blocks++
	p.FinishedAt = r.clock.Now().Truncate(time.Second)
	if r.dead++; slices.ContainsFunc(trials, func(t results.Trial) bool { return t.Valid }) {
		r.dead = 0
	}
	if r.dead == giveUp {
		p.StoppedEarly = fmt.Sprintf("%d blocks in a row had no valid trial; the last: %s", r.dead, trials[len(trials)-1].Reasons[0].Detail)
	}
	return trials, nil
}

// giveUp is how many blocks in a row without a valid trial end a run: what fails so often is broken,
// and more blocks would not help.
const giveUp = 4

// file is the results file before the first block. The control is its last condition; each has the command
// lines that a reader would type for it.
func (r *Run) file() *results.File {
	x, p := r.Experiment, r.Plan
	tools := r.found.Tools
	commit, differ := host.Differ(string(p.Root))
	f := &results.File{
		SchemaVersion: results.Version, Experiment: x.Name,
		Hosts:    results.Hosts{Server: p.Host.ID, Client: p.Host.ID},
		Topology: x.Topology,
		Settings: x.Fixed(), Conditions: []results.Condition{}, Trials: []results.Trial{},
	}
	f.Provenance = &results.Provenance{
		StartedAt: r.clock.Now().Truncate(time.Second), Commit: commit, Dirty: len(differ) > 0,
		ExperimentSHA256: x.SHA256, Locks: x.Locks(), Seed: p.Seed,
		Block:      &results.BlockPlan{Block: x.Block, ProfileS: x.ProfileS()},
		BudgetS:    p.Budget.Seconds(),
		Servers:    results.SharedServers(x),
		ServerCPUs: machine.Format(p.Split.Server), ClientCPUs: machine.Format(p.Split.Client),
		Tools: tools, Kernel: host.Kernel("/"), MemoryBytes: host.Memory("/"),
		Binaries: r.found.Binaries,
		Boot:     host.Boot("/"),
	}
	if p.onWire() {
		f.Provenance.Commands = []string{p.spec().Line()}
	}
	if p.inFleet() {
		f.Provenance.Clients = ClientsOf(p.Fleet)
	}
	f.Run = f.Provenance.StartedAt.Format("20060102t150405z") + "-" + p.Host.ID
	all := x.Conditions()
	twin := experiment.DrawControl(len(all), r.Seed)
	var generators []string
	for i, levels := range append(all, all[twin]) {
		l := r.load(levels, r.Port)
		c := results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels, Commands: l.commands()}
		generator := strings.TrimSpace(l.asked.Generator + " " + tools[l.asked.Generator])
		if _, factor := levels["generator"]; factor {
			c.Generator = generator
		}
		if !slices.Contains(generators, generator) {
			generators = append(generators, generator)
		}
		if i == len(all) {
			c.ControlOf = f.Conditions[twin].ID
		}
		f.Conditions = append(f.Conditions, c)
	}
	f.Provenance.Generator = strings.Join(generators, ", ")
	if why := kernel.Usable(); why != "" && x.OwnWork {
		f.Warnings = []string{"the client's part in the servers' CPU time was not gauged: " + why}
	}
	return f
}

// inFleet reports whether clients are on machines of their own.
func (p Plan) inFleet() bool { return p.Experiment.Topology.Kind == "fleet" }

// ClientsOf is what a run keeps of a fleet's hosts.
func ClientsOf(f *fleet.Fleet) []results.Client {
	return strict.Map(f.Hosts, func(h fleet.Host) results.Client {
		return results.Client{Cores: h.Machine.Cores, LinkBps: h.Machine.LinkBps}
	})
}

// onWire reports whether server and client are in namespaces that the lab made.
func (p Plan) onWire() bool { return p.Experiment.Topology.Kind == "netns" }

// up makes the link of the experiment's topology.
func (p Plan) up() (measure.Link, error) {
	switch {
	case p.inFleet():
		return p.Fleet, nil
	case p.onWire():
		return wire.Make(p.spec())
	}
	return measure.Loopback{}, nil
}

// spec is the wire that the design asks for.
func (p Plan) spec() wire.Spec {
	t := p.Experiment.Topology
	return wire.Spec{LineRateBps: t.LineRateBps, BurstBytes: t.BurstBytes, QueueS: t.QueueS}
}

// BlockTime is about how long a block of an experiment takes.
func BlockTime(x *experiment.Experiment) (total time.Duration) {
	const (
		overhead = 600 * time.Millisecond // to start and stop the servers of a group and a client, and to calibrate
		fill     = 20 * time.Millisecond  // of a slot, before it counts
	)
	each := seconds(x.Block.WarmupS) + time.Duration(x.Block.Rounds)*(seconds(x.Block.SlotS)+fill)
	if x.Profile != nil {
		each += seconds(x.ProfileS()) + measure.ExtraTime
	}
	all := x.Whole()
	for _, g := range experiment.Groups(all) {
		one := each
		if !experiment.AtOnce(all[g[0]]) {
			one *= time.Duration(len(g))
		}
		total += overhead + one
	}
	return total + each // the control's
}

// scriptPath is a script's path from the repository's root, so that recorded
// command lines can be typed there.
func scriptPath(name string) string { return filepath.Join("lab", "scripts", name) }

// Ready returns, before any measurement, what would make every trial fail: Unable where this machine cannot carry out
// the design, or a program that is not there.
func (p Plan) Ready() error {
	if why := p.unreachable(); why != "" {
		return Unable{why}
	}
	_, err := p.find()
	return err
}

// programs are those of each load generator.
var programs = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {host.Loader},
	setting.Sink: {"event_sink"}, setting.Readers: {"event_reader"}}

// find looks up the programs that the experiment starts.
func (p Plan) find() (*host.Programs, error) {
	names := []string{"lab"}
	for _, levels := range p.Experiment.Whole() {
		names = append(append(names, p.Experiment.Server(levels).Program), programs[experiment.Generator(levels)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), p.Lab[0], slices.Compact(names))
}

// unreachable says why the design cannot be carried out on this machine, as far
// as that shows without trying; empty where nothing shows.
func (p Plan) unreachable() string {
	x := p.Experiment
	switch {
	case p.inFleet() && p.Fleet == nil:
		return "needs several machines; name those that load by --client"
	case !p.inFleet() && p.Fleet != nil:
		return "loads from this machine alone; --client is for experiments on several"
	}
	var why []string
	if least := slices.Min(strict.Map(x.Claims, x.Cores)); least > p.Host.Cores { // with less, a run could decide nothing
		why = append(why, fmt.Sprintf("needs %d cores; this machine has %d", least, p.Host.Cores))
	}
	clients := 0
	for _, s := range x.Whole() {
		clients = max(clients, s.Whole(setting.Clients, 1))
		if name := experiment.Generator(s); p.onWire() && name != setting.HTTPLoad {
			return fmt.Sprintf("a wire is read between the slots of %s; %s loads over loopback only", setting.HTTPLoad, name)
		}
		for _, k := range p.knobs(s) {
			options := &k.options
			if k.side != "" {
				options = nil // the device does not exist yet, but whether this user may change it is known
			}
			if err := tune.Reach(k.name, options); err != nil && !slices.Contains(why, err.Error()) {
				why = append(why, err.Error())
			}
		}
	}
	if p.inFleet() && len(p.Fleet.Hosts) < clients {
		why = append(why, fmt.Sprintf("needs %d clients; there are %d", clients, len(p.Fleet.Hosts)))
	}
	why = append(why, x.Lacking(string(p.Root))...)
	if p.onWire() {
		if err := wireHere(); err != nil {
			why = append(why, fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, strict.Line(err.Error(), 500)))
		}
	}
	return strings.Join(why, "; ")
}

// wireHere tries once whether a wire can be made here.
var wireHere = sync.OnceValue(wire.Try)

// defaultDevice names the interface of this machine's default route, "eth0" for instance; empty if there is none. Of
// several the kernel lists that with the lowest metric first.
func defaultDevice() string {
	fs, _ := procfs.NewDefaultFS()
	routes, _ := fs.NetRoute()
	for _, r := range routes {
		if r.Destination == 0 && r.Mask == 0 {
			return r.Iface
		}
	}
	return ""
}

package results

import (
	"cmp"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Server is what decides what a request to a shared server costs. Servers of
// an experiment's own are part of its design.
type Server struct {
	Command string            `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Build   string            `json:"build,omitempty"`
	Prefork bool              `json:"prefork,omitempty"`
}

// SharedServers is what a run keeps of the shared servers that an experiment
// loads.
func SharedServers(x *experiment.Experiment) map[string]Server {
	all := map[string]Server{}
	for _, s := range x.Loaded() {
		if x.Servers[s.Name] == nil {
			all[s.Name] = definitionOf(s)
		}
	}
	return all
}

func definitionOf(s *experiment.Server) Server { return Server{s.Command, s.Env, s.Build, s.Prefork} }

// CountsWith reports whether the blocks of two measured runs of one experiment, design
// and host may count together: they are of the same programs, surely of one machine, and of like clients.
// marked is whether the host's profile has a mark. It is the one place that says what a
// record holds.
func (f *File) CountsWith(g *File, marked bool) bool {
	return f.SamePrograms(g) && f.SameMachine(g, marked) && slices.Equal(f.Provenance.Clients, g.Provenance.Clients)
}

// SameMachine reports whether two measured runs on one host were surely on one machine:
// both read its mark, or it did not start again in between. Runs that do not say when it
// started are of the machine if its profile has a mark, and otherwise of their kernel.
func (f *File) SameMachine(g *File, marked bool) bool {
	p, q := f.Provenance, g.Provenance
	known := func(p *Provenance) bool { return p.Known || marked && p.Boot == "" }
	return known(p) && known(q) || p.Boot == q.Boot && (p.Boot != "" || p.Kernel["osrelease"] == q.Kernel["osrelease"])
}

// SamePrograms reports whether two measured runs of one experiment loaded the same
// programs with the same ones, defined alike, as far as both name them.
func (f *File) SamePrograms(g *File) bool {
	for name, one := range f.Provenance.Servers {
		if other, ok := g.Provenance.Servers[name]; ok && !f.alike(name, one, other) {
			return false
		}
	}
	return len(f.OtherPrograms(g.Provenance.Binaries)) == 0
}

// Programs tells the measured programs of a run by name, as SamePrograms compares
// them.
func (f *File) Programs() map[string]string {
	out := map[string]string{}
	for name, b := range f.Provenance.Binaries {
		if host.Measured(name) {
			out[name] = cmp.Or(b.MadeOf, b.SHA256)[:12]
		}
	}
	return out
}

// OtherPrograms names the measured programs of a run that are others than those given.
func (f *File) OtherPrograms(now map[string]host.Binary) []string {
	return strict.Filter(slices.Sorted(maps.Keys(f.Provenance.Binaries)), func(name string) bool {
		other, ok := now[name]
		return ok && host.Measured(name) && !f.Provenance.Binaries[name].Same(other)
	})
}

// alike tells whether two definitions of a server give the same command lines
// for the conditions of a run. A setting that a command has learnt changes no
// line that does without.
func (f *File) alike(name string, a, b Server) bool {
	if a.Build != b.Build || a.Prefork != b.Prefork {
		return false
	}
	if a.Command == b.Command && maps.Equal(a.Env, b.Env) {
		return true
	}
	var of [2]*experiment.Server
	for i, s := range []Server{a, b} {
		var err error
		// What it prints when it listens has no effect on its command line.
		if of[i], err = experiment.NewServer(name,
			experiment.Server{Command: s.Command, Env: s.Env, Ready: "-"}); err != nil {
			return false // it names a setting that there is no more
		}
	}
	at := experiment.Place{Host: "127.0.0.1", Port: "1", Workers: "1", CPUs: "0"}
	if f.Provenance.Block.ProfileS > 0 {
		at.Sockets = "sockets"
	}
	for _, c := range f.Conditions {
		levels := f.Settings.With(c.Levels)
		if loaded, ok := levels[setting.Server]; ok && loaded.String() != name || !ok && name != setting.DefaultServer {
			continue
		}
		words, env := of[0].Line(at, levels)
		others, otherEnv := of[1].Line(at, levels)
		if !slices.Equal(words, others) || !slices.Equal(env, otherEnv) {
			return false
		}
	}
	return true
}

// Clients has the programs of each load generator.
var Clients = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {host.Loader},
	setting.Sink: {"event_sink"}, setting.Readers: {"event_reader"}}

// Programs names what a design cannot be measured without, as a run's file calls
// it: the lab, and the programs of servers and load generators. A run may name
// more, such as the file that an interpreter runs.
func Programs(x *experiment.Experiment) []string {
	names := []string{"lab"}
	for _, levels := range x.Conditions() {
		all := x.Fixed().With(levels)
		names = append(append(names, host.Called(x.Server(all).Program)), Clients[experiment.Generator(all)]...)
	}
	return names
}

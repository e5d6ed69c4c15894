package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/server/route"
)

var (
	name  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	entry = regexp.MustCompile(`^[a-z0-9]+$`)
)

// Topologies are the ways to join client and server: over the loopback interface, over a wire between two namespaces,
// or with a machine of its own for the server and for each client.
var Topologies = []string{"loopback", "netns", "fleet"}

// among refuses a word that is none of a list; an empty one says nothing.
func among[T ~string](field string, word T, known []T) error {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	names := strict.Map(known, func(name T) string { return string(name) })
	return fmt.Errorf("%s %q: unknown; %s", field, word, strict.Instead(string(word), names))
}

// line refuses text that is not one visible line.
func line(field, text string) error {
	if err := strict.CheckLine(text); err != nil {
		return fmt.Errorf("%s %w", field, err)
	}
	return nil
}

// checkHead refuses a file that does not say what it is about.
func (x *Experiment) checkHead() error {
	t := x.Topology
	set := t.LineRateBps > 0 && t.BurstBytes > 0 && t.QueueS > 0 && !math.IsInf(t.LineRateBps+t.QueueS, 0)
	switch {
	case !name.MatchString(x.Name):
		return fmt.Errorf("the file's name %q must be lower-case words joined by hyphens", x.Name)
	case !entry.MatchString(x.Entry):
		return fmt.Errorf("entry %q: an entry's number, as 09 or 06b, or a study's word", x.Entry)
	case x.Title == "", x.Question == "", t.Kind == "":
		return errors.New("title, question or topology.kind is missing")
	case len(x.Metrics) == 0:
		return errors.New("metrics is missing: name what pages are to show")
	case t.Kind == "netns" && !set:
		return errors.New("topology: netns needs line_rate_bps, burst_bytes and queue_s, all positive")
	case t.Kind != "netns" && t != (Topology{Kind: t.Kind}):
		return fmt.Errorf("topology: %s has no line rate to set", t.Kind)
	}
	faults := []error{line("title", x.Title), line("question", x.Question),
		among("topology.kind", t.Kind, Topologies)}
	for _, m := range x.Metrics {
		faults = append(faults, among("metrics:", m, metric.Names()))
	}
	return cmp.Or(faults...)
}

// checkLevels parses settings and factors, and refuses what no trial could combine.
func (x *Experiment) checkLevels() error {
	if err := resolveServers(x.Servers); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.Servers)) {
		if shared()[name] != nil {
			return fmt.Errorf("servers.%s: lab/servers.toml has a server of that name; choose another name", name)
		}
	}
	x.fixed = setting.Levels{}
	for _, name := range slices.Sorted(maps.Keys(x.Settings)) {
		l, err := x.level(name, x.Settings[name])
		if err != nil {
			return fmt.Errorf("settings.%s: %w", name, err)
		}
		x.fixed[name] = l
	}
	if len(x.Factors) == 0 {
		return errors.New("factors is missing: an experiment compares something")
	}
	set := x.Fixed()
	for i := range x.Factors {
		f := &x.Factors[i]
		for _, v := range f.Levels {
			l, err := x.level(f.Name, v)
			if n := len(f.All); err == nil && n > 0 && f.All[n-1].Compare(l) >= 0 {
				err = fmt.Errorf("%q: levels must rise, so that first and last mean the same everywhere", f.Name)
			}
			if err != nil {
				return fmt.Errorf("factors[%d]: %w", i, err)
			}
			f.All = append(f.All, l)
		}
		if len(f.All) < 2 {
			return fmt.Errorf("factors[%d]: %q needs at least two levels", i, f.Name)
		}
		if _, twice := set[f.Name]; twice {
			return fmt.Errorf("factors[%d]: %q is set twice", i, f.Name)
		}
		set[f.Name] = f.All[0]
	}
	for _, levels := range x.Conditions() {
		if err := x.possible(x.fixed.With(levels)); err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
	}
	return nil
}

// level parses a level, and refuses one that the setting or the topology does not have.
func (x *Experiment) level(name string, v any) (setting.Level, error) {
	l, err := setting.ParseLevel(v)
	if err == nil {
		err = setting.Check(name, l)
	}
	if err != nil {
		return l, err
	}
	switch name {
	case setting.Server:
		_, err = x.server(setting.Levels{name: l})
	case setting.ServerCPUs:
		_, err = machine.Parse(l.String())
	}
	if r, _ := setting.Find(name); err == nil && r.On != nil && !slices.Contains(r.On, x.Topology.Kind) {
		err = fmt.Errorf("it has no effect on %s; it takes topology %v", x.Topology.Kind, r.On)
	}
	return l, err
}

// loads are what a server can be loaded with: by which generators, and what has to be set.
var loads = map[string]struct{ generators, needs []string }{
	"requests": {[]string{setting.HTTPLoad, setting.Autocannon}, []string{setting.Route, setting.Connections}},
	"events":   {[]string{setting.Sink}, []string{setting.Variant, setting.EventRate}},
	"streams":  {[]string{setting.Readers}, []string{setting.Connections, setting.Likes}},
}

// possible refuses settings that no trial could combine.
func (x *Experiment) possible(s setting.Levels) error {
	server, generator := x.Server(s), Generator(s)
	load := loads[server.load()]
	if !slices.Contains(load.generators, generator) {
		return fmt.Errorf("the %s server is loaded by %s, and not by %s", server.Name, strings.Join(load.generators, " or "),
			generator)
	}
	for _, name := range load.needs {
		if s[name].IsZero() {
			return fmt.Errorf("settings.%s is missing, and no factor of that name", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		r, _ := setting.Find(name)
		if r.Of != nil && !slices.Contains(r.Of, server.load()) || r.Command && !server.takes(name) {
			return fmt.Errorf("the %s server has no %s", server.Name, name)
		}
	}
	r, known := s[setting.Route].String(), route.Paths(server.Answers == setting.Null)
	switch {
	case !server.Routed():
	case r[0] != '/': // a load of several begins with a share, and exists only to describe published runs
		return fmt.Errorf("the lab requests one path at a time, and not %s", r)
	case server.Answers != "" && !slices.Contains(known, r):
		return fmt.Errorf("the %s server has no route %q; %s", server.Name, r, strict.Instead(r, known))
	case server.Answers == "" && generator == setting.Autocannon:
		return fmt.Errorf("beside autocannon the lab compares answers only with those that it knows, and the %s server's "+
			"are its own; use http_load", server.Name)
	}
	return nil
}

// checkTimes refuses durations that no run could have, and profiles that could not be taken.
func (x *Experiment) checkTimes() error {
	b, p := x.Block, cmp.Or(x.Profile, &Profile{Seconds: 1})
	for _, is := range []struct {
		field          string
		v, least, most float64
	}{
		{"budget_s", x.BudgetS, 1, 86400}, {"block.slot_s", b.SlotS, 0.01, 60}, {"block.rounds", float64(b.Rounds), 1, 100},
		{"block.warmup_s", b.WarmupS, 0, 60}, {"profile.seconds", p.Seconds, 1, 60},
	} {
		if !(is.v >= is.least && is.v <= is.most) {
			return fmt.Errorf("%s = %v: give %v to %v", is.field, is.v, is.least, is.most)
		}
	}
	if p.Seconds != math.Trunc(p.Seconds) {
		return fmt.Errorf("profile.seconds = %v: net/http/pprof takes whole seconds", p.Seconds)
	}
	for _, levels := range x.Whole() {
		g, s := Generator(levels), x.Server(levels)
		switch {
		case b.Rounds > 1 && g != setting.HTTPLoad:
			return fmt.Errorf("block.rounds = %d: %s measures in one piece; write rounds = 1", b.Rounds, g)
		case x.Profile != nil && !s.takes("sockets"):
			return fmt.Errorf("profile: the %s server has no profiles", s.Name)
		}
	}
	return nil
}

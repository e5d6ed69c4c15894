package results

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// SharedServers is what a run keeps of the shared servers that an experiment loads: what decides what a request costs.
// Servers of an experiment's own are part of its design.
func SharedServers(x *experiment.Experiment) map[string]experiment.Server {
	all := map[string]experiment.Server{}
	for _, s := range x.Loaded() {
		if x.Servers[s.Name] == nil {
			all[s.Name] = experiment.Server{Command: s.Command, Env: s.Env, Build: s.Build, Prefork: s.Prefork}
		}
	}
	return all
}

// CountsWith reports whether the blocks of two measured runs of one experiment, design and host may count together.
// They must be of the same programs, as far as both name them, of like definitions and clients, and surely of one
// machine. It did not start again in between or, where no run can say that, the kernel is the same. No other
// place says what a record holds.
func (f *File) CountsWith(g *File) bool {
	p, q := f.Provenance, g.Provenance
	for name, one := range p.Servers {
		other, ok := q.Servers[name]
		if ok && !reflect.DeepEqual(one, other) {
			return false
		}
	}
	return p.Boot == q.Boot && p.Kernel["osrelease"] == q.Kernel["osrelease"] && len(f.OtherPrograms(q.Binaries)) == 0 &&
		slices.Equal(p.Clients, q.Clients)
}

// OtherPrograms names the measured programs of a run that are others than those given.
func (f *File) OtherPrograms(now map[string]host.Binary) []string {
	return strict.Filter(slices.Sorted(maps.Keys(f.Provenance.Binaries)), func(name string) bool {
		other, ok := now[name]
		return ok && host.Measured(name) && !f.Provenance.Binaries[name].Same(other)
	})
}

// BlockGap is how long after the end of all earlier blocks of its experiment on its machine a block has to begin to
// count. What a neighbour, a clock or a cache does for a minute is in closer blocks alike, so of those only the first
// is evidence. A session stays away from an experiment for that long.
const BlockGap = 10 * time.Second

// A Span is the time from the beginning of a block's first trial to the end of its last, profiles included; zero if
// none began.
type Span struct{ Began, Ended time.Time }

// Spans gives the time of each block that has a trial.
func (f *File) Spans() map[int]Span {
	out, p := map[int]Span{}, f.Provenance
	profiled := time.Duration(p.Block.ProfileS * float64(len(f.Conditions)*int(time.Second)))
	for _, t := range f.Trials {
		s := out[t.Block]
		if end := t.StartedAt.Add(t.span(p) + profiled); !t.StartedAt.IsZero() {
			if s.Began.IsZero() || t.StartedAt.Before(s.Began) {
				s.Began = t.StartedAt
			}
			if end.After(s.Ended) {
				s.Ended = end
			}
		}
		out[t.Block] = s
	}
	return out
}

// Apart tells of each block whether it began BlockGap after the end of all that began before it, or of which nothing
// began. The blocks may be in any order.
func Apart(blocks []Span) []bool {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[a].Began.Compare(blocks[b].Began) })
	out := make([]bool, len(blocks))
	var free time.Time
	for _, i := range order {
		out[i] = blocks[i].Began.IsZero() || blocks[i].Began.Sub(free) >= BlockGap
		if blocks[i].Ended.After(free) {
			free = blocks[i].Ended
		}
	}
	return out
}

// Groups gives the conditions that are up together within a block, as indexes into Conditions. The control is among
// them.
func (f *File) Groups() [][]int {
	return experiment.Groups(strict.Map(f.Conditions,
		func(c Condition) setting.Levels { return f.Settings.With(c.Levels) }))
}

// span is the time from a trial's first slot to the end of its last, or its warm-up and window.
func (t Trial) span(p *Provenance) time.Duration {
	if n := len(t.Slots); n > 0 {
		last := t.Slots[n-1]
		return time.Duration((last.AtS + last.DurationS - t.Slots[0].AtS) * float64(time.Second))
	}
	return time.Duration((p.Block.WarmupS + t.Metrics["duration_s"]) * float64(time.Second))
}

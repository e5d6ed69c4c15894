package archive

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// A seen is what was measured, to find what stands twice: blocks that count twice make a
// verdict out of nothing. Two runs of an experiment draw one seed, two slots and those that
// follow them take the same microseconds of two programs, or two trials have the same figures,
// only if one was copied; and one machine cannot measure two blocks at once. All measured runs
// are compared, whatever they are of and wherever they were made.
//
// One slot alone tells nothing: among the millions of slots of many machines, some two are
// alike to the microsecond by chance.
//
// A copy whose figures were all changed is not found. Nor are trials that measured next to
// nothing, such as those of a server that never answered: their figures are the machine's,
// which all conditions that were up at once have in common.
type seen struct {
	hashes map[uint64]place
	times  map[string][]stretch // by the server's host
}

// A place is a run's seed, one of its trials, or a slot of that; what it is no part of is
// -1.
type place struct {
	run         *results.File
	trial, slot int
}

func (p place) String() string {
	switch {
	case p.trial < 0:
		return "/provenance/seed"
	case p.slot < 0:
		return fmt.Sprintf("/trials/%d", p.trial)
	}
	return fmt.Sprintf("/trials/%d/slots/requests/%d", p.trial, p.slot)
}

// A stretch is when a run's blocks were measured, and all of them together.
type stretch struct {
	span
	run    *results.File
	blocks []span
}

// A span is a time in nanoseconds since 1970, and the first trial in it.
type span struct {
	from, to int64
	trial    int
}

// with is how long two spans were at once; 0 or less if they were not.
func (a span) with(b span) time.Duration { return time.Duration(min(a.to, b.to) - max(a.from, b.from)) }

// slack is how far the clocks of two runs of one machine may be apart: each has its own.
const slack = time.Second

// add notes what a run measured, and says what of it is there already. A run with an error
// is noted as well, as far as it is new.
func (s *seen) add(j *Journal, f *results.File) (err error) {
	if s.hashes == nil {
		*s = seen{map[uint64]place{}, map[string][]stretch{}}
	}
	of := func(was place) string {
		if was.run == f {
			return "this run's " + was.String()
		}
		return j.Root.Rel(j.Root.Result(was.run.Experiment, was.run.Run)) + ": " + was.String()
	}
	each(f, func(hash uint64, at place) {
		if was, ok := s.hashes[hash]; !ok {
			s.hashes[hash] = at
		} else if err == nil {
			err = fmt.Errorf("%s: the same as %s; only what was measured counts, and once: remove the copy", at, of(was))
		}
	})
	own, host := stretchOf(f), f.Hosts.Server
	for _, other := range s.times[host] {
		at, was, long := own.with(other)
		if err == nil && long > slack && other.run.SameMachine(f, j.Hosts[host].Mark != "") {
			err = fmt.Errorf("%s: at the same time as %s on this host, which measures one block at a time", at, of(was))
		}
	}
	s.times[host] = append(s.times[host], own)
	return err
}

// remove forgets a run.
func (s *seen) remove(f *results.File) {
	maps.DeleteFunc(s.hashes, func(_ uint64, at place) bool { return at.run == f })
	for host, all := range s.times {
		s.times[host] = slices.DeleteFunc(all, func(t stretch) bool { return t.run == f })
	}
}

// stretchOf is when a run's blocks were measured, by the trials that count.
func stretchOf(f *results.File) stretch {
	all := stretch{run: f, span: span{math.MaxInt64, 0, 0}}
	block := 0
	for i, t := range f.Trials {
		took := t.Took(f.Provenance)
		if took == 0 || t.StartedAt.IsZero() {
			continue
		}
		if len(all.blocks) == 0 || t.Block != block {
			all.blocks, block = append(all.blocks, span{math.MaxInt64, 0, i}), t.Block
		}
		from := t.StartedAt.UnixNano()
		for _, a := range []*span{&all.span, &all.blocks[len(all.blocks)-1]} {
			a.from, a.to = min(a.from, from), max(a.to, from+int64(took))
		}
	}
	return all
}

// with is how long blocks of two runs were measured at once, and where they first were.
// Runs may take turns, block by block.
func (a stretch) with(b stretch) (at, was place, long time.Duration) {
	if a.span.with(b.span) <= 0 {
		return at, was, 0
	}
	for _, x := range a.blocks {
		for _, y := range b.blocks {
			if both := x.with(y); both > 0 {
				if long == 0 {
					at, was = place{a.run, x.trial, -1}, place{b.run, y.trial, -1}
				}
				long += both
			}
		}
	}
	return at, was, long
}

var hashSeed = maphash.MakeSeed()

// drawn is the hash of an experiment's seed.
func drawn(experiment string, seed uint64) uint64 {
	return maphash.Comparable(hashSeed, [2]any{experiment, seed})
}

// each gives hashes of a run's seed, of the figures of each trial and of each slot; what is
// too little to be unlike all others is left out.
func each(f *results.File, found func(hash uint64, at place)) {
	found(drawn(f.Experiment, f.Provenance.Seed), place{f, -1, -1})
	for i, t := range f.Trials {
		var all uint64
		parts := 0
		for name, v := range t.Metrics { // in any order, so their hashes are added
			all += maphash.Comparable(hashSeed, named{name, v})
			if v != math.Trunc(v) {
				parts++
			}
		}
		if t.Metrics["throughput_rps"] > 0 && parts >= 4 {
			found(all, place{f, i, -1})
		}
		if s := t.Slots; s != nil {
			one := func(k int) [4]float64 {
				return [4]float64{float64(s.Requests[k]), s.DurationS[k], s.ServerCPUS[k], s.ClientCPUS[k]}
			}
			for k := range len(s.Requests) - 1 {
				two := [2][4]float64{one(k), one(k + 1)}
				if !slices.Contains(two[0][:], 0) && !slices.Contains(two[1][:], 0) {
					found(maphash.Comparable(hashSeed, two), place{f, i, k})
				}
			}
		}
	}
}

type named struct {
	name string
	v    float64
}

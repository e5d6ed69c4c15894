package archive

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// A seen is what was measured, by hashes, to find what stands twice: blocks that count
// twice make a verdict out of nothing. Two runs draw one seed, two slots take the same
// nanoseconds of two programs, or two trials have the same figures, only if one was copied
// from the other; and one machine cannot measure two trials at once. All measured runs are
// compared, whatever they are of and wherever they were made.
//
// A copy whose figures were all changed is not found. Nor are trials that measured next to
// nothing, such as those of a server that never answered: their figures are the machine's,
// which all conditions that were up at once have in common.
type seen struct {
	seeds  map[drawn]place
	hashes map[uint64]place
	times  map[string][]stretch // by the server's host
}

// A drawn is a seed with the experiment whose order it draws: a seed may be asked for, and
// a copy is of the same experiment.
type drawn struct {
	experiment string
	seed       uint64
}

// A place is a run, or a part of it.
type place struct {
	run *results.File
	at  string
}

// A span is the time of a block, from its first trial on; a stretch is that of all blocks
// of a run.
type (
	span struct {
		from, to time.Time
		trial    int
	}
	stretch struct {
		span
		run    *results.File
		blocks []span
	}
)

// reach makes a span include another.
func (a *span) reach(b span) {
	if a.from.IsZero() || b.from.Before(a.from) {
		a.from = b.from
	}
	if b.to.After(a.to) {
		a.to = b.to
	}
}

// with is how long two spans were at once; 0 or less if they were not.
func (a span) with(b span) time.Duration {
	from, to := a.from, a.to
	if b.from.After(from) {
		from = b.from
	}
	if b.to.Before(to) {
		to = b.to
	}
	return to.Sub(from)
}

// slack is how far the clocks of two runs of one machine may be apart: each has its own.
const slack = time.Second

// add notes what a run measured, and says what of it is there already. A run with an error
// is noted as well, as far as it is new.
func (s *seen) add(j *Journal, f *results.File) (err error) {
	if f.Provenance == nil {
		return nil
	}
	if s.seeds == nil {
		*s = seen{map[drawn]place{}, map[uint64]place{}, map[string][]stretch{}}
	}
	twice := func(was place, at, what string) {
		if err != nil {
			return
		}
		where := "this run's"
		if was.run != f {
			where = j.Root.Rel(j.Root.Result(was.run.Experiment, was.run.Run)) + ":"
		}
		err = fmt.Errorf("%s: %s %s %s; only what was measured counts, and once: remove the copy", at, what, where, was.at)
	}
	const seed = "/provenance/seed"
	d := drawn{f.Experiment, f.Provenance.Seed}
	if was, ok := s.seeds[d]; ok {
		twice(was, seed, fmt.Sprintf("%d, as", d.seed))
	} else {
		s.seeds[d] = place{f, seed}
	}
	each(f, func(hash uint64, at string) {
		if was, ok := s.hashes[hash]; ok {
			twice(was, at, "the same figures as")
		} else {
			s.hashes[hash] = place{f, at}
		}
	})
	s.busy(f, func(at string, was place) {
		if err == nil && was.run.SameMachine(f, j.Hosts[f.Hosts.Server].Mark != "") {
			err = fmt.Errorf("%s: at the same time as %s: %s on this host, which measures one block at a time", at, j.Root.Rel(j.Root.Result(was.run.Experiment, was.run.Run)), was.at)
		}
	})
	return err
}

// remove forgets a run.
func (s *seen) remove(f *results.File) {
	if f.Provenance == nil {
		return
	}
	if d := (drawn{f.Experiment, f.Provenance.Seed}); s.seeds[d].run == f {
		delete(s.seeds, d)
	}
	each(f, func(hash uint64, _ string) {
		if s.hashes[hash].run == f {
			delete(s.hashes, hash)
		}
	})
	host := f.Hosts.Server
	s.times[host] = slices.DeleteFunc(s.times[host], func(t stretch) bool { return t.run == f })
}

// busy notes when a run's blocks were measured, and is told of the first that was at the
// same time as one of another run of the host, where both measured so for longer than
// their clocks may differ. Runs may take turns, block by block.
func (s *seen) busy(f *results.File, clash func(at string, was place)) {
	own := stretch{run: f}
	for i, t := range f.Trials {
		took := t.Took(f.Provenance)
		if took == 0 || t.StartedAt.IsZero() {
			continue
		}
		one := span{t.StartedAt, t.StartedAt.Add(took), i}
		if n := len(own.blocks); n > 0 && f.Trials[own.blocks[n-1].trial].Block == t.Block {
			own.blocks[n-1].reach(one)
		} else {
			own.blocks = append(own.blocks, one)
		}
		own.reach(one)
	}
	host := f.Hosts.Server
	for _, other := range s.times[host] {
		if own.with(other.span) <= slack {
			continue
		}
		var first *place
		var at string
		together := time.Duration(0)
		for _, t := range own.blocks {
			for _, o := range other.blocks {
				if both := t.with(o); both > 0 {
					if together += both; first == nil {
						first, at = &place{other.run, fmt.Sprintf("/trials/%d", o.trial)}, fmt.Sprintf("/trials/%d", t.trial)
					}
				}
			}
		}
		if together > slack {
			clash(at, *first)
		}
	}
	s.times[host] = append(s.times[host], own)
}

var hashSeed = maphash.MakeSeed()

// each gives a hash of each slot of a run, and of the figures of each trial, with its
// place; what is too little to be unlike all others is left out.
func each(f *results.File, found func(hash uint64, at string)) {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	number := func(v float64) { maphash.WriteComparable(&h, math.Float64bits(v)) }
	for i, t := range f.Trials {
		var all uint64
		parts := 0
		for name, v := range t.Metrics { // in any order, so their hashes are added
			h.Reset()
			h.WriteString(name)
			number(v)
			all += h.Sum64()
			if v != math.Trunc(v) {
				parts++
			}
		}
		if t.Metrics["throughput_rps"] > 0 && parts >= 4 {
			found(all, fmt.Sprintf("/trials/%d", i))
		}
		s := t.Slots
		if s == nil {
			continue
		}
		for k, n := range s.Requests {
			if n == 0 || s.ServerCPUS[k] == 0 || s.ClientCPUS[k] == 0 {
				continue
			}
			h.Reset()
			number(float64(n))
			number(s.DurationS[k])
			number(s.ServerCPUS[k])
			number(s.ClientCPUS[k])
			found(h.Sum64(), fmt.Sprintf("/trials/%d/slots/requests/%d", i, k))
		}
	}
}

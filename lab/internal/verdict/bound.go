package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// wireSeen tells whether it is known how full the wire was: loopback has no
// wire, and a wire without a known line rate is not known to be full.
func (s *source) wireSeen(t results.Trial) bool {
	_, read := t.Metrics["line_rate_share"]
	return read || s.Topology.Kind == "loopback" || s.Topology.LineRateBps > 0
}

// A wallState is what a trial says about a claimed wall.
type wallState int

const (
	unrecorded wallState = iota // the trial did not record whether this wall, or another, was met
	beside                      // met together with another wall
	room                        // recorded and not met
	alone                       // met, and the other walls had room
)

// wallStateOf gives what a trial says about a wall.
func wallStateOf(s *source, t results.Trial, claimed gate.Bound) wallState {
	w := s.Walls(t)
	switch {
	case w.Bound() == claimed && len(w.Unseen) == 0:
		return alone
	case w.Meets(claimed) && len(w.Met) > 1:
		return beside
	case w.Room(claimed) && (claimed != gate.BoundWire || s.wireSeen(t)):
		return room
	}
	return unrecorded
}

// A bound claim names the wall of every trial.
type bound struct{ plain }

func (bound) criterion(c experiment.Claim) string {
	return fmt.Sprintf("%s alone is full in every trial", wallPhrase(c.Bound))
}

// decide compares the claimed wall with the walls of every trial. A
// block is for the claim if in all its trials this wall alone was met and the
// others are known to have had room. It is against the claim if in one trial
// this wall had room. An unrecorded wall is evidence of neither.
func (bound) decide(rec *record, c experiment.Claim) (finding, error) {
	claimed := gate.Bound(c.Bound)
	f := finding{seen: rec.look(c, rec.begun(rec.conds))}
	v := f.seen.votes(func(b block) (inside, beyond bool) {
		all, any := true, false
		for _, t := range b.trials {
			s := wallStateOf(b.of, t, claimed)
			all, any = all && s == alone, any || s == room
		}
		return all, any
	})
	count, trials, fullest := map[wallState]int{}, 0, math.Inf(1)
	rec.each(func(s *source, t results.Trial) {
		trials++
		count[wallStateOf(s, t, claimed)]++
		if share, ok := t.Metrics["line_rate_share"]; ok {
			fullest = min(fullest, share)
		}
	})
	f.why = fmt.Sprintf("%s alone was full in every trial of %d of %s (%d of %d trials)",
		wallPhrase(c.Bound), v.inside, words.Count(v.all, "block"), count[alone], trials)
	if v.beyond > 0 {
		f.why += fmt.Sprintf(", and had room in a trial of %d", v.beyond)
	}
	if n := count[beside]; n > 0 {
		f.why += fmt.Sprintf("; in %d more it was full beside another wall", n)
	}
	if n := count[unrecorded]; n > 0 {
		f.why += fmt.Sprintf("; of %d more it was not recorded", n)
	}
	if claimed == gate.BoundWire && !math.IsInf(fullest, 1) {
		f.why += fmt.Sprintf("; the least full wire was at %.1f %%", fullest*100)
	}
	f.tellBy(v, rec.level)
	return f, nil
}

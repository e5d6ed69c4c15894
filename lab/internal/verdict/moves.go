package verdict

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A move is what a block's two trials say about a wall that is claimed to move.
type move int

const (
	unsettled move = iota // a wall was not recorded, or met beside another, or the client may have been in the way
	slight                // the walls are as claimed, but their use changed by less than the margin
	elsewhere             // at one end the claimed wall had room, and so had the client
	moved                 // each end met its wall alone, and both uses changed by the margin
)

// moveOf compares the trial at a factor's first level, where the claim's wall is
// From, with that at the last, where it is To.
//
// A trial of which a wall was not recorded, or that met two, is no evidence of
// either. Nor is one in which the client was full, or was not recorded: it kept
// the server from its wall, or may have. A wall at 91 % in one trial and at 89 %
// in the other is the same wall, read on both sides of the threshold, so the use
// of each has to change by the margin as well.
func moveOf(s *source, c experiment.Claim, first, last results.Trial) move {
	from, to := gate.Bound(c.From), gate.Bound(c.To)
	a, b := wallStateOf(s, first, from), wallStateOf(s, last, to)
	another := func(state wallState, t results.Trial, claimed gate.Bound) bool {
		return state == room && (claimed == gate.BoundClientCPU || s.Walls(t).Room(gate.BoundClientCPU))
	}
	switch {
	case another(a, first, from) || another(b, last, to):
		return elsewhere
	case a != alone || b != alone:
		return unsettled
	}
	before, after := s.Walls(first), s.Walls(last)
	for wall, sign := range map[gate.Bound]float64{from: -1, to: 1} {
		x, known := before.Use(wall)
		y, too := after.Use(wall)
		if !known || !too {
			return unsettled
		}
		if sign*(y-x) < *c.Margin {
			return slight
		}
	}
	return moved
}

// A moves claim names the wall at a factor's first level, and another at its last.
type moves struct{ plain }

func (moves) criterion(c experiment.Claim) string {
	return fmt.Sprintf("%s alone is full at the first level of %s, and %s alone at the last; between the two the use "+
		"of the one falls, and that of the other rises, by at least %s of what it can carry",
		wallPhrase(c.From), setting.Phrase(c.Over), wallPhrase(c.To), words.Percent(*c.Margin))
}

// decide decides a claim that the wall is one at the first level of a
// factor and another at the last. A block is for the claim if it moved so at all
// levels of the other factors, and against it if at one of them another wall was
// met at either end.
func (moves) decide(rec *record, c experiment.Claim) (finding, error) {
	var ends [][2]setting.Levels
	var compared []setting.Levels
	for _, s := range rec.strata(c) {
		if len(s) > 1 {
			ends = append(ends, [2]setting.Levels{s[0], s[len(s)-1]})
			compared = append(compared, s[0], s[len(s)-1])
		}
	}
	if len(ends) == 0 {
		return finding{}, fmt.Errorf("the run has one level of %s only, and a wall moves between two", setting.Phrase(c.Over))
	}
	f := finding{seen: rec.look(c, rec.begun(compared))}
	count := map[move]int{}
	v := f.seen.votes(func(b block) (inside, beyond bool) {
		worst := moved
		for n := range ends {
			m := moveOf(b.of, c, b.trials[2*n], b.trials[2*n+1])
			worst, beyond = min(worst, m), beyond || m == elsewhere
		}
		inside = worst == moved
		if beyond {
			worst = elsewhere
		}
		count[worst]++
		return inside, beyond
	})
	met := [2]int{} // trials in which the claimed wall was met alone, at either end
	trials := 0     // at either end
	for _, b := range f.seen.blocks {
		if b.refused {
			continue
		}
		trials += len(ends)
		for i, t := range b.trials { // one at either end in turn
			if wallStateOf(b.of, t, gate.Bound([]string{c.From, c.To}[i%2])) == alone {
				met[i%2]++
			}
		}
	}
	first, last := ends[0][0][c.Over], ends[0][1][c.Over]
	f.why = fmt.Sprintf("the wall moved from %s to %s in %d of %d %s (where %s is %s, %s alone was full in %d of %d "+
		"trials, and where it is %s, %s alone in %d)",
		wallPhrase(c.From), wallPhrase(c.To), v.inside, v.all, words.Plural(v.all, "block"),
		setting.Phrase(c.Over), setting.LevelPhrase(first), wallPhrase(c.From), met[0], trials, setting.LevelPhrase(last), wallPhrase(c.To),
		met[1])
	if n := count[elsewhere]; n > 0 {
		f.why += fmt.Sprintf("; in %d a wall had room where it was to be met, and so had the client", n)
	}
	if n := count[slight]; n > 0 {
		f.why += fmt.Sprintf("; in %d both ends are as claimed, but their use changed by less than %s", n,
			words.Percent(*c.Margin))
	}
	if n := count[unsettled]; n > 0 {
		f.why += fmt.Sprintf("; %d cannot tell, since a wall was not recorded, was full beside another, or the client was "+
			"in the way", n)
	}
	f.tellBy(v, rec.level)
	return f, nil
}

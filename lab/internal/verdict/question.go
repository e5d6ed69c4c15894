package verdict

import (
	"maps"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A Question is everything that measured runs have asked under one experiment's
// name, and so what divides stats.Alpha. A design that was changed after its first
// run is a second try at the question, and a claim that was withdrawn could have
// been decided wrongly all the same: neither leaves the account.
type Question struct {
	nth    map[string]int            // by digest of the design, from 1
	claims map[string]map[string]int // cores needed, by design and digest of the claim's bars
}

// Asked gathers what runs asked. They are of one experiment, on any hosts, oldest
// first. Runs that measured nothing asked nothing.
func Asked(runs []Run) *Question {
	q := &Question{map[string]int{}, map[string]map[string]int{}}
	for _, r := range runs {
		if len(r.File.Trials) == 0 {
			continue
		}
		design := r.Then.Design()
		if q.nth[design] == 0 {
			q.nth[design], q.claims[design] = len(q.nth)+1, map[string]int{}
		}
		addClaims(q.claims[design], r.Then)
	}
	return q
}

func addClaims(to map[string]int, x *experiment.Experiment) {
	for _, c := range x.Claims {
		to[x.Bars(c)] = x.Needs(c).Cores
	}
}

// Part says which design of the question an experiment is, and how many claims
// divide that design's level on a host with so many cores: those that any measured
// run of the design was made with, and the experiment's own. A claim that needs
// more cores cannot get a wrong verdict there and is not counted.
func (q *Question) Part(x *experiment.Experiment, cores int) (nth, claims int) {
	design := x.Design()
	all := map[string]int{}
	maps.Copy(all, q.claims[design])
	addClaims(all, x)
	for _, needs := range all {
		if needs <= cores {
			claims++
		}
	}
	if nth = q.nth[design]; nth == 0 {
		nth = len(q.nth) + 1
	}
	return nth, claims
}

// Least is how many visits decide the claims of an experiment on a host with so many cores, if all of them
// agree; 0 without a claim that the host can test.
func Least(x *experiment.Experiment, cores int) (least int) {
	nth, sharing := Asked(nil).Part(x, cores)
	rec := &record{fixed: x.Fixed()}
	for _, c := range x.Claims {
		if rec.about(c, x.Conditions()); x.Needs(c).Cores <= cores {
			sides := 2 * max(1, len(rec.comparisons(c)))
			least = max(least, stats.Fewest(stats.Level(nth, sharing)/float64(sides)))
		}
	}
	return least
}

package verdict

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Question is everything that measured runs have asked under one experiment's name, and so what divides
// stats.Alpha. A design that was changed after its first run is a second try at the question, and a claim that was
// withdrawn could have been decided wrongly all the same: neither leaves the account.
type Question struct{ designs []*experiment.Experiment } // of runs, oldest first

// Asked gathers what runs asked. They are of one experiment, on any hosts, oldest
// first. Runs that measured nothing asked nothing.
func Asked(runs []Run) *Question {
	measured := strict.Filter(runs, func(r Run) bool { return len(r.File.Trials) > 0 })
	return &Question{strict.Map(measured, func(r Run) *experiment.Experiment { return r.Then })}
}

// Part says which design of the question an experiment is, and how many claims divide that design's level on a host
// with so many cores. They are the experiment's own, and those of any measured run of the design. A claim that needs
// more cores cannot get a wrong verdict there and is not counted.
func (q *Question) Part(x *experiment.Experiment, cores int) (nth, claims int) {
	var digests []string
	own, bars := x.Design(), map[string]bool{}
	for _, then := range append(slices.Clone(q.designs), x) {
		digest := then.Design()
		if !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
		for _, c := range then.Claims {
			if digest == own && then.Needs(c).Cores <= cores {
				bars[then.Bars(c)] = true
			}
		}
	}
	return 1 + slices.Index(digests, own), len(bars)
}

// Least is how many blocks decide the claims of an experiment on a host with so many cores, if all of them
// agree; 0 without a claim that the host can test.
func Least(x *experiment.Experiment, cores int) (least int) {
	nth, sharing := Asked(nil).Part(x, cores)
	rec := &record{fixed: x.Fixed()}
	for _, c := range x.Claims {
		if rec.about(c, x.Conditions()); x.Needs(c).Cores <= cores {
			all := rec.comparisons(c)
			for _, m := range all {
				least = max(least, stats.Fewest(m.band.side(stats.Level(nth, sharing)/float64(len(all)))))
			}
		}
	}
	return least
}

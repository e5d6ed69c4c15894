package verdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// precheck says of a claim what can be said of it alone: whether it applies, and
// whether the trials can tell at all. A claim about ratios that passes is left
// open, and its finding returned.
func (d *decider) precheck(c experiment.Claim) (Claim, *finding) {
	out := Claim{ID: c.ID}
	say := func(v Verdict, format string, args ...any) (Claim, *finding) {
		out.Verdict, out.Reason = v, fmt.Sprintf(format, args...)
		return out, nil
	}
	if d.r.NotApplicable != "" {
		return say(NotApplicable, "%s", d.r.NotApplicable)
	}
	if c.Needs.Cores > 0 && d.h.Cores < c.Needs.Cores {
		return say(NotApplicable, "needs %d cores; this host has %d", c.Needs.Cores, d.h.Cores)
	}
	if c.Needs.LineRate && d.r.Topology.LineRateBps == 0 {
		return say(NotApplicable, "needs a wire of known line rate; this run went over %s", d.r.Topology.Kind)
	}
	m, _ := metric.Lookup(c.Metric)
	if m.MeasuresClient && d.sharedCores() {
		return say(NotApplicable, "needs cores of its own for each side; server and client shared theirs")
	}
	whole := d
	if where := c.Where(); where != nil {
		if d = d.at(where); len(d.conds) == 0 {
			return say(NotApplicable, "the run has no condition with %s", where.Key())
		}
	}
	trials := d.validTrials(c)
	if len(trials) == 0 {
		if n := d.invalid(); len(n) > 0 && !d.anyValid() {
			return say(Invalid, "no valid trial: %s", gates(n))
		}
		if c.Metric != "" {
			return say(NotApplicable, "the run did not record %s", c.Metric)
		}
		if c.Profile != "" {
			return say(NotApplicable, "the run has no %s profile", c.Profile)
		}
		return say(NotApplicable, "the run has no trial")
	}
	out.Bounds = d.tallyBounds(trials)
	if b := bound.Bound(c.Needs.Bound); b != "" {
		// The server's wall is only one where the client is known to have had room.
		met := func(w bound.Walls) bool { return w.Meets(b) && (b != bound.ServerCPU || w.Room(bound.ClientCPU)) }
		if n := d.count(trials, met); n < len(trials) {
			return say(NotApplicable, "needs every trial bounded by %s; %d of %d were (%s)", b, n, len(trials), tally(out.Bounds))
		}
	}
	if c.About == experiment.AboutClient {
		// What the client achieves is then its own, unless the server held it.
		if n := d.count(trials, func(w bound.Walls) bool { return !w.Room(bound.ServerCPU) }); n > 0 && c.Kind == experiment.Flat && d.r.Source == results.Measured {
			return say(Invalid, "measures the server: its CPU was the wall in %d of %d trials, or was not recorded", n, len(trials))
		}
	} else if m.MeasuresClient {
		if n := d.count(trials, func(w bound.Walls) bool { return w.Meets(bound.ClientCPU) }); n > 0 {
			return say(Invalid, "measures the client: its CPU was the wall in %d of %d trials", n, len(trials))
		}
		// A text prints one run, which is no verdict whatever it recorded.
		if n := d.count(trials, func(w bound.Walls) bool { return !w.Room(bound.ClientCPU) }); n > 0 && d.r.Source == results.Measured {
			return say(Inconclusive, "the client's CPU was not recorded in %d of %d trials: it may have been the wall", n, len(trials))
		}
		if n := d.unbounded(trials); n > 0 && m.Throughput() && d.r.Source == results.Measured {
			return say(Inconclusive, "what held throughput in %d of %d trials is not known: no wall was seen to be met", n, len(trials))
		}
	}

	found, err := d.evaluate(c, whole)
	if none := (incomparable{}); errors.As(err, &none) {
		return say(NotApplicable, "%s", none.why)
	}
	if err != nil {
		return say(Invalid, "%v", err)
	}
	out.Effects, _ = found.effects(false)
	blocks := 1
	if d.r.Provenance != nil {
		blocks = d.r.Provenance.Blocks
	}
	switch {
	case d.r.Source == results.Published && blocks == 1 && found.unseen:
		return say(Inconclusive, "one run has no interval, and what it recorded cannot tell; %s", found.why)
	case d.r.Source == results.Published && blocks == 1:
		out.SingleRun = "disagrees"
		if found.points {
			out.SingleRun = "agrees"
		}
		return say(Inconclusive, "one run has no interval; %s", found.why)
	case blocks < stats.MinSamples:
		return say(Inconclusive, "%d blocks are too few for a 95 %% interval of a median; six are the least", blocks)
	case found.pairs < stats.MinSamples:
		return say(Invalid, "only %d of %d blocks are complete: %s", found.pairs, blocks, gates(d.invalid()))
	case len(found.comparisons) == 0:
		return say(found.verdict, "%s", found.why)
	}
	return out, &found
}

// unbounded counts the trials whose throughput nothing known held: no wall was
// met, and no rate was asked for that they kept.
func (d *decider) unbounded(trials []results.Trial) int {
	n := 0
	for _, t := range trials {
		if d.walls(t).Bound() == bound.Unknown && !d.offered(t) {
			n++
		}
	}
	return n
}

// sharedCores tells whether server and client ran on the same cores. There the
// one takes from the other what it is measured by.
func (d *decider) sharedCores() bool {
	if d.r.Provenance == nil || d.r.Topology.Kind == "fleet" {
		return false
	}
	server, err := cores.Parse(d.r.Provenance.ServerCPUs)
	client, err2 := cores.Parse(d.r.Provenance.ClientCPUs)
	if err != nil || err2 != nil || len(server) == 0 || len(client) == 0 {
		return true // not pinned apart
	}
	return slices.ContainsFunc(server, func(cpu int) bool { return slices.Contains(client, cpu) })
}

// evaluate holds the claim against the figures. whole is the run with all its
// conditions, also those that the claim is not about.
func (d *decider) evaluate(c experiment.Claim, whole *decider) (finding, error) {
	switch c.Kind {
	case experiment.Bound:
		return d.evaluateBound(c), nil
	case experiment.Count:
		return d.evaluateCount(c)
	case experiment.Share, experiment.Absent:
		return d.evaluateShares(c, whole), nil
	}
	return d.evaluateRatios(c)
}

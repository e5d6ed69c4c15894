package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// MostLost is the largest share of blocks without a vote with which a claim is decided. By the simulation it is the
// largest with which a fault that refuses only blocks of one side leaves the error at an edge below stats.Alpha.
const MostLost = 0.1

// A loss is why a block that was begun has no vote, to continue "in 3 of 12 blocks".
type loss string

// In the order in which they are checked.
const (
	none             loss = ""
	refused          loss = "a fault refused a trial"
	sharedCores      loss = "server and client shared cores, and the claim needs cores of its own for each"
	otherBottleneck  loss = "the bottleneck was not seen to be the one that the claim needs"
	clientBottleneck loss = "the client's CPU was the bottleneck, so the figures measure the client"
	clientUnseen     loss = "the client's CPU was not recorded: it may have been the bottleneck"
	serverBottleneck loss = "the server's CPU was the bottleneck, or was not recorded, so the figures measure the server"
	missing          loss = "a figure that the claim rests on was not recorded"
	nought           loss = "a figure is zero, so there is no ratio"
)

var losses = []loss{refused, sharedCores, otherBottleneck, clientBottleneck, clientUnseen, serverBottleneck, missing,
	nought}

// A sight is what became of the blocks that were begun.
type sight struct {
	begun  int
	blocks []block        // those that count
	lost   map[loss]int   // the others
	faults map[string]int // trials of them that were refused, by gate
}

// look sorts the blocks that were begun. Each needs a trial of every condition that is compared.
func (rec *record) look(c experiment.Claim, all []*comparison) sight {
	conds := strict.Filter(rec.conds, func(levels setting.Levels) bool {
		return slices.ContainsFunc(all, func(m *comparison) bool {
			return m.a == nil || m.a.Key() == levels.Key() || m.b.Key() == levels.Key()
		})
	})
	blocks := begun(rec.runs)
	s := sight{begun: len(blocks), lost: map[loss]int{}, faults: map[string]int{}}
	for _, b := range blocks {
		why := refused
		trials, complete := b.trials(conds)
		if complete {
			why = b.of.loses(c, trials)
		}
		if why == none {
			s.blocks = append(s.blocks, b)
			continue
		}
		s.lost[why]++
		for _, t := range b.of.Trials {
			of := func(levels setting.Levels) bool { return b.of.ids[levels.Key()] == t.Condition }
			if t.Block == b.number && !t.Valid && slices.ContainsFunc(conds, of) {
				for _, why := range t.Reasons {
					s.faults[why.Gate]++
				}
			}
		}
	}
	return s
}

// loses gives the reason why a block with these trials has no vote; none if it has one.
func (s *source) loses(c experiment.Claim, trials []results.Trial) loss {
	m, _ := metric.Lookup(c.Metric)
	if m.MeasuresClient && s.SharedCores() {
		return sharedCores
	}
	need, ofClient := gate.Bound(c.Needs.Bound), c.About == experiment.AboutClient
	for _, t := range trials {
		w := s.Walls(t)
		room := w.Room(gate.BoundClientCPU)
		switch {
		// The server's CPU counts as the bottleneck only if the client is known to have had room.
		case need != "" && (!w.Meets(need) || need == gate.BoundServerCPU && !room):
			return otherBottleneck
		case m.MeasuresClient && !ofClient && w.Meets(gate.BoundClientCPU):
			return clientBottleneck
		case m.MeasuresClient && !ofClient && !room:
			return clientUnseen
		// What the client can do shows only where the server had room.
		case c.Kind == experiment.Flat && ofClient && !w.Room(gate.BoundServerCPU):
			return serverBottleneck
		}
	}
	if c.Form() == experiment.BottleneckForm {
		if _, known := s.alone(c, trials); !known {
			return missing
		}
		return none
	}
	for _, t := range trials {
		if r, ok := s.figure(c, t); !ok {
			return missing
		} else if c.Form() == experiment.RatioForm && r.High <= 0 {
			return nought
		}
	}
	return none
}

// figure gives the range that a trial's figure may have; false where it has none.
func (s *source) figure(c experiment.Claim, t results.Trial) (results.Reading, bool) {
	if c.Profile == "" {
		return s.Reading(t, c.Metric)
	}
	// A profile lists everything that it has, so what is missing has a share of 0. A frame
	// without a symbol may be of any package.
	p, ok := t.Profile(profile.Kind(c.Profile))
	share, unnamed := p.Packages[c.Package], p.Packages[profile.NoSymbol]
	if c.Work != "" {
		share, unnamed = p.Work[c.Work], 0
	}
	return results.Reading{Low: share, High: share + unnamed, Nominal: &share}, ok
}

// alone tells whether the claimed resource alone was the bottleneck of all trials of a block. It
// was not if it had room in one of them, or had another beside it.
func (s *source) alone(c experiment.Claim, trials []results.Trial) (is, known bool) {
	claimed := gate.Bound(c.Bound)
	is, known = true, true
	for _, t := range trials {
		w := s.Walls(t)
		// A wire without a known line rate is not known to have room.
		_, read := t.Metrics["line_rate_share"]
		seen := claimed != gate.BoundWire || read || s.Topology.Kind == "loopback" || s.Topology.LineRateBps > 0
		switch {
		case w.Meets(claimed) && len(w.Met) > 1, w.Room(claimed) && seen:
			return false, true
		case w.Bound() != claimed || len(w.Unseen) > 0:
			is, known = false, false
		}
	}
	return is, known
}

// says lists why blocks have no vote: "in 4 of 24 blocks a fault refused a trial (errors 4)"; empty if all have one.
func (s sight) says() string {
	var out []string
	for _, why := range losses {
		if n := s.lost[why]; n > 0 {
			out = append(out, fmt.Sprintf("in %d of %s %s", n, words.Count(s.begun, "block"), why))
		}
		if why == refused && len(s.faults) > 0 {
			out[0] += " (" + words.Tally(s.faults, true) + ")"
		}
	}
	return strings.Join(out, "; ")
}

package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// inPieces is a design with trials in one piece: autocannon takes no turns.
var inPieces = design{settings: "generator = \"autocannon\"\nconnections = 4\nprefork = false",
	block: "slot_s = 0.7\nrounds = 1\nwarmup_s = 0.1"}

// The lab's own server answers correctly with autocannon too.
func TestRightAnswersInOnePiece(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	type levels = setting.Levels
	e := p.start(inPieces.parse(t),
		levels{setting.Route: text("/simple"), setting.Pipelining: whole(4)},
		levels{setting.Route: text("/read"), setting.Prefork: either(true), setting.Workers: whole(2),
			setting.ClientWorkers: whole(2), setting.Rate: whole(200)})
	p.until(func() []results.Trial { return p.block(e) }, func(trials []results.Trial) bool {
		seen := true
		for i, one := range trials {
			if closed(one, gate.WrongAnswer, gate.Errors) ||
				one.Metrics["requests"] == 0 || one.Slots != nil {
				t.Errorf("%s: %q", e.File.Conditions[i].Levels.Key(), one.Reasons)
			}
			seen = seen && !closed(one, gate.NoTelemetry)
		}
		return seen
	})
	p.nothingRuns(t)
}

// A server with a fault gets no valid trial, whichever client loads it.
func TestFaultyServers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	turns, pieces, workers := design{}.parse(t), inPieces.parse(t), paced(twoWorkers).parse(t)
	for _, c := range []struct {
		x     *experiment.Experiment
		fault string // empty: the lab's own server
		route string // empty: all of the design
		says  string
		gates []string // one of these closes on each trial
	}{
		// Wrong answers from the start, right at first and then wrong once, or wrong now and then.
		{turns, "half", "", "", []string{gate.WrongAnswer, gate.Errors}},
		{turns, "html", "", "", []string{gate.WrongAnswer, gate.Errors}},
		{turns, "a-byte 200", "", "", []string{gate.WrongAnswer, gate.Errors}},
		{turns, "107-bytes 100 100", "", "", []string{gate.WrongAnswer, gate.Errors}},
		{turns, "cut 200 100", "", "", []string{gate.WrongAnswer, gate.Errors}},
		{pieces, "half", "/simple", "before the trial: its answer to GET /simple is not as expected: 8 bytes of body, the route's have 16",
			[]string{gate.WrongAnswer}},
		{pieces, "type", "/read", "Content-Type", []string{gate.WrongAnswer}},
		{pieces, "a-byte", "/read", "none of the route's 500", []string{gate.WrongAnswer}},
		{pieces, "half 2", "/simple", "before the trial: its answer to GET /simple", []string{gate.WrongAnswer}},
		{pieces, "", "/nothing", "", []string{gate.WrongAnswer}}, // which the server lacks
		{pieces, "dies 2", "/simple", "", []string{gate.ServerExited}},
		// A stranger that listens on the port takes connections; a worker that does not leaves its own to the others.
		{workers, "stranger", "", "", []string{gate.Connections}},
		{workers, "one-of-two", "", "", []string{gate.LostWorker}},
	} {
		t.Run(strings.TrimSpace(c.x.Fixed()[setting.Generator].String()+" "+c.fault+" "+c.route), func(t *testing.T) {
			p := p
			p.t = t
			if p.use("server", "fiber_server"); c.fault != "" {
				p.faulty(c.fault)
			}
			var only []setting.Levels
			if c.route != "" {
				only = []setting.Levels{{setting.Route: text(c.route)}}
			}
			p.until(func() []results.Trial { return p.block(p.start(c.x, only...)) }, func(trials []results.Trial) bool {
				return !slices.ContainsFunc(trials, func(one results.Trial) bool {
					return one.Valid || !slices.ContainsFunc(one.Reasons, func(r results.Reason) bool {
						return slices.Contains(c.gates, r.Gate) && strings.Contains(r.Detail, c.says)
					})
				})
			})
			p.nothingRuns(t)
		})
	}
}

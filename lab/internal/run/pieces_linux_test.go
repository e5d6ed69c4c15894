package run

import (
	"slices"
	"strings"
	"testing"

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
			seen = seen && !closed(one, gate.NoTelemetry) && len(one.Cores) > 0
		}
		return seen
	})
	p.nothingRuns(t)
}

// A server with wrong answers gets no valid trial, whether they are wrong from
// the start or only under load.
func TestWrongAnswersInOnePiece(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := inPieces.parse(t)
	for _, c := range []struct {
		fault, route string
		gates        []string // one of these closes
		says         string
	}{
		{"half", "/simple", []string{gate.WrongAnswer},
			"before the trial: its answer to GET /simple is not as expected: 8 bytes of body, the route's have 16"},
		{"type", "/read", []string{gate.WrongAnswer}, "Content-Type"},
		{"a-byte", "/read", []string{gate.WrongAnswer}, "none of the route's 500"},
		{"half 2", "/simple", []string{gate.WrongAnswer}, "before the trial: its answer to GET /simple"},
	} {
		t.Run(c.fault+c.route, func(t *testing.T) {
			p := p
			p.t = t
			p.faulty(c.fault)
			e := p.start(x, setting.Levels{setting.Route: text(c.route)})
			p.until(func() []results.Trial { return p.block(e) }, func(trials []results.Trial) bool {
				return !trials[0].Valid && slices.ContainsFunc(trials[0].Reasons, func(r results.Reason) bool {
					return slices.Contains(c.gates, r.Gate) && strings.Contains(r.Detail, c.says)
				})
			})
		})
	}
	p.nothingRuns(t)
}

// A failed comparison refuses a trial.
func TestAnswersThatWereNotCompared(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := inPieces.parse(t)
	lacks := p.start(x, setting.Levels{setting.Route: text("/nothing")}) // a route that the server lacks
	if one := p.block(lacks)[0]; one.Valid || !closed(one, gate.WrongAnswer) {
		t.Errorf("%q", one.Reasons)
	}
	p.nothingRuns(t)
}

// A server that is gone when its answers are to be compared is reported as
// gone.
func TestAServerThatIsGoneBeforeItsTrial(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.faulty("dies 2")
	one := p.block(p.start(inPieces.parse(t), setting.Levels{setting.Route: text("/simple")}))[0]
	if one.Valid || !closed(one, gate.ServerExited) || len(one.Metrics) > 2 { // the two calibrations
		t.Errorf("%q, %v", one.Reasons, one.Metrics)
	}
}

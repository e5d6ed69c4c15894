package run

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/perf"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// gauging is a design that asks for the client's part in a server's CPU time.
var gauging = design{
	settings: longBlock.settings, block: "slot_s = 0.05\nrounds = 1\nwarmup_s = 0.05",
	more: "[relative]\nmetric = \"server_cpu_per_request_s\"\nover = \"route\"\nto = \"/simple\"\nown_work = true",
}

func gaugedGroup(t *testing.T, d design) *group {
	p := newPlace(t)
	e := p.engine(d.parse(t), loopback)
	l := e.plan.load(loopback, e.plan.Experiment.Fixed().With(e.file.Conditions[0].Levels), e.plan.Port)
	g := &group{engine: e, conds: []int{0}, sequence: []int{0}, loads: []load{l},
		trials: []results.Trial{{Condition: "c1", Metrics: map[string]float64{}}}}
	up(t, g)
	return g
}

// The real server under load, sampled by perf. A busy machine may leave too few samples;
// the run then says so.
func TestAServersClientIsGaugedOnceARun(t *testing.T) {
	if why := perf.Usable(); why != "" {
		t.Skip(why)
	}
	g := gaugedGroup(t, gauging)
	if err := g.gauged(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, ok := g.trials[0].Metrics[receiveShare]
	if !ok {
		t.Skip(g.engine.file.Warnings)
	}
	if first <= 0 || first >= 0.9 {
		t.Errorf("the client's part is %v", first)
	}
	g.engine.file.Trials = g.trials
	g.trials = []results.Trial{{Condition: "c1", Metrics: map[string]float64{}}}
	if err := g.gauged(t.Context()); err != nil || len(g.trials[0].Metrics) > 0 {
		t.Errorf("a second block was gauged again: %v, %v", g.trials[0].Metrics, err)
	}
}

// A trial that a gate refused, and a machine without perf, leave no figure.
func TestWhatIsNotGaugedIsAbsent(t *testing.T) {
	g := gaugedGroup(t, gauging)
	g.trials[0].Reasons = []results.Reason{{Gate: "steal", Detail: "made up"}}
	if err := g.gauged(t.Context()); err != nil || len(g.trials[0].Metrics) > 0 {
		t.Errorf("an invalid trial: %v, %v", g.trials[0].Metrics, err)
	}
	g.trials[0].Reasons = nil
	t.Setenv("PATH", t.TempDir())
	err := g.gauged(t.Context())
	if said := strings.Join(g.engine.file.Warnings, "; "); err != nil || len(g.trials[0].Metrics) > 0 ||
		!strings.Contains(said, "was not gauged: perf is not installed") {
		t.Errorf("without perf: %v, %v, warnings %q", g.trials[0].Metrics, err, said)
	}
}

package run

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/autocannon"
	"github.com/line-rate/line-rate/lab/internal/eventsink"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// piece measures the group's one condition in one piece, by a load generator that
// cannot take turns: autocannon, and the receiver of events.
func (g *group) piece(ctx context.Context) error {
	l, t, fail := g.loads[0], &g.trials[0], g.failer(0)
	answers, err := l.compare()
	if err != nil {
		return err
	}
	defer answers.stop()
	if g.servers, err = startServers(ctx, g.loads); err != nil {
		return err
	}
	defer stopServers(g.servers)
	// Before the answers are compared: the connections that takes are not to be
	// among those that there were beforehand.
	var pid atomic.Int64
	if err := g.watch(func() int { return int(pid.Load()) }, l.slot); err != nil {
		return err
	}
	defer g.sampler.Stop()
	if err := answers.begin(ctx, fail); err != nil {
		return err
	}
	if len(t.Reasons) > 0 {
		s := g.servers[0]
		select {
		case <-s.proc.Done():
			fail(gate.ServerExited, "the server exited before the trial: %s", s.lastWords())
		case <-time.After(noticed):
		}
		return nil // its throughput would be of something else
	}
	c := client{dir: l.dir, link: l.link, argv: l.client, limit: l.warmup + l.slot + l.grace, began: func(p int) {
		pid.Store(int64(p))
		answers.beside(p, l)
	}}
	printed, faults, err := c.drive(ctx, g.servers)
	g.sampler.Stop()
	answers.stop()
	if err != nil {
		return err
	}
	if g.blame(faults); len(faults) > 0 {
		return nil
	}
	r, err := l.parse(printed)
	if err != nil {
		fail(gate.ClientFailed, "%v", err)
		return nil
	}
	w := g.sampler.Between(r.Start, r.Finish, r.Metrics["throughput_rps"], l.lineRate)
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	perEvent(t.Metrics)
	if len(r.Below) > 0 {
		t.Below = r.Below
	}
	if len(r.Resolution) > 0 {
		t.Resolution = r.Resolution
	}
	take(t, w)
	l.gates(r, w, t.Metrics, fail)
	answers.judge(l, r, fail)
	return g.profiled(ctx)
}

func (l load) parse(stdout []byte) (*generator.Result, error) {
	if l.generator == setting.Sink {
		return eventsink.Parse(stdout)
	}
	r, err := autocannon.Parse(stdout)
	if err == nil {
		r.Asked(l.rate) // which autocannon does not print
	}
	return r, err
}

// gates closes those that look at the figures of a trial in one piece, by the
// rules that its file is checked by later, and those that look at the samples.
// What was not seen closes a gate as well: it would otherwise stand open.
func (l load) gates(r *generator.Result, w telemetry.Window, m map[string]float64, fail failer) {
	l.asks(m)
	if _, mean := m["latency_mean_s"]; !mean && l.rate == 0 && l.connections > 0 && m["requests"] > 0 {
		m["latency_mean_least_s"] = r.CutMeanS
	}
	said := map[string]bool{} // by what saw more of it than the figures show
	say := func(name, format string, args ...any) {
		said[name] = true
		fail(name, format, args...)
	}
	for _, f := range l.faults(r) {
		say(f.Gate, "%s", f.Detail)
	}
	if w.WorkersMin < w.WorkersMax {
		say(gate.LostWorker, "the server had %d workers at first and %d at last", w.WorkersMax, w.WorkersMin)
	}
	unwell(w, l.slot, fail)
	l.shut(m, w, said, fail)
}

package run

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A piece is one condition of a group that is measured in one piece.
type piece struct {
	answers *comparison
	pid     atomic.Int64 // of its client
	printed []byte
}

// pieces measures the group's conditions in one piece each, by load generators that
// cannot take turns: autocannon, and the receiver of events. Where there are several
// they run at once, each server with a client of its own, and share their weather
// from the first moment to the last.
func (g *group) pieces(ctx context.Context) error {
	pieces := make([]piece, len(g.loads))
	compared := func() {
		for i := range pieces {
			pieces[i].answers.stop()
		}
	}
	defer compared()
	var err error
	for i, l := range g.loads {
		if pieces[i].answers, err = l.compare(); err != nil {
			return err
		}
	}
	if g.servers, err = startServers(ctx, g.loads); err != nil {
		return err
	}
	defer stopServers(g.servers)
	// Before the answers are compared: the connections that takes are not to be
	// among those that there were beforehand.
	var pairs []telemetry.Pair
	for i := range pieces {
		pairs = append(pairs, g.pair(func() int { return int(pieces[i].pid.Load()) }, g.servers[i]))
	}
	if err := g.watch(g.loads[0].slot, pairs...); err != nil {
		return err
	}
	defer g.sampler.Stop()
	for i := range pieces {
		if err := pieces[i].answers.begin(ctx, g.failer(i)); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(g.trials, func(t results.Trial) bool { return len(t.Reasons) > 0 }) {
		g.goneBefore()
		return nil // their throughput would be of something else
	}
	faults, err := g.drive(ctx, pieces)
	g.sampler.Stop()
	compared()
	if err != nil {
		return err
	}
	if g.blame(faults); len(faults) > 0 {
		return nil
	}
	for i := range pieces {
		g.judgePiece(i, &pieces[i])
	}
	return g.profiled(ctx)
}

// goneBefore tells of servers that have exited before their trials.
func (g *group) goneBefore() {
	wait := time.After(noticed)
	for i, s := range g.servers {
		if len(g.trials[i].Reasons) == 0 {
			continue
		}
		select {
		case <-s.proc.Done():
			g.failer(i)(gate.ServerExited, "the server exited before the trial: %s", s.lastWords())
		case <-wait:
			return
		}
	}
}

// drive has each piece's client load its own server, all at once, and returns what
// went wrong and with which of them. An error of one ends them all.
func (g *group) drive(ctx context.Context, pieces []piece) ([]fault, error) {
	found := make([][]fault, len(pieces))
	if err := atOnce(ctx, len(pieces), func(ctx context.Context, i int) (err error) {
		p, l := &pieces[i], g.loads[i]
		c := client{dir: l.dir, link: l.link, argv: l.client, limit: l.warmup + l.slot + l.grace, began: func(pid int) {
			p.pid.Store(int64(pid))
			p.answers.beside(pid, l)
		}}
		p.printed, found[i], err = c.drive(ctx, g.servers[i:i+1])
		return err
	}); err != nil {
		return nil, err
	}
	var faults []fault
	for i, some := range found {
		for _, f := range some {
			f.of = i // its server's, or its client's, which serves nobody else
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// judgePiece makes a trial of what the piece's client printed and of what was
// sampled in the window that it tells, and closes the gates.
//
// CPU times are those of the piece's own server and client. How busy the cores were
// is of all that ran, and so is what the trial was bounded by: of several at once
// none is said to have had room that it had to share.
func (g *group) judgePiece(i int, p *piece) {
	l, t, fail := g.loads[i], &g.trials[i], g.failer(i)
	r, err := l.parse(p.printed)
	if err != nil {
		fail(gate.ClientFailed, "%v", err)
		return
	}
	w := g.sampler.Between(i, r.Start, r.Finish, r.Metrics["throughput_rps"], l.lineRate)
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
	p.answers.judge(l, r, fail)
}

func (l load) parse(stdout []byte) (*generator.Result, error) {
	if l.generator == setting.Sink {
		return generator.ParseSink(stdout)
	}
	r, err := generator.ParseAutocannon(stdout)
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

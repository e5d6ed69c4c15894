package run

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A piece is one condition measured in one piece, without slots.
type piece struct {
	head    int          // length of its server's answers' heads; 0 if no route is loaded
	sockets *socketWatch // of its client, where a route is loaded
	pid     atomic.Int64 // process id of its client
	printed []byte
}

// pieces measures the group's conditions without slots, with load generators
// that cannot take turns: autocannon and the receiver of events. Several
// conditions run at once, each server with a client of its own, so that a
// disturbance of the machine meets all of them.
func (g *group) pieces(ctx context.Context) error {
	pieces := make([]piece, len(g.loads))
	// Before the answers are compared, so that the connections used for comparing
	// do not count as there before the trial.
	var pairs []telemetry.Pair
	for i := range pieces {
		pairs = append(pairs, g.pair(func() int { return int(pieces[i].pid.Load()) }, g.servers[i]))
	}
	if err := g.watch(g.loads[0].slot, pairs...); err != nil {
		return err
	}
	defer g.sampler.Stop()
	for i, l := range g.loads {
		var err error
		if pieces[i].head, err = l.check(ctx, "before", g.failer(i)); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(g.trials, func(t results.Trial) bool { return len(t.Reasons) > 0 }) {
		g.goneBefore()
		return nil // a wrong answer's throughput is no result
	}
	faults, err := g.drive(ctx, pieces)
	g.sampler.Stop()
	if err != nil {
		return err
	}
	if g.blame(faults); len(faults) > 0 {
		return nil
	}
	for i, l := range g.loads {
		g.judgePiece(i, &pieces[i])
		if _, err := l.check(ctx, "after", g.failer(i)); err != nil {
			return err
		}
	}
	return g.profiled(ctx)
}

// goneBefore names the servers that exited before their trials.
func (g *group) goneBefore() {
	wait := time.After(exitSeenWithin)
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

// drive has the client of each piece load its own server, all at once, and
// returns the faults with their pieces. An error of one ends them all.
func (g *group) drive(ctx context.Context, pieces []piece) ([]fault, error) {
	found := make([][]fault, len(pieces))
	if err := atOnce(ctx, len(pieces), func(ctx context.Context, i int) (err error) {
		p, l := &pieces[i], g.loads[i]
		defer func() { p.sockets.end() }()
		c := client{dir: l.dir, link: l.link, argv: l.client, limit: l.warmup + l.slot + l.grace, began: func(pid int) {
			p.pid.Store(int64(pid))
			if l.route != "" {
				p.sockets = watchSockets(pid, l.connections, l.warmup, l.slot, func() proc.Held {
					return proc.Census(proc.Listening{PIDs: g.servers[i].processes(), Port: l.port})[0]
				})
			}
		}}
		p.printed, found[i], err = c.drive(ctx, g.servers[i:i+1])
		return err
	}); err != nil {
		return nil, err
	}
	var faults []fault
	for i, some := range found {
		for _, f := range some {
			f.of = i // the piece's own server or client; no other is affected
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// judgePiece fills in a trial from what the piece's client printed and from the
// samples in the window that the client reports, and closes the gates.
//
// CPU times are those of the piece's own server and client. The use of the
// cores, and so the trial's bound, covers all pieces that ran: where several
// share the cores, none is said to have had spare room.
func (g *group) judgePiece(i int, p *piece) {
	l, t, fail := g.loads[i], &g.trials[i], g.failer(i)
	r, err := l.parse(p.printed)
	if err != nil {
		fail(gate.ClientFailed, "%v", err)
		return
	}
	w := g.sampler.Between(i, r.Start, r.Finish, r.Metrics["throughput_rps"])
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	l.cutMean(r, t.Metrics)
	if len(r.Below) > 0 {
		t.Below = r.Below
	}
	if len(r.Resolution) > 0 {
		t.Resolution = r.Resolution
	}
	if p.sockets != nil && len(p.sockets.held.Processes) > 0 {
		connected(t.Metrics, p.sockets.held)
	}
	take(t, w)
	g.engine.file.Follow(t)
	l.gates(r, w, t.Metrics, fail)
	if l.route != "" {
		l.bytes(p.head, r, fail)
		p.sockets.judge(r, fail)
	}
}

func (l load) parse(stdout []byte) (*generator.Result, error) {
	switch l.generator {
	case setting.Sink:
		return generator.ParseSink(stdout)
	case setting.Readers:
		return generator.ParseReaders(stdout)
	}
	r, err := generator.ParseAutocannon(stdout)
	if err == nil {
		r.Asked(l.rate) // autocannon does not print it
	}
	return r, err
}

// cutMean records the least that the mean latency can be, where the generator cut it off.
func (l load) cutMean(r *generator.Result, m map[string]float64) {
	if _, mean := m["latency_mean_s"]; !mean && l.rate == 0 && l.asked.ResolutionS > 0 && m["requests"] > 0 {
		m["latency_mean_least_s"] = r.CutMeanS
	}
}

// gates closes the gates that judge a trial's figures, by the rules that later
// check its file, and those that judge the samples. A missing figure closes its
// gate too: else the gate would stay open unseen.
func (l load) gates(r *generator.Result, w telemetry.Window, m map[string]float64, fail failer) {
	said := map[string]bool{} // gates closed by checks that saw more than the figures show
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
	stopped(w, fail)
	l.shut(m, said, fail)
}

package measure

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/load"
)

// A Piece is a load generator that cannot take turns: autocannon, the event sink, the readers of
// events. It loads its subject in one piece.
type Piece struct {
	Lasting func(counts time.Duration) []string // its command, by the time that counts
	Warmup  time.Duration                       // before that
	Grace   time.Duration                       // what it may take beyond both
	Parse   func(printed []byte) (*Result, error)
	// Asks is asked before the load and after it, and has to answer right; empty: the client compares
	// the answers itself.
	Asks load.Target
}

// A Result is what such a client measured.
type Result struct {
	Start, Finish time.Time          // of its window
	Metrics       map[string]float64 // by the names of package metric
	Below         map[string]float64 // latencies below the resolution
	// Resolution is the step in which a latency was recorded, in seconds: the true value is up to that
	// much more.
	Resolution map[string]float64
	Faults     []Fault // beside those that its metrics show
	// CutMeanS is the mean, in seconds, of latencies cut to whole milliseconds; the true mean is up to
	// a millisecond higher.
	CutMeanS float64
}

// Pieces measures all subjects at once, each by a client of its own. CPU times of a trial are those
// of its own server and client; the use of the cores is of all that ran.
func (p *Plan) Pieces(ctx context.Context, pieces []Piece) (*Block, error) {
	b := newBlock(p)
	defer b.down()
	if err := b.up(ctx); err != nil {
		return nil, err
	}
	for i, one := range pieces {
		if !b.check(ctx, i, one.Asks, "before") && b.gone(exitSeenWithin) == i {
			b.fault(i, gate.ServerExited, "the server exited before the trial: %v", b.Subjects[i].Gone())
		}
	}
	clients := make([]*pieceClient, len(pieces))
	pairs := make([]machine.Pair, len(pieces))
	for i, one := range pieces {
		pairs[i] = machine.Pair{Servers: first(b.Subjects[i].CPU().PIDs)}
		if len(b.trials[i].Faults) > 0 {
			continue // a wrong answer's throughput is no result
		}
		var err error
		if clients[i], err = b.startPiece(one, p.Slot); err != nil {
			return nil, err
		}
		defer clients[i].end()
		pairs[i].Client = clients[i].proc.Pid()
	}
	if err := b.watch(p.Slot, pairs...); err != nil {
		return nil, err
	}
	if err := each(ctx, len(pieces), func(ctx context.Context, i int) error {
		if clients[i] == nil {
			return nil
		}
		return b.await(ctx, i, clients[i])
	}); err != nil {
		return nil, err
	}
	b.sampler.Stop()
	for i, c := range clients {
		if len(b.trials[i].Faults) > 0 {
			continue
		}
		r, err := c.Parse(c.printed.Bytes())
		if err != nil {
			b.fault(i, gate.ClientFailed, "%v", err)
			continue
		}
		b.judgePiece(i, r, c.held)
		b.check(ctx, i, c.Asks, "after")
	}
	return &Block{Trials: b.trials}, b.extras(ctx, pieces)
}

// begins is how long after its warm-up such a client surely measures.
const begins = 600 * time.Millisecond

// extras loads each subject once more, all at once, while something is done.
func (b *block) extras(ctx context.Context, pieces []Piece) error {
	for _, x := range b.Extras {
		if err := each(ctx, len(pieces), func(ctx context.Context, i int) error {
			if len(b.trials[i].Faults) > 0 || !x.Due(i) {
				return nil
			}
			c, err := b.startPiece(pieces[i], begins+x.Window+rest)
			if err != nil {
				return err
			}
			defer c.end()
			wait := meanwhile(ctx, c.Warmup+begins, func(ctx context.Context) error { return x.Do(ctx, i) })
			if err := b.await(ctx, i, c); err != nil {
				_ = wait(0)
				return err
			}
			if err := wait(written); err != nil && ctx.Err() == nil {
				b.fault(i, gate.ProfileFailed, "in the profiled window: %v", err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// check asks a subject whose client compares no answers, and tells whether it answers right.
func (b *block) check(ctx context.Context, i int, t load.Target, when string) bool {
	if t.URL == "" {
		return true
	}
	_, err := b.ask(ctx, t, againWithin)
	if err != nil {
		b.fault(i, gate.WrongAnswer, "%s the trial: %v", when, err)
	}
	return err == nil
}

func first(pids []int) []int { return pids[:min(1, len(pids))] }

// A pieceClient is a client that loads one subject.
type pieceClient struct {
	Piece
	counts  time.Duration
	proc    *proc.Proc
	printed bytes.Buffer
	held    proc.Held // what the server held in the middle of the load
}

// startPiece starts a client whose load counts for so long.
func (b *block) startPiece(p Piece, counts time.Duration) (c *pieceClient, err error) {
	c = &pieceClient{Piece: p, counts: counts}
	if c.proc, err = proc.Start(proc.Spec{Dir: b.Dir, Argv: b.Link.Client(p.Lasting(counts)), Stdout: &c.printed}); err != nil {
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	return c, nil
}

func (c *pieceClient) end() { _ = c.proc.Stop(c.proc.Pid(), time.Second) }

// await waits for a client's end. A fault is the trial's; an error ends the run.
func (b *block) await(ctx context.Context, i int, c *pieceClient) error {
	s, most := b.Subjects[i], c.Warmup+c.counts+c.Grace
	limit, middle, look := time.After(most), time.After(c.Warmup+c.counts-b.Slot*3/4), time.NewTicker(exitSeenWithin/40)
	defer look.Stop()
	defer c.end()
	for late, over := false, false; !over && s.Gone() == nil; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			b.fault(i, gate.ClientFailed, "the client had not ended %v after its start", most)
			return nil
		case <-middle:
			late = true
		case <-look.C:
			if late {
				c.attend(s, b.Asked[i].Connections)
			}
		case <-c.proc.Done():
			over = true
		}
	}
	gone := s.Gone()
	if gone == nil && c.proc.Err() != nil && b.gone(exitSeenWithin) == i {
		gone = s.Gone()
	}
	switch {
	case gone != nil:
		b.fault(i, gate.ServerExited, "the server exited in mid-trial: %v", gone)
	case b.Link.Lost():
		return errWireLost
	case c.proc.Err() != nil && slices.Contains(misused, c.proc.ExitCode()):
		return fmt.Errorf("the client did not start: %s", c.proc.LastLine())
	case c.proc.Err() != nil:
		b.fault(i, gate.ClientFailed, "the client failed (%v): %s", c.proc.Err(), c.proc.LastLine())
	}
	return nil
}

// misused are the exit statuses of a command that is written wrongly, or cannot be started: every further
// trial would meet it too.
var misused = []int{2, 3, 126, notFound}

// attend counts the connections that the server holds, unless all of them were seen already.
func (c *pieceClient) attend(s Subject, all int) {
	if c.held.Connections < max(all, 1) {
		if h := proc.Census(proc.Listening{PIDs: s.CPU().PIDs, Port: port(s.Addr())})[0]; h.Connections >= c.held.Connections {
			c.held = h
		}
	}
}

// judgePiece makes a trial from what its client printed and from the samples of its window.
func (b *block) judgePiece(i int, r *Result, h proc.Held) {
	t := &b.trials[i]
	w := b.sampler.Between(i, r.Start, r.Finish, r.Metrics["throughput_rps"])
	t.StartedAt = r.Start
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	t.Below, t.Resolution = r.Below, r.Resolution
	a := b.Asked[i]
	if _, mean := t.Metrics["latency_mean_s"]; !mean && a.Rate == 0 && a.ResolutionS > 0 && t.Metrics["requests"] > 0 {
		t.Metrics["latency_mean_least_s"] = r.CutMeanS
	}
	connected(t.Metrics, h)
	t.Faults = append(t.Faults, r.Faults...)
	if w.WorkersMin < w.WorkersMax {
		b.fault(i, gate.LostWorker, "the server had %d workers at first and %d at last", w.WorkersMax, w.WorkersMin)
	}
	b.rules(i, w)
}

package measure

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/load"
)

// A Piece is a load generator that cannot take turns: autocannon, the event sink, the readers of
// events. It loads its subject in one piece.
type Piece struct {
	Argv  []string
	Dir   string
	Lasts time.Duration // its warm-up and its window
	Grace time.Duration // what it may take beyond that
	Parse func(printed []byte) (*Result, error)
	// Asks is asked before the load and after it, and has to answer right; empty: the client compares
	// the answers itself.
	Asks load.Target
	// Lasting is the command with another counted time behind its warm-up, for an extra.
	Warmup  time.Duration
	Lasting func(counts time.Duration) []string
}

// A Result is what such a client measured.
type Result struct {
	Start, Finish time.Time          // of its window
	Metrics       map[string]float64 // by the names of package metric
	Below         map[string]float64 // latencies below the resolution
	// Resolution is the step in which a latency was recorded, in seconds: the true value is up to that
	// much more.
	Resolution map[string]float64
	Faults     []Fault
	// CutMeanS is the mean, in seconds, of latencies cut to whole milliseconds; the true mean is up to
	// a millisecond higher.
	CutMeanS float64
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
			p := pieces[i]
			counts := begins + x.Window + rest
			p.Argv, p.Lasts = p.Lasting(counts), p.Warmup+counts
			wait := meanwhile(ctx, p.Warmup+begins, func(ctx context.Context) error { return x.Do(ctx, i) })
			if _, err := b.carryOut(ctx, i, p, new(pieceClient)); err != nil {
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

// Pieces measures all subjects at once, each by a client of its own. CPU times of a trial are those
// of its own server and client; the use of the cores is of all that ran.
func (p *Plan) Pieces(ctx context.Context, pieces []Piece) (*Block, error) {
	b := newBlock(p)
	defer b.down()
	if err := b.up(ctx); err != nil {
		return nil, err
	}
	clients := make([]pieceClient, len(pieces))
	var pairs []machine.Pair
	for i := range pieces {
		pairs = append(pairs, machine.Pair{Client: clients[i].pid, Servers: first(b.Subjects[i].CPU().PIDs)})
	}
	if err := b.watch(p.Slot, pairs...); err != nil {
		return nil, err
	}
	for i, one := range pieces {
		if !b.check(ctx, i, one.Asks, "before") && b.gone(exitSeenWithin) == i {
			b.fault(i, gate.ServerExited, "the server exited before the trial: %v", b.Subjects[i].Gone())
		}
	}
	if err := each(ctx, len(pieces), func(ctx context.Context, i int) (err error) {
		if len(b.trials[i].Faults) > 0 {
			return nil // a wrong answer's throughput is no result
		}
		clients[i].printed, err = b.carryOut(ctx, i, pieces[i], &clients[i])
		return err
	}); err != nil {
		return nil, err
	}
	b.sampler.Stop()
	for i, one := range pieces {
		if len(b.trials[i].Faults) > 0 {
			continue
		}
		r, err := one.Parse(clients[i].printed)
		if err != nil {
			b.fault(i, gate.ClientFailed, "%v", err)
			continue
		}
		b.judgePiece(i, r, clients[i].held)
		b.check(ctx, i, one.Asks, "after")
	}
	return &Block{Trials: b.trials}, b.extras(ctx, pieces)
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
	mu      sync.Mutex
	proc    *proc.Proc
	printed []byte
	held    proc.Held // what the server held in the middle of the load
}

// pid is its process; 0 before it starts.
func (c *pieceClient) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc == nil {
		return 0
	}
	return c.proc.Pid()
}

// carryOut runs a client to its end. A fault is the trial's; an error ends the run.
func (b *block) carryOut(ctx context.Context, i int, p Piece, c *pieceClient) ([]byte, error) {
	var out bytes.Buffer
	started, err := proc.Start(proc.Spec{Dir: p.Dir, Argv: b.Link.Client(p.Argv), Stdout: &out})
	if err != nil {
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	defer started.Stop(started.Pid(), time.Second)
	c.mu.Lock()
	c.proc = started
	c.mu.Unlock()
	limit, middle := time.NewTimer(p.Lasts+p.Grace), time.NewTimer(p.Lasts-b.Slot*3/4)
	defer limit.Stop()
	defer middle.Stop()
	s, late := b.Subjects[i], false
	for look := time.NewTicker(exitSeenWithin / 40); ; {
		select {
		case <-ctx.Done():
			look.Stop()
			return nil, context.Cause(ctx)
		case <-middle.C:
			late = true
			continue
		case <-limit.C:
			b.fault(i, gate.ClientFailed, "the client had not ended %v after its start", p.Lasts+p.Grace)
		case <-look.C:
			if s.Gone() == nil {
				if late {
					c.attend(s, b.Asked[i].Connections)
				}
				continue
			}
		case <-started.Done():
		}
		look.Stop()
		break
	}
	gone := s.Gone()
	if gone == nil && isDone(started) && started.Err() != nil && b.gone(exitSeenWithin) == i {
		gone = s.Gone()
	}
	switch {
	case gone != nil:
		b.fault(i, gate.ServerExited, "the server exited in mid-trial: %v", gone)
	case len(b.trials[i].Faults) > 0:
	case b.Link.Lost():
		return nil, errWireLost
	case started.Err() != nil && usage(started.ExitCode()):
		return nil, fmt.Errorf("the client did not start: %s", started.LastLine())
	case started.Err() != nil:
		b.fault(i, gate.ClientFailed, "the client failed (%v): %s", started.Err(), started.LastLine())
	}
	return out.Bytes(), nil
}

// attend counts the connections that the server holds, unless all of them were seen already.
func (c *pieceClient) attend(s Subject, all int) {
	if c.held.Connections < max(all, 1) {
		if h := proc.Census(proc.Listening{PIDs: s.CPU().PIDs, Port: port(s.Addr())})[0]; h.Connections >= c.held.Connections {
			c.held = h
		}
	}
}

func isDone(p *proc.Proc) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// usage tells whether an exit status says that a command was written wrongly, or cannot be started:
// every further trial would meet it too.
func usage(status int) bool { return status == 2 || status == 3 || status == 126 || status == notFound }

// judgePiece makes a trial from what its client printed and from the samples of its window.
func (b *block) judgePiece(i int, r *Result, h proc.Held) {
	t := &b.trials[i]
	w := b.sampler.Between(i, r.Start, r.Finish, r.Metrics["throughput_rps"])
	t.StartedAt = r.Start
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	t.Below, t.Resolution, t.Window = r.Below, r.Resolution, w
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

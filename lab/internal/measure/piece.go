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
)

// A Piece is a load generator that cannot take turns: autocannon, the event sink, the readers of
// events. It loads its subject in one piece, over loopback.
type Piece struct {
	Lasting func(counts time.Duration) []string // its command, by the time that counts
	Warmup  time.Duration                       // before that
	Grace   time.Duration                       // what it may take beyond both
	Parse   func(printed []byte) (*Result, error)
	// Check asks the server before the load and after it, and says what is wrong with its answer; nil: the
	// client compares the answers itself.
	Check func(ctx context.Context) error
}

// A Result is what such a client measured, from the trial's start on.
type Result struct {
	Trial
	Finish time.Time // of its window
}

// Pieces measures all subjects at once, each by a client of its own. CPU times of a trial are those
// of its own server and client; the use of the cores is of all that ran.
func (p *Plan) Pieces(ctx context.Context, pieces []Piece) (trials []Trial, err error) {
	err = p.with(ctx, func(b *block) error {
		trials = b.trials
		return b.pieces(ctx, pieces)
	})
	return trials, err
}

func (b *block) pieces(ctx context.Context, pieces []Piece) (err error) {
	clients, pairs := make([]*pieceClient, len(pieces)), make([]machine.Pair, len(pieces))
	for i, one := range pieces {
		pairs[i] = machine.Pair{Servers: first(b.Subjects[i].CPU().PIDs)}
		if b.check(ctx, i, one, "before"); len(b.trials[i].Faults) > 0 {
			continue // a wrong answer's throughput is no result
		}
		if clients[i], err = b.startPiece(one, b.Slot); err != nil {
			return err
		}
		defer clients[i].end()
		pairs[i].Client = clients[i].proc.Pid()
	}
	if err := b.watch(b.Slot, pairs...); err != nil {
		return err
	}
	if err := b.each(ctx, func(ctx context.Context, i int) error { return b.await(ctx, i, clients[i]) }); err != nil {
		return err
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
		w := b.sampler.Between(i, r.StartedAt, r.Finish, r.Metrics["throughput_rps"])
		attended(r.Metrics, c.held)
		maps.Copy(r.Metrics, w.Metrics)
		maps.Copy(r.Metrics, w.Machine)
		b.trials[i] = r.Trial
		if w.Ended > 0 {
			b.fault(i, gate.LostWorker, "%d of the server's processes ended in mid-trial", w.Ended)
		}
		b.rules(i, w)
		b.check(ctx, i, c.Piece, "after")
	}
	for _, x := range b.Extras {
		if err := b.each(ctx, func(ctx context.Context, i int) error { return b.extraPiece(ctx, x, i, pieces[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// begins is how long after its warm-up such a client surely measures.
const begins = 600 * time.Millisecond

// extraPiece loads a subject once more while something is done.
func (b *block) extraPiece(ctx context.Context, x Extra, i int, p Piece) error {
	if len(b.trials[i].Faults) > 0 {
		return nil
	}
	return b.beside(ctx, x, i, p.Warmup+begins, func() error {
		c, err := b.startPiece(p, begins+x.Window+rest)
		if err != nil {
			return err
		}
		return b.await(ctx, i, c)
	})
}

// check asks a subject whose client compares no answers whether it answers right.
func (b *block) check(ctx context.Context, i int, p Piece, when string) {
	if p.Check == nil {
		return
	}
	switch err := p.Check(ctx); {
	case err == nil:
	case b.gone(exitSeenWithin) == i:
		b.fault(i, gate.ServerExited, "the server exited %s the trial: %v", when, b.Subjects[i].Gone())
	default:
		b.fault(i, gate.WrongAnswer, "%s the trial: %v", when, err)
	}
}

// A pieceClient is a client that loads one subject.
type pieceClient struct {
	Piece
	counts  time.Duration
	began   time.Time
	proc    *proc.Proc
	printed bytes.Buffer
	held    proc.Held // what the server held in the middle of the load
}

// startPiece starts a client whose load counts for so long. The caller has to end it.
func (b *block) startPiece(p Piece, counts time.Duration) (c *pieceClient, err error) {
	c = &pieceClient{Piece: p, counts: counts, began: time.Now()}
	if c.proc, err = proc.Start(proc.Spec{Dir: b.Dir, Argv: p.Lasting(counts), Stdout: &c.printed}); err != nil {
		return nil, fmt.Errorf("the client did not start: %w", err)
	}
	return c, nil
}

func (c *pieceClient) end() { _ = c.proc.Stop(c.proc.Pid(), time.Second) }

// await waits for a client's end, if there is one. A fault is the trial's; an error ends the run.
func (b *block) await(ctx context.Context, i int, c *pieceClient) error {
	if c == nil {
		return nil
	}
	defer c.end()
	s, most := b.Subjects[i], c.Warmup+c.counts+c.Grace
	limit, census, look := time.After(most), c.began.Add(c.Warmup+c.counts-b.Slot*3/4), time.NewTicker(exitSeenWithin/40)
	defer look.Stop()
	for over := false; !over && s.Gone() == nil; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			b.fault(i, gate.ClientFailed, "the client had not ended %v after its start", most)
			return nil
		case now := <-look.C:
			if now.After(census) {
				census = now.Add(b.Slot / 8) // each takes milliseconds of the core that clients need
				c.attend(s, b.Asked[i].Connections)
			}
		case <-c.proc.Done():
			over = true
		}
	}
	switch {
	case s.Gone() != nil, c.proc.Err() != nil && b.gone(exitSeenWithin) == i:
		b.fault(i, gate.ServerExited, "the server exited in mid-trial: %v", s.Gone())
	case c.proc.Err() != nil && slices.Contains(misused, c.proc.ExitCode()):
		return fmt.Errorf("the client did not start: %s", c.proc.LastLine())
	case c.proc.Err() != nil:
		b.fault(i, gate.ClientFailed, "the client failed (%v): %s", c.proc.Err(), c.proc.LastLine())
	}
	return nil
}

// misused are the exit statuses of a command that is written wrongly, or cannot be started: every further
// trial would meet it too.
var misused = []int{2, 3, 126, proc.NotFound}

// attend counts the connections that the server holds, unless all of them were seen already.
func (c *pieceClient) attend(s Subject, all int) {
	if c.held.Connections < max(all, 1) {
		if h := proc.Census(proc.Listening{PIDs: s.CPU().PIDs, Port: port(s.Addr())})[0]; h.Connections >= c.held.Connections {
			c.held = h
		}
	}
}

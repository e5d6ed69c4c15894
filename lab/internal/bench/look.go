package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A looker looks at all servers, while they are up.
type looker struct {
	*Bench
	*measure.Visit
	subjects []measure.Subject // the servers, and perhaps the reference
	up       time.Time         // when all had been asked
	usual    float64           // what a request of the reference cost at first
}

// look starts all servers side by side, or finds those that run, asks and loads each, and refuses what cannot be compared.
// Then it loads each until it is steady, if that is asked for. It gives how long a block's servers take to start and end.
//
// A neighbour's load makes all that runs on a core cost more, by a tenth or by half, for a second or for ten, and a
// server that warms up looks the same. So a server takes turns with a reference, whose cost does not depend on its age,
// on the same cores, and the cost of that one in the next turn calibrates its own.
func (b *Bench) look(ctx context.Context) (beside time.Duration, err error) {
	l := &looker{Bench: b, subjects: b.subjects()}
	if b.Warmup != nil {
		b.warm = *b.Warmup
	} else if b.Costed() {
		l.subjects = append(l.subjects, measure.Reference(b.Self, b.ServerCPUs, fmt.Sprintf("%s:%d", loopback, b.Port+len(b.Servers))))
	}
	p, began := b.plan(l.subjects), time.Now()
	p.Target, p.Unlike = l.target, l.Different
	var ended time.Time
	err = p.Visit(ctx, func(ctx context.Context, v *measure.Visit) error {
		l.Visit = v
		defer func() { ended = time.Now() }()
		for _, step := range []func(context.Context) error{l.ask, l.first, l.rest, l.settle, l.rest, l.again} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return l.up.Sub(began) + time.Since(ended), err
}

// target is the load of a subject; the reference has a load of its own.
func (l *looker) target(i int, addr string) load.Target {
	if i == len(l.Servers) {
		return load.Target{Name: l.subjects[i].Name(), URL: "http://" + addr + "/", Connections: 8, Pipelining: 1}
	}
	return l.Bench.target(l.Servers[i].Name, addr)
}

func (b *Bench) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
	b.Say("note: "+format, args...)
}

// ask asks all servers before any is loaded.
func (l *looker) ask(ctx context.Context) error {
	_, err := l.agree(ctx)
	l.up = time.Now()
	return err
}

// printed is how many lines a server has printed.
func (l *looker) printed(i int) float64 {
	command, _ := l.subjects[i].(*measure.Command)
	return float64(command.Printed())
}

// agree refuses servers whose answers differ.
func (l *looker) agree(ctx context.Context) (measure.Agreement, error) {
	a, err := l.Agree(ctx, len(l.Servers))
	if a.Differ != nil && err != nil {
		err = fmt.Errorf("%w; --allow-different-answers", err)
	}
	return a, err
}

// again asks all servers once more after their load, and notes how bodies differ, or change by themselves.
func (l *looker) again(ctx context.Context) error {
	a, err := l.agree(ctx)
	for _, says := range a.Differ {
		l.note("%s", says)
	}
	for _, what := range slices.Sorted(maps.Keys(a.Own)) {
		if what == probe.Changing {
			l.vary = true
			l.note("the bodies of %s change, so only their heads and lengths could be compared; "+
				"--expect says what must be in them", words.List(a.Own[what]))
			continue
		}
		l.note("the bodies of %s hold %s, and are alike apart from that", words.List(a.Own[what]), what)
	}
	return err
}

// turn loads a subject for a while.
func (l *looker) turn(ctx context.Context, i int, length time.Duration) (t turn, r load.SlotReport, err error) {
	r, cpu, err := l.Turn(ctx, i, length)
	if err == nil && r.Failed != "" {
		if err := l.rest(ctx); err != nil {
			return t, r, err
		}
		err = fmt.Errorf("%s: under %s it failed: %s", l.subjects[i].Name(), words.Count(l.Connections, "connection"), r.Failed)
		if i < len(l.Servers) && l.Servers[i].seen.Failed > 0 {
			seen := l.Servers[i].seen
			err = fmt.Errorf("%w, after %s of %s requests failed, the first: %s", err, words.Thousands(int(seen.Failed)),
				words.Thousands(int(seen.Asked)), seen.First)
		}
		if l.Connections > fewConnections && strings.Contains(r.Failed, "connections had no answer") {
			err = fmt.Errorf("%w; --connections %d", err, fewConnections)
		}
	}
	return turn{requests: r.Turn.Requests, cpu: cpu.Seconds()}, r, err
}

const (
	// leastCost is less CPU time than answering a request can take, in seconds.
	leastCost = 100e-9
	// A server whose connections wait longer than slowFill for their first answers is loaded in turns of
	// slowFactor times that, and taken for steady.
	slowFill   = 300 * time.Millisecond
	slowFactor = 5
	mostForks  = 0.05 // the share of requests for each of which a server may start a process that ends without a trace
	// fewConnections fit into any server's queue of new ones.
	fewConnections = 4

	referenceSlot  = 25 * time.Millisecond
	referenceFirst = 250 * time.Millisecond // after which it is as it stays
)

// first loads each server for the first time, to see whether it bears that and how fast it is.
func (l *looker) first(ctx context.Context) error {
	if l.beside() {
		if _, _, err := l.turn(ctx, len(l.Servers), referenceFirst); err != nil {
			return err
		}
	}
	for i, s := range l.Servers {
		forks, lost, length, printed := machine.Forks(), false, max(lookSlot, l.warm), l.printed(i)
		for range 2 {
			began := time.Now()
			fill, err := l.give(ctx, i, 1, length)
			if s.whole = time.Since(began); err != nil {
				return err
			}
			if fill > slowFill {
				length = slowFactor * fill
			}
			lost = lost || proc.IgnoresChildren(l.subjects[i].CPU().PIDs)
		}
		requests, cpu := 0.0, 0.0
		for _, t := range s.turns {
			requests, cpu = requests+float64(t.requests), cpu+t.cpu
		}
		if s.chatty = requests > 0 && l.printed(i)-printed >= requests/2; s.chatty {
			l.note("%s prints a line for each request, which costs it CPU time that is counted; switch its log off if that is not meant", s.Name)
		}
		switch {
		case lost && float64(machine.Forks()-forks) > max(10, mostForks*requests):
			return fmt.Errorf("%s: it ignores the end of its children (SIGCHLD) and starts one for each few requests, so nobody inherits "+
				"their CPU time and it cannot be read; let it wait for them, or name it as NAME=cgroup:/PATH@HOST:PORT", s.Name)
		case l.Costed() && cpu < requests*leastCost:
			return fmt.Errorf("%s: its processes used %.3g s of CPU time for %.0f answers, so others give them: a proxy before it, or "+
				"workers that it did not start; name what answers as %s=cgroup:/PATH@HOST:PORT", s.Name, cpu, requests, s.Name)
		case length > lookSlot: // too slow to tell when it is steady
			s.warm = length
		}
	}
	return nil
}

// beside tells whether there is a reference.
func (l *looker) beside() bool { return len(l.subjects) > len(l.Servers) }

// give loads a server in some turns more, and tells what each cost by what the reference did beside it. fill is how long the
// connections waited for their first answers in the last one.
func (l *looker) give(ctx context.Context, i, n int, length time.Duration) (fill time.Duration, err error) {
	s := l.Servers[i]
	var turns []turn
	var its []float64 // what a request of the reference cost, by turn
	for range n {
		t, r, err := l.turn(ctx, i, length)
		if err != nil {
			return 0, err
		}
		turns, fill = append(turns, t), time.Duration(r.FillS*float64(time.Second))
		if r.Seconds > 0 {
			s.rate = float64(r.Requests) / r.Seconds
			s.beside = time.Duration((r.Turn.Seconds - r.Seconds) * float64(time.Second))
		}
		if !l.beside() {
			continue
		}
		reference, _, err := l.turn(ctx, len(l.Servers), referenceSlot)
		if err != nil {
			return 0, err
		}
		cost := reference.cpu / max(1, float64(reference.requests))
		l.usual = cmp.Or(l.usual, cost)
		its = append(its, cmp.Or(cost, l.usual))
	}
	for n := range its {
		turns[n].cpu *= l.usual / stats.Median(its[max(0, n-1):min(n+2, len(its))])
	}
	s.turns = append(s.turns, turns...)
	return fill, nil
}

// rest ends the load, and refuses a server of which surely more answers are wrong than a verdict bears.
func (l *looker) rest(ctx context.Context) error {
	s, err := l.Rest(ctx)
	if err != nil || s == nil {
		return err
	}
	for i, server := range l.Servers {
		t := measure.TallyOf(s.Targets[i])
		server.seen.Add(t)
		if n := mostFailed * float64(t.Asked); float64(t.Failed) <= n+3*math.Sqrt(n) {
			continue
		}
		says := fmt.Errorf("%s: under %s with %d in flight on each it failed: %s of %s requests, the first: %s", server.Name,
			words.Count(l.Connections, "connection"), l.Pipelining, words.Thousands(int(t.Failed)), words.Thousands(int(t.Asked)), t.First)
		switch {
		case strings.Contains(t.First, "429"):
			return fmt.Errorf("%w; the server limits its rate: switch that off, or stay below it with --rate", says)
		case l.NoKeepalive && l.Connections > fewConnections:
			return fmt.Errorf("%w, as where a queue of new connections is short; --connections %d", says, fewConnections)
		}
		return says
	}
	return nil
}

// settle loads each server until it is steady, if that is asked for. All then warm up alike: one
// that by chance seemed warm sooner than its equal would cost more.
func (l *looker) settle(ctx context.Context) error {
	for i, s := range l.Servers {
		if l.beside() && s.warm == 0 {
			l.Show(fmt.Sprintf("warming up %s until its CPU a request is steady", s.Name))
			whole := max(s.whole, lookSlot+referenceSlot)
			most := max(firstTurns, int(min(mostLooking, l.Budget/ofBudget)/whole))
			long := int(min(mostLooking, l.Budget/2/time.Duration(len(l.Servers))) / whole)
			after, is, err := until(&s.turns, most, long, func(more int) error {
				if _, err := l.give(ctx, i, more, lookSlot); err != nil {
					return err
				}
				return l.rest(ctx) // refuse failures now
			})
			if err != nil {
				return err
			}
			// It takes no more than a block has room for: servers that take turns have the same age.
			s.warm = min(max(time.Duration(after)*lookSlot, shortest), l.Budget/perBlock/time.Duration(len(l.subjects)))
			if l.Running() {
				s.warm = lookSlot
			}
			if n := len(s.turns); !is {
				before, _ := costOf(s.turns[n/2 : 3*n/4])
				later, _ := costOf(s.turns[3*n/4:])
				s.young = later < before
				l.note("after %.0f s of load the CPU a request of %s still went from %s to %s; if it changes otherwise than the "+
					"other's within blocks, nothing is decided", float64(n)*lookSlot.Seconds(), s.Name, words.Time(before), words.Time(later))
			}
		}
		l.warm = max(l.warm, s.warm)
	}
	return nil
}

// The rule for when a server is warm. We chose it before it measured any server.
//
// A server that compiles while it runs, fills caches or starts workers costs more at first. So before the first block each
// is loaded until it is steady, or a limit has come; and in each block it is warmed up for as long as that took. No block's
// own result has a part in it.
//
// Steady is a server whose latest stretch, the second half of all its load so far, has two halves that cost the same
// CPU a request. The stretch grows with the time, because a cost that falls slowly changes little within any fixed
// time. The halves agree within drift, or within what the scatter of single turns explains, if that is small enough.
// They agree twice in a row, the second time after half as much load again. They do not count before the server gave as
// many answers as a compiler may wait for, if half of the budget holds those of all servers. What falls by a tenth a second
// is still taken for warm in one look of ten; its comparison is then of servers of that age, as each block's are.
//
// The server was warm from the first moment on, of some that lie a quarter apart, from which as much load as a short
// block has cost no more than the latest stretch. By known or the scatter it may cost more. A server that is cheaper at first does not warm up. If it is not
// steady at the limit, its blocks decide: they take turns, so servers that change alike have the same age in each pair
// of slots. Two are never steady if the ratio of their CPU a request goes the same way in block after block, by more
// than drift, from one half of each to the other. Of such a pair nothing is decided. A warm-up that is given is taken
// as it is.
const (
	drift       = 0.03                   // the margin below which nothing is called a difference unless that is asked for
	chance      = 2                      // standard errors that are no difference
	surely      = 3                      // standard errors beyond which it is one, at the limit
	known       = 0.05                   // the standard error above which more load is needed, and what is let pass at the limit and of warm load
	lookSlot    = 100 * time.Millisecond // of the look: its grain
	shortest    = lookSlot / 2           // warm-up, of a server whose first load costs no more than later load
	firstTurns  = 12                     // after which a server is judged first
	growth      = 1.5                    // of the time from one judgement to the next
	blockTurns  = 4                      // as much load as a short block has
	compiles    = 22_000                 // answers: some compilers wait for 20,000 calls
	mostLooking = 20 * time.Second       // at each server
	ofBudget    = 20                     // and of the budget no more than one part in so many
)

// A turn is what a slot of load cost a server.
type turn struct {
	requests int64
	cpu      float64 // seconds
}

// costOf is the mean CPU time of a request in some turns, and its variance; of one turn that is 0.
func costOf(turns []turn) (mean, variance float64) {
	requests, cpu, n := 0.0, 0.0, 0.0
	for _, t := range turns {
		if t.requests > 0 {
			requests, cpu, n = requests+float64(t.requests), cpu+t.cpu, n+1
		}
	}
	if requests == 0 {
		return 0, 0
	}
	mean = cpu / requests
	for _, t := range turns {
		if t.requests > 0 && n > 1 {
			off := t.cpu/float64(t.requests) - mean
			variance += off * off / (n - 1) / n
		}
	}
	return mean, variance
}

// steady tells whether the latest stretch of some turns is steady. At the limit only what surely
// is not is not.
func steady(turns []turn, limit bool) bool {
	n := len(turns)
	x, of := costOf(turns[n/2 : 3*n/4])
	y, other := costOf(turns[3*n/4:])
	if x == 0 || y == 0 {
		return false
	}
	by, wrong := math.Abs(x-y)/min(x, y), math.Sqrt(of+other)/min(x, y)
	if limit {
		return by <= max(known, surely*wrong)
	}
	return by <= max(drift, chance*wrong) && wrong <= known
}

// warmAfter is after how many turns a server was warm that is steady now. The turns of the steady
// stretch tell how far turns may lie apart: a cost that still falls has a large scatter of its own.
func warmAfter(turns []turn) int {
	n := len(turns)
	cost, variance := costOf(turns[n/2:])
	wrong := math.Sqrt(variance*float64(n-n/2)*(1.0/blockTurns+1/float64(n-n/2))) / cost
	for after := 0; after < n/2; after += 1 + after/4 {
		if then, _ := costOf(turns[after : after+blockTurns]); then > 0 && then/cost-1 <= max(known, chance*wrong) {
			return after + after/2 // one start compiles faster than another
		}
	}
	return n/2 + n/4
}

// until has a server that had some turns loaded in more of them until it is steady, or for most turns; for long, where it
// gives the answers that a compiler waits for by then. It tells after how many it was warm, and whether it is steady.
func until(turns *[]turn, most, long int, load func(more int) error) (after int, is bool, err error) {
	for n, agreed := firstTurns, 0; ; {
		if err := load(n - len(*turns)); err != nil {
			return 0, false, err
		}
		if agreed++; !steady(*turns, false) {
			agreed = 0
		}
		limit, answers := most, int64(0)
		for _, t := range *turns {
			answers += t.requests
		}
		if answers < compiles && answers+int64(long-n)*(*turns)[n-1].requests >= compiles {
			limit, agreed = long, 0
		}
		if is = agreed == 2 || n >= limit && steady(*turns, true); is || n >= limit {
			return warmAfter(*turns), is, nil
		}
		n = min(int(growth*float64(n)), limit)
	}
}

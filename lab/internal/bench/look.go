package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Look is what was seen of one server before the first block.
type Look struct {
	Answers []probe.Given
	Rate    float64       // requests a second under the load asked for, roughly
	Beside  time.Duration // that a turn takes beside what counts of it
	Chatty  bool          // it prints a line for each request
	Warmup  time.Duration // after each start, from then on it is steady
	Never   string        // it was not steady within the limit, and how it went instead
}

// Starting is about how long a block takes beside its slots: all servers start and end.
type Starting struct{ Up, Down time.Duration }

// A looker looks at all servers, while they are up.
type looker struct {
	*Bench
	visit     *measure.Visit
	subjects  []measure.Subject // the servers, and perhaps the reference
	notes     []string
	asked     time.Time // when all were asked first
	reference float64   // what a request of it cost at first
}

// Look starts all servers side by side, or finds those that run, asks each once, and refuses what
// cannot be compared. Then it loads each, until it is steady if that is asked for. What is worth
// knowing and no reason to refuse is returned in words.
//
// A neighbour's load makes all that runs on a core cost more, by a tenth or by half, for a second or
// for ten, and a server that warms up looks the same. So while it is loaded, a server takes turns with
// another whose cost does not depend on its age, on the same cores, and its own cost is told by what
// that one's was in the next turn.
func (b *Bench) Look(ctx context.Context) (takes Starting, notes []string, err error) {
	l := &looker{Bench: b}
	for i, s := range b.Servers {
		if s.URL == "" {
			if err := s.startable(b.dir(s)); err != nil {
				return takes, nil, err
			}
		}
		l.subjects = append(l.subjects, b.subject(i, i))
	}
	if b.Steady && b.Costed() {
		port, err := b.spare()
		if err != nil {
			return takes, nil, err
		}
		l.subjects = append(l.subjects, b.reference(fmt.Sprintf("%s:%d", loopback, port)))
	}
	p, began := b.plan(l.subjects), time.Now()
	p.Target = l.target
	b.Looks = make([]Look, len(b.Servers))
	var ended time.Time
	err = p.Visit(ctx, func(ctx context.Context, v *measure.Visit) error {
		l.visit = v
		err := l.look(ctx)
		takes.Up = l.asked.Sub(began)
		ended = time.Now()
		return err
	})
	takes.Down = time.Since(ended)
	return takes, l.notes, err
}

// spare is a port that no server of the look has.
func (b *Bench) spare() (int, error) {
	if b.Port > 0 {
		return b.Port + len(b.Servers), nil
	}
	return FreePorts(1)
}

// target is what is asked of a subject; the reference has a load of its own.
func (l *looker) target(i int, addr string) load.Target {
	if i == len(l.Servers) {
		return load.Target{Name: l.subjects[i].Name(), URL: "http://" + addr + "/", Connections: 8, Pipelining: 1}
	}
	return l.Bench.target(l.Servers[i].Name, addr)
}

func (l *looker) look(ctx context.Context) error {
	whose := make([]ownership, len(l.Servers))
	for i, s := range l.Servers {
		if s.found != nil {
			var err error
			if whose[i], err = s.owns(); err != nil {
				return err
			}
		}
	}
	if err := l.ask(ctx); err != nil {
		return err
	}
	if err := l.compare(ctx); err != nil {
		return err
	}
	turns := make([][]turn, len(l.Servers))
	slow := make([]time.Duration, len(l.Servers))
	for i := range l.Servers {
		var err error
		if turns[i], slow[i], err = l.first(ctx, i); err != nil {
			return err
		}
		if whose[i].others != nil {
			if err := whose[i].check(turns[i]); err != nil {
				return err
			}
		}
	}
	if err := l.rest(ctx); err != nil {
		return err
	}
	for i := range l.Servers {
		if err := l.warm(ctx, i, turns[i], slow[i]); err != nil {
			return err
		}
	}
	if err := l.rest(ctx); err != nil {
		return err
	}
	return l.again(ctx)
}

// answersEach is how many answers of each server are compared before the first block.
const answersEach = 8

// ask asks all servers side by side.
func (l *looker) ask(ctx context.Context) error {
	failed := make([]error, len(l.Servers))
	var all sync.WaitGroup
	for i := range l.Servers {
		all.Go(func() {
			command, _ := l.subjects[i].(*measure.Command)
			before := 0
			if command != nil {
				before = command.Printed()
			}
			if l.Looks[i].Answers, failed[i] = l.fetch(ctx, i, answersEach); failed[i] == nil && command != nil {
				time.Sleep(20 * time.Millisecond) // a log may lag behind its answers
				l.Looks[i].Chatty = command.Printed()-before >= len(l.Looks[i].Answers)
			}
		})
	}
	all.Wait()
	l.asked = time.Now()
	for i, s := range l.Servers {
		if failed[i] != nil {
			return failed[i]
		}
		if l.Looks[i].Chatty {
			l.note("%s prints a line for each request, which costs it CPU time that is counted, though what it prints goes to "+
				"/dev/null; switch its log off if that is not meant", s.Name)
		}
	}
	return nil
}

func (l *looker) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// fetch asks a server for each request so many times.
func (l *looker) fetch(ctx context.Context, i, times int) ([]probe.Given, error) {
	t := l.target(i, l.subjects[i].Addr())
	given, err := probe.Ask(ctx, t, l.Ready, times)
	if err == nil || ctx.Err() != nil {
		return given, err
	}
	if gone := l.gone(i); gone != nil {
		return nil, fmt.Errorf("%s: while it was asked: %w", l.Servers[i].Name, gone)
	}
	if other := Instead(ctx, t, err); other != "" && !probe.Answered(err) {
		return nil, fmt.Errorf("%s: %s", l.Servers[i].Name, other)
	}
	return nil, fmt.Errorf("%s: %w", l.Servers[i].Name, err)
}

// gone says how a server ended that failed. Its end may be seen a moment after what came of it.
func (l *looker) gone(i int) (why error) {
	for range 20 {
		if why = l.subjects[i].Gone(); why != nil {
			return why
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// compare refuses servers whose answers are not alike. Bodies that differ may be such that change
// with the time, so they are asked for once more a second later.
func (l *looker) compare(ctx context.Context) error {
	for i := 1; i < len(l.Servers); i++ {
		why := l.differ(i)
		if why == "" {
			continue
		}
		if err := l.again(ctx); err != nil {
			return err
		}
		if why = l.differ(i); why == "" {
			continue
		}
		if !l.Different {
			return fmt.Errorf("the answers are not the same, so their cost would say little: %s; --allow-different-answers goes on", why)
		}
		l.note("the answers are not the same: %s", why)
	}
	return nil
}

// differ says how the answers of a server differ from those of the first; empty if they do not.
func (l *looker) differ(i int) string {
	base, other := l.Servers[0].Name, l.Servers[i].Name
	asked, _ := (&load.Target{URL: "http://h" + l.Path, Requests: l.Requests}).Asked()
	for of, r := range asked {
		d := probe.Differ(probe.To(of, l.Looks[0].Answers), probe.To(of, l.Looks[i].Answers))
		if d.Field == "" {
			continue
		}
		at := ""
		if len(asked) > 1 {
			at = "to " + r.Label() + ": "
		}
		return at + fmt.Sprintf("%s answers with %s %s, %s with %s", other, d.Field, d.Ours, base, d.Theirs) + l.address(i, of)
	}
	return ""
}

// address says that bodies differ only where a server's address stands; empty if they do not.
func (l *looker) address(i, of int) string {
	plain := func(i int) string {
		body := string(probe.To(of, l.Looks[i].Answers)[0].Body)
		return strings.ReplaceAll(body, l.subjects[i].Addr(), "")
	}
	if plain(0) != plain(i) {
		return ""
	}
	return "; they differ only where the address stands: give both the same name by -H 'Host: x'"
}

// second is longer than what bodies keep that change once a second.
const second = 1100 * time.Millisecond

// again asks all servers once more, and keeps what their bodies have changed to.
func (l *looker) again(ctx context.Context) error {
	select {
	case <-time.After(time.Until(l.asked.Add(second))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var changed []string
	for i, s := range l.Servers {
		later, err := l.fetch(ctx, i, 1)
		if err != nil {
			return err
		}
		if all := append(slices.Clone(l.Looks[i].Answers), later...); probe.Varies(all) {
			l.Looks[i].Answers, changed = all, append(changed, s.Name)
		}
	}
	says := fmt.Sprintf("the bodies of %s change, so of these only what stands in the heads and the lengths could be compared; "+
		"--expect says what must be in them", words.List(changed))
	if len(changed) > 0 && !slices.Contains(l.notes, says) {
		l.notes = append(l.notes, says)
	}
	return nil
}

// A server whose connections wait longer than slowFill for their first answers is loaded in
// turns of several times that, and taken for steady.
const (
	slowFill   = 300 * time.Millisecond
	slowFactor = 5
)

// turn loads a server for a while.
func (l *looker) turn(ctx context.Context, i int, length time.Duration) (t turn, r load.SlotReport, err error) {
	r, cpu, err := l.visit.Turn(ctx, i, length)
	if err == nil && r.Failed != "" {
		err = cmp.Or(l.rest(ctx), fmt.Errorf("%s: %s: %s", l.subjects[i].Name(), l.load(), r.Failed))
	}
	if err == nil && i < len(l.Looks) && r.Seconds > 0 {
		l.Looks[i].Rate = float64(r.Requests) / r.Seconds
		l.Looks[i].Beside = time.Duration((r.Turn.Seconds - r.Seconds) * float64(time.Second))
	}
	return turn{requests: r.Turn.Requests, cpu: cpu.Seconds()}, r, err
}

// load is the load in words.
func (l *looker) load() string {
	return fmt.Sprintf("under %s with %d in flight on each it failed", words.Count(l.Connections, "connection"), l.Pipelining)
}

// mostForks is the share of requests for each of which a server may start a process and let it end
// without a trace.
const mostForks = 0.05

// first loads a server for the first time, to see whether it bears that and how fast it is.
func (l *looker) first(ctx context.Context, i int) (turns []turn, slow time.Duration, err error) {
	forks, lost := telemetry.Forks(), false
	requests := int64(0)
	for n, length := 0, lookSlot; n < 2; n++ {
		t, r, err := l.turn(ctx, i, length)
		if err != nil {
			return nil, 0, err
		}
		requests += t.requests
		turns = append(turns, t)
		if fill := time.Duration(r.FillS * float64(time.Second)); fill > slowFill {
			slow, length = slowFactor*fill, slowFactor*fill
		}
		lost = lost || childLost(l.subjects[i].CPU().PIDs)
	}
	if lost && float64(telemetry.Forks()-forks) > max(10, mostForks*float64(requests)) {
		return nil, 0, fmt.Errorf("%s: %w", l.Servers[i].Name, errLost)
	}
	return turns, slow, nil
}

// rest ends the load, and refuses what failed in it, with counts.
func (l *looker) rest(ctx context.Context) error {
	s, err := l.visit.Rest(ctx)
	if err != nil || s == nil {
		return err
	}
	for i, server := range l.Servers {
		if why := fault(s.Targets[i]); why != "" {
			if gone := l.subjects[i].Gone(); gone != nil {
				why = "it died while it was asked: " + gone.Error()
			}
			return fmt.Errorf("%s: %s: %s", server.Name, l.load(), why)
		}
	}
	return nil
}

// fault says what went wrong with a target, with counts; empty if nothing did.
func fault(t load.TargetSummary) string {
	failed, first := t.Errors+t.Timeouts+t.Resets+t.Non2xx, t.Fault
	if failed == 0 {
		failed, first = t.Mismatches, t.Mismatch
	}
	if failed == 0 {
		return ""
	}
	says := fmt.Sprintf("%s of %s requests, the first: %s", words.Thousands(int(failed)),
		words.Thousands(int(max(t.Answered+t.Errors+t.Timeouts, failed))), first)
	if strings.Contains(first, "429") {
		says += "; the server limits its rate: switch that off, or stay below it with --rate"
	}
	return says
}

const (
	referenceSlot  = 50 * time.Millisecond
	referenceFirst = 500 * time.Millisecond // after which it is as it stays
)

// warm loads a server until it is steady, if that is asked for and its CPU time can be read.
func (l *looker) warm(ctx context.Context, i int, turns []turn, slow time.Duration) (err error) {
	at := &l.Looks[i]
	if at.Warmup = l.Warmup; !l.Steady || !l.Costed() || slow > 0 {
		at.Warmup = max(at.Warmup, slow)
		return nil
	}
	if l.reference == 0 {
		if _, _, err := l.turn(ctx, len(l.Servers), referenceFirst); err != nil {
			return err
		}
	}
	give := func(n int) (turns []turn, err error) {
		var its []float64 // what a request of the reference cost, by turn
		for range n {
			t, _, err := l.turn(ctx, i, lookSlot)
			if err != nil {
				return nil, err
			}
			reference, _, err := l.turn(ctx, len(l.Servers), referenceSlot)
			if err != nil {
				return nil, err
			}
			cost := 0.0
			if reference.requests > 0 {
				cost = reference.cpu / float64(reference.requests)
			}
			l.reference = cmp.Or(l.reference, cost)
			turns, its = append(turns, t), append(its, cmp.Or(cost, l.reference))
		}
		for n := range its {
			turns[n].cpu *= l.reference / stats.Median(its[max(0, n-1):min(n+2, len(its))])
		}
		return turns, nil
	}
	l.Show(fmt.Sprintf("warming up %s until its CPU a request is steady", l.Servers[i].Name))
	most := int(min(mostLooking, l.Budget/ofBudget) / (lookSlot + at.Beside + referenceSlot))
	if turns, err = give(len(turns)); err != nil { // the first were told without the reference
		return err
	}
	turns, after, is, err := until(turns, max(most, firstTurns), give)
	if err != nil {
		return err
	}
	at.Warmup = lookSlot
	if n := len(turns); is && !l.Running() {
		at.Warmup = time.Duration(after) * lookSlot
	} else if !is {
		before, _ := costOf(turns[n/2 : 3*n/4])
		later, _ := costOf(turns[3*n/4:])
		at.Never = fmt.Sprintf("after %.0f s of load its CPU a request still went from %s to %s",
			float64(n)*lookSlot.Seconds(), words.Time(before), words.Time(later))
	}
	return nil
}

// The lengths of slots, and how many requests one should hold.
const (
	leastSlot = 20 * time.Millisecond
	mostSlot  = 2 * time.Second
	perSlot   = 100
	perFlight = 4
)

// slot is the length of a slot for the slowest of the servers: long enough for a hundred requests,
// and for so many times those that are in flight at its ends. Among fast servers short slots are best,
// since what disturbs one of them then disturbs the next as well: neighbouring slots differ by the same
// share whether they last 50 ms or 500, so what counts is how many there are. Shorter ones would be
// spent on the change from one server to the next, which takes two to five.
func (b *Bench) slot(flights int) time.Duration {
	length := leastSlot.Seconds()
	for _, l := range b.Looks {
		if l.Rate > 0 {
			length = max(length, float64(max(perSlot, flights*b.Connections*b.Pipelining))/l.Rate)
		}
	}
	return time.Duration(min(length, mostSlot.Seconds())*100+0.999) * 10 * time.Millisecond
}

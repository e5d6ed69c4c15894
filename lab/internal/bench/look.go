package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Look is what was seen of one server before the first block.
type Look struct {
	Answers []probe.Given
	Chatty  bool          // it prints a line for each request
	Rate    float64       // requests a second under the load asked for, roughly
	Beside  time.Duration // that a turn takes beside what counts of it
	whole   time.Duration // that a turn took in all, with the reference's
	Warmup  time.Duration // after each start, from then on it is steady
	Never   string        // it was not steady within the limit, and how it went instead
}

// A looker looks at all servers, while they are up.
type looker struct {
	*Bench
	*measure.Visit
	subjects []measure.Subject // the servers, and perhaps the reference
	asked    time.Time         // when all had been asked
	notes    []string
	usual    float64 // what a request of the reference cost at first
}

// look starts all servers side by side, or finds those that run, asks each once, and refuses what
// cannot be compared. Then it loads each, until it is steady if that is asked for. It gives what is
// worth knowing and no reason to refuse, and how long the servers of a block take to start and end.
//
// A neighbour's load makes all that runs on a core cost more, by a tenth or by half, for a second or
// for ten, and a server that warms up looks the same. So while it is loaded, a server takes turns with
// another whose cost does not depend on its age, on the same cores, and its own cost is told by what
// that one's was in the next turn.
func (b *Bench) look(ctx context.Context) (notes []string, beside time.Duration, err error) {
	l := &looker{Bench: b}
	for i, s := range b.Servers {
		if s.URL == "" {
			if _, err := s.program(b.dir(s)); err != nil {
				return nil, 0, err
			}
		}
		l.subjects = append(l.subjects, b.subject(i, i))
	}
	if b.Warmup == nil && b.Costed() {
		port := b.Port + len(b.Servers)
		if b.Running() {
			if port, err = freePorts(1); err != nil {
				return nil, 0, err
			}
		}
		l.subjects = append(l.subjects, b.reference(fmt.Sprintf("%s:%d", loopback, port)))
	}
	b.Looks = make([]Look, len(b.Servers))
	p, began := b.plan(l.subjects), time.Now()
	p.Target = l.target
	var ended time.Time
	err = p.Visit(ctx, func(ctx context.Context, v *measure.Visit) error {
		l.Visit = v
		err := l.all(ctx)
		ended = time.Now()
		return err
	})
	return l.notes, l.asked.Sub(began) + time.Since(ended), err
}

// target is what is asked of a subject; the reference has a load of its own.
func (l *looker) target(i int, addr string) load.Target {
	if i == len(l.Servers) {
		return load.Target{Name: l.subjects[i].Name(), URL: "http://" + addr + "/", Connections: 8, Pipelining: 1}
	}
	return l.Bench.target(l.Servers[i].Name, addr)
}

func (l *looker) all(ctx context.Context) error {
	for _, s := range l.Servers {
		if s.found != nil {
			if err := s.owns(); err != nil {
				return err
			}
		}
	}
	err := l.ask(ctx)
	if err == nil {
		err = l.compare(ctx)
	}
	if err == nil && l.beside() {
		_, _, err = l.turn(ctx, len(l.Servers), referenceFirst)
	}
	turns, longest := make([][]turn, len(l.Servers)), time.Duration(0)
	for i, s := range l.Servers {
		if err == nil {
			turns[i], err = l.first(ctx, i)
		}
		if err == nil && l.Costed() {
			err = s.answered(turns[i])
		}
	}
	if err == nil {
		err = l.rest(ctx)
	}
	for i := range l.Servers {
		if err == nil {
			err = l.warm(ctx, i, turns[i])
		}
		longest = max(longest, l.Looks[i].Warmup)
	}
	// All are treated alike: a server that by chance seemed warm sooner than its equal would cost more.
	for i := range l.Looks {
		l.Looks[i].Warmup = longest
	}
	if err == nil {
		err = l.rest(ctx)
	}
	if err == nil {
		err = l.again(ctx)
	}
	return err
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
		if l.Looks[i].Chatty {
			l.note("%s prints a line for each request, which costs it CPU time that is counted, though what it prints goes to "+
				"/dev/null; switch its log off if that is not meant", s.Name)
		}
	}
	return cmp.Or(failed...)
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
	for range 20 { // its end may be seen a moment after what came of it
		if gone := l.subjects[i].Gone(); gone != nil {
			return nil, fmt.Errorf("%s: while it was asked: %w", t.Name, gone)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if other := Instead(ctx, t, err); other != "" && !probe.Answered(err) {
		return nil, fmt.Errorf("%s: %s", t.Name, other)
	}
	return nil, fmt.Errorf("%s: %w", t.Name, err)
}

// compare refuses servers whose answers are not alike. Bodies that differ may be such that change
// with the time, so they are asked for once more a second later.
func (l *looker) compare(ctx context.Context) error {
	for i := range l.Servers {
		why := l.differ(i)
		if why != "" {
			if err := l.again(ctx); err != nil {
				return err
			}
			why = l.differ(i)
		}
		switch {
		case why != "" && !l.Different:
			return fmt.Errorf("the answers are not the same, so their cost would say little: %s; --allow-different-answers goes on", why)
		case why != "":
			l.note("the answers are not the same: %s", why)
		}
	}
	return nil
}

// differ says how the answers of a server differ from those of the first; empty if they do not.
func (l *looker) differ(i int) string {
	base, other := l.Looks[0].Answers, l.Looks[i].Answers
	d := probe.Differ(base, other)
	if d == nil {
		return ""
	}
	says := fmt.Sprintf("%s answers with %s %s, %s with %s", l.Servers[i].Name, d.Field, d.Ours, l.Servers[0].Name, d.Theirs)
	if len(l.Requests) > 1 {
		says = "to " + l.Requests[d.Of].Label() + ": " + says
	}
	x, y := probe.To(d.Of, base)[0].Body, probe.To(d.Of, other)[0].Body
	if strings.ReplaceAll(string(x), l.subjects[0].Addr(), "") == strings.ReplaceAll(string(y), l.subjects[i].Addr(), "") {
		says += "; they differ only where the address stands: give both the same name by -H 'Host: x'"
	}
	return says
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

// turn loads a server for a while.
func (l *looker) turn(ctx context.Context, i int, length time.Duration) (t turn, r load.SlotReport, err error) {
	r, cpu, err := l.Turn(ctx, i, length)
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

const (
	// A server whose connections wait longer than slowFill for their first answers is loaded in turns of
	// slowFactor times that, and taken for steady.
	slowFill   = 300 * time.Millisecond
	slowFactor = 5
	// mostForks is the share of requests for each of which a server may start a process and let it end
	// without a trace.
	mostForks = 0.05
)

// first loads a server for the first time, to see whether it bears that and how fast it is.
func (l *looker) first(ctx context.Context, i int) (turns []turn, err error) {
	forks, lost, requests := machine.Forks(), false, int64(0)
	at := &l.Looks[i]
	if l.Warmup != nil {
		at.Warmup = *l.Warmup
	}
	for range 2 {
		began := time.Now()
		more, fill, err := l.give(ctx, i, 1, max(lookSlot, at.Warmup))
		if at.whole = time.Since(began); err != nil {
			return nil, err
		}
		if turns, requests = append(turns, more...), requests+more[0].requests; fill > slowFill {
			at.Warmup = slowFactor * fill
		}
		lost = lost || childLost(l.subjects[i].CPU().PIDs)
	}
	if lost && float64(machine.Forks()-forks) > max(10, mostForks*float64(requests)) {
		err = fmt.Errorf("%s: %w", l.Servers[i].Name, errLost)
	}
	return turns, err
}

// beside tells whether there is a reference.
func (l *looker) beside() bool { return len(l.subjects) > len(l.Servers) }

// give loads a server in some turns, and tells what each cost by what the reference did beside it. fill
// is how long the connections waited for their first answers in the last one.
func (l *looker) give(ctx context.Context, i, n int, length time.Duration) (turns []turn, fill time.Duration, err error) {
	var its []float64 // what a request of the reference cost, by turn
	for range n {
		t, r, err := l.turn(ctx, i, length)
		if err != nil {
			return nil, 0, err
		}
		turns, fill = append(turns, t), time.Duration(r.FillS*float64(time.Second))
		if !l.beside() {
			continue
		}
		reference, _, err := l.turn(ctx, len(l.Servers), referenceSlot)
		if err != nil {
			return nil, 0, err
		}
		cost := reference.cpu / max(1, float64(reference.requests))
		l.usual = cmp.Or(l.usual, cost)
		its = append(its, cmp.Or(cost, l.usual))
	}
	for n := range its {
		turns[n].cpu *= l.usual / stats.Median(its[max(0, n-1):min(n+2, len(its))])
	}
	return turns, fill, nil
}

// rest ends the load, and refuses what failed in it, with counts.
func (l *looker) rest(ctx context.Context) error {
	s, err := l.Rest(ctx)
	if err != nil || s == nil {
		return err
	}
	for i, server := range l.Servers {
		if why := fault(s.Targets[i]); why != "" {
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

// warm loads a server that had some turns until it is steady, if that is asked for and its CPU time can
// be read.
func (l *looker) warm(ctx context.Context, i int, turns []turn) error {
	at := &l.Looks[i]
	if !l.beside() || at.Warmup > 0 { // too slow to tell
		return nil
	}
	l.Show(fmt.Sprintf("warming up %s until its CPU a request is steady", l.Servers[i].Name))
	most := int(min(mostLooking, l.Budget/ofBudget) / max(at.whole, lookSlot+referenceSlot))
	turns, after, is, err := until(turns, max(most, firstTurns), func(more int) (turns []turn, err error) {
		if turns, _, err = l.give(ctx, i, more, lookSlot); err == nil {
			err = l.rest(ctx) // what failed is refused now
		}
		return turns, err
	})
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

// referenceCall is HOST:PORT: serves there, the same to each request.
const referenceCall = "serve-reference"

// Answer carries out a call of the program to itself; false for any other.
func Answer(args []string) (status int, is bool) {
	if len(args) != 2 || args[0] != referenceCall {
		return measure.Answer(args)
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "an answer") })
	fmt.Fprintln(os.Stderr, http.ListenAndServe(args[1], answer))
	return 1, true
}

// reference is the server beside which others are warmed up.
func (b *Bench) reference(addr string) measure.Subject {
	return &measure.Command{Label: "reference", Argv: slices.Concat(b.Self, []string{referenceCall, addr}), Dir: "/", On: b.ServerCPUs,
		At: addr, Within: 10 * time.Second, Self: b.Self, Link: measure.Loopback{}}
}

package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Look is what was seen of one server before the first block.
type Look struct {
	Answers []probe.Given
	Rate    float64 // requests a second under the load asked for, roughly
	Lines   int     // that it printed for its first few answers

	RequestBytes float64 // of a request as written; 0: not told

	Warmup time.Duration // after each start, from then on it is steady
	Never  string        // it was not steady within the limit, and how it went instead

	Start, Stop time.Duration // until it listened, and until it had ended
	StartCPU    time.Duration // that starting took of its processes
}

// Starting is about how long the servers of a block and the control take to start, and
// afterwards to end. They start side by side on so many cores.
func Starting(looks []Look, cores int) time.Duration {
	var longest, stop, cpu, most time.Duration
	for _, l := range looks {
		longest, stop = max(longest, l.Start), max(stop, l.Stop)
		cpu, most = cpu+l.StartCPU, max(most, l.StartCPU)
	}
	return max(longest, (cpu+most)/time.Duration(max(cores, 1))) + stop
}

// Chatty tells whether the server prints a line for each request.
func (l Look) Chatty() bool { return len(l.Answers) > 0 && l.Lines >= len(l.Answers) }

// LookAt starts each server alone, or asks those that run, and refuses what cannot
// be compared. What is worth knowing and no reason to refuse is returned in words.
func LookAt(ctx context.Context, o Options, c Client, dir string, port int) (looks []Look, notes []string, err error) {
	beside, err := o.reference(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if beside != nil {
		defer beside.stop()
	}
	for i, s := range o.Servers {
		l, err := o.look(ctx, s, c, dir, port+i, beside)
		if err != nil {
			return nil, nil, err
		}
		if l.Chatty() {
			notes = append(notes, s.Name+" prints a line for each request, which costs it CPU time that is counted, though "+
				"what it prints goes to /dev/null; switch its log off if that is not meant")
		}
		looks = append(looks, l)
	}
	for i, s := range o.Servers[1:] {
		why := o.differ(o.Servers[0], s, looks[0].Answers, looks[i+1].Answers)
		switch {
		case why == "" && probe.Varies(looks[0].Answers):
			notes = append(notes, fmt.Sprintf("the bodies of %s and %s change from one request to the next, so only what "+
				"stands in the heads and the lengths could be compared; --expect says what must be in them", o.Servers[0].Name, s.Name))
		case why == "":
		case o.Different:
			notes = append(notes, "the answers are not the same: "+why)
		default:
			return nil, nil, fmt.Errorf("the answers are not the same, so their cost would say little: %s; "+
				"--allow-different-answers goes on", why)
		}
	}
	return looks, notes, nil
}

func (o Options) look(ctx context.Context, s Server, c Client, dir string, port int, beside *started) (l Look, err error) {
	began := time.Now()
	on, err := s.start(c, dir, port)
	if err != nil {
		return l, err
	}
	defer func() {
		ended := time.Now()
		on.stop()
		l.Stop = time.Since(ended)
	}()
	if err := on.ready(ctx, o.Ready); err != nil {
		return l, err
	}
	var whose ownership
	if on.proc != nil {
		l.Start = time.Since(began)
		for _, pid := range proc.Descendants(on.proc.Pid()) {
			took, _ := cores.ProcessTime(pid)
			l.StartCPU += took
		}
	} else if s.watched() {
		if whose, err = s.owns(); err != nil {
			return l, err
		}
	}
	before := on.lines.Load()
	if l.Answers, err = o.fetch(ctx, s.Name, on.addr); err != nil {
		return l, on.or(err)
	}
	if on.proc != nil {
		time.Sleep(20 * time.Millisecond) // a log may lag behind its answers
		l.Lines = int(on.lines.Load() - before)
	}
	turns, err := l.warm(ctx, o, c, beside, on)
	switch {
	case err != nil:
		return l, on.or(err)
	case on.gone(): // it answers, and goes into the background only now
		return l, on.ended()
	case whose.others != nil:
		return l, whose.spent(turns)
	}
	return l, nil
}

// warm loads a server, to see whether it bears that and how fast it is, and until it is steady
// if that is asked for and its CPU time can be read.
func (l *Look) warm(ctx context.Context, o Options, c Client, beside, on *started) ([]turn, error) {
	fill := 0.0  // of the latest slot, in seconds
	usual := 0.0 // what a request of the reference cost at first
	give := func(n int, length time.Duration) (turns []turn, err error) {
		plan := load.Plan{TimeoutS: answerWithin.Seconds(), Targets: []load.Target{on.asked(o)}}
		if beside != nil {
			plan.Targets = append(plan.Targets, beside.asReference())
		}
		for range n {
			plan.Slots = append(plan.Slots, load.Slot{Seconds: length.Seconds(), Counts: true})
			if beside != nil {
				plan.Slots = append(plan.Slots, load.Slot{Target: 1, Seconds: referenceSlot.Seconds(), Counts: true})
			}
		}
		r, err := run.CarryOut(ctx, c.Lab, c.CPUs, plan, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: under load: %w", on.Name, err)
		}
		why, its := fault(r.Summary.Targets[0]), []float64(nil) // what a request of the reference cost, by turn
		l.RequestBytes = r.Summary.Targets[0].RequestBytes
		for _, slot := range r.Slots {
			if slot.Target == 1 {
				cost, _ := costs(slot)
				usual, its = cmp.Or(usual, cost), append(its, cmp.Or(cost, usual))
				continue
			}
			why = cmp.Or(why, slot.Failed)
			_, cpu := costs(slot)
			if turns, fill = append(turns, turn{slot.Requests, cpu}), slot.FillS; slot.Seconds > 0 {
				l.Rate = float64(slot.Requests) / slot.Seconds
			}
		}
		for i := range its {
			turns[i].cpu *= usual / stats.Median(its[max(0, i-1):min(i+2, len(its))])
		}
		if why != "" {
			return nil, fmt.Errorf("%s: under %d connections with %d requests in flight on each it failed: %s", on.Name,
				o.Connections, o.Pipelining, why)
		}
		return turns, nil
	}
	l.Warmup = o.Warmup
	turns, err := give(2, lookSlot)
	if err != nil {
		return nil, err
	}
	cpus := on.asked(o)
	switch {
	case fill > slowFill.Seconds(): // too few requests to tell how steady they are
		return give(2, slowSlot)
	case !o.Steady || cpus.Clocks() == 0:
		more, err := give(4, lookSlot)
		return append(turns, more...), err
	}
	most := int(min(mostLooking, o.Budget/ofBudget) / (lookSlot + referenceSlot))
	turns, after, is, err := until(turns, max(most, firstTurns), func(more int) ([]turn, error) { return give(more, lookSlot) })
	if err != nil {
		return nil, err
	}
	l.Warmup = lookSlot
	if n := len(turns); is && o.Servers[0].URL == "" {
		l.Warmup = time.Duration(after) * lookSlot
	} else if !is {
		before, _ := costOf(turns[n/2 : 3*n/4])
		later, _ := costOf(turns[3*n/4:])
		l.Never = fmt.Sprintf("after %.0f s of load its CPU a request still went from %s to %s",
			float64(n)*lookSlot.Seconds(), words.Time(before), words.Time(later))
	}
	return turns, nil
}

// A server whose connections wait longer than slowFill for their first answers is loaded in
// two slots of slowSlot, and taken for steady.
const (
	slowFill = 300 * time.Millisecond
	slowSlot = 300 * time.Millisecond
)

// or is the reason for an error that a server's end explains. Its end may be seen
// later than that of its connections.
func (on *started) or(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if on.proc == nil && !on.watched() {
		return err
	}
	for range 50 {
		if why := on.died(); why != nil {
			return why
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// died says how a server ended while it was asked; nil if it has not.
func (on *started) died() error {
	switch {
	case on.proc == nil:
		return on.lost()
	case !on.gone():
		return nil
	case on.proc.ExitCode() == proc.Forked:
		return on.ended()
	}
	how := cmp.Or(on.proc.Err(), errors.New("exit status 0"))
	return fmt.Errorf("%s: it died while it was asked (%w)%s", on.Name, how, on.words())
}

// The lengths of slots, and how many requests one should hold.
const (
	leastSlot = 20 * time.Millisecond
	mostSlot  = 2 * time.Second
	perSlot   = 100
	perFlight = 4
)

// Slot is the length of a slot for the slowest of the servers: long enough for a
// hundred requests, and for several times those that are in flight at its ends. Among fast servers
// short slots are best, since what disturbs one of them then disturbs the next as well: in
// the journal's runs neighbouring slots differ by the same share whether they last 50 ms or 500, so
// what counts is how many there are. Shorter ones would be spent on the change from one server
// to the next, which takes two to five.
func Slot(o Options, looks []Look) time.Duration {
	length := leastSlot.Seconds()
	for _, l := range looks {
		if l.Rate > 0 {
			length = max(length, float64(max(perSlot, perFlight*o.Connections*o.Pipelining))/l.Rate)
		}
	}
	return time.Duration(math.Ceil(min(length, mostSlot.Seconds())*100)) * 10 * time.Millisecond
}

// Room refuses a budget that does not hold the fewest blocks that could tell.
func Room(o Options, block, left time.Duration) error {
	least := time.Duration(compare.Fewest(o.level()))
	if left >= least*block {
		return nil
	}
	needs := (o.Budget - left + least*block).Round(time.Second) + time.Second
	return fmt.Errorf("--budget %v holds fewer than %d blocks of about %.1f s, and no fewer can tell; use --budget %v "+
		"or more, or less --warmup", o.Budget, least, block.Seconds(), needs)
}

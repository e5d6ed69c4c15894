package contest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/load"
)

// A Look is what was seen of one server before the first block.
type Look struct {
	Answers []Answer
	Rate    float64 // requests a second under the load asked for, roughly
	Lines   int     // that it printed for its first few answers

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

// pilot is how long each server is loaded before the first block, to see whether
// it bears the load and how fast it is. It counts for nothing else.
const pilot = 300 * time.Millisecond

// LookAt starts each server alone, or asks those that run, and refuses what cannot
// be compared. What is worth knowing and no reason to refuse is returned in words.
func LookAt(ctx context.Context, o Options, c Client, dir string, port int) (looks []Look, notes []string, err error) {
	for i, s := range o.Servers {
		l, err := o.look(ctx, s, c, dir, port+i)
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
		why := differ(o.Servers[0], s, looks[0].Answers, looks[i+1].Answers)
		switch {
		case why == "" && varies(looks[0].Answers):
			notes = append(notes, fmt.Sprintf("the bodies of %s and %s change from one request to the next, so only what "+
				"stands in the heads and the lengths could be compared", o.Servers[0].Name, s.Name))
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

func (o Options) look(ctx context.Context, s Server, c Client, dir string, port int) (l Look, err error) {
	addr := s.address()
	var on *started
	if s.URL == "" {
		began := time.Now()
		if on, err = s.start(append(slices.Clone(c.Lab), run.HoldCall), dir, port); err != nil {
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
		l.Start = time.Since(began)
		for _, pid := range telemetry.Descendants(on.proc.Pid()) {
			took, _ := cores.ProcessTime(pid)
			l.StartCPU += took
		}
		addr = on.addr
	}
	before := int64(0)
	if on != nil {
		before = on.lines.Load()
	}
	if l.Answers, err = fetch(ctx, s.Name, addr, o.Path); err != nil {
		return l, on.or(err)
	}
	if on != nil {
		time.Sleep(20 * time.Millisecond) // a log may lag behind its answers
		l.Lines = int(on.lines.Load() - before)
	}
	r, err := run.CarryOut(ctx, c.Lab, c.CPUs, load.Plan{TimeoutS: answerWithin.Seconds(),
		Targets: []load.Target{o.target(s.Name, addr, nil)},
		Slots:   []load.Slot{{Seconds: pilot.Seconds()}, {Seconds: pilot.Seconds(), Counts: true}}})
	if err != nil {
		return l, on.or(fmt.Errorf("%s: under load: %w", s.Name, err))
	}
	t := r.Summary.Targets[0]
	why := fault(t)
	for _, slot := range r.Slots {
		if slot.Failed != "" && why == "" {
			why = slot.Failed
		}
		if slot.Seconds > 0 {
			l.Rate = float64(slot.Requests) / slot.Seconds
		}
	}
	switch {
	case why != "":
		return l, on.or(fmt.Errorf("%s: under %d connections with %d requests in flight on each it failed: %s", s.Name,
			o.Connections, o.Pipelining, why))
	case on != nil && on.gone(): // it answers, and goes into the background only now
		return l, on.ended()
	}
	return l, nil
}

// or is the reason for an error that a server's end explains. Its end may be seen
// later than that of its connections.
func (on *started) or(err error) error {
	if on == nil || errors.Is(err, context.Canceled) {
		return err
	}
	for range 50 {
		if on.gone() && on.proc.ExitCode() == leash.Forked {
			return on.ended()
		}
		if on.gone() {
			return fmt.Errorf("%s: it died while it was asked (%s)%s", on.Name, how(on.proc.Err()), on.words())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func how(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
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

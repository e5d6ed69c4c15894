package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// A Why says of what kind of work the difference is. In each round every server starts afresh, alone,
// and is profiled under the load of the comparison.
type Why struct {
	Bench
	Scratch string // where perf has its file meanwhile
	rounds  int    // 0: as many as an interval needs
}

// whyRounds are one more than the fewest that have an interval.
const whyRounds = stats.MinSamples + 1

// The parts of one server's load, after its warm-up: a lead before anything is read, a while without
// and one with the profiler, and what the load lasts beyond that, since a profiler takes a while to
// begin. pprof knows whole seconds only.
const (
	whyLead   = 200 * time.Millisecond
	whyBefore = 400 * time.Millisecond
	whyWindow = time.Second
	whyRest   = 2500 * time.Millisecond

	fewestSamples = 20        // of a profile that tells anything
	leastSampled  = 0.5       // of the CPU time: else the profiler came late, or was kept from its core
	mostFailed    = whyRounds // rounds that may come to nothing
)

// A missed is why a source took no profile of a server, and whether another one may.
type missed struct {
	error
	other bool
}

// Add profiles all servers, and adds to what a comparison came to of what kind of work the
// difference is.
func (w Why) Add(ctx context.Context, o *compare.Outcome) error {
	r, most := rand.New(rand.NewPCG(w.Seed, 'w')), cmp.Or(w.rounds, whyRounds)
	var rounds [][]profiled
	var passed string // why the source before was not it
	sources := w.sources()
	for failed := 0; len(rounds) < most; {
		w.Tell(fmt.Sprintf("why: round %d of %d, by %s", len(rounds)+1, most, sources[0].name))
		round := make([]profiled, len(w.Servers))
		var err error
		for _, i := range r.Perm(len(w.Servers)) {
			if round[i], err = w.profile(ctx, i, sources[0]); err != nil {
				break
			}
		}
		miss, is := errors.AsType[missed](err)
		switch {
		case err == nil:
			rounds = append(rounds, round)
		case !is:
			return err
		case miss.other && len(rounds) == 0 && len(sources) > 1:
			sources, passed = sources[1:], miss.Error()
		default:
			if failed++; failed > mostFailed {
				o.Notes = append(o.Notes, "why they differ is not known: "+miss.Error()+"; stop what else runs here, or give more load")
				return nil // it decides nothing
			}
		}
	}
	o.Why = &compare.Why{Source: sources[0].name, Rounds: most, WindowS: whyWindow.Seconds()}
	how := fmt.Sprintf("%d profiles of each server by %s, %s each", most, sources[0].name, words.Duration(whyWindow))
	if sources[0].name == "ticks" {
		how = fmt.Sprintf("user space and kernel alone, from /proc, as perf took no profile: %s", passed)
	}
	how = strings.Join(append(caveats(w.Servers, rounds), how+"; rows are medians, so they need not add up to the last"), "; ")
	for i := range w.Servers[1:] {
		reasons := reasons(w.Servers, i+1, rounds)
		reasons.Says += "; " + how
		o.Why.Comparisons = append(o.Why.Comparisons, reasons)
	}
	return nil
}

// profile starts a server, loads it, and profiles it meanwhile.
func (w Why) profile(ctx context.Context, i int, by source) (p profiled, err error) {
	on, err := w.start(i)
	if err != nil {
		return p, err
	}
	defer on.stop()
	if err := on.ready(ctx, w.Ready); err != nil {
		return p, err
	}
	s, at, pids := on.Server, on.asked(w.Options), on.pids()
	if len(pids) == 0 {
		return p, on.or(fmt.Errorf("%s: it has no process", s.Name))
	}
	if why := by.can(ctx, at, pids); why != "" {
		return p, missed{errors.New(why), true}
	}
	plan := load.Plan{TimeoutS: answerWithin.Seconds(), Targets: []load.Target{at}}
	lead := max(w.Looks[i].Warmup, whyLead)
	for n, part := range []time.Duration{lead, whyBefore, whyWindow, whyRest} {
		plan.Slots = append(plan.Slots, load.Slot{Seconds: part.Seconds(), Counts: n > 0})
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	done, failed := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		select {
		case <-time.After(lead + whyBefore + whyLead): // the client needs a moment as well
			p.counts, failed = by.take(within, at, pids, whyWindow)
		case <-within.Done():
		}
	}()
	report, err := run.CarryOut(ctx, w.Lab, w.CPUs, plan, nil)
	if err != nil {
		cancel()
	}
	<-done
	if err == nil {
		if why := cmp.Or(fault(report.Summary.Targets[0]), report.Slots[1].Failed, report.Slots[2].Failed); why != "" {
			err = fmt.Errorf("%s: while it was profiled it failed: %s", s.Name, why)
		}
	}
	if err != nil || on.gone() {
		return p, on.or(err)
	}
	var cpu float64
	p.before, _ = costs(report.Slots[1])
	p.cost, cpu = costs(report.Slots[2])
	due := cpu * float64(by.hertz)
	switch got := p.counts.All; {
	case failed != nil:
		return p, missed{fmt.Errorf("%s: %w", s.Name, failed), true}
	case p.before == 0 || p.cost == 0 || float64(got) < max(fewestSamples, leastSampled*due):
		return p, missed{fmt.Errorf("%s took %d samples of %s, which used %.2g s of CPU time, and so few tell nothing", by.name, got,
			s.Name, cpu), got == 0 || due < fewestSamples}
	}
	return p, ctx.Err()
}

// costs is what a request cost in a slot, 0 if that is not known, and what all did.
func costs(s load.SlotReport) (each, all float64) {
	for _, cpu := range s.ServerCPUS {
		all += cpu
	}
	if s.Requests > 0 {
		each = all / float64(s.Requests)
	}
	return each, all
}

// Package why says why a request to one server costs more than to another: of what kind of work the difference is, and which
// system calls a request makes. It decides nothing, so where it cannot tell, a note says why.
package why

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

const (
	whyWindow     = time.Second             // of a profile; pprof knows whole seconds only
	perfRest      = 1200 * time.Millisecond // what the load lasts beyond it, since perf takes a while to begin
	fewestSamples = 20                      // of a profile that tells anything
)

// most is how many rounds there are: the fewest that have an interval.
var most = stats.MinSamples

// A sampler takes a CPU profile of a server for whyWindow.
type sampler struct {
	name string
	rest time.Duration // of load beyond the profile, since it begins late
	take func(ctx context.Context, s measure.Subject, at load.Target) (profile.Profile, error)
}

// byPprof asks a Go server that has net/http/pprof at its own address.
func byPprof(ctx context.Context, s measure.Subject, at load.Target) (none profile.Profile, err error) {
	if pids := s.CPU().PIDs; len(pids) != 1 {
		return none, fmt.Errorf("pprof sees one process of %s, and there are %d", s.Name(), len(pids))
	}
	transport, err := probe.Transport(at)
	if err != nil {
		return none, err
	}
	defer transport.CloseIdleConnections()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, at.URL, nil) // the look before asked its address
	r.URL.Path, r.URL.RawQuery = "/debug/pprof/profile", "seconds=1"
	a, err := transport.RoundTrip(r)
	if err != nil {
		return none, fmt.Errorf("%s: %w", s.Name(), err)
	}
	defer a.Body.Close()
	p, err := pprof.Parse(a.Body)
	if err != nil {
		return none, fmt.Errorf("%s serves no profile at %s (%s)", s.Name(), r.URL.Path, a.Status)
	}
	profile.LeaveOutProfiler(p)
	return profile.Analyse(profile.CPU, p)
}

// byPerf has perf sample the server's processes.
func byPerf(ctx context.Context, s measure.Subject, _ load.Target) (profile.Profile, error) {
	stacks, err := kernel.Record(ctx, s.CPU().PIDs, whyWindow)
	return kernel.Analyse(stacks), err
}

// Add profiles all servers, and adds to the result of a comparison which kinds of work make the difference. In each
// round all servers start afresh and take turns, which says what a request costs each, and are then profiled under
// load, which says what of that is which kind of work. All have the same sampler: pprof if they all serve it, else
// perf. It decides nothing, so where it fails a note says why.
func Add(ctx context.Context, p measure.Plan, o *compare.Outcome, say func(text string)) error {
	r := rand.New(rand.NewPCG(p.Seed, 'w'))
	by, why := sampler{"pprof", 0, byPprof}, ""
	var rounds [][]profiled
	for len(rounds) < most {
		say(fmt.Sprintf("why: round %d of %d, by %s", len(rounds)+1, most, by.name))
		round, err := takeRound(ctx, p, r, by)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			rounds = append(rounds, round)
		case len(rounds) == 0 && by.name == "pprof":
			by, why = sampler{"perf", perfRest, byPerf}, err.Error()+"; "
		default:
			o.Notes = append(o.Notes, "why they differ is not known: "+why+err.Error())
			return nil
		}
	}
	o.Why = &compare.Why{Source: by.name, Rounds: most, WindowS: whyWindow.Seconds()}
	for i, other := range p.Subjects[1:] {
		of := reasons(rounds, i+1)
		of.Base, of.Name = p.Subjects[0].Name(), other.Name()
		if by.name == "perf" {
			of.Says += "; code without symbols (stripped, or compiled at run time) counts as the handler's"
		}
		of.Says += fmt.Sprintf("; %d profiles of each server by %s, %s each; rows are medians, so they need not add up to the last",
			most, by.name, words.Duration(whyWindow))
		o.Why.Comparisons = append(o.Why.Comparisons, of)
	}
	return nil
}

// A profiled is one server in one round.
type profiled struct {
	cost float64 // CPU time a request
	profile.Profile
}

// takeRound measures and profiles all servers once.
func takeRound(ctx context.Context, p measure.Plan, r *rand.Rand, by sampler) ([]profiled, error) {
	round := make([]profiled, len(p.Subjects))
	p.Extras = []measure.Extra{{Window: whyWindow + by.rest, Due: func(int) bool { return true },
		Do: func(ctx context.Context, i int) (err error) {
			s := p.Subjects[i]
			round[i].Profile, err = by.take(ctx, s, p.Target(i, s.Addr()))
			return err
		}}}
	var order []int
	for range p.Rounds {
		order = append(order, r.Perm(len(p.Subjects))...)
	}
	trials, err := p.Block(ctx, order)
	if err != nil {
		return nil, err
	}
	for i, t := range trials {
		round[i].cost = t.Metrics["server_cpu_per_request_s"]
		if round[i].cost > 0 && round[i].Events >= fewestSamples {
			continue // a fault matters only where it leaves nothing to tell
		}
		if len(t.Faults) > 0 {
			return nil, errors.New(t.Faults[len(t.Faults)-1].Detail)
		}
		return nil, fmt.Errorf("%s: its CPU a request was not seen, or %s took too few samples (%.0f)", p.Subjects[i].Name(),
			by.name, round[i].Events)
	}
	return round, nil
}

// reasons says where the difference is between a server and the first, from rounds of all servers.
func reasons(rounds [][]profiled, i int) (out compare.Reasons) {
	row := func(name string, cost func(p profiled) float64) compare.Reason {
		r := compare.Reason{Kind: name}
		var base, other []float64
		for _, round := range rounds {
			b, o := cost(round[0]), cost(round[i])
			base, other, r.Each = append(base, b), append(other, o), append(r.Each, o-b)
		}
		s := stats.Summarise(r.Each)
		r.Base, r.Other = stats.Median(base), stats.Median(other)
		r.Difference, r.Low, r.High = s.Median, s.Low, s.High
		return r
	}
	out.All = row("all", func(p profiled) float64 { return p.cost })
	for _, w := range profile.Works() {
		r := row(w.Words, func(p profiled) float64 { return p.cost * p.Work[string(w.Work)] })
		if r.Shown() && out.All.Shown() {
			r.Share = words.Digits(r.Difference / out.All.Difference)
		}
		if max(r.Base, r.Other) > 0 {
			out.Kinds = append(out.Kinds, r)
		}
	}
	slices.SortStableFunc(out.Kinds, func(a, b compare.Reason) int {
		return cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference))
	})
	out.Says = finding(out)
	return out
}

// finding names the kind of work that has most of the difference, and claims no more than is shown.
// It says "most" only where the least in its interval is half of the most in that of the whole
// difference.
func finding(r compare.Reasons) string {
	all := r.All
	if !all.Shown() {
		return "whether they differ at all was not shown in this pass, so no kind of work is the cause"
	}
	for _, k := range r.Kinds {
		least, most := k.Low, all.High
		if all.Difference < 0 {
			least, most = -k.High, -all.Low
		}
		if least <= 0 || k.Kind == profile.WorkOther.Words() {
			continue
		}
		part := "a part"
		if least >= most/2 {
			part = "most"
		}
		return fmt.Sprintf("%s of the difference is %s, %s of %s", part, k.Kind, tell.Difference(k), words.Time(all.Difference))
	}
	return "no kind of work is shown to be the cause: each interval holds 0"
}

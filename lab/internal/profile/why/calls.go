package why

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// Which system calls a request makes is counted once the comparison is over, so that it slows nothing that is measured: of
// one server at a time, which is started afresh and traced. It has two loads that differ in length alone, and a figure is
// what the longer one has more, divided by the answers that it has more. Nothing is in flight at either end. So what each
// connection takes drops out, and what each request takes is counted exactly.
const (
	shortLoad = 100 * time.Millisecond
	longLoad  = time.Second
	fewest    = 10    // answers more that tell anything
	rarest    = 0.001 // least share of requests that a call is told of
)

// Calls adds the system calls that requests of each server make, until one cannot be told of, which a note then says. An
// error is that ctx is done.
func Calls(ctx context.Context, p measure.Plan, o *compare.Outcome, tell func(text string)) error {
	for i, s := range p.Subjects {
		tell("what system calls a request of " + s.Name() + " makes")
		one := p
		one.Subjects, one.Target = p.Subjects[i:i+1], func(_ int, addr string) load.Target { return p.Target(i, addr) }
		m := &o.Servers[i]
		err := one.Visit(ctx, func(ctx context.Context, v *measure.Visit) (err error) {
			if m.CallsBy, err = callsOf(ctx, s, v, min(p.Warmup[i], longLoad)); err != nil && s.Gone() != nil {
				err = s.Gone()
			}
			return err
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			o.Notes = append(o.Notes, s.Name()+": system calls were not counted: "+strings.TrimPrefix(err.Error(), s.Name()+": "))
			return nil
		}
		for _, n := range m.CallsBy {
			m.Calls += n
		}
		m.Calls = words.Significant(m.Calls, 6)
	}
	return nil
}

// callsOf gives the system calls that a request makes of a server, by name.
func callsOf(ctx context.Context, s measure.Subject, v *measure.Visit, warmup time.Duration) (map[string]float64, error) {
	give := func(length time.Duration) (answers int64, err error) {
		r, _, err := v.Turn(ctx, 0, length)
		if err == nil && r.Failed != "" {
			err = errors.New(r.Failed)
		}
		return r.Turn.Requests, err
	}
	if _, err := give(max(warmup, shortLoad)); err != nil {
		return nil, err
	}
	tracer, err := kernel.Trace(func() []int { return s.CPU().PIDs })
	if err != nil {
		return nil, err
	}
	defer tracer.Stop()
	var answers [3]int64 // of no load, and of the two
	var counts [3]map[string]int64
	for n, length := range []time.Duration{0, shortLoad, longLoad} {
		if n > 0 {
			if answers[n], err = give(length); err != nil {
				return nil, err
			}
		}
		if counts[n], err = tracer.Counts(); err != nil {
			return nil, err
		}
	}
	more := answers[2] - answers[1]
	if more < fewest {
		return nil, errors.New("too few answers")
	}
	by := map[string]float64{}
	for name, n := range counts[2] {
		if v := float64(n-2*counts[1][name]+counts[0][name]) / float64(more); v >= rarest {
			by[name] = words.Significant(v, 6)
		}
	}
	return by, nil
}

package why

import (
	"context"
	"errors"
	"fmt"
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
	longLoad  = 400 * time.Millisecond
	mostLoad  = 2 * time.Second // where so many answers more take longer
	fewest    = 10              // answers more that tell anything
	rarest    = 0.001           // least share of requests that a call is told of
)

// Calls adds the system calls that requests of each server make. Where they cannot be told a note says why. An error is
// that ctx is done.
func Calls(ctx context.Context, p measure.Plan, o *compare.Outcome, tell func(text string)) error {
	var whys []string
	of := map[string][]string{} // servers, by why their calls are not known
	for i, s := range p.Subjects {
		tell("what system calls a request of " + s.Name() + " makes")
		one := p
		one.Subjects, one.Target = p.Subjects[i:i+1], func(_ int, addr string) load.Target { return p.Target(i, addr) }
		var by map[string]float64
		err := one.Visit(ctx, func(ctx context.Context, v *measure.Visit) (err error) {
			if by, err = callsOf(ctx, s, v, min(p.Warmup[i], mostLoad)); err != nil && s.Gone() != nil {
				err = s.Gone()
			}
			return err
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			why := strings.TrimPrefix(err.Error(), s.Name()+": ")
			if of[why] = append(of[why], s.Name()); len(of[why]) == 1 {
				whys = append(whys, why)
			}
			continue
		}
		o.Servers[i].CallsBy = by
		for _, n := range by {
			o.Servers[i].Calls += n
		}
		o.Servers[i].Calls = words.Significant(o.Servers[i].Calls, 6)
	}
	for _, why := range whys {
		o.Notes = append(o.Notes, words.List(of[why])+": system calls were not counted: "+why)
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
	_, started := s.(*measure.Command)
	tracer, err := kernel.Trace(func() []int { return s.CPU().PIDs }, started)
	if err != nil {
		return nil, err
	}
	defer tracer.Stop()
	last, err := tracer.Counts()
	if err != nil {
		return nil, err
	}
	count := func(length time.Duration) (answers int64, made map[string]int64, err error) {
		if answers, err = give(length); err != nil {
			return 0, nil, err
		}
		now, err := tracer.Counts()
		made = map[string]int64{}
		for name, n := range now {
			made[name] = n - last[name]
		}
		last = now
		return answers, made, err
	}
	few, short, err := count(shortLoad)
	if err != nil {
		return nil, err
	}
	for _, length := range []time.Duration{longLoad, mostLoad} {
		many, long, err := count(length)
		if err != nil {
			return nil, err
		}
		if many < few+fewest {
			continue
		}
		by := map[string]float64{}
		for name, n := range long {
			if v := float64(n-short[name]) / float64(many-few); v >= rarest {
				by[name] = words.Significant(v, 6)
			}
		}
		return by, nil
	}
	return nil, fmt.Errorf("%d answers in %v are too few", few, shortLoad)
}

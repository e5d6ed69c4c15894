package why

import (
	"cmp"
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

// The count of system calls comes once the comparison is over, so that it slows nothing that is measured. It takes one
// server at a time: starts it afresh, loads it, and traces it during a second load on the same connections. Nothing is
// in flight at either end of that, so the calls that each request needs are all counted. What an idle stretch as long
// as that counts is taken off, since no request causes timers and polls; the rest of these is small among enough
// answers.
const (
	leastLoad = 300 * time.Millisecond
	mostLoad  = time.Second
	longest   = 4 * time.Second // until a server that a busy machine slows down gave enough answers
	fewest    = 200             // answers that tell anything
	rarest    = 0.001           // least share of requests that lists a call
)

// Calls adds the system calls that requests of each server make, until one cannot be told of, which a note then says. An
// error is that ctx is done.
func Calls(ctx context.Context, p measure.Plan, o *compare.Outcome, tell func(text string)) error {
	length := min(max(leastLoad, 4*p.Slot), mostLoad)
	for i, s := range p.Subjects {
		tell("what system calls a request of " + s.Name() + " makes")
		one, m := p, &o.Servers[i]
		one.Subjects, one.Target = p.Subjects[i:i+1], func(_ int, addr string) load.Target { return p.Target(i, addr) }
		err := one.Visit(ctx, func(ctx context.Context, v *measure.Visit) (err error) {
			if _, err := v.Agree(ctx, 1); err != nil { // it may answer otherwise while it starts
				return err
			}
			m.CallsBy, err = callsOf(ctx, s, v, length)
			return cmp.Or(s.Gone(), err)
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
func callsOf(ctx context.Context, s measure.Subject, v *measure.Visit, length time.Duration) (map[string]float64, error) {
	if _, _, err := v.Turn(ctx, 0, length); err != nil {
		return nil, err
	}
	list := func() []int { return s.CPU().PIDs }
	var answers int64
	var took time.Duration
	counts, err := kernel.Count(list, func() error {
		for began := time.Now(); answers < fewest; took = time.Since(began) {
			r, _, err := v.Turn(ctx, 0, length)
			switch {
			case err != nil:
				return err
			case r.Failed != "":
				return errors.New(r.Failed)
			}
			if answers += r.Turn.Requests; answers < fewest && time.Since(began) > longest {
				return errors.New("too few answers")
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Behind the load, since a server may close connections that are idle.
	idle, err := kernel.Count(list, func() error {
		time.Sleep(took)
		return nil
	})
	if err != nil {
		return nil, err
	}
	by := map[string]float64{}
	for name, n := range counts {
		if each := float64(n-idle[name]) / float64(answers); each >= rarest {
			by[name] = words.Significant(each, 6)
		}
	}
	return by, nil
}

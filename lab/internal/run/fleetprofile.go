package run

import (
	"context"
	"time"
)

// aloneOnFleet has the clients load one member's server together for a profiled
// window. begins is told when the load will count.
func (g *group) aloneOnFleet(ctx context.Context, i int, warmup, counts time.Duration,
	begins func(time.Time)) (load func() (loaded, error), found []fault, err error) {
	one := &group{engine: g.engine, loads: g.loads[i : i+1], servers: g.servers}
	s, found, err := one.sweep(ctx, g.planAlone(i, warmup, counts), begins, nil)
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	return func() (loaded, error) {
		r, err := s.merged()
		if err != nil {
			return loaded{}, err
		}
		return g.loads[i].window(r)
	}, nil, nil
}

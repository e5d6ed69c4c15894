package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Calls is what one condition's requests cost the server in system calls.
type Calls struct {
	Levels   setting.Levels
	Tracer   string
	Requests float64
	Counts   probe.Counts
}

// Syscalls loads each condition once with a tracer on the server and counts.
// It is no run: a traced server is a slower one, so nothing of it is kept that
// a claim could be decided by.
func Syscalls(ctx context.Context, p Plan, each func(Calls)) error {
	x := p.Experiment
	if why := p.Unreachable(); why != "" {
		return errors.New(why)
	}
	p.clock = newClock()
	return p.alone(func(e *engine) error {
		for _, levels := range x.Conditions() {
			l := p.load(e.link, x.Fixed().With(levels), p.Port)
			c, err := l.traced(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", levels.Key(), err)
			}
			c.Levels = levels
			each(c)
		}
		return nil
	})
}

func (l load) traced(ctx context.Context) (c Calls, err error) {
	back, err := l.turn(ctx)
	if err != nil {
		return c, err
	}
	defer func() { err = also(err, back()) }()
	g := &group{loads: []load{l}, sequence: []int{0}, trials: make([]results.Trial, 1)}
	if g.servers, err = startServers(ctx, g.loads); err != nil {
		return c, err
	}
	defer stopServers(g.servers)
	tracer, err := probe.Start(g.servers[0].processes())
	if err != nil {
		return c, err
	}
	stopped := false
	defer func() {
		if !stopped {
			_, _ = tracer.Stop()
		}
	}()
	// Without a warm-up, every request that the server sees is one that counts, but
	// for the first on each connection.
	client, plan := g.again(0, 0, l.slot*time.Duration(l.rounds))
	printed, faults, err := client.drive(ctx, g.servers)
	if err != nil {
		return c, err
	}
	stopped = true
	if c.Counts, err = tracer.Stop(); err != nil {
		return c, err
	}
	if len(faults) > 0 {
		return c, errors.New(faults[0].Detail)
	}
	r, err := g.loaded(0, plan, printed)
	if err != nil {
		return c, err
	}
	if len(r.faults) > 0 {
		var why []string
		for _, f := range r.faults {
			why = append(why, f.Detail)
		}
		return c, errors.New(strings.Join(why, "; "))
	}
	c.Tracer, c.Requests = tracer.Tracer, r.requests
	return c, nil
}

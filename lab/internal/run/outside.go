package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// An Outside is a server that runs already. No run starts, pins or ends it.
type Outside struct {
	Addr string // HOST:PORT
	// Processes lists the server's now, so that their CPU time can be read; an error ends the
	// run. nil: the server is known by its address alone, and may be on another machine.
	Processes func() ([]int, error)
	// CPUFile tells the CPU time of the server's cgroup; if it is not empty, that is read in
	// place of the processes' own.
	CPUFile string
}

// unread reports whether servers run already, and nothing but their addresses is known.
func (p Plan) unread() bool {
	for _, o := range p.Running {
		if o.Processes == nil {
			return true
		}
	}
	return false
}

func (l load) unread() bool { return l.outside != nil && l.outside.Processes == nil }

// fromOutside has one client go round servers that run already.
func (g *group) fromOutside(ctx context.Context) error {
	for i := range g.loads {
		l := &g.loads[i]
		if l.unread() {
			continue
		}
		var err error
		if l.pids, err = l.outside.Processes(); err != nil {
			return fmt.Errorf("%s: %w", l.calls(), err)
		}
	}
	plan := g.plan(g.loads[0].slot)
	c, began := g.rotating(plan), time.Now()
	if !g.engine.plan.unread() {
		var pid atomic.Int64
		pair := telemetry.Pair{Client: func() int { return int(pid.Load()) }}
		for _, l := range g.loads {
			roots := l.pids
			if l.outside.CPUFile == "" {
				roots = roots[:1] // those below it are found
			}
			pair.Servers = append(pair.Servers, roots...)
		}
		if err := g.watch(lasts(plan), pair); err != nil {
			return err
		}
		defer g.sampler.Stop()
		c.began = func(p int) { pid.Store(int64(p)) }
	}
	printed, faults, err := c.drive(ctx, nil)
	if err != nil {
		return err
	}
	done, ok := g.finished(faults, plan, printed)
	if !ok {
		return nil
	}
	var w telemetry.Window
	if _, to := done.counted(); to > 0 && g.sampler != nil {
		g.sampler.Stop()
		w = g.sampler.Between(0, began, time.Now(), 0)
	}
	g.judge(done, nil, w)
	return nil
}

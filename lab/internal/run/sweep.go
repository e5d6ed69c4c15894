package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A sweep is a plan that the clients of a fleet carry out together: the same slots
// at the same times, each with its share of the connections and of the rate.
type sweep struct {
	g             *group
	plan          httpload.Plan // of all clients, by this host's monotonic clock
	shares        []portion     // by client
	before, after []fleet.Clock // by client
	edges         *edges
	held          func() // called while all clients hold their connections
}

// A portion is what one client does of a sweep. One that loads in no condition has
// no plan.
type portion struct {
	number  int // of the client, from 1
	plan    httpload.Plan
	targets []int // by its own target: that of the whole
	slots   []int // by its own slot: that of the whole
	aheadNS int64 // its wall clock's time less the whole's
	running fleet.Running
	report  *httpload.Report
	seen    fleet.Seen
}

// loading are the clients that load in some condition.
func (s *sweep) loading() (all []*portion) {
	for k := range s.shares {
		if one := &s.shares[k]; len(one.plan.Slots) > 0 {
			all = append(all, one)
		}
	}
	return all
}

func (s *portion) name() string { return fmt.Sprintf("client %d", s.number) }

// share deals the sweep out to its clients.
func (s *sweep) share(wallAhead int64) {
	for k := range s.shares {
		one := portion{number: k + 1, aheadNS: wallAhead + int64(s.before[k].OffsetS*1e9)}
		own := map[int]int{}
		one.plan = httpload.Plan{Threads: s.plan.Threads, TimeoutS: s.plan.TimeoutS, Raw: true}
		for i, t := range s.plan.Targets {
			n := s.g.loads[i].clients
			if k >= n {
				continue
			}
			own[i] = len(one.targets)
			one.targets = append(one.targets, i)
			t.Processes = nil
			t.Connections, t.Rate = dealt(t.Connections, n, k), t.Rate/float64(n)
			one.plan.Targets = append(one.plan.Targets, t)
		}
		for i, slot := range s.plan.Slots {
			if to, ok := own[slot.Target]; ok {
				slot.Target = to
				slot.AtNS += one.aheadNS
				one.plan.Slots, one.slots = append(one.plan.Slots, slot), append(one.slots, i)
			}
		}
		s.shares[k] = one
	}
}

// dealt is the k-th of n even parts of a number of connections.
func dealt(connections, n, k int) int {
	return (connections + n - 1 - k) / n
}

// sweep has all clients carry out a plan whose slots have no times yet. begins is
// called before any load is on, with the time at which the first slot begins that
// counts.
// Faults are those of servers and clients; an error ends the run, and is fleet.Lost
// where a client was lost.
func (g *group) sweep(ctx context.Context, plan httpload.Plan, begins func(time.Time), held func()) (s *sweep,
	faults []fault, err error) {
	e := g.engine
	s = &sweep{g: g, plan: plan, shares: make([]portion, e.plan.clients()), held: held}
	if s.before, err = e.clocks(ctx); err != nil {
		return nil, nil, err
	}
	_, to := g.timed(&s.plan)
	s.share(fleet.Ahead(time.Now))
	if begins != nil {
		begins(e.plan.clock.at(s.plan.Slots[counting(&s.plan)].AtNS))
	}
	s.edges = g.watchEdges(&s.plan)
	defer s.edges.stop()
	limit := time.Duration(to-fleet.Monotonic()) + time.Duration(2*len(plan.Targets))*longestFill + g.loads[0].grace
	from, until := s.plan.Counted()
	if faults, err = s.load(ctx, limit, from, until); err != nil || len(faults) > 0 {
		return s, faults, err
	}
	if s.after, err = e.clocks(ctx); err != nil {
		return nil, nil, err
	}
	return s, s.read(), nil
}

// load starts the clients' loads and waits for their end. The bytes at the clients'
// interfaces are counted between from and until.
func (s *sweep) load(ctx context.Context, limit time.Duration, from, until int64) (faults []fault, err error) {
	defer s.stop()
	all := s.loading()
	err = atOnce(ctx, len(all), func(ctx context.Context, i int) (err error) {
		one := all[i]
		one.running, err = s.g.engine.plan.Clients.Start(ctx, one.number, fleet.Load{Plan: &one.plan,
			LimitNS: int64(limit), FromNS: from + one.aheadNS, ToNS: until + one.aheadNS})
		return err
	})
	if err == nil {
		faults, err = s.wait(ctx, limit+lateness)
	}
	if err == nil {
		var more []fault
		more, err = s.end()
		faults = append(faults, more...)
	}
	if ctx.Err() != nil { // all clients are lost where the host that reaches them is gone
		return nil, context.Cause(ctx)
	}
	if refused, ok := errors.AsType[fleet.Refused](err); ok {
		return nil, fmt.Errorf("client %d cannot load: %w", refused.Client, err)
	}
	return faults, err
}

// clocks measures the clocks of all clients.
func (e *engine) clocks(ctx context.Context) ([]fleet.Clock, error) {
	clocks, err := e.plan.Clients.Clocks(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("the clients' clocks: %w", err)
	case len(clocks) != e.plan.clients():
		return nil, fmt.Errorf("the clocks of %d clients were measured, and there are %d", len(clocks), e.plan.clients())
	}
	for k, c := range clocks {
		e.file.Provenance.Fleet.Clients[k].Clock = c.Method
	}
	return clocks, nil
}

// wait waits until all clients have ended, and releases them once all hold their
// connections. It ends early with the first client that failed, and with any
// server.
func (s *sweep) wait(ctx context.Context, limit time.Duration) (faults []fault, err error) {
	type news struct {
		of    *portion
		ended bool
	}
	heard, over := make(chan news, 2*len(s.shares)), make(chan struct{})
	defer close(over)
	all := s.loading()
	for _, one := range all {
		go func() {
			select {
			case <-one.running.Held():
				heard <- news{one, false}
			case <-one.running.Done():
			case <-over:
				return
			}
			select {
			case <-one.running.Done():
				heard <- news{one, true}
			case <-over:
			}
		}()
	}
	lost := anyEnds(s.g.servers, over)
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for holding, running := 0, len(all); running > 0; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-lost:
			return nil, nil
		case <-timeout.C:
			return []fault{{reason(gate.ClientHung, "%s had not ended %v after its start", s.laggards(),
				limit.Round(time.Second/10)), -1}}, nil
		case n := <-heard:
			if !n.ended {
				if holding++; holding == len(all) {
					s.release()
				}
				continue
			}
			running--
			if _, _, err := n.of.running.Result(); err != nil {
				return nil, nil // end says so
			}
		}
	}
	return nil, nil
}

// release looks at the servers while all connections are open, and lets the
// clients end.
func (s *sweep) release() {
	if s.held != nil {
		s.held()
	}
	for _, one := range s.loading() {
		one.running.Release()
	}
}

// laggards names the clients that have not ended.
func (s *sweep) laggards() string {
	late := slices.DeleteFunc(s.loading(), func(one *portion) bool { return isClosed(one.running.Done()) })
	switch len(late) {
	case 0:
		return "a client"
	case 1:
		return late[0].name()
	}
	return fmt.Sprintf("%s and %d more", late[0].name(), len(late)-1)
}

// stop ends what still runs. It may be called twice.
func (s *sweep) stop() {
	all := s.loading()
	_ = atOnce(context.Background(), len(all), func(_ context.Context, i int) error {
		if r := all[i].running; r != nil && !isClosed(r.Done()) {
			r.Stop(time.Second)
		}
		return nil
	})
}

// end gathers what became of servers and clients. If a server is gone, its clients'
// errors only follow from that; and a client that was lost is named before others.
func (s *sweep) end() (faults []fault, err error) {
	var failed []*portion
	for _, one := range s.loading() {
		if !isClosed(one.running.Done()) {
			continue
		}
		_, _, err := one.running.Result()
		_, lost := errors.AsType[fleet.Lost](err)
		_, refused := errors.AsType[fleet.Refused](err)
		switch {
		case lost || refused:
			return nil, err
		case err != nil:
			failed = append(failed, one)
		}
	}
	s.stop()
	if len(failed) > 0 {
		awaitExit(func() bool { return slices.ContainsFunc(s.g.servers, (*server).gone) })
	}
	if faults, err = died(s.g.servers); err != nil || len(faults) > 0 {
		return faults, err
	}
	for _, one := range failed {
		_, _, err := one.running.Result()
		faults = append(faults, fault{reason(gate.ClientFailed, "%s failed: %v", one.name(), err), -1})
	}
	return faults, nil
}

// read parses what the clients printed.
func (s *sweep) read() (faults []fault) {
	for _, one := range s.loading() {
		printed, seen, _ := one.running.Result()
		r, err := read(one.plan, printed)
		if one.report, one.seen = r.report, seen; err != nil {
			faults = append(faults, fault{reason(gate.ClientFailed, "%s: %v", one.name(), err), -1})
		}
	}
	return faults
}

// merged adds up the clients' reports, with what this host saw of the servers.
func (s *sweep) merged() (round, error) {
	var parts []httpload.Part
	for _, one := range s.loading() {
		parts = append(parts, httpload.Part{Name: one.name(), Report: one.report, Slots: one.slots, Targets: one.targets,
			AheadNS: one.aheadNS})
	}
	slot := s.plan.Slots[counting(&s.plan)].Seconds
	r, err := httpload.Merge(&s.plan, parts, seconds(gate.Apart(slot)))
	if err != nil {
		return round{}, err
	}
	s.edges.fill(r)
	return round{s.plan, r}, nil
}

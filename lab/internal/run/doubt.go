package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
)

// heads checks the servers whose answers the lab knows, so that the bytes that clients
// report of them can be checked.
func (g *group) heads(ctx context.Context) error {
	return atOnce(ctx, len(g.servers), func(ctx context.Context, i int) (err error) {
		if s := g.servers[i]; s.serves.Answers != "" {
			s.head, err = s.check(ctx, "before", g.failer(i))
		}
		return err
	})
}

// doubt closes the gates on what client k, from 0, reported of trial i and what cannot
// be. A client that lies about everything alike, in a closed loop and over an interface
// that is not read, is believed.
func (s *sweep) doubt(k, i int) {
	one, l, record := &s.shares[k], s.g.loads[i], s.g.failer(i)
	own := slices.Index(one.targets, i)
	fail := func(name, format string, args ...any) { record(name, one.name()+": "+format, args...) }
	for _, why := range []string{one.report.Tally(&one.plan, own), one.spent()} {
		if why != "" {
			fail(gate.Misreport, "%s", why)
		}
	}
	if i < len(s.g.servers) && s.g.servers[i].head > 0 {
		t := one.report.Summary.Targets[own]
		c := generator.Counts{OK: float64(t.Requests), Bytes: float64(t.Bytes), Non2xx: float64(t.Non2xx)}
		l.bytes(s.g.servers[i].head, &generator.Result{Counts: c}, fail)
	}
}

// spent says how much more CPU time the generator's host saw it use, from its first slot
// to its last, than it reported; empty if it is not too much.
func (s *portion) spent() string {
	var used, loaded float64
	for _, slot := range s.report.Slots {
		if slot.Failed != "" {
			return "" // it has no CPU time
		}
		used += slot.ClientCPUS * (1 + slot.FillS/slot.Seconds) // while a slot is filled the load is on as well
		loaded += slot.Seconds + slot.FillS
	}
	if told := used / loaded; s.seen.Own > gate.CPUOff*told+gate.CPUSlack {
		return fmt.Sprintf("its host saw it use %.2f of a core, and it told of %.2f", s.seen.Own, told)
	}
	return ""
}

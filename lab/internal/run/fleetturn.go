package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// onFleet has the clients of a fleet go round the group's servers together.
func (g *group) onFleet(ctx context.Context) error {
	if err := g.heads(ctx); err != nil {
		return err
	}
	plan := g.plan(g.loads[0].slot)
	if err := g.watch(lasts(plan)+time.Duration(len(plan.Slots))*fillWire,
		g.pair(func() int { return 0 }, g.servers...)); err != nil {
		return err
	}
	defer g.sampler.Stop()
	var seen []telemetry.Held
	s, faults, err := g.sweep(ctx, plan, nil, func() { seen = g.census() })
	g.sampler.Stop()
	if err != nil {
		return g.without(err)
	}
	done, ok := g.finished(faults, s.merged)
	if !ok {
		return nil
	}
	g.engine.learn(s)
	var w telemetry.Window
	if _, to := done.counted(); to > 0 {
		w = s.window()
	}
	s.parts(done)
	g.judge(done, seen, w)
	for i := range g.trials {
		interrupts(&g.trials[i], w) // of the whole turn, as other figures of the machine
	}
	return g.without(g.profiled(ctx))
}

// without takes the loss of a client for the end of the run: its trials are
// invalid, and this block is the last. Other errors are passed on.
func (g *group) without(err error) error {
	lost, ok := errors.AsType[fleet.Lost](err)
	if !ok {
		return err
	}
	e := g.engine
	e.lost = fmt.Errorf("client %d was lost in mid-run: %s", lost.Client,
		e.plan.scrubbed(cmp.Or(lost.Why, "nothing more is known")))
	g.blame([]fault{{reason(gate.ClientLost, "%v", e.lost), -1}})
	return nil
}

// window has the samples of this host, for the whole time in which the servers
// were loaded, with those of the clients' hosts: the worst of each figure.
func (s *sweep) window() telemetry.Window {
	g, clock := s.g, s.g.engine.plan.clock
	first, last := s.plan.Slots[0], s.plan.Slots[len(s.plan.Slots)-1]
	from, to := clock.at(first.AtNS-httpload.NS(first.FillS)), clock.at(last.AtNS+httpload.NS(last.Seconds))
	w := g.sampler.Between(0, from, to, 0)
	if w.Metrics == nil {
		w.Metrics = map[string]float64{}
	}
	hellos := g.engine.plan.Clients.Hellos()
	serverOn, _ := g.loads[0].split.On()
	served := w.Metrics["server_cpu_s"] / to.Sub(from).Seconds()
	own := func(on []int, host int) (used float64) { // by others of the fleet, of some cores of a host's machine
		if host > 0 && hellos[0].Machine == hellos[host].Machine {
			used += served * within(serverOn, on)
		}
		for _, one := range s.loading() {
			if h := hellos[one.number]; one.number != host && h.Machine == hellos[host].Machine {
				used += one.seen.Own * within(h.CPUs, on)
			}
		}
		return used
	}
	less := func(m map[string]float64, name string, by float64) {
		if v, ok := m[name]; ok {
			m[name] = max(0, v-by)
		}
	}
	less(w.Metrics, "server_foreign_load", own(serverOn, 0))
	for _, one := range s.loading() {
		less(one.seen.Metrics, "client_foreign_load", own(hellos[one.number].CPUs, one.number))
		if one.seen.Stopped && !slices.Contains(w.Stopped, "client") {
			w.Stopped = append(w.Stopped, "client")
		}
		w.Gap = max(w.Gap, seconds(one.seen.GapS))
	}
	for _, name := range []string{"client_steal", "client_foreign_load", "client_rss_bytes", "throttled_s", "swap_pages",
		"clock_step_s"} {
		s.worst(w.Metrics, name)
	}
	most := slices.MaxFunc(s.loading(), func(a, b *portion) int { return cmp.Compare(a.foreign(), b.foreign()) })
	w.Others = append(w.Others, telemetry.Load{Name: gate.Process(most.seen.Others), Core: clientsCore,
		Cores: most.foreign()})
	return w
}

// clientsCore stands for a core of a client's host among those of this one.
const clientsCore = -1

// worst puts a client's figure in place of a smaller one. Where a client that
// loaded has none, there is none: a gate that needs it closes.
func (s *sweep) worst(m map[string]float64, name string) {
	for _, one := range s.loading() {
		v, seen := one.seen.Metrics[name]
		if !seen {
			delete(m, name)
			return
		}
		if before, there := m[name]; !there || v > before {
			m[name] = v
		}
	}
}

// foreign is how much of the client's cores others used.
func (s *portion) foreign() float64 { return s.seen.Metrics["client_foreign_load"] }

// within is the part of some cores that is among others.
func within(of, among []int) float64 {
	both := strict.Those(of, func(c int) bool { return slices.Contains(among, c) })
	return float64(len(both)) / float64(max(len(of), 1))
}

// parts records in each trial what each client did.
func (s *sweep) parts(r round) {
	g := s.g
	for i := range g.trials {
		t := &g.trials[i]
		t.Metrics["server_edge_late_s"] = math.Round(s.edges.late(i)*1e9) / 1e9
		if off, ok := s.endsOff(); ok {
			t.Metrics["wire_ends_off"] = off
		}
		t.Clients = []results.Client{}
		for k := range s.shares {
			c := s.clockOf(k)
			if k < g.loads[i].clients {
				s.part(&c, k, i, r)
				s.doubt(k, i)
			}
			t.Clients = append(t.Clients, c)
		}
	}
}

// clockOf is a client's part with what was measured of its clock.
func (s *sweep) clockOf(k int) results.Client {
	return results.Client{
		OffsetS: fine(s.before[k].OffsetS), MovedS: fine(s.after[k].OffsetS - s.before[k].OffsetS),
		UncertaintyS: fine(max(s.before[k].UncertaintyS, s.after[k].UncertaintyS)),
	}
}

func fine(v float64) float64 { return math.Round(v*1e9) / 1e9 }

// part fills in what client k, from 0, did in trial i.
func (s *sweep) part(c *results.Client, k, i int, r round) {
	one := &s.shares[k]
	hellos := s.g.engine.plan.Clients.Hellos()
	var duration, thread, busy float64
	var link [2]float64 // bytes from the server and to it
	wired := false
	for own, whole := range one.slots {
		sum, mine := &r.report.Slots[whole], &one.report.Slots[own]
		if sum.Target != i || !r.plan.Slots[whole].Counts {
			continue
		}
		c.LateS = max(c.LateS, fine(mine.LateS))
		if sum.Failed != "" {
			continue
		}
		c.Requests += mine.Requests
		duration += sum.Seconds
		thread += mine.BusiestThreadS
		busy += s.onCores(k, whole, sum)
		if sum.Wire != nil && sum.Bytes > 0 && sum.Requests > 0 {
			wired = true
			link[0] += float64(sum.Wire.TxBytes) * float64(mine.Bytes) / float64(sum.Bytes)
			link[1] += float64(sum.Wire.RxBytes) * float64(mine.Requests) / float64(sum.Requests)
		}
	}
	of := one.report.Summary.Targets[slices.Index(one.targets, i)].Figures()
	for to, name := range map[**float64]string{&c.LatencyP50S: "latency_p50_s", &c.LatencyP99S: "latency_p99_s"} {
		if v, known := of[name]; known {
			*to = new(fine(v))
		}
	}
	if duration == 0 {
		return
	}
	c.CoresBusy = new(fine(busy / duration / float64(max(len(hellos[k+1].CPUs), 1))))
	c.ThreadBusyMax = new(fine(thread / duration))
	if rate := hellos[k+1].LineRate; wired && rate > 0 {
		c.LineRateShare = new(fine(8 * max(link[0], link[1]) / duration / rate))
	}
}

// onCores is the CPU time that the fleet used on the cores of client k in a slot:
// the client's own, and what others use of the same cores of the same machine.
func (s *sweep) onCores(k, slot int, sum *httpload.SlotReport) (used float64) {
	hellos := s.g.engine.plan.Clients.Hellos()
	here := hellos[k+1]
	for j := range s.shares {
		other := &s.shares[j]
		own := slices.Index(other.slots, slot)
		if own < 0 || j != k && hellos[j+1].Machine != here.Machine {
			continue
		}
		used += other.report.Slots[own].ClientCPUS * within(hellos[j+1].CPUs, here.CPUs)
	}
	if hellos[0].Machine == here.Machine {
		serverOn, _ := s.g.loads[sum.Target].split.On()
		for _, cpu := range sum.ServerCPUS {
			used += cpu * within(serverOn, here.CPUs)
		}
	}
	return used
}

// endsOff is the share by which the bytes at the server's interface and those at
// the clients' differ, in the busier direction; false where they were not read.
// Over loopback both are one interface.
func (s *sweep) endsOff() (off float64, ok bool) {
	// From the begin of the first slot that counts to the end of the last.
	d := between(&s.edges.at[2*counting(&s.plan)], &s.edges.at[len(s.edges.at)-1])
	if d == nil {
		return 0, false
	}
	tx, rx := d[0], d[2]
	var in, out int64
	hellos := s.g.engine.plan.Clients.Hellos()
	for _, one := range s.loading() {
		if one.seen.RxBytes < 0 || one.seen.TxBytes < 0 || hellos[one.number].Device == "lo" {
			return 0, false
		}
		in, out = in+one.seen.RxBytes, out+one.seen.TxBytes
	}
	a, b := float64(tx), float64(in)
	if rx > tx {
		a, b = float64(rx), float64(out)
	}
	if a == 0 && b == 0 {
		return 0, false
	}
	return math.Round(math.Abs(a-b)/max(a, b)*1e4) / 1e4, true
}

// together closes the gates on clients that did not measure at the same time. It
// gives the slots of which something else is to be said, and the gates of which
// nothing more is.
func (g *group) together(t *results.Trial, slots []httpload.SlotReport, fail failer) ([]httpload.SlotReport,
	map[string]bool) {
	for k, c := range t.Clients {
		if !c.Loads() {
			continue
		}
		for _, f := range gate.JudgeClock(c.Clock()) {
			fail(f.Gate, "client %d: %s", k+1, f.Detail)
		}
		if c.LateS > gate.ClientLate.Seconds() {
			fail(gate.ClientsApart, "client %d came %.3g s late to a slot", k+1, c.LateS)
		}
	}
	// A slot that a late client missed failed for no fault of the server.
	late := func(s httpload.SlotReport) bool { return s.Failed != "" && s.LateS > gate.ApartSlack.Seconds() }
	missed := strict.Those(slots, late)
	if len(missed) == 0 {
		return slots, nil
	}
	fail(gate.ClientsApart, "%d of %d slots were missed, the first: %s", len(missed), len(slots), missed[0].Failed)
	return slices.DeleteFunc(slices.Clone(slots), late), map[string]bool{gate.NoRequests: true}
}

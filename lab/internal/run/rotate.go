package run

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/topology"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// rotate has one client go round the group's servers in slots.
func (g *group) rotate(ctx context.Context) error {
	plan := g.plan(g.loads[0].slot)
	var pid atomic.Int64
	began := time.Now()
	if err := g.watch(lasts(plan), g.pair(func() int { return int(pid.Load()) }, g.servers...)); err != nil {
		return err
	}
	defer g.sampler.Stop()
	var seen []proc.Held
	c := g.rotating(plan)
	c.began = func(p int) { pid.Store(int64(p)) }
	c.held = func() { seen = g.census() }
	printed, faults, err := c.drive(ctx, g.servers)
	g.sampler.Stop()
	if err != nil {
		return err
	}
	done, ok := g.finished(faults, plan, printed)
	if !ok {
		return nil
	}
	var w telemetry.Window
	if _, to := done.counted(); to > 0 { // else no slot counted, and a disturbance of the machine changed nothing
		// The whole time that the servers were up together, which is long enough for
		// samples however short the slots are.
		w = g.sampler.Between(0, began, time.Now(), 0)
	}
	g.judge(done, seen, w)
	if err := g.profiled(ctx); err != nil {
		return err
	}
	return g.gauged(ctx)
}

// finished reads a round. It reports false where there were faults or what the client said
// cannot be read; the trials have the reason then.
func (g *group) finished(faults []fault, plan httpload.Plan, printed []byte) (round, bool) {
	if g.blame(faults); len(faults) > 0 {
		return round{}, false
	}
	done, err := read(plan, printed)
	if err != nil {
		g.blame([]fault{{reason(gate.ClientFailed, "%v", err), -1}})
	}
	return done, err == nil
}

// plan is the client's plan: a warm-up of each server, then the counted slots
// of the given length.
func (g *group) plan(slot time.Duration) httpload.Plan {
	p := httpload.Plan{Threads: g.loads[0].threads, TimeoutS: longestFill.Seconds(), Seed: g.engine.plan.Seed}
	for i, l := range g.loads {
		processes := l.pids
		if l.outside == nil {
			processes = g.servers[i].processes()
		}
		p.Targets = append(p.Targets, l.target(processes))
	}
	for _, i := range experiment.Members(g.sequence) {
		if warmup := g.loads[i].warmup; warmup > 0 {
			p.Slots = append(p.Slots, httpload.Slot{Target: i, Seconds: warmup.Seconds()})
		}
	}
	for _, i := range g.sequence {
		p.Slots = append(p.Slots, httpload.Slot{Target: i, Seconds: slot.Seconds(), Counts: true})
	}
	if link := g.loads[0].link; link.NetPID > 0 {
		p.Wire = &httpload.Wire{ServerPID: link.NetPID, ServerDevice: link.NetDevice, ClientDevice: link.PeerDevice}
	}
	return p
}

// lasts is about how long a plan takes.
func lasts(p httpload.Plan) time.Duration {
	total := time.Duration(0)
	for _, s := range p.Slots {
		total += seconds(s.Seconds)
	}
	return total
}

// longestFill is the longest that a slot may wait for the first answers before
// it counts, and again for the answers in flight at its end. If the server does
// not answer by then, the client gives it up and skips its later slots.
const longestFill = 2 * time.Second

// rotating is the lab's own generator with a plan.
func (g *group) rotating(p httpload.Plan) client {
	l := g.loads[0]
	var input bytes.Buffer
	if err := p.Write(&input); err != nil {
		panic(err) // a struct of plain fields always encodes
	}
	argv := l.onCores([]string{scriptPath("trial.sh"), "--generator", l.generator, "--plan", "-"})
	if l.alone {
		argv = OnCPUs(l.lab, l.split.Client, slices.Concat(l.lab, loadCall)...)
	}
	return client{dir: l.dir, link: l.link, argv: argv, input: input.Bytes(),
		limit: lasts(p) + time.Duration(len(p.Slots))*longestFill/4 + time.Duration(2*len(p.Targets))*longestFill + l.grace}
}

// CarryOut has a program that knows Called carry out a plan, on some cores or wherever it is
// put, with servers that no run has started. It calls held, if there is one, once all is
// answered and before the connections are closed.
func CarryOut(ctx context.Context, lab []string, cpus []int, p httpload.Plan, held func()) (*httpload.Report, error) {
	g := group{loads: []load{{lab: lab, alone: true, generator: setting.HTTPLoad, link: &topology.Link{}, grace: grace,
		split: cores.Split{Client: cpus}}}}
	c := g.rotating(p)
	c.held = held
	printed, faults, err := c.drive(ctx, nil)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, errors.New(faults[0].Detail)
	}
	r, err := read(p, printed)
	return r.report, err
}

// census looks at the servers while the client still holds its connections.
func (g *group) census() []proc.Held {
	var all []proc.Listening
	for i, s := range g.servers {
		all = append(all, proc.Listening{PIDs: s.processes(), Port: g.loads[i].port})
	}
	return proc.Census(all...)
}

// judge fills in the trials from what the client reported, from what was seen
// of the servers meanwhile, and from the samples, and closes the gates.
func (g *group) judge(r round, seen []proc.Held, w telemetry.Window) {
	clock := g.engine.plan.clock
	for i := range g.trials {
		t, l, fail := &g.trials[i], g.loads[i], g.failer(i)
		slots := r.of(i)
		came := slices.DeleteFunc(slices.Clone(slots), func(s httpload.SlotReport) bool { return s.Failed != "" })
		t.Slots = l.columns(came)
		l.figures(t, came, r.report.Summary.Targets[i])
		if i < len(seen) {
			attended(t, seen[i], came)
		}
		if l.unread() {
			l.clientsOwn(t)
		}
		pick(t.Metrics, w.Metrics, machine...)
		g.engine.file.Follow(t)
		if len(came) > 0 {
			t.StartedAt = clock.at(came[0].AtNS).UTC()
		} else {
			t.Slots = nil
		}
		stopped(w, fail)
		varies := l.outside != nil || i < len(g.servers) && probe.Varies(g.servers[i].given)
		t.ByRequest = r.report.Summary.Targets[i].ByRequest
		complain(r.report.Summary.Targets[i], slots, t.Metrics, varies, fail)
		l.shut(t.Metrics, nil, fail)
	}
}

// A round is a plan that was carried out, and the client's report of it.
type round struct {
	plan   httpload.Plan
	report *httpload.Report
}

// read parses what the client printed of a plan.
func read(plan httpload.Plan, printed []byte) (round, error) {
	r, err := httpload.ReadReport(bytes.NewReader(printed))
	if err == nil {
		err = r.Fits(&plan)
	}
	return round{plan, r}, err
}

// of gives a target's counted slots.
func (r round) of(target int) []httpload.SlotReport {
	return slices.DeleteFunc(slices.Clone(r.report.Slots), func(s httpload.SlotReport) bool {
		return s.Target != target || !r.plan.Slots[s.Slot].Counts
	})
}

// counted is when the first counted slot began and the last ended, by the
// monotonic clock in ns.
func (r round) counted() (from, to int64) {
	for _, s := range r.report.Slots {
		if !r.plan.Slots[s.Slot].Counts || s.Failed != "" {
			continue
		}
		if from == 0 {
			from = s.AtNS
		}
		to = s.AtNS + int64(s.Seconds*1e9)
	}
	return from, to
}

// columns converts a trial's slots to those of a results file.
func (l load) columns(slots []httpload.SlotReport) *measure.Slots {
	s := &measure.Slots{}
	for _, one := range slots {
		cpu := 0.0
		for _, v := range one.ServerCPUS {
			cpu += v
		}
		s.AtS, s.DurationS, s.FillS = append(s.AtS, l.clock.since(one.AtNS)), append(s.DurationS, one.Seconds),
			append(s.FillS, one.FillS)
		s.Requests = append(s.Requests, one.Requests)
		s.ServerCPUS, s.ClientCPUS, s.IdleCPUS = append(s.ServerCPUS, cpu), append(s.ClientCPUS, one.ClientCPUS),
			append(s.IdleCPUS, one.IdleCPUS)
		if one.Wire != nil {
			s.TxBytes, s.RxBytes = append(s.TxBytes, one.Wire.TxBytes), append(s.RxBytes, one.Wire.RxBytes)
		}
	}
	s.Round()
	return s
}

// figures adds the metrics that the client measured and that do not follow from the
// trial's slots as the file has them.
func (l load) figures(t *results.Trial, slots []httpload.SlotReport, s httpload.TargetSummary) {
	m := t.Metrics
	if n := len(l.split.Shared); n > 0 { // of which the file does not say how many there are
		maps.Copy(m, t.Slots.Metrics(measure.Setup{ServerCores: n, ClientCores: n}))
	}
	var duration, requests, read, busiest, silence float64
	var packets [2]float64
	var workers []float64 // CPU seconds of each worker
	for _, one := range slots {
		duration, requests, read = duration+one.Seconds, requests+float64(one.Requests), read+float64(one.Bytes)
		busiest += one.BusiestThreadS
		silence = max(silence, one.SilenceS)
		if one.Wire != nil {
			packets[0] += float64(one.Wire.TxPackets)
			packets[1] += float64(one.Wire.RxPackets)
			m["wire_drops"] += float64(one.Wire.Drops)
		}
		own := one.ServerCPUS[min(1, len(one.ServerCPUS)):] // without the master
		workers = append(workers, make([]float64, max(0, len(own)-len(workers)))...)
		for i, cpu := range own {
			workers[i] += cpu
		}
	}
	if duration > 0 {
		m["client_thread_busy_max"] = busiest / duration
		if l.lineRate > 0 {
			m["wire_tx_packets_per_s"], m["wire_rx_packets_per_s"] = packets[0]/duration, packets[1]/duration
		}
	}
	if requests > 0 {
		m["response_bytes"] = read / requests
	}
	m["silence_s"] = silence
	if len(workers) > 0 && l.workers > 0 && duration > 0 {
		mean, active := telemetry.TookPart(workers)
		m["server_workers_busy"], m["workers_active"] = mean/duration, float64(active)
	}
	m["errors"], m["timeouts"] = float64(s.Errors+s.Timeouts), float64(s.Timeouts)
	m["resets"], m["non_2xx"] = float64(s.Resets), float64(s.Non2xx)
	m["answers_compared"] = float64(s.Compared)
	maps.Copy(m, s.Figures())
	if s.SendLag != nil {
		m["send_lag_p99_s"] = s.SendLag.P99
	}
}

// clientsOwn takes from a trial's slots what its client counted. The servers' CPU
// clocks were not read, so slots of the trial would have figures that are none.
func (l load) clientsOwn(t *results.Trial) {
	m := t.Slots.Metrics(measure.Setup{ClientCores: len(l.split.Client)})
	pick(t.Metrics, m, "requests", "duration_s", "throughput_rps", "client_cores_busy")
	t.Slots = nil
	delete(t.Metrics, "silence_s") // the network between may pause as well
}

// attended adds what was seen of the server's processes while the client held
// its connections.
func attended(t *results.Trial, h proc.Held, slots []httpload.SlotReport) {
	m := t.Metrics
	if len(h.Processes) == 0 {
		return
	}
	m["processes"], m["server_rss_bytes"] = float64(len(h.Processes)), float64(h.RSS)
	m["workers"] = float64(len(h.Processes) - 1)
	if n := len(h.Processes) - 1; n > 0 {
		threads := 0
		for _, p := range h.Processes[1:] {
			threads += p.Threads
		}
		m["threads_per_worker"] = float64(threads) / float64(n)
		m["connections_per_worker"] = float64(h.Connections) / float64(n)
	}
	connected(m, h)
	if planned := slots; len(planned) > 0 && len(planned[0].ServerCPUS) != len(h.Processes) {
		t.Reasons = append(t.Reasons, reason(gate.LostWorker, "the server had %d processes at first and %d at last",
			len(planned[0].ServerCPUS), len(h.Processes)))
	}
}

// connected adds the connections that the server's processes held.
func connected(m map[string]float64, h proc.Held) {
	m["connections_established"] = float64(h.Connections)
	if len(h.Processes) > 1 {
		serving := strict.Those(h.Processes[1:], func(p proc.HeldBy) bool { return p.Connections > 0 })
		m["workers_serving"] = float64(len(serving))
	}
}

// complain closes the gates on the client's findings, with the words of its
// first finding. Bodies that vary, of a server whose right answers nobody knows,
// cannot be compared with anything.
func complain(s httpload.TargetSummary, slots []httpload.SlotReport, m map[string]float64, varies bool, fail failer) {
	if s.Mismatches > 0 {
		fail(gate.Mismatches, "%d answers were not as expected, the first: %s", s.Mismatches, s.Mismatch)
	}
	for _, one := range slots {
		switch {
		case one.Failed != "":
			fail(gate.NoRequests, "a slot of %.4g s gave nothing: %s", one.Seconds, one.Failed)
			return
		case len(one.Unread) > 0:
			fail(gate.LostWorker, "%d processes of the servers had ended, or their CPU clocks could not be read",
				len(one.Unread))
			return
		}
	}
	if m["requests"] > 0 && s.Compared == 0 && !varies {
		fail(gate.NoTelemetry, "the load generator compared none of its answers")
	}
}

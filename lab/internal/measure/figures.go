package measure

import (
	"maps"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// figures fills in a trial's slots and metrics.
func (b *block) figures(i int, w machine.Window) {
	t, s := &b.trials[i], b.summary.Targets[i]
	t.Reopened, t.Tally = s.Reopened, TallyOf(s)
	m := t.Metrics
	maps.Copy(m, w.Machine)
	maps.Copy(m, s.Figures())
	maps.Copy(m, map[string]float64{"requests": 0, "errors": float64(s.Errors + s.Timeouts), "timeouts": float64(s.Timeouts),
		"resets": float64(s.Resets), "non_2xx": float64(s.Non2xx), "answers_compared": float64(s.Compared)})
	if s.SendLag != nil {
		m["send_lag_p99_s"] = s.SendLag.P99
	}
	attended(m, b.held[i])
	turns := slices.Clone(b.turns[i])
	if b.last.seen {
		t.Strangers = strangers(turns)
		m[gate.Strangers] = max(0, t.Strangers) // below 0 by a tick at times
	}
	if turns = slices.DeleteFunc(turns, func(t turn) bool { return t.Failed != "" }); len(turns) == 0 {
		return
	}
	t.StartedAt = b.Clock.At(turns[0].AtNS).UTC()
	for _, one := range turns {
		t.Slots = append(t.Slots, b.slot(one))
	}
	maps.Copy(m, slots.Metrics(t.Slots, slots.Setup{ServerCores: len(b.ServerCPUs), ClientCores: len(b.ClientCPUs),
		LineRateBps: b.LineRateBps}))
	if !b.Subjects[i].CPU().Known {
		for _, name := range []string{"server_cpu_s", "server_cpu_per_request_s", "server_cores_busy", "idle_servers_busy"} {
			delete(m, name)
		}
	}
	b.sums(i, turns)
}

// strangers is what other processes ran on the servers' cores in some turns, in cores. What the kernel does for the
// packets of a wire is on nobody's clock, and follows the load: so it is no more than the clocks of others show.
func strangers(turns []turn) float64 {
	var rest, others, took time.Duration
	for _, one := range turns {
		rest, others, took = rest+one.rest, others+one.others, took+one.took
	}
	if took == 0 {
		return 0
	}
	return min(rest, others).Seconds() / took.Seconds()
}

// slot is a turn as a trial keeps it.
func (b *block) slot(t turn) slots.Slot {
	part := t.part()
	s := slots.Slot{AtS: b.Clock.Since(t.AtNS), DurationS: t.Seconds, FillS: t.FillS, Requests: t.Requests,
		ServerCPUS: t.cpu().Seconds() * part, ClientCPUS: t.ClientCPUS, IdleCPUS: t.idle.Seconds() * part}
	if b.LineRateBps > 0 {
		s.TxBytes, s.RxBytes = int64(float64(t.wire.TxBytes)*part), int64(float64(t.wire.RxBytes)*part)
	}
	return s.Rounded()
}

// sums adds the metrics that a trial's slots do not keep.
func (b *block) sums(i int, turns []turn) {
	t := &b.trials[i]
	m, elsewhere := t.Metrics, map[string]float64{}
	var bytes, busiest, silence, tx, rx, drops float64
	var workers []float64 // CPU seconds of each process but the first
	for _, one := range turns {
		part := one.part()
		bytes, busiest, silence = bytes+float64(one.Bytes), busiest+one.BusiestThreadS, max(silence, one.SilenceS)
		tx, rx = tx+float64(one.wire.TxPackets)*part, rx+float64(one.wire.RxPackets)*part
		drops += float64(one.wire.Drops)
		for name, v := range one.Elsewhere {
			elsewhere[name] += v / float64(len(turns))
		}
		for _, note := range one.Notes {
			if !slices.Contains(t.Notes, note) {
				t.Notes = append(t.Notes, note)
			}
		}
		if len(one.server) > 1 {
			own := one.server[1:]
			workers = append(workers, make([]float64, max(0, len(own)-len(workers)))...)
			for n, cpu := range own {
				workers[n] += cpu.Seconds() * part
			}
		}
	}
	duration := m["duration_s"]
	m["client_thread_busy_max"], m["silence_s"] = busiest/duration, silence
	maps.Copy(m, elsewhere)
	if b.LineRateBps > 0 {
		m["wire_tx_packets_per_s"], m["wire_rx_packets_per_s"], m["wire_drops"] = tx/duration, rx/duration, drops
	}
	if m["requests"] > 0 {
		m["response_bytes"] = bytes / m["requests"]
	}
	if len(workers) > 0 && b.Asked[i].Workers > 0 {
		mean, active := machine.TookPart(workers)
		m["server_workers_busy"], m["workers_active"] = mean/duration, float64(active)
	}
}

// part is the share of a turn's answers that came in its counted time, and so of what the turn used.
func (t turn) part() float64 {
	if t.Turn.Requests == 0 {
		return 0
	}
	return float64(t.Requests) / float64(t.Turn.Requests)
}

// cpu is the CPU time of the server's processes.
func (t turn) cpu() (all time.Duration) {
	for _, one := range t.server {
		all += one
	}
	return all
}

// attended adds what the lab saw of the server's processes while the client held its connections.
func attended(m map[string]float64, h proc.Held) {
	if len(h.Processes) == 0 {
		return
	}
	workers := h.Processes[1:]
	n := float64(len(workers))
	m["server_rss_bytes"] = float64(h.RSS)
	if _, counted := m["connections_established"]; !counted { // by the client, which may know of a second port
		m["connections_established"] = float64(h.Connections)
	}
	if m["processes"], m["workers"] = n+1, n; n == 0 {
		return
	}
	threads := 0
	for _, p := range workers {
		threads += p.Threads
	}
	m["threads_per_worker"], m["connections_per_worker"] = float64(threads)/n, float64(h.Connections)/n
	m["workers_serving"] = float64(strict.Count(workers, func(p proc.HeldBy) bool { return p.Connections > 0 }))
}

// faults looks for what refuses a trial.
func (b *block) faults(i int, w machine.Window) {
	if s := b.summary.Targets[i]; s.Mismatches > 0 {
		b.fault(i, gate.WrongAnswer, "%d answers were not as expected, the first: %s", s.Mismatches, s.Mismatch)
	}
	for _, one := range b.turns[i] {
		if one.Failed != "" {
			b.fault(i, gate.NoRequests, "a slot of %v gave nothing: %s", b.Slot, one.Failed)
			break
		}
	}
	b.rules(i, w)
}

// rules holds a trial's figures against the rules of faults. What a server of which only its address is
// known does not show is no fault.
func (b *block) rules(i int, w machine.Window) {
	for _, side := range w.Stopped {
		b.fault(i, gate.HeldBack, "a signal stopped the %s for a while", side)
	}
	for _, f := range gate.Judge(b.trials[i].Metrics, b.Asked[i]) {
		if f.Gate == gate.NoTelemetry && !b.Subjects[i].CPU().Known {
			continue
		}
		if b.summary != nil && (f.Gate == gate.Errors || f.Gate == gate.WrongAnswer) {
			f.Detail += ", the first: " + b.summary.Targets[i].Fault
		}
		b.fault(i, f.Gate, "%s", f.Detail)
	}
}

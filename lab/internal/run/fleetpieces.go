package run

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// nodeStarts is how much earlier than http_load autocannon has to be started.
const nodeStarts = 1500 * time.Millisecond

// missedStart ends what autocannon.mjs says if it was not ready at its time.
const missedStart = " s late"

// pieceOnFleet measures one condition in one piece, with a generator that takes no
// turns: autocannon on each client, begun at one time, whose results autocannon
// itself adds up. Answers are compared from the server's host. Connections that the
// server ended and autocannon opened anew are not seen on other hosts.
func (g *group) pieceOnFleet(ctx context.Context) error {
	l := g.loads[0]
	answers, err := l.compare()
	if err != nil {
		return err
	}
	defer answers.stop()
	if g.servers, err = startServers(ctx, g.loads); err != nil {
		return err
	}
	defer stopServers(g.servers)
	counters := watchCounters(l.link.NetDevice)
	defer counters.stop()
	l.link.Counters = counters.readings
	defer func() { l.link.Counters = nil }()
	if err := g.watch(l.slot, g.pair(func() int { return 0 }, g.servers...)); err != nil {
		return err
	}
	defer g.sampler.Stop()
	if err := answers.begin(ctx, g.failer(0)); err != nil {
		return err
	}
	if len(g.trials[0].Reasons) > 0 {
		g.goneBefore()
		return nil // a wrong answer's throughput is no result
	}
	s, faults, err := g.volley(ctx)
	g.sampler.Stop()
	answers.stop()
	if err != nil {
		return g.without(err)
	}
	for i := range faults {
		if strings.HasSuffix(faults[i].Detail, missedStart) {
			faults[i].Gate = gate.ClientsApart
			g.engine.lead = min(2*g.engine.lead, leadLongest)
		}
	}
	if g.blame(faults); len(faults) > 0 {
		return nil
	}
	return s.judgePiece(ctx, answers)
}

// volley has autocannon begin on all clients at one time, each with its share.
func (g *group) volley(ctx context.Context) (s *sweep, faults []fault, err error) {
	e, l := g.engine, g.loads[0]
	s = &sweep{g: g, shares: make([]portion, e.plan.clients())}
	if s.before, err = e.clocks(ctx); err != nil {
		return nil, nil, err
	}
	at := fleet.Monotonic() + int64(e.lead+nodeStarts)
	hellos := e.plan.Clients.Hellos()
	wall := fleet.Ahead(time.Now)
	for k := range s.shares {
		one := portion{number: k + 1, aheadNS: int64(s.before[k].OffsetS * 1e9)}
		if k < l.clients {
			one.argv = append(l.dealt(k), "--raw", "--at", strconv.FormatFloat(float64(at+wall+one.aheadNS)/1e9, 'f', 3, 64),
				"--cpus", cores.Format(hellos[k+1].CPUs))
		}
		s.shares[k] = one
	}
	limit := e.lead + nodeStarts + l.warmup + time.Duration(l.rounds)*l.slot + l.grace
	if faults, err = s.load(ctx, limit, func(one *portion) fleet.Load {
		return fleet.Load{Argv: one.argv,
			LimitNS: int64(limit)}
	}); err != nil || len(faults) > 0 {
		return s, faults, err
	}
	s.after, err = e.clocks(ctx)
	return s, nil, err
}

// dealt is the command line of client k, from 0, with its share of connections and
// rate.
func (l load) dealt(k int) []string {
	argv := slices.Clone(l.client)
	for i := range argv[:len(argv)-1] {
		switch argv[i] {
		case "--connections":
			argv[i+1] = strconv.Itoa(dealt(l.connections, l.clients, k))
		case "--rate":
			argv[i+1] = number(math.Round(l.rate/float64(l.clients)*1e3) / 1e3)
		}
	}
	return argv
}

// judgePiece fills in the trial from the sum of what the clients printed.
func (s *sweep) judgePiece(ctx context.Context, answers *comparison) error {
	g, l, t, fail := s.g, s.g.loads[0], &s.g.trials[0], s.g.failer(0)
	var raws []generator.RawTrial
	for k := range s.shares {
		if one := &s.shares[k]; one.loads() {
			printed, seen, _ := one.running.Result()
			one.seen = seen
			raws = append(raws, generator.RawTrial{Name: one.name(), Printed: printed, AheadNS: one.aheadNS})
		}
	}
	sum := func(raws ...generator.RawTrial) (*generator.Result, error) {
		text, err := generator.AggregateAutocannon(ctx, l.dir, raws)
		if err != nil {
			return nil, err
		}
		return generator.ParseAutocannon(text)
	}
	r, err := sum(raws...)
	var own []*generator.Result // of each client that loads
	for k := 0; k < len(raws) && err == nil; k++ {
		var mine *generator.Result
		if mine, err = sum(raws[k]); err != nil {
			err = fmt.Errorf("%s: its results cannot be told from the others': %w", raws[k].Name, err)
		}
		own = append(own, mine)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		fail(gate.ClientFailed, "%v", err)
		return nil
	}
	apart := r.Together(own).Seconds()
	r.Asked(l.rate)
	w := s.withClients(g.sampler.Between(0, r.Start, r.Finish, r.Metrics["throughput_rps"], l.lineRate), r.Start, r.Finish)
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	if len(r.Below) > 0 {
		t.Below = r.Below
	}
	if len(r.Resolution) > 0 {
		t.Resolution = r.Resolution
	}
	take(t, w)
	used, all := 0.0, r.Metrics["requests"]
	hellos := g.engine.plan.Clients.Hellos()
	for k := range s.shares {
		one := &s.shares[k]
		c := s.clockOf(k)
		if one.loads() {
			used += one.seen.Own
			s.ownPiece(&c, one, own[k], all, t.Metrics, hellos[k+1].LineRate)
		}
		t.Clients = append(t.Clients, c)
	}
	if rps := t.Metrics["throughput_rps"]; rps > 0 {
		t.Metrics["client_cpu_per_request_s"] = used / rps
	}
	l.cutMean(r, t.Metrics)
	g.engine.file.Follow(t)
	g.together(t, nil, fail)
	if most := gate.Apart(l.slot.Seconds()); apart > most {
		fail(gate.ClientsApart, "the clients began or ended up to %.3g s apart, more than %.3g s", apart, most)
	}
	l.gates(r, w, t.Metrics, fail)
	answers.judge(l, r, fail)
	return nil
}

// ownPiece fills in what one client did of a piece. Its link has its share of what
// passed the server's interface.
func (s *sweep) ownPiece(c *results.Client, one *portion, r *generator.Result, all float64, m map[string]float64,
	rate float64) {
	c.Requests = int64(r.Metrics["requests"])
	for to, name := range map[**float64]string{&c.CoresBusy: "client_cores_busy",
		&c.ThreadBusyMax: "client_thread_busy_max"} {
		if v, ok := one.seen.Metrics[name]; ok {
			v = fine(v)
			*to = &v
		}
	}
	for to, name := range map[**float64]string{&c.LatencyP50S: "latency_p50_s", &c.LatencyP99S: "latency_p99_s"} {
		if v, ok := r.Metrics[name]; ok {
			*to = &v
		}
	}
	tx, wired := m["wire_tx_bps"]
	if wired && rate > 0 && all > 0 {
		share := fine(max(tx, m["wire_rx_bps"]) * float64(c.Requests) / all / rate)
		c.LineRateShare = &share
	}
}

// interfaceCounters reads an interface's counters through a piece, as those of a
// wire's two shapers are read.
type interfaceCounters struct {
	device string
	over   chan struct{}
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	tx, rx []shaper.Reading
}

// countersEvery gives even a window of a second a few readings.
const countersEvery = 200 * time.Millisecond

func watchCounters(device string) *interfaceCounters {
	c := &interfaceCounters{device: device, over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		if device == "" || device == "lo" {
			return
		}
		for {
			at := time.Now()
			tx, okTx := c.read("tx")
			rx, okRx := c.read("rx")
			if !okTx || !okRx {
				return
			}
			tx.At, rx.At = at, at
			c.mu.Lock()
			c.tx, c.rx = append(c.tx, tx), append(c.rx, rx)
			c.mu.Unlock()
			select {
			case <-time.After(countersEvery):
			case <-c.over:
				return
			}
		}
	}()
	return c
}

func (c *interfaceCounters) read(way string) (r shaper.Reading, ok bool) {
	for name, to := range map[string]*uint64{"bytes": &r.Bytes, "packets": &r.Packets} {
		text, err := os.ReadFile(filepath.Join("/sys/class/net", c.device, "statistics", way+"_"+name))
		if err != nil {
			return r, false
		}
		if *to, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err != nil {
			return r, false
		}
	}
	return r, true
}

func (c *interfaceCounters) readings() (server, client []shaper.Reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tx), slices.Clone(c.rx)
}

func (c *interfaceCounters) stop() {
	c.once.Do(func() { close(c.over) })
	<-c.done
}

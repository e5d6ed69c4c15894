package contest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/stream"
)

// Streams of events are measured in windows of their own: in each block every server starts alone, in
// an order drawn from the seed, and its streams are read for one window. The run has the file that one
// of requests has, with an event in place of a request, and Assess judges both alike.
//
// Limits: a warm-up is a fixed time, and nobody looks whether a server is steady after it, or whether
// its core was as fast as before.
const (
	StreamWarmUp = 500 * time.Millisecond // unless another is given
	leastRate    = 20                     // of publishing, so that each window has several
	rest         = 250 * time.Millisecond // before an edge of the window, in which events under way arrive
	watchCall    = "watch-streams"        // carries out the watch on its input
)

// The figures of a trial that only streams have.
const (
	eventsLost  = "events_lost"  // by ids; NaN where not all events have one
	eventsAsked = "events_asked" // of a stream: publishings, or seconds where there are none
	firstEvent  = "first_event_"
)

// checkStream refuses what has no meaning for streams.
func (o Options) checkStream() error {
	published := len(o.Requests) > 0
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--pipelining", o.Pipelining > 1}, {"--rates", len(o.Rates) > 0}, {"--p99", o.P99 > 0}, {"--why", o.Why},
		{"--line-rate", o.LineRate > 0}, {"--no-keepalive", o.Close}, {"--allow-different-answers", o.Different},
		{"--http2", o.Way.HTTP2}, {"TLS", o.Way.TLS}, {"--expect", published && o.Requests[0].Check != nil}} {
		if flag.given {
			return fmt.Errorf("--stream reads events over HTTP/1.1 in plain text, and there is no %s for that; leave it out",
				flag.name)
		}
	}
	if published && o.Rate < leastRate || !published && o.Rate > 0 {
		return fmt.Errorf("--publish 'POST /PATH' goes with --rate N, how often a second it is asked, from %d on; give both "+
			"or neither", leastRate)
	}
	return nil
}

// window is how long a server's events count in a block.
func (o Options) window() time.Duration {
	const step = 10 * time.Millisecond
	return step * time.Duration(rounds(step, o.Budget, len(o.Servers)))
}

// LookAtStreams reads the streams of each server once, and refuses what cannot be compared.
func (b Bench) LookAtStreams(ctx context.Context, on cores.Split) (looks []Look, err error) {
	for i, s := range b.Servers {
		began := time.Now()
		t, err := b.streamed(ctx, i, b.Port+i, on)
		if err != nil {
			return nil, err
		}
		for _, r := range t.Reasons {
			if r.Gate == gate.WrongAnswer {
				return nil, fmt.Errorf("%s: %s", s.Name, r.Detail)
			}
		}
		// All turns of a block come one after the other.
		looks = append(looks, Look{Start: time.Duration(len(b.Servers)+1) * (time.Since(began) - b.window())})
	}
	return looks, nil
}

// Streams measures blocks until the answer is known, or the time that is left is spent. x is the design.
func (b Bench) Streams(ctx context.Context, x *experiment.Experiment, on cores.Split, left time.Duration, w run.Watcher,
	assess func(*results.File) *compare.Outcome) (*results.File, error) {
	f := &results.File{Topology: results.Topology{Kind: x.Topology.Kind}, Settings: x.Fixed(),
		Provenance: &results.Provenance{StartedAt: time.Now(), Commit: host.UnknownCommit, Seed: b.Seed,
			Generator: setting.HTTPLoad, ServerCPUs: cores.Format(on.Server), ClientCPUs: cores.Format(on.Client),
			Block: &results.BlockPlan{SlotS: x.Block.SlotS, Rounds: x.Block.Rounds, WarmupS: b.Warmup.Seconds()}}}
	var members, servers []int
	for i := range len(b.Servers) + 1 {
		c, server := results.Condition{ID: fmt.Sprintf("c%d", i+1)}, i
		if i == len(b.Servers) {
			server = experiment.DrawControl(i, b.Seed)
			c.ControlOf = f.Conditions[server].ID
		}
		c.Levels = setting.Levels{setting.Server: setting.String(serverID(server))}
		f.Conditions, members, servers = append(f.Conditions, c), append(members, i), append(servers, server)
	}
	w.Begin(x, 0, left)
	began, p := time.Now(), f.Provenance
	for p.Ended == "" {
		p.Blocks++
		w.Turn(p.Blocks, 1, 1)
		for place, i := range experiment.DrawBlock([][]int{members}, 1, b.Seed, p.Blocks)[0] {
			t, err := b.streamed(ctx, servers[i], b.Port+place, on)
			if err != nil {
				return nil, err
			}
			t.Condition, t.Block, t.Seq = f.Conditions[i].ID, p.Blocks, len(f.Trials)+1
			f.Trials = append(f.Trials, t)
		}
		w.Block(f, f.Trials[len(f.Trials)-len(members):])
		out, took := assess(f), time.Since(began)
		unlike := slices.ContainsFunc(out.Comparisons, func(c compare.Comparison) bool { return c.Unlike })
		if out.Settled() || unlike && p.Blocks > stats.MinSamples {
			p.Ended = results.Decided
		} else if took+took/time.Duration(p.Blocks) > left {
			p.Ended = results.Budget
		}
	}
	return f, nil
}

// streamed starts a server, has its streams read for a window, and judges what came.
func (b Bench) streamed(ctx context.Context, i, port int, on cores.Split) (t results.Trial, err error) {
	s, err := b.startAt(i, port)
	if err != nil {
		return t, err
	}
	defer s.stop()
	if err = s.ready(ctx, b.Ready); err != nil {
		return t, err
	}
	w := watch{Processes: s.pids(), Seconds: b.window().Seconds(), Streams: stream.Plan{Paths: []string{b.Path},
		Addresses: []string{strings.TrimPrefix(s.addr, "unix:")}, Connections: b.Connections, Threads: max(1, len(b.CPUs)),
		WarmUp: b.Warmup, Window: b.window()}}
	if len(b.Requests) > 0 {
		p := b.target(s.Server, s.addr)
		p.Connections = min(max(b.Rate/50, 1), 16)
		w.Publish, w.Streams.WarmUp, w.Streams.Window = &p, b.Warmup+rest, b.window()+rest
	}
	var pid atomic.Int64
	server, client := on.On()
	began := time.Now()
	sampler, err := telemetry.Start(telemetry.Targets{ServerCPUs: server, ClientCPUs: client, Window: b.window(),
		Pairs: []telemetry.Pair{{Servers: w.Processes, Client: func() int { return int(pid.Load()) }}}})
	if err != nil {
		return t, err
	}
	came, err := w.by(ctx, b.Client, b.Dir, &pid)
	sampler.Stop()
	if err == nil && s.proc == nil {
		err = s.lost()
	} else if err != nil || s.gone() {
		err = s.or(err)
	}
	if err != nil {
		return t, err
	}
	m, loaded := sampler.Between(0, began, time.Now(), 0).Metrics, sampler.Between(0, came.From, came.To, 0).Metrics
	for _, name := range []string{"client_cores_busy", "client_thread_busy_max", "server_cores_busy", "server_workers_busy"} {
		if delete(m, name); loaded[name] > 0 {
			m[name] = loaded[name]
		}
	}
	return b.judge(came, m), nil
}

// judge makes a trial of what was seen. m are the figures of the machine meanwhile. WrongAnswer is for
// what no disturbance of the machine can cause.
func (b Bench) judge(s *seen, m map[string]float64) results.Trial {
	n, took, p := float64(s.Window.Events), s.To.Sub(s.From).Seconds(), s.Published
	t := results.Trial{StartedAt: s.From.UTC(), Metrics: m, ByRequest: p.ByRequest}
	fail := func(gate, says string, n int64) {
		if n > 1 {
			says += fmt.Sprintf(" (%d times)", n)
		}
		if n > 0 {
			t.Reasons = append(t.Reasons, results.Reason{Gate: gate, Detail: says})
		}
	}
	maps.Copy(m, map[string]float64{"requests": n, "duration_s": took, throughput: n / took, eventsAsked: took,
		eventsLost: float64(s.Window.Missed)})
	ids := int64(0)
	for _, c := range s.Connections {
		ids += c.IDs
	}
	if ids < s.Whole.Events {
		m[eventsLost] = math.NaN()
	}
	if n > 0 && b.Costed() {
		m[cost] = s.CPU.Seconds() / n
	}
	if s.FirstEvent != nil {
		first := s.FirstEvent.Latency()
		m[firstEvent+p50], m[firstEvent+p99] = first.P50, first.P99
	}
	for _, f := range s.Faults {
		is := gate.WrongAnswer
		if f.Kind == stream.Refused || f.Kind == stream.Timeout {
			is = gate.Errors
		}
		if f.Kind != stream.Silent { // which may follow from another
			fail(is, f.First, f.N)
		}
	}
	fail(gate.WrongAnswer, "an event came with an id that its stream has had", s.Whole.Repeated)
	fail(gate.WrongAnswer, "an event came with an id that its stream had skipped", s.Whole.Reordered)
	fail(gate.WrongAnswer, "a stream ended amid an event", s.Whole.Cut)
	fail(gate.WrongAnswer, "a stream ended", s.Whole.Ends-s.Whole.Cut)
	fail(gate.LostWorker, "a process of the server ended, or its CPU clock could not be read", s.Unread)
	if len(b.Requests) > 0 {
		what, got := "publishing by "+b.Requests[0].Label(), float64(p.Requests)/b.window().Seconds()
		edges := 2 / b.window().Seconds() // one publishing at either
		fail(gate.WrongAnswer, what+": "+p.Fault, p.Non2xx)
		fail(gate.Errors, what+": "+p.Fault, p.Errors+p.Timeouts+p.Resets)
		if m[eventsAsked] = float64(p.Answered); got < gate.LeastShare*float64(b.Rate)-edges {
			fail(gate.RateShort, fmt.Sprintf("%s was answered %.1f times a second of %d asked for", what, got, b.Rate), 1)
		}
	}
	switch {
	case n > 0 || len(t.Reasons) > 0:
	case s.Whole.Events > 0:
		fail(gate.Silent, "no event came in the window", 1)
	default:
		fail(gate.WrongAnswer, "no event came; --publish 'POST /PATH' --rate N says what to ask for some", 1)
	}
	for _, name := range []string{gate.OtherLoad, gate.Steal, gate.Throttled, gate.Swap, gate.Clock} {
		for _, found := range gate.Hold(name, m, gate.Asked{}) {
			if !found.Missing() {
				fail(name, found.Detail, 1)
			} else if b.Costed() { // else it may be on another machine
				fail(gate.NoTelemetry, found.Metric+" was not seen in the measured window", 1)
			}
		}
	}
	seen := gate.EvidenceOf(m, 0)
	t.Bound, t.BoundWhy = gate.DecideBound(seen)
	if seen.Walls().Meets(gate.BoundClientCPU) { // what it did not read, the server had to keep or to drop
		fail(string(gate.BoundClientCPU), "the client had no time left ("+t.BoundWhy+"); give fewer --connections or events", 1)
	}
	t.Valid = len(t.Reasons) == 0
	return t
}

// streamed adds up what came of the streams of a server, in valid trials.
func (a *assessment) streamed(i int) *compare.Stream {
	s, asked, lost := &compare.Stream{Published: len(a.o.Requests) > 0}, 0.0, 0.0
	var p50s, p99s []float64
	for _, t := range a.f.Trials {
		if m := t.Metrics; t.Valid && t.Condition == a.condition(i) {
			s.Events, asked, lost = s.Events+m["requests"], asked+m[eventsAsked]*float64(a.o.Connections), lost+m[eventsLost]
			p50s, p99s = append(p50s, m[firstEvent+p50]), append(p99s, m[firstEvent+p99])
		}
	}
	if asked == 0 {
		return nil
	}
	if s.Each = words.Digits(s.Events / asked); !math.IsNaN(lost) {
		s.Lost = &lost
	}
	s.P50, s.P99 = words.Digits(stats.Median(p50s)), words.Digits(stats.Median(p99s))
	return s
}

// A watch is one window on the streams of one server. Where there is something to publish, that is done
// at a rate that no answer puts off, before the window and in it, with a rest before either edge: so the
// events of the window are of what was published in it, and the server sleeps when its CPU clocks are
// read. Those of a server that publishes by itself are late by up to a tick, 4 ms of the window.
type watch struct {
	Streams   stream.Plan
	Publish   *load.Target // nil: the server publishes by itself
	Seconds   float64      // of publishing in the window
	Processes []int        // whose CPU time is read
}

// What was seen in a watch.
type seen struct {
	*stream.Report
	From, To  time.Time     // in which something was published; without that, the window
	CPU       time.Duration // of the server's processes in the window
	Unread    int64         // processes whose CPU time is not in that
	Published load.TargetSummary
}

// by has a watch carried out on the client's cores. pid is the process's meanwhile.
func (w watch) by(ctx context.Context, c Client, dir string, pid *atomic.Int64) (*seen, error) {
	input, _ := json.Marshal(w) // plain fields always encode
	s := &seen{}
	return s, run.Call(ctx, leash.Spec{Dir: dir, Stdin: bytes.NewReader(input),
		Argv: run.OnCPUs(c.Lab, c.CPUs, slices.Concat(c.Lab, []string{watchCall})...)}, watchCall, s, func(of int) {
		pid.Store(int64(of))
	})
}

// Called carries out a watch, if that is the call; false for any other. As with run.Called, main asks first.
func Called(args []string) (status int, is bool) {
	if !slices.Equal(args, []string{watchCall}) {
		return 0, false
	}
	var w watch
	err := json.NewDecoder(os.Stdin).Decode(&w)
	if err == nil {
		err = w.carryOut()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", watchCall, strict.Lines(err.Error()))
		return 1, true
	}
	return 0, true
}

// carryOut reads the streams, publishes meanwhile, and prints what was seen.
func (w watch) carryOut() (err error) {
	runtime.GOMAXPROCS(w.Streams.Threads + 3) // threads that read and load keep what Go runs them on for themselves
	ctx, cancel := context.WithCancel(context.Background())
	warm, warmed := context.WithCancel(ctx)
	begun, begin := context.WithCancel(ctx)
	s, before := &seen{}, map[int]time.Duration{}
	w.Streams.Tell = func(m stream.Moment) {
		if m == stream.Opened {
			time.AfterFunc(w.Streams.WarmUp-rest, warmed)
			return
		}
		for _, pid := range w.Processes {
			switch used, ok := cores.ProcessTime(pid); {
			case ok && m == stream.Begins:
				before[pid] = used
			case ok && before[pid] > 0:
				s.CPU += used - before[pid]
			case m == stream.Ends:
				s.Unread++
			}
		}
		if m == stream.Begins {
			begin()
		}
	}
	var publishing sync.WaitGroup
	if w.Publish != nil {
		publishing.Go(func() {
			if err := w.publish(ctx, warm, begun, s); err != nil && ctx.Err() == nil {
				s.Published.Errors, s.Published.Fault = 1, err.Error()
			}
		})
	}
	s.Report, err = stream.Run(ctx, &w.Streams)
	cancel() // what is not published by now is late
	publishing.Wait()
	if err != nil {
		return err
	}
	if s.From.IsZero() {
		s.From, s.To = s.Begin, s.Begin.Add(time.Duration(s.Seconds*float64(time.Second)))
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// publish publishes until it is warm, and again once the window has begun.
func (w watch) publish(ctx, warm, begun context.Context, s *seen) error {
	p := load.Plan{Threads: 1, Targets: []load.Target{*w.Publish}, Slots: []load.Slot{{Seconds: load.MaxSeconds}}}
	if _, err := load.Run(warm, &p, load.Options{}); warm.Err() == nil {
		return err
	}
	<-begun.Done()
	p.Slots, s.From = []load.Slot{{Seconds: w.Seconds, Counts: true}}, time.Now()
	r, err := load.Run(ctx, &p, load.Options{})
	if s.To = time.Now(); err == nil {
		s.Published = r.Summary.Targets[0]
	}
	return err
}

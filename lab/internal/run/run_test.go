package run

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

func TestOrderHoldsEveryConditionOnceABlock(t *testing.T) {
	for seed := range uint64(50) {
		todo := slots(5, 7, seed)
		if len(todo) != 35 {
			t.Fatalf("%d slots, want 35", len(todo))
		}
		for b := range 7 {
			seen := map[int]bool{}
			for _, s := range todo[b*5 : b*5+5] {
				if s.block != b+1 {
					t.Fatalf("seed %d: block %d stands among those of block %d", seed, s.block, b+1)
				}
				seen[s.cond] = true
			}
			if len(seen) != 5 {
				t.Fatalf("seed %d, block %d: conditions %v", seed, b+1, seen)
			}
		}
	}
}

func TestRepeatStaysInItsBlock(t *testing.T) {
	a, b, c, d := slot{1, 0}, slot{1, 1}, slot{2, 0}, slot{2, 1}
	for _, test := range []struct {
		todo []slot
		s    slot
		want []slot
	}{
		{[]slot{b, c, d}, a, []slot{b, a, c, d}},
		{[]slot{c, d}, b, []slot{b, c, d}}, // the last of its block comes again at once
		{nil, d, []slot{d}},
	} {
		if got := after(slices.Clone(test.todo), test.s); !slices.Equal(got, test.want) {
			t.Errorf("after(%v, %v) = %v, want %v", test.todo, test.s, got, test.want)
		}
	}
}

func TestOnlyPassingWeatherIsRepeated(t *testing.T) {
	reasons := func(gates ...string) (t results.Trial) {
		for _, g := range gates {
			t.Reasons = append(t.Reasons, results.Reason{Gate: g, Detail: "x"})
		}
		return t
	}
	for _, name := range []string{gate.Errors, gate.Timeouts, gate.Resets, gate.NoTelemetry, gate.Steal, gate.SlowCore, gate.OtherLoad, gate.Stopped} {
		if !weather(reasons(name)) {
			t.Errorf("%s is not repeated", name)
		}
		if weather(reasons(name, "non-2xx")) {
			t.Errorf("%s excuses a wrong answer", name)
		}
		if !weather(reasons(gate.Little, name)) {
			t.Errorf("what follows from %s is not repeated with it", name)
		}
	}
	for _, name := range []string{gate.LostWorker, gate.ServerExited, gate.ClientFailed, gate.ClientHung, gate.Little,
		gate.Non2xx, gate.Mismatches, gate.NoRequests, gate.RateShort, "a gate of the future"} {
		if weather(reasons(name)) {
			t.Errorf("%s is repeated", name)
		}
	}
}

const design = `entry = "1"
title = "t"
question = "q"
metrics = ["workers"]
[topology]
kind = "loopback"
[settings]
route = "/read"
connections = 10
client_workers = 3
index = "gofakeit"
write_buffer = 8192
prefork = %PREFORK%
[[factors]]
name = "workers"
levels = [1, 2]
[[factors]]
name = "pipelining"
levels = [1, 7]
[sizes.smoke]
blocks = 2
warmup_s = 0.3
duration_s = 1.5
[sizes.full]
blocks = 12
duration_s = 10
[[claims]]
id = "c"
kind = "count"
text = "t"
metric = "workers"
equals = "workers"
`

// A path is a path on the server under test, whatever is in it.
func TestNoPathLeadsToAnotherServer(t *testing.T) {
	for _, path := range []string{"/read", "@127.0.0.1:19999/x", ":1@127.0.0.1/x", "//127.0.0.1:19999/x", "/x?y", "#z", ".evil.example/x", "19999/x"} {
		u, err := url.Parse(address("127.0.0.1:8083", path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if u.Host != "127.0.0.1:8083" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%s leads to %s", path, u)
		}
	}
	if got := address("127.0.0.1:8083", "/read"); got != "http://127.0.0.1:8083/read" {
		t.Errorf("/read is at %s", got)
	}
}

// The command lines are what a results file records and a reader types: every
// setting has to reach them.
func TestEverySettingReachesTheCommandLines(t *testing.T) {
	x, err := experiment.Parse("x", []byte(strings.Replace(design, "%PREFORK%", "false", 1)))
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Experiment: x, Size: "smoke", Port: 9000, Split: cores.Split{Server: []int{0, 1}, Client: []int{2, 3}}}
	levels := setting.Levels{"workers": setting.Int(2), "pipelining": setting.Int(7)}
	l := p.load(&topology.Link{Host: "127.0.0.1"}, x.Fixed().With(levels))
	want := []string{
		"lab/scripts/server.sh --workers 2 --cpus 0-1 -- --addr 127.0.0.1:9000 --prefork=false --index gofakeit --write-buffer 8192",
		"lab/scripts/trial.sh --url http://127.0.0.1:9000/read --connections 10 --pipelining 7 --duration 1.5 --warmup 0.3 --workers 3 --cpus 2-3",
	}
	if got := l.commands(); !slices.Equal(got, want) {
		t.Errorf("commands:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if l.workers != 0 {
		t.Errorf("without prefork %d workers are waited for", l.workers)
	}
	over := p.load(&topology.Link{Host: "192.0.2.1", NetPID: 7}, x.Fixed().With(levels)).commands()
	if !strings.HasPrefix(over[0], "lab/scripts/wire.sh in server PID -- lab/scripts/server.sh ") ||
		!strings.HasPrefix(over[1], "lab/scripts/wire.sh in client PID -- lab/scripts/trial.sh --url http://192.0.2.1:9000/read ") {
		t.Errorf("over a wire: %q", over)
	}
}

// What only some experiments set.
func TestStackAndOverloadReachATrial(t *testing.T) {
	x, err := experiment.Parse("x", []byte(strings.Replace(design, "%PREFORK%", "false", 1)))
	if err != nil {
		t.Fatal(err)
	}
	l := Plan{Experiment: x, Size: "smoke", Port: 9000}.load(&topology.Link{Host: "127.0.0.1"}, x.Fixed().With(setting.Levels{
		"pipelining": setting.Int(1), "workers": setting.Int(2), "stack": setting.String("net-http"),
		"generator": setting.String("fortio"), "rate": setting.Int(1_000_000), "overload": setting.Bool(true)}))
	got := strings.Join(l.commands(), "\n")
	for _, want := range []string{" --prefork=false --stack net-http ", " --generator fortio --rate 1000000"} {
		if !strings.Contains(got+" ", want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if !l.asked.Overload {
		t.Error("the gates are not told that the rate need not be met")
	}
}

// What a trial of batches is told, on both sides.
func TestBatchesReachProducerAndSink(t *testing.T) {
	x, err := experiment.Parse("x", []byte(strings.Replace(design, "%PREFORK%", "false", 1)))
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Experiment: x, Size: "smoke", Port: 9000, Split: cores.Split{Server: []int{0}, Client: []int{1}}}
	s := setting.Levels{"server": setting.String("producer"), "generator": setting.String("sink"), "variant": setting.String("pool-10"),
		"event_rate": setting.Int(2000), "pacing": setting.String("ticker"), "event_bytes": setting.Int(64), "batch_events": setting.Int(500), "flush_interval_ms": setting.Int(250),
		"queue_events": setting.Int(0), "when_full": setting.String("block"), "stagger": setting.Bool(true), "attempts": setting.Int(3),
		"sink_latency_ms": setting.Int(20), "sink_errors_permille": setting.Int(5)}
	for _, c := range []struct {
		with setting.Levels
		want []string
	}{
		{nil, []string{
			"lab/scripts/server.sh --server producer --cpus 0 -- --addr 127.0.0.1:9000 --variant pool-10 --pacing ticker --event-bytes 64 --batch-size 500 --interval-ms 250 --queue 0 --when-full block --event-rate 2000 --stagger=true",
			"lab/scripts/sink.sh --producer http://127.0.0.1:9000 --duration 1.5 --warmup 0.3 --latency-ms 20 --errors-permille 5 --cpus 1"}},
		// The library tries again, and at no rate the sink looks for one.
		{setting.Levels{"variant": setting.String("batch"), "event_rate": setting.Int(0), "stagger": setting.Bool(false)}, []string{
			"lab/scripts/server.sh --server producer --cpus 0 -- --addr 127.0.0.1:9000 --variant batch --pacing ticker --event-bytes 64 --batch-size 500 --interval-ms 250 --queue 0 --when-full block --stagger=false --attempts 3",
			"lab/scripts/sink.sh --producer http://127.0.0.1:9000 --duration 1.5 --warmup 0.3 --latency-ms 20 --errors-permille 5 --find-limit --cpus 1"}},
	} {
		l := p.load(&topology.Link{Host: "127.0.0.1"}, s.With(c.with))
		if got := l.commands(); !slices.Equal(got, c.want) {
			t.Errorf("commands:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if l.workers != 0 || l.program != "event_producer" {
			t.Errorf("%d workers of %s are waited for", l.workers, l.program)
		}
	}
}

// An event costs what its batch costs, over the events in it.
func TestTheCostOfAnEvent(t *testing.T) {
	m := map[string]float64{"server_cpu_per_request_s": 0.01, "events_per_batch": 500}
	perEvent(m)
	if got := m["server_cpu_per_event_s"]; got != 0.00002 {
		t.Errorf("%v", got)
	}
	for _, m := range []map[string]float64{{"server_cpu_per_request_s": 0.01}, {"events_per_batch": 500}} {
		perEvent(m)
		if v, ok := m["server_cpu_per_event_s"]; ok {
			t.Errorf("%v of %v", v, m)
		}
	}
}

// Falling short of a rate makes a trial invalid, unless that is what the trial
// is about; what was answered is a figure either way.
func TestARateThatCannotBeMet(t *testing.T) {
	closed := func(name string, overload bool) bool {
		l := load{rate: 1000, generator: name, window: time.Second, asked: gate.Asked{Generator: name, Rate: 1000, Overload: overload}}
		start := time.Unix(1, 0)
		m := map[string]float64{"throughput_rps": 250, "requests": 250}
		r := &generator.Result{Start: start, Finish: start.Add(time.Second), Metrics: m}
		if name == setting.Fortio {
			r.Open = &generator.Open{SendLagP99S: 1}
		}
		r.Asked(l.rate)
		shut := false
		l.gates(r, telemetry.Window{}, m, func(gateName, _ string, _ ...any) {
			shut = shut || gateName == gate.RateShort || gateName == gate.SendLate
		})
		if m["answered_share"] != 0.25 || m["asked_rate_rps"] != 1000 {
			t.Errorf("%s: answered share %v of %v", name, m["answered_share"], m["asked_rate_rps"])
		}
		return shut
	}
	for _, name := range []string{setting.Autocannon, setting.Fortio} {
		if !closed(name, false) {
			t.Errorf("%s: a quarter of the rate was answered, and no gate closed", name)
		}
		if closed(name, true) {
			t.Errorf("%s: a gate closed on what the trial is about", name)
		}
	}
}

func TestUnpinnedOnOneCore(t *testing.T) {
	x, err := experiment.Parse("x", []byte(strings.Replace(design, "%PREFORK%", "true", 1)))
	if err != nil {
		t.Fatal(err)
	}
	l := Plan{Experiment: x, Size: "smoke", Port: 9000}.load(&topology.Link{Host: "127.0.0.1"},
		x.Fixed().With(setting.Levels{"workers": setting.Int(2), "pipelining": setting.Int(1)}))
	for _, c := range l.commands() {
		if strings.Contains(c, "--cpus") {
			t.Errorf("%s pins", c)
		}
	}
	if l.workers != 2 {
		t.Errorf("%d workers are waited for, want 2", l.workers)
	}
}

package run

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

var (
	loopback = &topology.Link{Host: "127.0.0.1"}
	apart    = cores.Split{Server: []int{0, 1}, Client: []int{2, 3}}
)

// Every path is a path on the server under test, whatever it contains.
func TestNoPathLeadsToAnotherServer(t *testing.T) {
	for _, path := range []string{"/read", "@127.0.0.1:19999/x", ":1@127.0.0.1/x", "//127.0.0.1:19999/x", "/x?y",
		".evil.example/x", "19999/x"} {
		u, err := url.Parse(address("127.0.0.1:8083", path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if u.Host != "127.0.0.1:8083" || u.User != nil {
			t.Errorf("%s leads to %s", path, u)
		}
	}
	for _, path := range []string{"/read", "/find?q=a%20b&c=%2F"} {
		if got := address("127.0.0.1:8083", path); got != "http://127.0.0.1:8083"+path {
			t.Errorf("%s is at %s", path, got)
		}
	}
	// What is asked in place of the design's route.
	x := design{}.parse(t)
	p := Plan{Experiment: x, Path: "/find?q=a%20b", Split: apart}
	if got := p.load(loopback, x.Fixed().With(x.Conditions()[0]),
		9000).target(nil).URL; got != "http://127.0.0.1:9000/find?q=a%20b" {
		t.Error(got)
	}
}

// Before anything is measured, or calibrated.
func TestPortsBeyondTheLastAreRefused(t *testing.T) {
	p := Plan{Root: "/nowhere", Experiment: design{}.parse(t), Port: 65535, Split: apart, Host: &host.Profile{Cores: 4}}
	if err := p.Ready(); err == nil || !strings.HasPrefix(err.Error(), "--port 65535: ") {
		t.Error(err)
	}
	if p.Port = 9000; p.Ready() == nil || strings.Contains(p.Ready().Error(), "--port") { // there are no programs
		t.Error(p.Ready())
	}
}

// A results file records the command lines and a reader types them: every
// setting must be in them.
func TestEverySettingReachesTheCommandLines(t *testing.T) {
	x := design{block: "slot_s = 0.25\nrounds = 6\nwarmup_s = 0.3"}.parse(t)
	inPieces := design{settings: "connections = 10", block: "slot_s = 1.5\nrounds = 1\nwarmup_s = 0.3"}.parse(t)
	base := setting.Levels{"generator": text("http_load"), "route": text("/read"), "connections": whole(10)}
	batches := setting.Levels{"server": text("producer"), "generator": text("sink"), "variant": text("pool-10"),
		"event_rate": whole(2000), "pacing": text("ticker"), "event_bytes": whole(64), "batch_events": whole(500),
		"flush_interval_ms": whole(250),
		"queue_events":      whole(0), "when_full": text("block"), "stagger": either(true), "attempts": whole(3),
		"sink_latency_ms": whole(20), "sink_errors_permille": whole(5)}
	for _, c := range []struct {
		name           string
		x              *experiment.Experiment
		with           setting.Levels
		split          cores.Split
		server, client string
		workers        int // number of workers to wait for
		program        string
	}{
		{"turns", x, base.With(setting.Levels{"workers": whole(2), "prefork": either(false), "index": text("gofakeit"),
			"write_buffer": whole(8192), "pipelining": whole(7), "client_workers": whole(3)}), apart,
			"server.sh --workers 2 --cpus 0-1 -- --addr 127.0.0.1:9000 --prefork=false --index gofakeit --write-buffer 8192",
			"trial.sh --url http://127.0.0.1:9000/read --generator http_load --connections 10 --pipelining 7 --duration 1.5 " +
				"--warmup 0.3 --workers 3 --answers fiber --cpus 2-3",
			0, "fiber_server"},
		{"one piece", inPieces, base.With(setting.Levels{"generator": text("autocannon"), "rate": whole(1_000_000)}), apart,
			"server.sh --workers 2 --cpus 0-1 -- --addr 127.0.0.1:9000",
			"trial.sh --url http://127.0.0.1:9000/read --generator autocannon --connections 10 --pipelining 1 --duration 1.5 " +
				"--warmup 0.3 --workers 0 --rate 1000000 --cpus 2-3",
			2, "fiber_server"},
		{"the null server", x, base.With(setting.Levels{"server": text("null")}), apart,
			"server.sh --server null --cpus 0-1 -- --addr 127.0.0.1:9000",
			"trial.sh --url http://127.0.0.1:9000/read --generator http_load --connections 10 --pipelining 1 --duration 1.5 " +
				"--warmup 0.3 --workers 0 --answers null --cpus 2-3",
			0, "null_server"},
		{"another stack", x, base.With(setting.Levels{"stack": text("net-http"), "prefork": either(true), "workers": whole(3),
			"spin_ns": whole(200)}), cores.Split{},
			"server.sh --workers 3 -- --addr 127.0.0.1:9000 --prefork=true --stack net-http --spin-ns 200",
			"trial.sh --url http://127.0.0.1:9000/read --generator http_load --connections 10 --pipelining 1 --duration 1.5 " +
				"--warmup 0.3 --workers 0 --answers fiber",
			3, "fiber_server"},
		{"cores of its own", x, base.With(setting.Levels{"server_cpus": text("0-2"), "prefork": either(false)}), apart,
			"server.sh --workers 3 --cpus 0-2 -- --addr 127.0.0.1:9000 --prefork=false",
			"trial.sh --url http://127.0.0.1:9000/read --generator http_load --connections 10 --pipelining 1 --duration 1.5 " +
				"--warmup 0.3 --workers 0 --answers fiber --cpus 2-3",
			0, "fiber_server"},
		{"batches", inPieces, batches, apart,
			"server.sh --server producer --cpus 0-1 -- --addr 127.0.0.1:9000 --variant pool-10 --pacing ticker --event-bytes " +
				"64 --batch-size 500 --interval-ms 250 --queue 0 --when-full block --event-rate 2000 --stagger=true",
			"sink.sh --producer http://127.0.0.1:9000 --duration 1.5 --warmup 0.3 --latency-ms 20 --errors-permille 5 --cpus 2-3",
			0, "event_producer"},
		// The library retries, and without a rate the sink searches for one.
		{"batches at no rate", inPieces, batches.With(setting.Levels{"variant": text("batch"), "event_rate": whole(0),
			"stagger": either(false)}), apart,
			"server.sh --server producer --cpus 0-1 -- --addr 127.0.0.1:9000 --variant batch --pacing ticker --event-bytes " +
				"64 --batch-size 500 --interval-ms 250 --queue 0 --when-full block --stagger=false --attempts 3",
			"sink.sh --producer http://127.0.0.1:9000 --duration 1.5 --warmup 0.3 --latency-ms 20 --errors-permille 5 " +
				"--find-limit --cpus 2-3",
			0, "event_producer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Plan{Experiment: c.x, Split: c.split}.load(loopback, c.with, 9000)
			if want := []string{"lab/scripts/" + c.server, "lab/scripts/" + c.client}; !slices.Equal(l.commands(), want) {
				t.Errorf("commands:\n%s\nwant:\n%s", strings.Join(l.commands(), "\n"), strings.Join(want, "\n"))
			}
			if l.workers != c.workers || l.serves.Process != c.program {
				t.Errorf("%d workers of %s are waited for, want %d of %s", l.workers, l.serves.Process, c.workers, c.program)
			}
		})
	}
}

// The gates must be told of an overload, since no figure shows that it is
// intended.
func TestOverloadReachesTheGates(t *testing.T) {
	x := design{}.parse(t)
	l := Plan{Experiment: x, Split: apart}.load(loopback,
		x.Fixed().With(x.Conditions()[0]).With(setting.Levels{"rate": whole(500), "overload": either(true)}), 9000)
	if !l.asked.Overload || l.asked.Rate != 500 || l.asked.WindowS != 0.1 || l.rate != 500 {
		t.Errorf("%+v", l.asked)
	}
}

// A block takes longer with more conditions, more groups, a wire, and profiles;
// and never less than its counted time.
func TestBlockTime(t *testing.T) {
	turns := design{}.parse(t)
	pieces := design{settings: "connections = 4\nprefork = false", block: "slot_s = 1\nrounds = 1\nwarmup_s = 0.1"}
	profiled := pieces
	profiled.more = "[profile]\nseconds = 2"
	wire := design{topology: "kind = \"netns\"\nline_rate_bps = 1e8\nburst_bytes = 262144\nqueue_s = 0.02"}.parse(t)
	if got, least := BlockTime(turns), 3*(50+2*50)*time.Millisecond; got < least || got > 2*least+groupOverhead {
		t.Errorf("three conditions in turns take %v, and what counts and its warm-up %v", got, least)
	}
	if got := BlockTime(wire); got <= BlockTime(turns) {
		t.Errorf("over a wire %v, over loopback %v", got, BlockTime(turns))
	}
	alone, with := BlockTime(pieces.parse(t)), BlockTime(profiled.parse(t))
	if least := 3*1100*time.Millisecond + 3*groupOverhead; alone < least || alone > 2*least {
		t.Errorf("three conditions in pieces take %v, and what counts with what comes to it %v", alone, least)
	}
	events := design{settings: "server = \"producer\"\ngenerator = \"sink\"\nflush_interval_ms = 100\nbatch_events = " +
		"100\nevent_bytes = 64\nqueue_events = 1000\nsink_latency_ms = 5\npacing = \"open\"\nvariant = \"async\"",
		factor: "event_rate", levels: "[1000, 2000, 3000, 4000]", block: pieces.block}
	if got, least := BlockTime(events.parse(t)), 1100*time.Millisecond; got < least || got > least+groupOverhead+
		fillLoopback {
		t.Errorf("four conditions at once take %v, and what counts and its warm-up %v", got, least)
	}
	events.levels = "[0, 1000, 2000]"
	// The control may be another search.
	if got, least := BlockTime(events.parse(t)), 2*1100*time.Millisecond+2*groupOverhead+searching; got < least ||
		got > 2*least {
		t.Errorf("one alone that searches and two at once take %v, and what counts with what comes to it %v", got, least)
	}
	if with < alone+3*2100*time.Millisecond || with > alone+3*3500*time.Millisecond {
		t.Errorf("with three profiles of 2 s %v, without %v", with, alone)
	}
	// Servers that take turns are profiled one after the other too.
	profiled = design{more: "[profile]\nseconds = 2"}
	if got, alone := BlockTime(profiled.parse(t)), BlockTime(turns); got < alone+3*2050*time.Millisecond || got > alone+
		3*3*time.Second {
		t.Errorf("in turns with three profiles of 2 s %v, without %v", got, alone)
	}
	if got := ProfileTime(turns); got < 1150*time.Millisecond || got >= BlockTime(profiled.parse(t)) {
		t.Errorf("one condition is profiled for a second, which takes %v", got)
	}
}

package run

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// longBlock has slots that are long enough together for a few samples of the
// machine.
var longBlock = design{settings: "generator = \"http_load\"\nconnections = 4\nprefork = false",
	block: "slot_s = 0.1\nrounds = 5\nwarmup_s = 0.05"}

// twoWorkers has enough connections for either worker to get some.
var twoWorkers = design{settings: "generator = \"http_load\"\nconnections = 40\nprefork = true\nworkers = 2",
	block: longBlock.block}

// paced is a design at a rate that leaves the cores to the tests beside it.
func paced(d design) design {
	d.settings += "\nrate = 400"
	return d
}

// The lab's own servers answer correctly on every route, with every stack and
// depth of pipelining, all of them up at once.
func TestRightAnswersInTurns(t *testing.T) {
	p := newPlace(t)
	type levels = setting.Levels
	off := levels{setting.Prefork: either(false)}
	e := p.start(design{settings: "generator = \"http_load\"\nconnections = 4",
		block: "slot_s = 0.1\nrounds = 2\nwarmup_s = 0.05"}.parse(t),
		levels{setting.Route: text("/simple"), setting.Server: text(setting.Null), setting.Pipelining: whole(8)},
		levels{setting.Route: text("/read"), setting.Server: text(setting.Null)},
		off.With(levels{setting.Route: text("/simple")}),
		off.With(levels{setting.Route: text("/read")}),
		off.With(levels{setting.Route: text("/list")}),
		off.With(levels{setting.Route: text("/compute"), setting.Pipelining: whole(4)}),
		off.With(levels{setting.Route: text("/simple"), setting.Stack: text("fasthttp"), setting.Pipelining: whole(50)}),
		off.With(levels{setting.Route: text("/read"), setting.Stack: text("net-http"), setting.Pipelining: whole(4)}),
		off.With(levels{setting.Route: text("/read"), setting.Index: text("gofakeit")}),
		off.With(levels{setting.Route: text("/simple"), setting.Rate: whole(200)}),
		levels{setting.Route: text("/read"), setting.Prefork: either(true), setting.Workers: whole(2),
			setting.Connections: whole(40)})
	p.until(func() []results.Trial { return p.block(e) }, func(trials []results.Trial) bool {
		right := true
		for i, one := range trials {
			if closed(one, gate.WrongAnswer, gate.Errors, gate.NoRequests, gate.LostWorker, gate.Connections) || one.Metrics["requests"] == 0 {
				t.Errorf("%s: %q", e.File.Conditions[i].Levels.Key(), one.Reasons)
			}
			if len(one.Slots) != 2 || one.Metrics["server_cpu_s"] <= 0 ||
				one.Metrics["client_cpu_per_request_s"] <= 0 {
				t.Errorf("%s: %+v, %v", e.File.Conditions[i].Levels.Key(), one.Slots, one.Metrics)
			}
			// A hundredth of a few dozen requests is one request, which any machine may
			// delay.
			right = right && (one.Valid || closed(one, gate.SendLate))
		}
		if last := trials[len(trials)-1].Metrics; last["workers"] != 2 || last["processes"] != 3 ||
			last["workers_serving"] != 2 || last["connections_established"] != 40 {
			t.Errorf("two workers and 40 connections: %v", last)
		}
		return right
	})
	p.nothingRuns(t)
}

// Each fault of a server or the client in mid-block closes its own gate, and
// leaves nothing running.
func TestFaultsInMidBlock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	signal := func(sig syscall.Signal, pids ...int) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, sig)
		}
	}
	stop := func(pids ...int) {
		signal(syscall.SIGSTOP, pids...)
		time.Sleep(700 * time.Millisecond)
		signal(syscall.SIGCONT, pids...)
	}
	single := paced(longBlock).parse(t)
	prefork := paced(twoWorkers).parse(t)
	for _, c := range []struct {
		name    string
		prefork bool
		befalls func(port int)
		first   string // closes on the first condition's trial
		others  string // closes on the others, and must be in their details
	}{
		{"the client is stopped", false, func(int) { stop(p.children("http_load")...) }, gate.HeldBack,
			"a signal stopped the client"},
		{"a server is stopped", false, func(port int) { stop(p.listening("fiber_server", port)...) }, gate.HeldBack,
			"a signal stopped the server"},
		{"a worker is killed", true, func(port int) { signal(syscall.SIGKILL, p.listening("fiber_server", port)[1]) },
			gate.ServerExited, "beside it, fiber_server on 127.0.0.1:"},
		{"a server is killed", false, func(port int) { signal(syscall.SIGKILL, p.listening("fiber_server", port)...) },
			gate.ServerExited, "beside it, fiber_server on 127.0.0.1:"},
		{"the client is killed", false, func(int) { signal(syscall.SIGKILL, p.children("http_load")...) }, gate.ClientFailed,
			"the client failed (signal: killed)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p
			p.t = t
			x := single
			if c.prefork {
				x = prefork
			}
			p.until(func() []results.Trial {
				e := p.start(x)
				done := p.whileLoaded(func() {
					time.Sleep(500 * time.Millisecond)
					c.befalls(e.Port + slices.Index(experiment.DrawBlock(e.groups, 1, e.Seed, e.File.Provenance.Blocks+1)[0], 0))
				})
				defer func() { <-done }()
				return p.block(e)
			}, func(trials []results.Trial) bool {
				for i, one := range trials {
					says := slices.ContainsFunc(one.Reasons, func(r results.Reason) bool {
						return r.Gate == c.first && (i == 0 || strings.HasPrefix(r.Detail, c.others))
					})
					if one.Valid || !says {
						return false
					}
				}
				return len(trials) == 3
			})
			p.nothingRuns(t)
		})
	}
}

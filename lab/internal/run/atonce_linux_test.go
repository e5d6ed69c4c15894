package run

import (
	"math"
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

// atOnce is an engine for a design of n producers at set rates: a thousand
// events a second, two thousand, and so on.
func (p place) atOnce(n int) *engine {
	p.t.Helper()
	x := design{
		settings: "server = \"producer\"\ngenerator = \"sink\"\nflush_interval_ms = 100\nbatch_events = 100\nevent_bytes " +
			"= 64\nqueue_events = 1000\nsink_latency_ms = 5\nvariant = \"async\"",
		factor: "event_rate", levels: "[1000, 2000]", block: "slot_s = 1\nrounds = 1\nwarmup_s = 0.5"}.parse(p.t)
	var conditions []setting.Levels
	for i := range n {
		conditions = append(conditions, setting.Levels{setting.EventRate: whole(int64(1000 * (i + 1)))})
	}
	return p.engine(x, loopback, conditions...)
}

// once waits until all clients of a block have started, and then calls do.
func (p place) once(clients int, do func()) (done chan bool) {
	done = make(chan bool, 1)
	go func() {
		for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
			if len(p.children("event_sink")) == clients {
				do()
				done <- true
				return
			}
		}
		done <- false
	}()
	return done
}

func TestABlockIsMeasuredAtOnce(t *testing.T) {
	p := newPlace(t)
	const n = 4
	p.until(func() []results.Trial {
		e := p.atOnce(n)
		together := p.once(n, func() {})
		trials := p.block(e)
		if !<-together {
			t.Error("never were all receivers there at one time")
		}
		return trials
	}, func(trials []results.Trial) bool {
		if len(trials) != n {
			t.Fatalf("%d trials of %d conditions", len(trials), n)
		}
		shows := true
		for i, one := range trials {
			m := one.Metrics
			if one.Slots != nil || !one.StartedAt.Equal(trials[0].StartedAt) {
				t.Errorf("%s began at %v, the first at %v", one.Condition, one.StartedAt, trials[0].StartedAt)
			}
			if rate := float64(1000 * (i + 1)); !(math.Abs(m["delivered_per_s"]-rate) < 0.2*rate && m["processes"] == 1 &&
				m["unaccounted_events"] == 0) {
				t.Logf("%s: %v events a second, want about %v, of %v processes", one.Condition, m["delivered_per_s"], rate,
					m["processes"])
				shows = false
			}
			// Far from a whole core, which reading other processes could give.
			if v := m["server_cpu_per_event_s"]; !(v > 1e-7 && v < 5e-4) {
				t.Logf("%s: an event costs %v s", one.Condition, v)
				shows = false
			}
			if v := m["client_thread_busy_max"]; !(v > 0 && v < 0.9) {
				t.Logf("%s: the receiver was busy for %v", one.Condition, v)
				shows = false
			}
			if _, there := m["connections_established"]; there {
				t.Errorf("%s: %v connections, and nobody can tell whose", one.Condition, m["connections_established"])
			}
			shows = shows && one.Valid
		}
		return shows
	})
	p.nothingRuns(t)
}

// A fault of one producer is recorded with its trial, and named in the others
// of its block.
func TestOneOfABlockIsLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const n, victim = 3, 1
	for _, c := range []struct {
		name, program string
		gate          string
	}{{"a producer", "event_producer", gate.ServerExited}, {"a client", "event_sink", gate.ClientFailed}} {
		e := p.atOnce(n)
		lost := p.once(n, func() {
			// Both command lines have the producer's port.
			for _, pid := range p.listening(c.program, e.loadOf(victim).port) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
		trials := p.block(e)
		if !<-lost {
			t.Fatalf("%s: not all were there", c.name)
		}
		for i, one := range trials {
			beside := slices.ContainsFunc(one.Reasons, func(r results.Reason) bool {
				return r.Gate == c.gate && strings.HasPrefix(r.Detail, "beside it, "+e.loadOf(victim).name()+": ")
			})
			if one.Valid || !closed(one, c.gate) || beside != (i != victim) {
				t.Errorf("%s that was killed beside place %d: %q", c.name, i, one.Reasons)
			}
		}
		p.nothingRuns(t)
	}
}

// loadOf is the condition with index i of the single group, in the first block.
func (e *engine) loadOf(i int) load {
	return e.plan.load(e.link, e.plan.Experiment.Fixed().With(e.file.Conditions[i].Levels),
		e.plan.portOf(i, len(e.file.Conditions)))
}

// portOf is the port of one of n conditions that are up together, in the first block.
func (p Plan) portOf(condition, n int) int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	return p.Port + slices.Index(experiment.DrawBlock([][]int{all}, p.Experiment.Block.Rounds, p.Seed, 1)[0], condition)
}

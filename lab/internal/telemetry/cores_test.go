package telemetry

import (
	"math"
	"testing"

	"github.com/prometheus/procfs"
)

func TestWhereEachCoresTimeWent(t *testing.T) {
	p := pair()
	p[0].cpus[0] = procfs.CPUStat{User: 100, Nice: 10, System: 50, IRQ: 5, SoftIRQ: 20, Steal: 10, Idle: 700, Iowait: 5}
	p[1].cpus[0] = procfs.CPUStat{User: 150, Nice: 20, System: 70, IRQ: 10, SoftIRQ: 25, Steal: 20, Idle: 790, Iowait: 15}
	got := whole(sampler(p), 1000).Cores
	// Of 200 ticks: user 50 and 10, system 20, 5 and 5, steal 10, idle 90 and 10.
	if want := (Core{CPU: 0, User: 0.3, System: 0.1, SoftIRQ: 0.05, Steal: 0.05, Idle: 0.5}); len(got) != 3 ||
		got[0] != want {
		t.Errorf("%+v, want %+v first of three", got, want)
	}
	if got[1].CPU != 1 || got[2].CPU != 2 {
		t.Errorf("cores out of order: %+v", got)
	}
}

// The kernel's idle counters may run backwards by a proc.Tick; a share must stay
// between 0 and 1.
func TestSharesStayBetweenNoughtAndOne(t *testing.T) {
	p := pair()
	p[0].cpus[2], p[1].cpus[2] = ticks(100, 0, 500, 0), ticks(200, 0, 499, 0)
	p[0].cpus[0], p[1].cpus[0] = ticks(100, 0, 500, 5), ticks(99, 0, 600, 4)
	p[0].cpus[1], p[1].cpus[1] = ticks(0, 0, 500, 0), ticks(0, 0, 600, 0)
	w := whole(sampler(p), 1000)
	for _, name := range []string{"client_cores_busy", "client_steal", "server_cores_busy", "server_steal"} {
		if v, ok := w.Metrics[name]; !ok || v < 0 || v > 1 {
			t.Errorf("%s is %v (there: %v)", name, v, ok)
		}
	}
}

// Waiting for the disk counts as idle; guest time is part of user time already.
func TestCoresCountWaitingAsIdleAndGuestsOnce(t *testing.T) {
	p := pair()
	p[0].cpus[2] = procfs.CPUStat{}
	p[1].cpus[2] = procfs.CPUStat{User: 30, Guest: 30, Nice: 5, GuestNice: 5, IRQ: 5, SoftIRQ: 10, Idle: 30, Iowait: 20}
	if got := whole(sampler(p), 1000).Metrics["client_cores_busy"]; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("busy %v, want half: 50 ticks of 100", got)
	}
}

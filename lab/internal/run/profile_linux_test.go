package run

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// profiling is a design that takes profiles.
var profiling = design{settings: longBlock.settings, block: "slot_s = 0.5\nrounds = 1\nwarmup_s = 0.1",
	more: "[profile]\nseconds = 1"}

// Servers that are up together are profiled one after the other, each under its
// own load, and each profile shows its own server.
func TestAGroupsProfiles(t *testing.T) {
	p := newPlace(t)
	d := profiling
	d.settings, d.factor, d.levels = "generator = \"http_load\"\nconnections = 4\nprefork = false\nroute = \"/read\"",
		"stack", `["fasthttp", "net-http"]`
	d.block = "slot_s = 0.1\nrounds = 5\nwarmup_s = 0.05"
	e := p.start(d.parse(t))
	if len(e.groups) != 1 {
		t.Fatalf("groups %v", e.groups)
	}
	const only = "github.com/valyala/fasthttp" // the other stack has none of this
	p.until(func() []results.Trial {
		return p.block(e)
	}, func(trials []results.Trial) bool {
		whole := true
		for k, one := range trials {
			if closed(one, gate.ProfileFailed, gate.ClientFailed, gate.ServerExited) {
				t.Errorf("trial %d: %q", k, one.Reasons)
			}
			set := e.taken[one.Seq]
			if len(one.Reasons) > 0 {
				if set != nil {
					t.Errorf("trial %d is invalid and its profiles are kept", k)
				}
				whole = false
				continue
			}
			stack := e.File.Conditions[k].Levels["stack"].String()
			cpu, _ := one.Profile(profile.CPU)
			if set == nil || cpu.Total == 0 || (cpu.Packages[only] > 0) != (stack == "fasthttp") ||
				(cpu.Packages["net/http"] > 0) != (stack == "net-http") {
				t.Errorf("trial %d, %s: %v of %.3g s, %v", k, stack, set, cpu.Total, cpu.Packages)
			}
			if len(one.Slots) != 5 || one.Metrics["duration_s"] > 0.7 || one.Metrics["profiled_throughput_share"] <= 0 {
				t.Errorf("trial %d: %v", k, one.Metrics)
			}
			// No server is profiled in another's window or during the slots.
			for j, other := range trials {
				o := e.taken[other.Seq]
				if j == k || o == nil || set == nil {
					continue
				}
				if a, b := set[profile.CPU], o[profile.CPU]; a.TimeNanos < b.TimeNanos+b.DurationNanos && b.TimeNanos < a.TimeNanos+a.DurationNanos {
					t.Errorf("trials %d and %d were profiled at once", k, j)
				}
			}
		}
		return whole
	})
	p.nothingRuns(t)
}

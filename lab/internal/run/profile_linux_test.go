package run

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// profiling is a design that takes profiles.
var profiling = design{settings: longBlock.settings, block: "slot_s = 0.5\nrounds = 1\nwarmup_s = 0.1",
	more: "[profile]\nseconds = 1"}

// The null server serves no profiles.
func TestTheNullServerHasNoProfiles(t *testing.T) {
	x := design{settings: "generator = \"http_load\"\nserver = \"null\"\nconnections = 4"}.parse(t)
	if err := Profiles(t.Context(), Plan{Experiment: x}, nil); err == nil ||
		err.Error() != "the null server has no profiles" {
		t.Errorf("%v", err)
	}
}

// A client that fails is reported for that window.
func TestAClientThatEndsBeforeItsProfiles(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ client, gate, says string }{
		"with an error": {"echo no luck >&2; exit 1", gate.ClientFailed,
			"in the profiled window: the client failed (exit status 1): no luck"},
		"with the server gone": {endless, gate.ServerExited, "in the profiled window: the server exited in mid-trial: "},
	} {
		t.Run(what, func(t *testing.T) {
			serves := serve
			if c.gate == gate.ServerExited {
				serves = "sleep 0.2; exit 1"
			}
			g := (&scripted{[]string{serves}, c.client, time.Minute}).group(t)
			g.loads[0].profile = time.Second
			if err := freshSockets(g.loads); err != nil {
				t.Fatal(err)
			}
			// Without any socket there is nothing to profile.
			if err := g.profiled(t.Context()); err != nil || !slices.Equal(gatesOf(g.trials[0]), []string{gate.ProfileFailed}) {
				t.Errorf("%v, %v", err, g.trials[0].Reasons)
			}
			g.trials[0].Reasons = nil
			listen(t, g.loads[0])
			var err error
			if g.servers, err = startServers(t.Context(), g.loads); err != nil {
				t.Fatal(err)
			}
			defer stopServers(g.servers)
			if err := g.profiled(t.Context()); err != nil || len(g.trials[0].Reasons) != 1 ||
				g.trials[0].Reasons[0].Gate != c.gate || !strings.HasPrefix(g.trials[0].Reasons[0].Detail, c.says) {
				t.Errorf("%v, %v", err, g.trials[0].Reasons)
			}
		})
	}
}

// Servers that are up together are profiled one after the other, each under its
// own load, and each profile shows its own server.
func TestAGroupsProfiles(t *testing.T) {
	p := newPlace(t)
	d := profiling
	d.settings, d.factor, d.levels = "generator = \"http_load\"\nconnections = 4\nprefork = false\nroute = \"/read\"",
		"stack", `["fasthttp", "net-http"]`
	d.block = "slot_s = 0.1\nrounds = 5\nwarmup_s = 0.05"
	e := p.engine(d.parse(t), loopback)
	if len(e.groups) != 1 {
		t.Fatalf("groups %v", e.groups)
	}
	const only = "github.com/valyala/fasthttp" // the other stack has none of this
	p.until(func() []results.Trial {
		e.taken, e.file.Trials = taken{}, nil
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
			stack := e.file.Conditions[k].Levels["stack"].String()
			cpu, _ := one.Profile(profiles.CPU)
			if set == nil || set.Processes != 1 || cpu.Total == 0 || (cpu.Packages[only] > 0) != (stack == "fasthttp") ||
				(cpu.Packages["net/http"] > 0) != (stack == "net-http") {
				t.Errorf("trial %d, %s: %v of %.3g s, %v", k, stack, set, cpu.Total, cpu.Packages)
			}
			if one.Metrics["slots"] != 5 || one.Metrics["duration_s"] > 0.7 || one.Metrics["profiled_throughput_share"] <= 0 {
				t.Errorf("trial %d: %v", k, one.Metrics)
			}
			// No server is profiled in another's window or during the slots.
			for j, other := range trials {
				if o := e.taken[other.Seq]; j != k && o != nil && set != nil && set.Started.Before(o.Started.Add(o.Window)) &&
					o.Started.Before(set.Started.Add(set.Window)) {
					t.Errorf("trials %d and %d were profiled at once", k, j)
				}
			}
		}
		return whole
	})
	p.nothingRuns(t)
}

// profileAll starts a group's servers, gives each its sockets, and profiles
// them.
func profileAll(t *testing.T, g *group) {
	t.Helper()
	if err := freshSockets(g.loads); err != nil {
		t.Fatal(err)
	}
	for _, l := range g.loads {
		listen(t, l)
	}
	up(t, g)
	if err := g.profiled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Only the profiled server is loaded, but all must be up to the end: a server
// that dies in another's window is reported there and invalidates the block.
func TestAServerThatDiesInAnothersProfiledWindow(t *testing.T) {
	t.Parallel()
	g := (&scripted{[]string{serve, serve, "sleep 1; exit 7"}, "case $plan in *nowhere:1*nowhere:2*) exit 9;; esac; " +
		endless, time.Minute}).group(t)
	g.sequence = []int{1, 0, 2, 0, 1, 2}
	g.trials[0].Reasons = []results.Reason{{Gate: gate.Steal, Detail: "it was stolen"}}
	for i := range g.loads {
		g.loads[i].profile, g.loads[i].port = time.Second, 9000+i
		g.loads[i].addr = "nowhere:" + string(rune('1'+i))
	}
	profileAll(t, g)
	const says = "in the profiled window: the server exited in mid-trial: "
	if one := g.trials[0].Reasons; len(one) != 1 {
		t.Errorf("a trial that was invalid before was looked at again: %v", one)
	}
	if one := g.trials[1].Reasons; len(one) != 1 || one[0].Gate != gate.ServerExited ||
		!strings.HasPrefix(one[0].Detail, "beside it, sh on nowhere:3: "+says) {
		t.Errorf("the one that was profiled: %v", one)
	}
	if one := g.trials[2].Reasons; len(one) != 1 || one[0].Gate != gate.ServerExited ||
		!strings.HasPrefix(one[0].Detail, says) {
		t.Errorf("the one that exited: %v", one)
	}
	if len(g.profiles) > 0 {
		t.Errorf("profiles %v", g.profiles)
	}
}

// The profiles of a condition's valid trials are merged, and named in the file.
func TestRawProfiles(t *testing.T) {
	m := newMadeUp(t, Plan{MaxBlocks: 3}, func(block, cond int) results.Trial {
		if block == 2 && cond == 0 {
			return bad(gate.Steal)
		}
		return good(1)
	})
	turn := m.turn
	m.turn = func(ctx context.Context, s []int) (measured, error) {
		got, err := turn(ctx, s)
		got.profiles = taken{0: aSet(t)} // of the first condition
		return got, err
	}
	made, err := m.blocks(t.Context(), &m.watching)
	if err != nil {
		t.Fatal(err)
	}
	first := made.File.Conditions[0]
	if len(made.Raw) != len(profiles.Kinds()) || len(first.Profiles) != len(profiles.Kinds()) ||
		len(made.File.Conditions[1].Profiles) > 0 {
		t.Fatalf("%d raw profiles, %+v", len(made.Raw), made.File.Conditions)
	}
	for _, raw := range first.Profiles {
		if raw.Trials != 2 || !strings.HasPrefix(raw.File, "x/"+made.File.Run+"/c1-") {
			t.Errorf("%+v", raw)
		}
		merged, err := profile.ParseData(made.Raw[raw.File])
		if err != nil || len(merged.Sample) != 1 || merged.Sample[0].Value[0] != 6 {
			t.Errorf("%v, %v", merged, err)
		}
	}
}

// listen opens a socket at the place of a server's process, but serves nothing
// on it.
func listen(t *testing.T, l load) {
	t.Helper()
	socket, err := net.Listen("unix", filepath.Join(l.dir, l.pprof(), "1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
}

func aSet(t *testing.T) *capture.Set {
	t.Helper()
	set := &capture.Set{Merged: map[profiles.Kind]*profile.Profile{}}
	for _, kind := range profiles.Kinds() {
		f := &profile.Function{ID: 1, Name: "f"}
		l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
		set.Merged[kind] = &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
			PeriodType: &profile.ValueType{Type: "samples", Unit: "count"}, Function: []*profile.Function{f},
			Location: []*profile.Location{l},
			Sample:   []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{3}}}}
	}
	return set
}
